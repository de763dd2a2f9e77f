//! The scalability section: ports, servers, horizon.

use super::super::evidence::{Evidence, Measured};
use super::super::source::Source;
use super::judge::{Difference, Sign, amount, list, percent, points as in_points};
use super::trend::{Trend, rising};
use super::{BASELINES, Claim, FIGURED, PAPER, Verdict, decided};
use esdp_engine::Spread;

pub(super) fn claims(evidence: &Evidence) -> Vec<Claim> {
    let (ports, servers) = (evidence.points(Source::Ports), evidence.points(Source::Servers));
    let horizon = evidence.horizons();
    let horizon = horizon.as_deref();
    let leads = [
        ("ports-leads", "ports", "Whatever the number of ports, ESDP takes the lead.", ports),
        ("servers-leads", "servers", "Whatever the number of servers, ESDP takes the lead.", servers),
        ("horizon-leads", "horizon", "Whatever the horizon T, ESDP performs best.", horizon),
    ];
    let lead = |(id, figure, claim, points): (_, _, _, Option<_>)| {
        points.map(|points| leads_in(id, figure, claim, points))
    };
    let mut claims: Vec<Claim> = leads.into_iter().filter_map(lead).collect();
    claims.extend(servers.map(servers_grow));
    claims.extend(servers.and_then(hauf_ahead));
    claims.extend(ports.zip(servers).map(|(ports, servers)| ports_like_servers(ports, servers)));
    claims.extend(horizon.map(horizon_helps));
    claims
}

/// The lead over the baseline that is best at a point.
fn lead(point: &Measured, label: &str) -> Difference {
    let best = |a: &Vec<f64>, b: &Vec<f64>| mean(a).total_cmp(&mean(b));
    let rival = BASELINES.map(|baseline| point.aou(baseline)).into_iter().max_by(best).unwrap_or_default();
    Difference::gain(&point.aou(label), &rival)
}

fn mean(values: &[f64]) -> f64 {
    Spread::of(values.iter().copied()).mean
}

fn leads_in(id: &'static str, figure: &'static str, claim: &'static str, points: &[Measured]) -> Claim {
    let leads: Vec<Difference> = points.iter().map(|point| lead(point, PAPER)).collect();
    let clear = leads.iter().filter(|lead| lead.is_above()).count();
    let behind = leads.iter().any(Difference::is_below);
    let least = points.iter().zip(&leads).min_by(|a, b| a.1.spread.mean.total_cmp(&b.1.spread.mean));
    let (x, least) = least.map_or((0.0, Spread::of([])), |(point, lead)| (point.x, lead.spread));
    let ours = points.iter().filter(|point| lead(point, "esdp").is_above()).count();
    Claim {
        id,
        figure,
        claim,
        rule: "At every point the AOU of esdp-paper is clearly above that of the best baseline; partly: at \
               half of them or more.",
        measured: format!(
            "Clearly above at {clear} of {} points, least at {x}: {}; esdp at {ours}.",
            points.len(),
            percent(least)
        ),
        value: 100.0 * least.mean,
        stderr: 100.0 * least.stderr,
        unit: "%",
        verdict: decided(points, Verdict::of(clear == points.len(), 2 * clear >= points.len(), behind)),
    }
}

fn servers_grow(points: &[Measured]) -> Claim {
    let trends = FIGURED.map(|label| Trend::of(points, |point| point.aou(label)));
    let rising = rising(&FIGURED, &trends);
    let (total, falls) = (trends[0].total.spread, trends.iter().any(Trend::falls_somewhere));
    Claim {
        id: "servers-grow",
        figure: "servers",
        claim: "With more servers all algorithms obtain a larger AOU.",
        rule: "The AOU with the most servers is clearly above that with the fewest and falls clearly at no \
               step, for all four; partly: for some.",
        measured: format!("It rises for {}; esdp-paper gains {}.", list(&rising), amount(total)),
        value: total.mean,
        stderr: total.stderr,
        unit: "AOU",
        verdict: decided(points, Verdict::of(rising.len() == FIGURED.len(), !rising.is_empty(), falls)),
    }
}

fn hauf_ahead(points: &[Measured]) -> Option<Claim> {
    let many: Vec<&Measured> = points.iter().filter(|point| (60.0..=80.0).contains(&point.x)).collect();
    let leads: Vec<Difference> =
        many.iter().map(|point| Difference::gain(&point.aou("hauf"), &point.aou(PAPER))).collect();
    let ahead = leads.iter().any(Difference::is_above);
    let most = leads.iter().max_by(|a, b| a.spread.mean.total_cmp(&b.spread.mean))?;
    Some(Claim {
        id: "servers-hauf-ahead",
        figure: "servers",
        claim: "From 60 to 80 servers HAUF achieves a higher AOU than ESDP.",
        rule: "At some number of servers from 60 to 80 the AOU of hauf is clearly above that of esdp-paper.",
        measured: format!("HAUF's AOU compares best with esdp-paper's at {}.", percent(most.spread)),
        value: 100.0 * most.spread.mean,
        stderr: 100.0 * most.spread.stderr,
        unit: "%",
        verdict: decided(points, Verdict::of(ahead, false, leads.iter().all(Difference::is_below))),
    })
}

fn ports_like_servers(ports: &[Measured], servers: &[Measured]) -> Claim {
    let trend = |points: &[Measured]| Trend::of(points, |point| point.oracle_ratio(PAPER)).total;
    let (by_ports, by_servers) = (trend(ports), trend(servers));
    Claim {
        id: "ports-like-servers",
        figure: "ports",
        claim: "More ports have a similar impact on ESDP as more servers: the larger space takes longer to \
                learn.",
        rule: "The share of the oracle's AOU that esdp-paper gets clearly falls from the fewest to the most \
               of both; partly: of one.",
        measured: format!(
            "It changes by {} over the ports and by {} over the servers.",
            in_points(by_ports.spread),
            in_points(by_servers.spread)
        ),
        value: 100.0 * by_ports.spread.mean,
        stderr: 100.0 * by_ports.spread.stderr,
        unit: "points",
        verdict: decided(ports, Verdict::of_signs(&[by_ports, by_servers], Sign::Below)),
    }
}

fn horizon_helps(points: &[Measured]) -> Claim {
    let average = |label: &str| Trend::of(points, |point| point.each(label, |summary| summary.average()));
    let (own, ours) = (average(PAPER), average("esdp"));
    Claim {
        id: "horizon-helps",
        figure: "horizon",
        claim: "ESDP's performance has a positive correlation with the horizon T.",
        rule: "The AOU a slot of esdp-paper is clearly higher at the longest horizon than at the shortest \
               and falls clearly at no step; \
               partly: clearly higher.",
        measured: format!(
            "It changes by {} a slot; that of esdp by {}.",
            amount(own.total.spread),
            amount(ours.total.spread)
        ),
        value: own.total.spread.mean,
        stderr: own.total.spread.stderr,
        unit: "AOU/slot",
        verdict: decided(points, Verdict::of(own.rises(), own.total.is_above(), own.total.is_below())),
    }
}
