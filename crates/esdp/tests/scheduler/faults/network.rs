//! A network that cannot be trusted: it loses, doubles, delays and reorders.

use esdp::live::Event;
use esdp::rng::Stream;
use rand::RngExt;
use std::collections::BTreeMap;

/// Messages under way, by the time at which they arrive.
#[derive(Default)]
pub struct Network {
    under_way: BTreeMap<(u64, u64), Event>,
    now: u64,
    sent: u64,
}

impl Network {
    /// Sends a message: it arrives some time after `after`, perhaps twice, perhaps never, and what is sent
    /// after it may overtake it.
    pub fn send(&mut self, rng: &mut Stream, event: Event, after: u64) {
        let copies = match rng.random_range(0..40) {
            0 => 0,
            1..5 => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let late = if rng.random_bool(0.05) { 130 } else { 4 };
            self.sent += 1;
            self.under_way.insert((self.now + after + rng.random_range(1..late), self.sent), event.clone());
        }
    }

    /// Time goes on; what arrives.
    pub fn tick(&mut self) -> Vec<Event> {
        self.now += 1;
        let later = self.under_way.split_off(&(self.now + 1, 0));
        std::mem::replace(&mut self.under_way, later).into_values().collect()
    }

    /// All that is still under way.
    pub fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.under_way).into_values().collect()
    }
}
