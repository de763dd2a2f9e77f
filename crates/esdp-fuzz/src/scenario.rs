//! Any bytes as a scenario.

use crate::sentence;
use esdp::scenario::Scenario;
use esdp::sim::{OracleTrack, Setting, Simulation, Summary};

/// The most servers, and pairs of a port and a server, of a scenario that is also run.
const MOST_SERVERS: u64 = 64;
const MOST_CHANNELS: usize = 600;
/// So many slots of it are run, under so many of its policies.
const SLOTS: u64 = 3;
const POLICIES: usize = 2;

/// A scenario is read and comes back as it is, or a sentence says why not; a small one runs.
pub fn hold(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let scenario = match Scenario::from_toml(text) {
        Ok(scenario) => scenario,
        Err(error) => return sentence(&error.to_string()),
    };
    let resolved = scenario.to_toml();
    let back = Scenario::from_toml(&resolved).expect("what was written can be read");
    // As texts: a number that is none does not equal itself.
    assert_eq!(back.to_toml(), resolved, "it comes back as another");
    if scenario.servers() > MOST_SERVERS {
        return;
    }
    match scenario.setting(scenario.seeds()[0]) {
        Ok(setting) if setting.cluster().channels().len() <= MOST_CHANNELS => run(&scenario, &setting),
        Ok(_) => {}
        Err(error) => sentence(&error.to_string()),
    }
}

fn run(scenario: &Scenario, setting: &Setting) {
    let oracle = match OracleTrack::new(setting, SLOTS) {
        Ok(oracle) => oracle,
        Err(error) => return sentence(&error.to_string()),
    };
    for policy in scenario.policies().iter().take(POLICIES) {
        let mut summary = Summary::new(setting.cluster());
        let simulation = match Simulation::new(setting, &policy.spec) {
            Ok(simulation) => simulation,
            Err(error) => return sentence(&error.to_string()),
        };
        match simulation.against(&oracle).run(SLOTS, &mut summary) {
            Ok(_) => assert!(summary.aou.is_finite() && summary.slots == SLOTS, "{}", policy.label),
            Err(error) => sentence(&error.to_string()),
        }
    }
}
