//! Data of earlier builds, killed while they wrote: the present build serves it as clients were told, or
//! refuses it with the way out. It never decides again.
//!
//! The data is in `tests/fixtures/upgrade`. `cargo xtask upgrade COMMIT` builds a commit, sets
//! `ESDP_UPGRADE_FROM` to its binary and repeats this with kills at random, and the way back, too.

#![allow(clippy::print_stdout, reason = "the long form is run to see figures")]

use crate::model::draw::Draw;
use crate::model::ledger::Ledger;
use crate::model::player::Player;
use crate::model::right;
use crate::service::{Service, esdp, output};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The binary of another build.
const FROM: &str = "ESDP_UPGRADE_FROM";
/// What the fixtures that are written are called by.
const NAME: &str = "ESDP_UPGRADE_NAME";
const KILLS: &str = "ESDP_UPGRADE_KILLS";
/// The files of a data directory that survive a kill.
const FILES: [&str; 2] = ["esdp.db", "esdp.db-wal"];
/// The turns after a start in which nothing may be given twice.
const TURNS: u64 = 30;

/// How the data of a fixture comes about.
struct Case {
    name: &'static str,
    policy: &'static str,
    /// Jobs of one task only, as in the paper.
    base: bool,
    /// The file of settings.
    settings: &'static str,
    stopped: bool,
}

const CASES: [Case; 6] = [
    Case { name: "base", policy: "esdp", base: true, settings: "", stopped: false },
    Case { name: "gangs", policy: "esdp", base: false, settings: "", stopped: false },
    Case { name: "gangs-lwtf", policy: "lwtf", base: false, settings: "", stopped: false },
    Case {
        name: "gangs-index",
        policy: "esdp-index",
        base: false,
        settings: "snapshot_events = 90\nmax_exploration = 0.2",
        stopped: false,
    },
    Case { name: "gangs-stopped", policy: "esdp", base: false, settings: "", stopped: true },
    Case { name: "answers-gone", policy: "esdp", base: false, settings: "kept_slots = 5", stopped: false },
];

impl Case {
    /// Whether few answers are kept.
    fn is_forgetful(&self) -> bool {
        self.settings.contains("kept_slots")
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/upgrade")
}

fn start(binary: Option<&Path>, case: &Case, data: &Path) -> Result<Service, String> {
    let file = data.join("settings.toml");
    std::fs::write(&file, case.settings).unwrap();
    let mut command = binary.map_or_else(esdp, Command::new);
    command.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--synchronous", "OFF"]);
    if binary.is_none() {
        command.arg("--no-token");
    }
    command.args(["--policy", case.policy, "--config"]).arg(file).arg("--data").arg(data);
    Service::spawn(command)
}

fn started(binary: Option<&Path>, case: &Case, data: &Path, place: &str) -> Service {
    start(binary, case, data).unwrap_or_else(|why| panic!("{place}: it does not start: {why}"))
}

/// Lets a build serve until it is killed or stopped; what clients know then.
fn write(binary: Option<&Path>, case: &Case, seed: u64, requests: u64, data: &Path) -> Player {
    let place = format!("{}, seed {seed}", case.name);
    let service = started(binary, case, data, &place);
    let mut client = service.client();
    let mut draw = Draw::new(seed, false);
    (draw.base, draw.clashes) = (case.base, false);
    let mut player = Player::new(Ledger { learned: Some(0), ..Ledger::default() }, draw);
    for _ in 0..requests {
        assert!(right(player.act(&mut client), &place), "{place}: the connection broke");
    }
    right(player.check(&mut client), &place);
    if case.is_forgetful() {
        // Answers that are not kept are dropped after a start, and the events of their slots are still there.
        service.kill();
        let service = started(binary, case, data, &place);
        let mut client = service.client();
        while client.get("/v1/slots?limit=100")["slots"].as_array().is_none_or(|slots| slots.len() > 6) {}
        service.kill();
        return player;
    }
    match case.stopped {
        true => assert_eq!(service.stop(), Some(0)),
        false => service.kill(),
    }
    player
}

/// The present build serves what clients were told, and gives nothing twice.
fn check(binary: Option<&Path>, case: &Case, player: &mut Player, data: &Path, place: &str) {
    let service = started(binary, case, data, place);
    let mut client = service.client();
    // Earlier builds learned every outcome; this one judges them as it reads the journal.
    let status = client.get("/v1/status");
    let [learned, aside] =
        [&status["events"]["learned"], &status["set_aside_total"]].map(|count| count.as_u64().unwrap());
    if let Some(told) = player.ledger.learned.replace(learned) {
        assert!(
            learned <= told && told <= learned + aside,
            "{place}: {told} learned, now {learned}, {aside} aside"
        );
    }
    if case.is_forgetful() {
        player.recent = 4;
    }
    right(player.check(&mut client), place);
    // More than the build keeps cannot be asked for.
    right(
        player.check_answers(&mut client, if case.settings.contains("kept_slots") { 4 } else { 400 }),
        place,
    );
    for _ in 0..TURNS {
        assert!(right(player.act(&mut client), place), "{place}: the connection broke");
    }
    right(player.check(&mut client), place);
    service.kill();
    output(&["journal", "verify"], data);
    // What was made of it is sound, too.
    let service = started(binary, case, data, place);
    right(player.check(&mut service.client()), place);
    assert_eq!(service.stop(), Some(0));
    output(&["journal", "verify"], data);
}

fn check_refused(case: &Case, data: &Path, place: &str) {
    let files = || FILES.map(|file| std::fs::read(data.join(file)).unwrap_or_default());
    let before = files();
    let why = start(None, case, data).err().unwrap_or_else(|| panic!("{place}: it should be refused"));
    let (what, way) = ("was not stopped cleanly", "Start it once with the build that wrote it, stop it");
    assert!(why.contains(what) && why.contains(way), "{place}: {why}");
    // All of it is as the build that wrote it left it, in its own schema: that build is the way out.
    assert!(files() == before, "{place}: a refusal changes nothing");
    let verified = esdp().args(["journal", "verify", "--data"]).arg(data).output().unwrap();
    assert!(!verified.status.success(), "{place}: what does not start is not well");
}

fn packed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    name.into()
}

