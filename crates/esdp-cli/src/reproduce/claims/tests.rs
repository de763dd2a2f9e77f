//! Every claim on evidence that bears it out and on evidence that does not.

use super::super::contenders::UNCOVERED;
use super::super::evidence::{Evidence, Measured};
use super::super::reading::{Reading, Setting};
use super::super::source::Source;
use super::testing::{MadeUpPolicy, measured, moving, single_seed, steady};
use super::{Claim, Tally, Verdict, csv, judge, tallies, under};
use esdp::policy::{PolicySpec, Rank};

const YES: Verdict = Verdict::Reproduced;
const PARTLY: Verdict = Verdict::Partly;
const NO: Verdict = Verdict::NotReproduced;
const OPEN: Verdict = Verdict::Unclear;

fn evidence(source: Source, points: Vec<Measured>) -> Evidence {
    let mut evidence = Evidence::default();
    evidence.add(source, points);
    evidence
}

fn first(evidence: &Evidence) -> Vec<Claim> {
    under(evidence, Reading::FIRST)
}

fn verdicts(evidence: &Evidence) -> Vec<(&'static str, Verdict)> {
    first(evidence).iter().map(|claim| (claim.id, claim.verdict)).collect()
}

/// The policies of a sweep's point, by utility a slot.
fn four(x: f64, paper: f64, hauf: f64, lcf: f64, lwtf: f64) -> Measured {
    let pairs = [("esdp", paper), ("esdp-paper", paper), ("hauf", hauf), ("lcf", lcf), ("lwtf", lwtf)];
    measured(x, &pairs.map(|(label, utility)| steady(label, utility)))
}

fn over_time(paper: impl Fn(u64) -> f64 + 'static, hauf: f64, lcf: f64, lwtf: f64) -> Evidence {
    let policies = [
        steady("esdp", 9.9),
        moving("esdp-paper", paper),
        steady("hauf", hauf),
        steady("lcf", lcf),
        steady("lwtf", lwtf),
    ];
    evidence(Source::Time, vec![measured(0.0, &policies)])
}

