//! How much is simulated: at full size, quickly, or as flags say.

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    pub(super) seeds: u64,
    /// The slots of the figures over time.
    pub(super) time_slots: u64,
    /// The slots of a point of the others.
    pub(super) slots: u64,
    /// Algorithm 2 takes milliseconds: fewer seeds and slots, where decisions are timed.
    pub(super) timed_seeds: u64,
    pub(super) timed_slots: u64,
    /// A slot with thousands of servers, or with gangs, takes milliseconds: fewer seeds and slots there too.
    pub(super) fleet_seeds: u64,
    pub(super) fleet_slots: u64,
    /// The numbers of servers of the fleets.
    pub(super) fleet_servers: &'static [u64],
}

impl Scale {
    pub(super) const FULL: Scale = Scale {
        seeds: 10,
        time_slots: 8000,
        slots: 2000,
        timed_seeds: 5,
        timed_slots: 200,
        fleet_seeds: 5,
        fleet_slots: 2000,
        fleet_servers: &[40, 80, 200, 500, 1000, 2000, 5000],
    };
    pub(super) const QUICK: Scale = Scale {
        seeds: 5,
        time_slots: 3000,
        slots: 600,
        timed_seeds: 3,
        timed_slots: 80,
        fleet_seeds: 2,
        fleet_slots: 200,
        fleet_servers: &[40, 200, 1000, 5000],
    };

    /// The same with what flags say instead.
    pub(super) fn with(self, seeds: Option<u64>, slots: Option<u64>) -> Self {
        let (most_seeds, most_slots) = (seeds.unwrap_or(u64::MAX), slots.unwrap_or(u64::MAX));
        Self {
            seeds: seeds.unwrap_or(self.seeds),
            time_slots: slots.unwrap_or(self.time_slots),
            slots: slots.unwrap_or(self.slots),
            timed_seeds: self.timed_seeds.min(most_seeds),
            timed_slots: self.timed_slots.min(most_slots),
            fleet_seeds: self.fleet_seeds.min(most_seeds),
            fleet_slots: self.fleet_slots.min(most_slots),
            fleet_servers: self.fleet_servers,
        }
    }
}