/// Every fixture in the folder of a build.
fn all() -> Vec<(PathBuf, &'static Case)> {
    let mut all = Vec::new();
    for build in std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path()) {
        if build.is_dir() {
            all.extend(CASES.iter().map(|case| (build.join(case.name), case)));
        }
    }
    all
}

#[test]
fn data_of_earlier_builds_is_served_as_clients_were_told() {
    let all = all();
    assert!(all.len() >= CASES.len(), "the fixtures are there");
    for (fixture, case) in all {
        let data = tempfile::tempdir().unwrap();
        for file in FILES {
            let mut bytes = Vec::new();
            let Ok(packed) = std::fs::File::open(packed(&fixture.join(file))) else { continue };
            GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
            std::fs::write(data.path().join(file), bytes).unwrap();
        }
        let place = fixture.display().to_string();
        let told = std::fs::File::open(packed(&fixture.join("told.json"))).expect("what clients were told");
        let told: Value = serde_json::from_reader(GzDecoder::new(told)).unwrap();
        let ledger: Ledger = serde_json::from_value(told["ledger"].clone()).unwrap();
        assert!(ledger.turn > 20 && !ledger.busy.is_empty(), "{place}: it is worth the name");
        if told["refused"] == true {
            check_refused(case, data.path(), &place);
            continue;
        }
        let draw =
            Draw { base: case.base, clashes: false, ..Draw::after(1, told["names"].as_u64().unwrap()) };
        check(None, case, &mut Player::new(ledger, draw), data.path(), &place);
    }
}

/// Writes the fixtures of a build; those of others are never changed.
#[test]
#[ignore = "`cargo xtask upgrade COMMIT --write` runs it"]
fn fixtures_are_written() {
    let binary: PathBuf = std::env::var_os(FROM).expect("the binary of the build").into();
    let name = std::env::var(NAME).expect("what the build is called");
    for case in &CASES {
        let data = tempfile::tempdir().unwrap();
        let player = write(Some(&binary), case, 5, 90, data.path());
        let to = fixtures().join(&name).join(case.name);
        std::fs::create_dir_all(&to).unwrap();
        let save = |file: &str, bytes: &[u8]| {
            let mut out =
                GzEncoder::new(std::fs::File::create(packed(&to.join(file))).unwrap(), Compression::best());
            out.write_all(bytes).and_then(|()| out.finish()).unwrap();
        };
        for file in FILES {
            // A clean stop leaves no log.
            if let Ok(bytes) = std::fs::read(data.path().join(file)) {
                save(file, &bytes);
            }
        }
        // Whether the present build takes it says a copy, so that what is kept is what the kill has left.
        let refused = start(None, case, data.path()).is_err();
        let told = serde_json::json!({
            "refused": refused, "names": player.draw.made, "ledger": player.ledger,
        });
        save("told.json", told.to_string().as_bytes());
        println!("{}: {} turns, refused: {refused}", case.name, player.ledger.turn);
    }
}

/// Another build writes and is killed, this one goes on; then the way back, if the other reads today's data.
#[test]
#[ignore = "`cargo xtask upgrade COMMIT` runs it"]
fn another_build_is_followed() {
    let binary: PathBuf = std::env::var_os(FROM).expect("the binary of the build").into();
    let kills: u64 = std::env::var(KILLS).map_or(20, |kills| kills.parse().expect("a number of kills"));
    let (mut served, mut refused, mut back, mut placements) = (0, 0, 0, 0);
    for kill in 0..kills {
        let case = &CASES[(kill % CASES.len() as u64) as usize];
        let place = format!("{}, kill {kill}", case.name);
        let data = tempfile::tempdir().unwrap();
        let requests = 20 + Draw::new(kill, false).roll(150);
        let mut player = write(Some(&binary), case, 100 + kill, requests, data.path());
        if start(None, case, data.path()).is_err() {
            // The way out that the refusal names.
            check_refused(case, data.path(), &place);
            refused += 1;
            assert_eq!(started(Some(&binary), case, data.path(), &place).stop(), Some(0));
        }
        check(None, case, &mut player, data.path(), &place);
        served += 1;
        match start(Some(&binary), case, data.path()) {
            Ok(service) => {
                drop(service);
                check(Some(&binary), case, &mut player, data.path(), &place);
                back += 1;
            }
            Err(why) => assert!(why.contains("upgrade esdp"), "{place}: {why}"),
        }
        // Whatever the other did or refused, this one goes on.
        check(None, case, &mut player, data.path(), &place);
        placements += player.ledger.slips.len();
    }
    println!(
        "{kills} kills: {served} served, {refused} of them after the way out of a refusal, {back} went back; \
         {placements} placements"
    );
}
