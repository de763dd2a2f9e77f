//! Objects that are objects. Structs are also read from lists, value by value, unless one insists.

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// A value that was written as an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(Read(PhantomData)).map(Object)
    }
}

/// Objects in a list, of which no more are kept than are accepted: an empty object takes two bytes in a text
/// and hundreds in memory.
#[derive(Debug)]
pub(crate) struct Objects<T> {
    most: usize,
    of: PhantomData<T>,
}

impl<T> Objects<T> {
    /// At most so many.
    pub(crate) fn at_most(most: usize) -> Self {
        Self { most, of: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Objects<T> {
    /// Those that are kept, and how many there are.
    type Value = (Vec<T>, usize);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Objects<T> {
    type Value = (Vec<T>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < self.most {
            match list.next_element()? {
                Some(Object(value)) => kept.push(value),
                None => {
                    let length = kept.len();
                    return Ok((kept, length));
                }
            }
        }
        let mut length = kept.len();
        while list.next_element::<IgnoredAny>()?.is_some() {
            length += 1;
        }
        Ok((kept, length))
    }
}

/// The longest list of a cluster, see `MOST_SERVERS`; of a port, see `MOST_CHANNELS`.
const LONGEST: usize = 20_000;
const LONGEST_OF_PORT: usize = 1_000_000;

pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    whole(Objects::at_most(LONGEST).deserialize(deserializer)?, LONGEST)
}

pub(super) fn some_list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    struct Read<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
        type Value = Option<Vec<T>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            whole(Objects::at_most(LONGEST_OF_PORT).deserialize(deserializer)?, LONGEST_OF_PORT).map(Some)
        }
    }

    deserializer.deserialize_option(Read(PhantomData))
}

fn whole<T, E: Error>((kept, length): (Vec<T>, usize), most: usize) -> Result<Vec<T>, E> {
    match length <= most {
        true => Ok(kept),
        false => Err(E::custom(format!("{length} entries, at most {most} are accepted"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_counted_and_not_kept() {
        let read = |text: &str| {
            Objects::<ObjectOfNothing>::at_most(2).deserialize(&mut serde_json::Deserializer::from_str(text))
        };
        #[derive(Debug, Deserialize)]
        struct ObjectOfNothing {}
        let lengths = |text: &str| read(text).map(|(kept, length)| (kept.len(), length)).unwrap();
        assert_eq!([lengths("[]"), lengths("[{},{}]"), lengths("[{},{},{},{}]")], [(0, 0), (2, 2), (2, 4)]);
        assert!(read("[{},{},{},nonsense]").is_err() && read("[{},[]]").is_err());
    }

    #[test]
    fn a_list_is_not_an_object() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Pair {
            a: u32,
            b: u32,
        }
        let read = |text: &str| serde_json::from_str::<Object<Pair>>(text).map(|Object(pair)| pair);
        assert_eq!(read(r#"{"a":1,"b":2}"#).unwrap(), Pair { a: 1, b: 2 });
        assert!(serde_json::from_str::<Pair>("[1,2]").is_ok(), "this is why");
        assert!(read("[1,2]").unwrap_err().to_string().contains("expected an object"));
    }
}
