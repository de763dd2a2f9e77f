//! The files of a run, held against each other.

use super::RunResults;
use crate::{Contender, Options, simulate};
use esdp::scenario::Scenario;
use std::collections::BTreeMap;

fn results(policies: &str, slots: u64, seeds: &[u64]) -> RunResults {
    let scenario = Scenario::preset("default").unwrap().set("policies", policies).unwrap();
    let outcome = simulate(&scenario, &Contender::of(&scenario), slots, seeds, &Options::default()).unwrap();
    RunResults::new(scenario, outcome)
}

/// The rows of a CSV text by column.
fn rows(text: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| head.iter().copied().zip(line.split(',')).collect()).collect()
}

fn number(row: &BTreeMap<&str, &str>, key: &str) -> f64 {
    row[key].parse().unwrap_or_else(|_| panic!("{key} is `{}`", row[key]))
}

#[test]
fn the_means_of_seeds_csv_are_those_of_summary_csv() {
    let results = results("oracle,esdp,lcf", 80, &[0, 1, 2, 3]);
    let (seeds, summary) = (results.seeds_csv(), results.csv());
    assert!(
        seeds.starts_with("policy,seed,slots,aou,oracle_aou,oracle_ratio,regret,realised_aou,"),
        "{seeds}"
    );
    let (seeds, summary) = (rows(&seeds), rows(&summary));
    assert_eq!((seeds.len(), summary.len()), (3 * 4, 3));
    for row in &summary {
        let mine: Vec<_> = seeds.iter().filter(|seed| seed["policy"] == row["policy"]).collect();
        let keys = ["aou", "oracle_ratio", "regret", "realised_aou", "deferred", "jain"];
        let keys = keys.iter().map(|key| (*key, format!("{key}_mean")));
        let shares = ["started_share", "utilisation_0", "utilisation_2"].map(|key| (key, key.to_owned()));
        for (key, mean) in keys.chain(shares) {
            let found = mine.iter().map(|seed| number(seed, key)).sum::<f64>() / 4.0;
            let told = number(row, &mean);
            assert!((found - told).abs() <= 1e-9 * told.abs().max(1.0), "{key}: {found}, not {told}");
        }
    }
    // What does not apply is empty: the oracle learns nothing, lcf solves nothing, jobs last one slot.
    let of = |policy: &str| seeds.iter().find(|row| row["policy"] == policy).unwrap();
    assert_eq!([of("oracle")["exploration_share"], of("lcf")["proved_share"], of("esdp")["jct"]], [""; 3]);
    assert!(number(of("esdp"), "exploration_share") > 0.0 && number(of("oracle"), "proved_share") > 0.9);
}

#[test]
fn curves_end_where_the_summary_does_and_their_bands_are_paired() {
    let results = results("oracle,esdp", 80, &[0, 1, 2]);
    let text = results.curves_csv();
    assert!(text.starts_with(
        "policy,slot,average_aou_mean,average_aou_stderr,behind_oracle_mean,behind_oracle_stderr,\
         oracle_ratio_mean,oracle_ratio_stderr,regret_mean,regret_stderr,waiting_mean,waiting_stderr\n"
    ));
    let curves = rows(&text);
    assert_eq!(curves.len(), 2 * 80);
    let (last, row) = (&curves[159], &results.rows()[1]);
    assert_eq!((last["policy"], last["slot"]), ("esdp", "80"));
    assert!((number(last, "average_aou_mean") * 80.0 - row.aou_mean).abs() < 1e-9);
    assert!((number(last, "regret_mean") - row.regret_mean.unwrap()).abs() < 1e-9);
    assert!((number(last, "behind_oracle_stderr") * 80.0 - row.regret_stderr.unwrap()).abs() < 1e-9);
    assert_eq!(number(&curves[79], "behind_oracle_stderr"), 0.0, "the oracle is not behind itself");
}

