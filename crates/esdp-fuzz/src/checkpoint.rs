//! Any bytes as a scheduler's saved state.

use crate::sentence;
use esdp::model::{Arrivals, Observation, Outcome};
use esdp::policy::PolicySpec;
use esdp::scenario::Scenario;
use esdp::scheduler::{Checkpoint, Scheduler};
use esdp::sim::Setting;

/// Two small clusters: one of the shape of the library's fixtures of version 1, one with gangs.
const CLUSTERS: [&str; 2] = [
    "[graph]\nports = 4\nservers = 6\ncount = 15\n[devices]\ncount = 2\n",
    "[graph]\nports = 2\nservers = 3\nprobability = 1.0\n[devices]\nserver_capacity = [2, 4]\n[gangs]\n",
];

/// Slots that a restored scheduler is asked for.
const SLOTS: u64 = 4;

/// A saved state is restored and goes on, exactly as a copy of it does, or a sentence says why not.
///
/// A changed byte does not get past the checksum, so what can be read of a damaged text is also tried with a
/// checksum that fits: somebody may have written the text so.
pub fn hold(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Checkpoint::from_text(text) {
        Ok(checkpoint) => go_on(&checkpoint),
        Err(error) => sentence(&error.to_string()),
    }
    let values = text.split_once('\n').map_or("", |(_, values)| values);
    let read = serde_json::from_str::<Checkpoint>;
    let Ok(damaged) = read(values).or_else(|_| read(text)) else { return };
    let Ok(text) = damaged.to_text() else { return };
    match Checkpoint::from_text(&text) {
        Ok(checkpoint) => go_on(&checkpoint),
        Err(error) => sentence(&error.to_string()),
    }
}

/// A small cluster as a setting: 0 without gangs, 1 with them.
///
/// # Panics
/// For any other number.
pub fn setting(cluster: usize) -> Setting {
    let scenario = Scenario::from_toml(CLUSTERS[cluster]).expect("a scenario");
    scenario.setting(0).expect("a setting")
}

fn go_on(checkpoint: &Checkpoint) {
    if let Err(error) = checkpoint.experience() {
        sentence(&error.to_string());
    }
    let Ok(spec) = checkpoint.policy.policy.parse::<PolicySpec>() else { return };
    for cluster in 0..CLUSTERS.len() {
        let setting = setting(cluster);
        let restored = || {
            let mut scheduler = setting.scheduler(&spec).expect("a policy of its name");
            scheduler.restore(checkpoint.clone()).map(|()| scheduler)
        };
        match (restored(), restored()) {
            (Ok(mut one), Ok(mut other)) => {
                assert_eq!(live(&mut one), live(&mut other), "two copies decide alike");
                let again = Checkpoint::from_text(&one.checkpoint().to_text().expect("it can be written"));
                assert_eq!(again.as_ref(), Ok(&one.checkpoint()), "it comes back as another");
            }
            (Err(error), Err(_)) => sentence(&error.to_string()),
            _ => panic!("restored once, refused once"),
        }
    }
}

/// Some slots with outcomes; what was decided, up to an error.
///
/// # Panics
/// When an outcome of what was decided is refused.
pub fn live(scheduler: &mut Scheduler) -> Vec<String> {
    let mut decided = Vec::new();
    let arrivals = Arrivals::everywhere(scheduler.cluster().ports().len());
    for at in 0..SLOTS {
        let channels = match scheduler.decide(&arrivals, None) {
            Ok(decision) => decision.channels().to_vec(),
            Err(error) => {
                sentence(&error.to_string());
                decided.push(error.to_string());
                break;
            }
        };
        let slot = scheduler.slot();
        decided.push(format!("{slot:?} {channels:?}"));
        for (position, &channel) in channels.iter().enumerate() {
            let outcome =
                if position == 1 { Outcome::Censored } else { Outcome::Ran(at as f64 / SLOTS as f64) };
            scheduler
                .observe(&Observation { slot, channel, outcome })
                .expect("an outcome of what was decided");
        }
    }
    decided
}
