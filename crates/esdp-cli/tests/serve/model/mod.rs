//! A second opinion on the whole API: a client that draws requests, hostile ones among them, holds every
//! answer against a ledger of its own, and lets the service be killed or stopped in between. Nothing is given
//! twice, no job is started twice or by half, nothing that was acknowledged is lost.
//!
//! 600 requests here; `cargo xtask model --operations 20000` sets `ESDP_OPERATIONS`.

#![allow(clippy::print_stdout, reason = "the long form is run to see figures")]

pub mod draw;
pub mod ledger;
pub mod player;

use crate::service::{Client, Service, output};
use draw::Draw;
use ledger::Ledger;
use player::Player;
use serde_json::Value;
use std::path::Path;

/// How many requests a service lives for, on average.
const LIFE: u64 = 80;
/// How many requests a data directory sees.
const DIRECTORY: u64 = 2000;
/// What says how a process does, and not what it knows.
const OF_THE_PROCESS: [&str; 6] =
    ["uptime_seconds", "memory_bytes", "database_bytes", "snapshot", "decisions", "estimated_regret"];

/// Everything that a service shows of its state.
fn shown(client: &mut Client) -> Vec<(&'static str, Value)> {
    let pages = ["/v1/status", "/v1/servers", "/v1/channels", "/v1/state", "/v1/cluster"];
    let page = |path: &'static str| {
        let answer = client.send("GET", path, "");
        let mut page = answer.json();
        if let Some(page) = page.as_object_mut() {
            OF_THE_PROCESS.iter().for_each(|key| drop(page.remove(*key)));
        }
        (path, page)
    };
    pages.into_iter().map(page).collect()
}

/// What came out, if it is right.
pub fn right<T>(checked: Result<T, String>, place: &str) -> T {
    checked.unwrap_or_else(|why| panic!("{place}: {why}"))
}

/// Plays against one data directory.
fn play(seed: u64, operations: u64, data: &Path) -> Player {
    let ledger = Ledger { learned: Some(0), ..Ledger::default() };
    let mut player = Player::new(ledger, Draw::new(seed, true));
    let snapshots = player.draw.one(&[1, 7, 50, 1000, 400_000]).to_string();
    let args = ["--snapshot-events", &snapshots, "--synchronous", "OFF"];
    let mut service = Service::start(data, &args);
    let mut client = service.client();
    for operation in 0..operations {
        let place = format!("seed {seed}, request {operation}");
        assert!(right(player.act(&mut client), &place), "{place}: the connection broke");
        if player.draw.chance(1) {
            right(player.merge(&mut client), &place);
        }
        if player.draw.chance(5) {
            right(player.check(&mut client), &place);
        }
        if player.draw.roll(LIFE) == 0 {
            let before = shown(&mut client);
            match player.draw.chance(80) {
                true => service.kill(),
                false => assert_eq!(service.stop(), Some(0)),
            }
            *player.tally.entry("restart".to_owned()).or_default() += 1;
            service = Service::start(data, &args);
            client = service.client();
            for ((page, before), (_, after)) in before.iter().zip(shown(&mut client)) {
                let keys = before.as_object().into_iter().flatten().map(|(key, _)| key);
                for key in keys {
                    assert_eq!(before[key], after[key], "{place}: `{key}` of {page}");
                }
            }
            right(player.check(&mut client), &place);
        }
    }
    let place = format!("seed {seed}, in the end");
    right(player.check(&mut client), &place);
    right(player.check_answers(&mut client, 100), &place);
    service.kill();
    output(&["journal", "verify"], data);
    player
}

#[test]
fn the_service_and_an_independent_ledger_agree() {
    let operations: u64 =
        std::env::var("ESDP_OPERATIONS").map_or(600, |count| count.parse().expect("a number of requests"));
    // Short lives, too: a site is drawn anew, and with it what is possible.
    let each = DIRECTORY.min(operations.div_ceil(3));
    let mut tally = std::collections::BTreeMap::new();
    let mut starts = 0;
    for seed in 0..operations.div_ceil(each) {
        let data = tempfile::tempdir().unwrap();
        let player = play(seed, each, data.path());
        player.tally.into_iter().for_each(|(sort, count)| *tally.entry(sort).or_insert(0) += count);
        starts += player.ledger.slips.len();
    }
    println!("{operations} requests, {starts} placements: {tally:?}");
    assert!(starts as u64 > operations / 4, "the jobs were worth the name: {starts} placements");
    for sort in
        ["Turns 200", "Site 200", "End 200", "Start 200", "Reports 200", "Bar 200", "Clash 422", "restart"]
    {
        assert!(tally.contains_key(sort), "nothing was tried of {sort}: {tally:?}");
    }
}
