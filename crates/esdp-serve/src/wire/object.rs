//! Objects that are objects. Structs are also read from lists, value by value, unless one insists.

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
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

pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|Object(value)| value).collect())
}

pub(super) fn some_list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let objects = Option::<Vec<Object<T>>>::deserialize(deserializer)?;
    Ok(objects.map(|objects| objects.into_iter().map(|Object(value)| value).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