#[test]
fn one_seed_has_no_standard_error() {
    let results = results("esdp,lcf", 30, &[5]);
    let json: serde_json::Value = serde_json::from_str(&results.json().unwrap()).unwrap();
    let esdp = &json["policies"][0];
    assert!(esdp["aou_stderr"].is_null() && esdp["regret_stderr"].is_null() && esdp["aou_mean"].is_number());
    assert!(rows(&results.csv()).iter().all(|row| row["aou_stderr"].is_empty()));
    assert!(rows(&results.curves_csv()).iter().all(|row| row["regret_stderr"].is_empty()));
    assert!(results.report(&[]).render().contains("One seed: no standard errors"));
}

#[test]
fn estimates_are_near_the_truth_where_it_was_tried_often() {
    let results = results("esdp,cts,lcf", 600, &[0, 1]);
    let text = results.estimates_csv();
    assert!(text.starts_with(
        "policy,seed,port,server,uses,estimate,low,high,true_mean,channel,group,last_used,labels\n"
    ));
    let estimates = rows(&text);
    let clusters: serde_json::Value = serde_json::from_str(&results.cluster_json().unwrap()).unwrap();
    let clusters = clusters["clusters"].as_array().unwrap();
    let channels = |seed: usize| clusters[seed]["channels"].as_array().unwrap();
    assert_eq!(estimates.len(), 2 * (channels(0).len() + channels(1).len()), "lcf learns nothing");
    let (mut often, mut within) = (0, 0);
    for row in &estimates {
        // Who was used has a last slot, and nobody else.
        assert_eq!(row["uses"] == "0", row["last_used"].is_empty(), "{row:?}");
        assert!(row["last_used"].is_empty() || (1.0..=600.0).contains(&number(row, "last_used")), "{row:?}");
        // The names are those of cluster.json; speeds that stay as they are have the mean they began with.
        let channel = &channels(row["seed"].parse().unwrap())[row["channel"].parse::<usize>().unwrap()];
        assert_eq!((&channel["port"], &channel["server"]), (&row["port"].into(), &row["server"].into()));
        assert!((channel["true_mean"].as_f64().unwrap() - number(row, "true_mean")).abs() < 1e-12);
        if number(row, "uses") >= 100.0 {
            often += 1;
            assert!((number(row, "estimate") - number(row, "true_mean")).abs() < 0.1, "{row:?}");
            within +=
                usize::from((number(row, "low")..=number(row, "high")).contains(&number(row, "true_mean")));
        }
    }
    assert!(often >= 20 && within * 10 >= often * 8, "{within} of {often} intervals hold the truth");
}

#[test]
fn the_fastest_and_the_slowest_server_are_named_for_every_port() {
    let results = results("esdp,lcf", 400, &[0]);
    let said = results.found();
    assert!(said.lines().all(|line| line.chars().count() <= 80) && said.lines().count() <= 9, "{said}");
    assert!(said.contains("learned by esdp (seed 0), in multiples of the usual speed, ± 95 %:\n"), "{said}");
    assert!(said.contains("no ± covers a change that few uses saw"), "{said}");
    // A port, and twice a server with what was learned and what is true.
    let line = |line: &&str| line.starts_with("port-") && line.matches("  server-").count() == 2;
    let ports: Vec<&str> = said.lines().filter(line).collect();
    assert!((2..=5).contains(&ports.len()), "{said}");
    for line in &ports {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<f64>().unwrap();
        assert!(number(2) >= number(7) && words[3] == "±" && words[8] == "±", "{line}");
        assert!(number(4) > 0.0 && number(5) > 0.0, "{line}");
    }
    let page = results.report(&[]).render();
    assert!(page.contains("slowest servers for each job type, of those with enough outcomes under esdp"));
    assert!(page.contains("with enough outcomes under esdp, all job types together, seed 0"));
    assert!(page.contains("Scatter plot: learned net utility against true mean net utility."));
    assert!(page.contains("Policies in this run") && page.contains("channels by lowest supply cost"));
    assert!(page.contains("It does not cover a change that few outcomes have seen"));
}

