//! Two builds on one data directory: killed under one, started with the other, again and again. The other
//! build is this very test program, in which the same policy decides by another solver; so each of them would
//! decide nearly every slot of the other otherwise. What clients were told has to be what is there.
//!
//! 50 kills here; `cargo xtask builds --kills 1000` sets `ESDP_KILLS`.

#![allow(clippy::print_stdout, reason = "the long form is run to see figures")]

use crate::model::draw::Draw;
use crate::model::ledger::Ledger;
use crate::model::player::Player;
use crate::model::right;
use crate::service::{Service, output};
use esdp::policy::PolicySpec;
use esdp::solver::Greedy;
use esdp_serve::settings::SettingsFile;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Where the other build keeps its data.
const DATA: &str = "ESDP_OTHER_BUILD_DATA";
/// How many kills a data directory sees.
const DIRECTORY: u64 = 10;
/// The turns after a start in which nothing may be given twice.
const TURNS: u64 = 30;

/// The other build: it runs until it is killed.
#[test]
#[ignore = "a process that the other tests here start"]
fn the_other_build() {
    let data: PathBuf = std::env::var_os(DATA).expect("the directory of its data").into();
    let settings = SettingsFile {
        data: Some(data),
        listen: Some(([127, 0, 0, 1], 0).into()),
        no_token: Some(true),
        synchronous: Some("OFF".to_owned()),
        ..SettingsFile::default()
    };
    let settings = settings.settle().unwrap();
    let (spec, seed) = (settings.policy.clone(), settings.seed);
    let greedy = move |cluster: &esdp::model::Cluster| {
        spec.build_with(cluster, seed, None, Some(Box::new(Greedy::default()))).unwrap()
    };
    assert!(matches!(settings.policy, PolicySpec::Esdp(_)), "the policy that `esdp serve` has by default");
    esdp_serve::run_policy(&settings, Arc::new(greedy), |started| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "listening on {}", started.url()).and_then(|()| out.flush()).unwrap();
    })
    .unwrap();
}

fn start(data: &Path, other: bool) -> Service {
    if !other {
        return Service::start(data, &["--synchronous", "OFF"]);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "builds::the_other_build", "--ignored", "--nocapture"]).env(DATA, data);
    Service::spawn(command).unwrap_or_else(|error| panic!("the other build does not start: {error}"))
}

/// Kills it after some answers, or in the middle of a request. What was not answered is sent again later.
fn live_and_die(service: Service, player: &mut Player, acts: u64) -> Result<(), String> {
    let mut client = service.client();
    for _ in 0..acts {
        player.act(&mut client)?;
    }
    if player.draw.chance(50) {
        service.kill();
        return Ok(());
    }
    let time = Duration::from_micros(player.draw.roll(3000));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(time);
            service.kill();
        });
        while player.act(&mut client)? {}
        Ok(())
    })
}

#[test]
fn what_one_build_has_told_the_other_knows() {
    let kills: u64 =
        std::env::var("ESDP_KILLS").map_or(50, |kills| kills.parse().expect("a number of kills"));
    let mut placements = 0;
    for seed in 0..kills.div_ceil(DIRECTORY) {
        let data = tempfile::tempdir().unwrap();
        let ledger = Ledger { learned: Some(0), ..Ledger::default() };
        let mut player = Player::new(ledger, Draw::new(seed, false));
        for kill in 0..DIRECTORY.min(kills - seed * DIRECTORY) {
            let place = format!("seed {seed}, kill {kill}");
            // Both begin, and each follows the other.
            let other = (seed + kill) % 2 == 0;
            let service = start(data.path(), other);
            let mut client = service.client();
            // What was under way comes first.
            right(player.act(&mut client), &place);
            player.count_learned(&mut client);
            right(player.check(&mut client), &place);
            right(player.check_answers(&mut client, 20), &place);
            let acts = 1 + player.draw.roll(TURNS);
            right(live_and_die(service, &mut player, acts), &place);
            output(&["journal", "verify"], data.path());
        }
        let service = start(data.path(), seed % 2 == 1);
        let mut client = service.client();
        let place = format!("seed {seed}, in the end");
        for _ in 0..=TURNS {
            right(player.act(&mut client), &place);
        }
        player.count_learned(&mut client);
        right(player.check(&mut client), &place);
        placements += player.ledger.slips.len() as u64;
        assert_eq!(service.stop(), Some(0));
        output(&["journal", "verify"], data.path());
    }
    println!("{kills} kills, {placements} placements");
    assert!(placements > 5 * kills, "the jobs were worth the name: {placements} placements");
}

/// The two do decide otherwise, or the test above would show nothing.
#[test]
fn the_builds_decide_otherwise() {
    let answers = [false, true].map(|other| {
        let data = tempfile::tempdir().unwrap();
        let service = start(data.path(), other);
        let mut client = service.client();
        let mut draw = Draw::new(3, false);
        let site = draw.site(&serde_json::Value::Null);
        client.ok("PUT", "/v1/cluster", &site.to_string());
        let ledger = Ledger { site, ..Ledger::default() };
        let turns = (0..20).map(|_| draw.turn(&ledger));
        turns.map(|turn| client.post("/v1/slots", &turn)["placements"].clone()).collect::<Vec<_>>()
    });
    let [exact, greedy] = answers;
    assert_ne!(exact, greedy);
}
