//! When outcomes become known: at once, or some slots later.
//!
//! An outcome that came out in slot *t* is observed, with a delay of *d* slots, after the decision of
//! slot *t + d*. The delay is fixed, or drawn uniformly from a range, keyed by the seed, the slot in
//! which the channel was chosen, and the channel.

use super::parameter::{ParameterError, check_whole};
use crate::model::{ChannelId, Slot};
use crate::rng::{Purpose, stream};
use rand::RngExt;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The longest delay accepted, in slots.
pub const LONGEST_DELAY: u64 = 100_000;

/// The smallest and the largest delay of an outcome, in slots; written as a number or a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Delay(pub u64, pub u64);

impl Delay {
    /// Checks the range.
    ///
    /// # Errors
    /// When it does not ascend or is too long.
    pub fn check(&self) -> Result<(), ParameterError> {
        check_whole("delay", self.1, 0..=LONGEST_DELAY)?;
        if self.0 > self.1 {
            return Err(ParameterError::new(
                "delay",
                format!("[{}, {}]", self.0, self.1),
                "two ascending whole numbers",
            ));
        }
        Ok(())
    }
}

// By hand: an untagged enum would say no more than that nothing matched.
impl<'de> Deserialize<'de> for Delay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrTwo;

        impl<'de> Visitor<'de> for OneOrTwo {
            type Value = Delay;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number of at least 0, or a list of two")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Delay, E> {
                u64::try_from(value)
                    .map(|slots| Delay(slots, slots))
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(value), &self))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Delay, E> {
                Ok(Delay(value, value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Delay, A::Error> {
                let from = items.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
                let to = items.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
                match items.next_element::<u64>()? {
                    Some(_) => Err(A::Error::invalid_length(3, &self)),
                    None => Ok(Delay(from, to)),
                }
            }
        }

        deserializer.deserialize_any(OneOrTwo)
    }
}

/// Outcomes under way. Memory: the outcomes of as many slots as the delay is long.
#[derive(Debug)]
pub(super) struct Delays<T> {
    delay: Delay,
    seed: u64,
    /// What is due in slot *t* waits at `t % due.len()`.
    due: Vec<Vec<T>>,
}

impl<T> Delays<T> {
    pub(super) fn new(delay: Delay, seed: u64) -> Self {
        Self { delay, seed, due: (0..=delay.1).map(|_| Vec::new()).collect() }
    }

    fn place(&self, slot: u64) -> usize {
        (slot % self.due.len() as u64) as usize
    }

    /// Takes news, which came out now, of a channel that was chosen in a slot.
    pub(super) fn send(&mut self, now: Slot, (chosen, channel): (Slot, ChannelId), news: T) {
        let Delay(from, to) = self.delay;
        let delay = if from == to {
            from
        } else {
            stream(self.seed, Purpose::Delays, chosen.0, u64::from(channel.0)).random_range(from..=to)
        };
        let place = self.place(now.0 + delay);
        self.due[place].push(news);
    }

    /// Hands over what is due in a slot, oldest first.
    pub(super) fn deliver(&mut self, slot: Slot, each: impl FnMut(T)) {
        let place = self.place(slot.0);
        self.due[place].drain(..).for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The delays at which outcomes of 2000 slots arrive.
    fn delays(delay: Delay) -> Vec<u64> {
        let (mut delays, mut found) = (Delays::new(delay, 3), Vec::new());
        for slot in (1..=2000).map(Slot) {
            delays.send(slot, (slot, ChannelId(1)), slot);
            delays.deliver(slot, |sent| found.push(slot.0 - sent.0));
        }
        found
    }

    #[test]
    fn outcomes_come_when_they_are_due() {
        assert_eq!(delays(Delay(0, 0)), vec![0; 2000]);
        assert_eq!(delays(Delay(7, 7)), vec![7; 1993]);
        let random = delays(Delay(2, 10));
        assert!(random.iter().all(|delay| (2..=10).contains(delay)));
        let mean = random.iter().sum::<u64>() as f64 / random.len() as f64;
        // The standard deviation of a delay is 2.6.
        assert!((mean - 6.0).abs() < 4.0 * 2.6 / 2000f64.sqrt(), "{mean}");
    }

    #[test]
    fn bad_ranges_are_refused() {
        assert!(Delay(3, 2).check().is_err() && Delay(0, LONGEST_DELAY + 1).check().is_err());
    }
}