#[test]
fn a_large_cluster_keeps_its_page_small() {
    let scenario = Scenario::preset("fleet-1000").unwrap().set("policies", "esdp-index").unwrap();
    let outcome = simulate(&scenario, &Contender::of(&scenario), 3, &[0, 1], &Options::default()).unwrap();
    let results = RunResults::new(scenario, outcome);
    let channels = results.outcome().policies[0].runs[0].estimates.len();
    assert!(channels > 1000, "{channels}");
    let page = results.report(&[]).render();
    assert!(page.contains("Seed 0, the 1000 channels that were used most."));
    assert!(page.contains("1,000 values") || page.contains("1000 values"));
    assert!(page.len() < 800_000, "{} bytes", page.len());
}

#[test]
fn the_first_figure_of_the_page_is_of_paired_differences_and_regret_is_logarithmic() {
    let one_seed = results("oracle,esdp,cucb", 20, &[0]).report(&[]);
    assert!(!format!("{one_seed:?}").contains("Against esdp"), "one seed has no interval");
    let results = results("oracle,esdp,cucb,lcf", 80, &[0, 1, 2, 3]);
    let seeds = results.seeds_csv();
    let seeds = rows(&seeds);
    let ratios = |policy: &str| -> Vec<f64> {
        seeds.iter().filter(|row| row["policy"] == policy).map(|row| number(row, "oracle_ratio")).collect()
    };
    let behind = |policy: &str| {
        let pairs = ratios(policy).into_iter().zip(ratios("esdp"));
        100.0 * pairs.map(|(own, esdp)| own - esdp).sum::<f64>() / 4.0
    };
    let report = results.report(&[]);
    let figures: Vec<_> = report.sections.iter().flat_map(|section| &section.blocks).collect();
    let figures = figures.iter().filter_map(|block| match block {
        esdp_report::report::Block::Figure(figure) => Some(&**figure),
        _ => None,
    });
    let figures: Vec<_> = figures.collect();
    let against = figures[0];
    let csv = against.csv();
    assert!(csv.starts_with("series,x,y,half_of_95_percent_interval\n"), "{csv}");
    let drawn = rows(&csv);
    let cucb = drawn.iter().find(|row| row["series"] == "cucb").expect("it is near");
    assert!((number(cucb, "y") - behind("cucb")).abs() < 1e-9, "{csv}");
    // It is drawn, or told with the same number.
    let told = format!("lcf ({:+.1} ± ", behind("lcf")).replace('-', "\u{2212}");
    assert!(csv.contains("\nlcf,lcf,") || against.caption.contains(&told), "{csv}{}", against.caption);
    assert_eq!(figures[1].id, "regret");
    assert_eq!(figures[1].y.scale, esdp_report::figure::Scale::Log);
}

#[test]
fn figures_side_by_side_have_one_range() {
    let report = results("esdp,cucb,escb", 40, &[0, 1]).report(&[]);
    let blocks = report.sections.iter().flat_map(|section| &section.blocks);
    let ranges: Vec<_> = blocks
        .filter_map(|block| match block {
            esdp_report::report::Block::Figures(figures) => Some(figures),
            _ => None,
        })
        .flatten()
        .map(|figure| {
            let ends = |axis: &esdp_report::figure::Axis| {
                let fold = |ends: (f64, f64), at: &f64| (ends.0.min(*at), ends.1.max(*at));
                axis.include.iter().fold((0.0, 0.0), fold)
            };
            let values = figure.series.iter().flat_map(|series| &series.points);
            let most = values.flat_map(|point| [point.x, point.y]).fold(0.0, f64::max);
            (ends(&figure.x), ends(&figure.y), most <= ends(&figure.x).1)
        })
        .collect();
    assert!(ranges.len() == 3 && ranges.iter().all(|range| range == &ranges[0] && range.2), "{ranges:?}");
    assert_eq!(ranges[0].0, ranges[0].1);
}