#[test]
fn the_paper_as_it_describes_itself() {
    // 0 in the first 2 slots, with a fall in slot 10, then near the oracle.
    let paper = |slot| match slot {
        1..=2 => 0.0,
        10 => 1.0,
        _ => 9.8,
    };
    // AOU 1931.6 of 200 slots: 9.66 a slot.
    let found = verdicts(&over_time(paper, 9.658 / 1.28, 9.658 / 1.36, 9.658 / 1.73));
    let expected = [
        ("ahead", YES),
        ("margin-73", YES),
        ("margin-36", YES),
        ("margin-28", YES),
        ("overtakes-hauf", YES),
        ("gap-widens", YES),
        ("ratio-rises", YES),
        ("steep-then-flat", YES),
        ("converges-to-oracle", YES),
        ("oscillates-at-first", YES),
        ("regret-log", NO), // 0.2 a slot for ever
        ("horizon-leads", YES),
        ("horizon-helps", YES),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_policy_that_neither_learns_nor_leads() {
    let found = verdicts(&over_time(|_| 5.0, 7.0, 6.0, 4.0));
    let expected = [
        ("ahead", PARTLY),
        ("margin-73", PARTLY), // 25 % over lwtf
        ("margin-36", NO),
        ("margin-28", NO),
        ("overtakes-hauf", PARTLY), // behind at first, and ever
        ("gap-widens", NO),
        ("ratio-rises", OPEN), // no change is no evidence
        ("steep-then-flat", OPEN),
        ("converges-to-oracle", OPEN),
        ("oscillates-at-first", OPEN),
        ("regret-log", NO), // 5 a slot for ever
        ("horizon-leads", NO),
        ("horizon-helps", OPEN),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_policy_that_gets_worse() {
    let found = verdicts(&over_time(|slot| if slot <= 100 { 8.0 } else { 4.0 }, 7.0, 6.5, 6.5));
    let expected = [
        ("gap-widens", PARTLY),
        ("ratio-rises", NO),
        ("steep-then-flat", NO),
        ("converges-to-oracle", NO),
        ("oscillates-at-first", NO),
        ("regret-log", NO),
        ("horizon-leads", PARTLY),
        ("horizon-helps", NO),
    ];
    assert_eq!(found[5..], expected);
}

#[test]
fn growth_with_space_rate_and_servers() {
    let rising = || vec![four(60.0, 2.0, 1.0, 1.0, 1.0), four(80.0, 6.0, 3.0, 2.0, 2.0)];
    let falling = || vec![four(60.0, 6.0, 7.0, 5.0, 5.0), four(80.0, 2.0, 4.0, 6.0, 1.0)];
    assert_eq!(
        verdicts(&evidence(Source::SolutionSpace, rising())),
        [("space-grows", YES), ("space-most-for-esdp", YES)]
    );
    assert_eq!(
        verdicts(&evidence(Source::SolutionSpace, falling())),
        [("space-grows", PARTLY), ("space-most-for-esdp", NO)] // only lcf grows; lwtf shrinks as much as ours
    );
    assert_eq!(
        verdicts(&evidence(Source::Servers, rising())),
        [("servers-leads", YES), ("servers-grow", YES), ("servers-hauf-ahead", NO)]
    );
    assert_eq!(
        verdicts(&evidence(Source::Servers, falling())),
        [("servers-leads", NO), ("servers-grow", PARTLY), ("servers-hauf-ahead", YES)]
    );
}

#[test]
fn the_rate_of_arrivals() {
    let rates = |at: [f64; 3]| {
        let place = |(x, u): (f64, f64)| four(x, u, u, u, u);
        evidence(Source::Rho, [0.2, 0.8, 1.0].into_iter().zip(at).map(place).collect())
    };
    assert_eq!(verdicts(&rates([1.0, 2.0, 3.0])), [("rho-rises", YES), ("rho-falls-at-the-end", NO)]);
    assert_eq!(verdicts(&rates([1.0, 3.0, 2.0])), [("rho-rises", NO), ("rho-falls-at-the-end", YES)]);
}

#[test]
fn scale() {
    let shrinking = || vec![four(2.0, 9.0, 4.0, 3.0, 2.0), four(4.0, 7.0, 4.0, 3.0, 2.0)];
    assert_eq!(verdicts(&evidence(Source::Edges, shrinking())), [("edges-harder", YES)]);
    let mut both = evidence(Source::Ports, shrinking());
    both.add(Source::Servers, shrinking());
    let found = first(&both);
    let similar = found.iter().find(|claim| claim.id == "ports-like-servers").unwrap();
    assert_eq!((similar.verdict, similar.unit), (YES, "points"));
    assert!((similar.value + 20.0).abs() < 1e-9, "{similar:?}");

    let growing = || vec![four(2.0, 3.0, 4.0, 3.0, 2.0), four(4.0, 7.0, 4.0, 3.0, 2.0)];
    assert_eq!(verdicts(&evidence(Source::Edges, growing())), [("edges-harder", NO)]);
}

/// Three variants of the paper's policy: utility, uses that explored, microseconds.
fn variants(each: [(f64, u64, u64); 3]) -> Vec<Measured> {
    let made = |(label, (utility, explored, micros)): (&'static str, (f64, u64, u64))| MadeUpPolicy {
        spec: PolicySpec::EsdpPaper(esdp::policy::EsdpPaperSpec::default()),
        explored,
        micros,
        ..steady(label, utility)
    };
    let made: Vec<MadeUpPolicy<'_>> = ["one", "two", "three"].into_iter().zip(each).map(made).collect();
    vec![measured(0.0, &made)]
}

#[test]
fn the_sequences() {
    let g = |each| verdicts(&evidence(Source::G, variants(each)));
    assert_eq!(
        g([(5.0, 50, 1), (5.0, 40, 1), (6.0, 10, 1)]),
        [("g-third-best", YES), ("g-smaller-exploits", YES)]
    );
    assert_eq!(
        g([(5.0, 50, 1), (5.9, 5, 1), (6.0, 10, 1)]),
        [("g-third-best", PARTLY), ("g-smaller-exploits", PARTLY)]
    );
    assert_eq!(
        g([(6.0, 5, 1), (5.0, 5, 1), (5.5, 10, 1)]),
        [("g-third-best", NO), ("g-smaller-exploits", NO)]
    );

    let delta = |each| verdicts(&evidence(Source::Delta, variants(each)));
    assert_eq!(delta([(5.0, 0, 1), (5.05, 0, 1), (5.0, 0, 1)]), [("delta-little-on-aou", YES)]);
    assert_eq!(delta([(5.0, 0, 1), (5.2, 0, 1), (5.0, 0, 1)]), [("delta-little-on-aou", PARTLY)]);
    assert_eq!(delta([(5.0, 0, 1), (6.0, 0, 1), (5.0, 0, 1)]), [("delta-little-on-aou", NO)]);

    let overhead = |each| verdicts(&evidence(Source::DeltaOverhead, variants(each)));
    assert_eq!(overhead([(5.0, 0, 900), (5.0, 0, 400), (5.0, 0, 300)]), [("delta-strong-on-overhead", YES)]);
    assert_eq!(
        overhead([(5.0, 0, 330), (5.0, 0, 330), (5.0, 0, 300)]),
        [("delta-strong-on-overhead", PARTLY)]
    );
    assert_eq!(overhead([(5.0, 0, 300), (5.0, 0, 300), (5.0, 0, 300)]), [("delta-strong-on-overhead", NO)]);
}

#[test]
fn the_overhead() {
    let spec = r#"{"name": "esdp-paper", "solver": "paper"}"#;
    let sizes = |micros: [u64; 3]| {
        let place = |(x, micros): (f64, u64)| {
            let program =
                MadeUpPolicy { spec: serde_json::from_str(spec).unwrap(), micros, ..steady("program", 5.0) };
            measured(x, &[steady("esdp", 5.0), program])
        };
        evidence(Source::Overhead, [8.0, 16.0, 32.0].into_iter().zip(micros).map(place).collect())
    };
    assert_eq!(verdicts(&sizes([1000, 4000, 16000])), [("overhead-polynomial", YES)]);
    assert_eq!(verdicts(&sizes([1000, 9000, 1200])), [("overhead-polynomial", PARTLY)]);
    assert_eq!(verdicts(&sizes([9000, 8000, 1000])), [("overhead-polynomial", NO)]);
}

#[test]
fn one_seed_decides_nothing_and_no_figure_is_no_claim() {
    let mut run = four(0.0, 5.0, 4.0, 3.0, 2.0);
    single_seed(&mut run);
    let alone = evidence(Source::Time, vec![run]);
    let found = first(&alone);
    assert!(found.iter().all(|claim| claim.verdict == Verdict::Unclear) && found.len() == 13, "{found:?}");
    assert!(judge(&Evidence::default()).is_empty());
    let text = csv(&judge(&alone));
    assert!(
        text.starts_with(
            "id,reading,figure,claim,rule,measured,value,stderr,unit,verdict\nahead,,aou,\"ESDP"
        ),
        "{text}"
    );
}

#[test]
fn a_claim_has_a_verdict_per_reading() {
    // By ports HAUF is behind from the first slot on; by channels it leads at first.
    let late = |slot| if slot <= 20 { 2.0 } else { 9.0 };
    let policies = [
        steady("esdp", 9.9),
        moving("esdp-paper", late),
        steady("hauf", 1.0),
        steady("lcf", 1.0),
        steady("lwtf", 1.0),
        steady("hauf-channel", 5.0),
        steady("hauf-stop", 1.0),
        steady("hauf-channel-stop", 9.5),
        steady("lcf-stop", 0.5),
        steady("lwtf-stop", 0.5),
    ];
    let found = judge(&evidence(Source::Time, vec![measured(0.0, &policies)]));
    let claim = |id: &str| found.iter().find(|judged| judged.claim.id == id).unwrap();
    let read = |hauf, stop| Reading { hauf, stop, ..Reading::FIRST };
    let verdict = |id: &str, reading| claim(id).under(reading).unwrap().0;
    assert_eq!(verdict("overtakes-hauf", read(Rank::Port, false)), PARTLY);
    assert_eq!(verdict("overtakes-hauf", read(Rank::Channel, false)), YES);
    assert_eq!(verdict("ahead", read(Rank::Channel, false)), YES);
    assert_eq!(verdict("ahead", read(Rank::Channel, true)), PARTLY);
    // What no reading changes is said once, and holds under all.
    assert!(claim("converges-to-oracle").readings.is_empty());
    assert_eq!(
        verdict("converges-to-oracle", read(Rank::Channel, true)),
        verdict("converges-to-oracle", Reading::FIRST)
    );
    // Four kinds of baselines; the seeds differ by a factor that all share, so both margins are the same.
    assert_eq!(claim("margin-73").readings.len(), 3);
    let all = tallies(&found);
    assert_eq!(all.len(), 16);
    assert!(all[0].reproduced > all[15].reproduced, "{all:?}");
    assert!(all[15].reading.starts_with("HAUF by channel, stop"), "{all:?}");
    let counted = |tally: &Tally| tally.reproduced + tally.partly + tally.not + tally.unclear;
    assert!(all.iter().all(|tally| counted(tally) == found.len()));
}

#[test]
fn the_trace_is_judged_as_a_run_over_time() {
    let ahead = [steady("esdp-paper", 5.0), steady("hauf", 4.0), steady("lcf", 3.0), steady("lwtf", 2.0)];
    let behind = [steady("esdp-paper", 1.0), steady("hauf", 4.0), steady("lcf", 3.0), steady("lwtf", 2.0)];
    let mut both = evidence(Source::Time, vec![measured(0.0, &ahead)]);
    both.add(Source::Trace, vec![measured(0.0, &behind)]);
    let found = judge(&both);
    let trace = Reading { setting: Setting::Trace, ..Reading::FIRST };
    assert_eq!(found[0].claim.id, "ahead");
    assert_eq!((found[0].claim.verdict, found[0].under(trace).unwrap().0), (YES, NO));
}

#[test]
fn the_start_of_the_paper_s_policy() {
    let start = |uncovered| {
        let policies = [steady("esdp-paper", 5.0), steady(UNCOVERED, uncovered)];
        verdicts(&evidence(Source::Start, vec![measured(0.0, &policies)]))
    };
    assert_eq!(start(4.0), [("initial-solution", YES)]);
    assert_eq!(start(6.0), [("initial-solution", NO)]);
}

#[test]
fn the_factors_of_the_complexity() {
    let spec = r#"{"name": "esdp-paper", "solver": "paper"}"#;
    let times = |source, micros: [u64; 3]| {
        let place = |(x, micros): (f64, u64)| {
            let spec = serde_json::from_str(spec).unwrap();
            measured(x, &[MadeUpPolicy { spec, micros, ..steady("program", 5.0) }])
        };
        verdicts(&evidence(source, [8.0, 16.0, 32.0].into_iter().zip(micros).map(place).collect()))
    };
    assert_eq!(times(Source::OverheadBudgets, [1000, 2000, 4000]), [("overhead-budgets", YES)]);
    assert_eq!(times(Source::OverheadCapacity, [1000, 4000, 16000]), [("overhead-capacity", PARTLY)]);
    assert_eq!(times(Source::OverheadCapacity, [1000, 9000, 1200]), [("overhead-capacity", NO)]);
}

#[test]
fn regret_that_grows_as_its_horizon_does_not() {
    let regret = |lost: fn(f64) -> f64| {
        let paper = move |slot: u64| 10.0 - (lost(slot as f64) - lost(slot as f64 - 1.0));
        let policies = [steady("esdp", 9.9), moving("esdp-paper", paper), steady("hauf", 1.0)];
        let found = first(&evidence(Source::Time, vec![measured(0.0, &policies)]));
        found.iter().find(|claim| claim.id == "regret-log").unwrap().clone()
    };
    let log = regret(|t| 3.0 * t.max(1.0).ln());
    assert_eq!(log.verdict, YES, "{}", log.measured);
    assert!(log.measured.contains("esdp-paper +3."), "{}", log.measured);
    assert_eq!(regret(|t| t.powf(0.75)).verdict, PARTLY);
    assert_eq!(regret(|t| 2.0 * t).verdict, NO);
}
