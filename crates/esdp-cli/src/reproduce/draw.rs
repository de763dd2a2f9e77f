//! From evidence to figures.

mod theory;

pub(super) use theory::{overhead, regret, start};

use super::claims::BASELINES;
use super::contenders::{BY_CHANNEL, STOPS};
use super::evidence::{Evidence, Measured, decision_us};
use super::reading::{Margin, Reading};
use super::source::Source;
use esdp::sim::CurvePoint;
use esdp_engine::{PolicyOutcome, Spread};
use esdp_report::figure::{Axis, Figure, Series};

/// The fleets that are also shown over time, by their number of servers.
const OVER_TIME: [f64; 3] = [200.0, 1000.0, 5000.0];

pub(super) fn aou(evidence: &Evidence) -> Vec<Figure> {
    let own = evidence.single(Source::Time);
    let stopped = own.map(|run| {
        // Who stops, and who needs no such rule.
        let takes = |label: &str| label.ends_with(STOPS) || Reading::FIRST.names(label).is_some();
        let rivals = |label: &str| BASELINES.contains(&label) || label == "esdp-index";
        let figure = over_slots("aou-stop", "AOU over time, baselines that stop at what does not fit");
        curves(figure, run, |label| takes(label) && !rivals(label), |point| point.aou)
    });
    let one = |source, id: &str, title: &str| {
        let run = evidence.single(source)?;
        Some(curves(over_slots(id, title), run, shown, |point| point.aou))
    };
    let figures = [
        one(Source::Time, "aou", "AOU over time"),
        stopped,
        one(Source::Literal, "aou-literal", "AOU over time, capacities as printed"),
        one(Source::Costs, "aou-costs", "AOU over time, costs drawn per channel"),
    ];
    figures.into_iter().flatten().collect()
}

fn over_slots(id: &str, title: &str) -> Figure {
    Figure::new(id, title, Axis::new("slot"), Axis::new("AOU").including(0.0))
}

/// Baselines that stop have a figure of their own.
fn shown(label: &str) -> bool {
    !label.ends_with(STOPS)
}

pub(super) fn ratio(evidence: &Evidence) -> Vec<Figure> {
    let Some(run) = evidence.single(Source::Time) else { return Vec::new() };
    let one = |id: &str, title: &str, margin: Margin| {
        let y = Axis::new("AOU of ESDP / AOU of the baseline");
        let figure = Figure::new(id, title, Axis::new("slot"), y).caption(seeds(run));
        let pairs = ["esdp-paper", "esdp"]
            .into_iter()
            .flat_map(|own| BASELINES.into_iter().chain([BY_CHANNEL]).map(move |baseline| (own, baseline)));
        pairs.fold(figure, |figure, (own, baseline)| {
            let points = quotient(run, own, baseline, margin);
            figure.with(Series::line(format!("{own} / {baseline}")).points(points))
        })
    };
    vec![
        one("ratio", "Ratio between the AOUs, mean over seeds", Margin::MeanOfRatios),
        one("ratio-means", "Ratio between the mean AOUs", Margin::RatioOfMeans),
    ]
}

/// The ratio of two AOUs over time.
fn quotient(run: &Measured, own: &str, baseline: &str, margin: Margin) -> Vec<(f64, f64, f64)> {
    let (own, baseline) = (run.curves(own), run.curves(baseline));
    let points = own.iter().chain(&baseline).map(|curve| curve.len()).min().unwrap_or(0);
    let at = |point: usize| {
        let aou = |curves: &[&[CurvePoint]]| curves.iter().map(|curve| curve[point].aou).collect::<Vec<_>>();
        let other = aou(&baseline);
        // Nothing so far is no ratio.
        let some = other.iter().all(|aou| *aou > 0.0);
        let gain = margin.of(&aou(&own), &other).spread;
        some.then(|| (own[0][point].slot as f64, 1.0 + gain.mean, gain.stderr))
    };
    (0..points).filter_map(at).collect()
}

pub(super) fn average(evidence: &Evidence) -> Vec<Figure> {
    over_time(evidence, Source::Time, "average", "Average AOU over time")
}

pub(super) fn g(evidence: &Evidence) -> Vec<Figure> {
    over_time(evidence, Source::G, "g", "Average AOU under three g(t)")
}

pub(super) fn delta(evidence: &Evidence) -> Vec<Figure> {
    let mut figures = over_time(evidence, Source::Delta, "delta", "Average AOU under three delta(t)");
    let Some(run) = evidence.single(Source::DeltaOverhead) else { return figures };
    let variants: Vec<&PolicyOutcome> = run.paper_variants().collect();
    // Their formulas are too long for an axis.
    let names: Vec<String> = (1..=variants.len()).map(|position| format!("sequence {position}")).collect();
    let formulas: Vec<String> =
        variants.iter().enumerate().map(|(at, policy)| format!("{}: {}", at + 1, policy.label)).collect();
    let y = Axis::new("time per decision of Algorithm 2").unit("ms").including(0.0);
    let mut figure =
        Figure::new("delta-overhead", "Overhead under three delta(t)", Axis::categories("", names), y)
            .caption(format!("Median of a seed's decisions. {} {}", formulas.join("; "), seeds(run)));
    for (position, policy) in variants.into_iter().enumerate() {
        let time = Spread::of(decision_us(policy));
        figure = figure.with(Series::bars(&policy.label).point(
            position as f64,
            time.mean / 1e3,
            time.stderr / 1e3,
        ));
    }
    figures.push(figure);
    figures
}

/// The average AOU over time of one run.
fn over_time(evidence: &Evidence, source: Source, id: &str, title: &str) -> Vec<Figure> {
    let Some(run) = evidence.single(source) else { return Vec::new() };
    let figure = Figure::new(id, title, Axis::new("slot"), Axis::new("average AOU").unit("per slot"));
    vec![curves(figure, run, shown, CurvePoint::average)]
}

fn curves(
    figure: Figure,
    run: &Measured,
    takes: impl Fn(&str) -> bool,
    value: impl Fn(&CurvePoint) -> f64,
) -> Figure {
    let figure = figure.caption(seeds(run));
    let with = |figure: Figure, policy: &PolicyOutcome| {
        figure.with(Series::line(&policy.label).points(policy.curve(&value)))
    };
    run.outcome.policies.iter().filter(|policy| takes(&policy.label)).fold(figure, with)
}

pub(super) fn solution_space(evidence: &Evidence) -> Vec<Figure> {
    let x = Axis::new("capacity / mean request");
    aou_against(evidence, Source::SolutionSpace, "solution-space", "AOU against the solution space", x)
}

pub(super) fn rho(evidence: &Evidence) -> Vec<Figure> {
    aou_against(evidence, Source::Rho, "rho", "AOU against the arrival probability", Axis::new("rho"))
}

pub(super) fn edges(evidence: &Evidence) -> Vec<Figure> {
    aou_against(
        evidence,
        Source::Edges,
        "edges",
        "AOU against the number of channels",
        Axis::new("channels |E|"),
    )
}

pub(super) fn ports(evidence: &Evidence) -> Vec<Figure> {
    aou_against(evidence, Source::Ports, "ports", "AOU against the number of ports", Axis::new("ports |L|"))
}

pub(super) fn servers(evidence: &Evidence) -> Vec<Figure> {
    let readings = [
        (Source::Servers, "servers", "AOU against the number of servers, capacities fixed"),
        (
            Source::ServersGrowing,
            "servers-growing",
            "AOU against the number of servers, capacities grow with them",
        ),
    ];
    let one = |(source, id, title)| aou_against(evidence, source, id, title, Axis::new("servers |R|"));
    readings.into_iter().flat_map(one).collect()
}

pub(super) fn trace(evidence: &Evidence) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    if let Some(run) = evidence.single(Source::Trace) {
        let title = "A trace: AOU over time";
        figures.push(curves(over_slots("trace", title), run, shown, |point| point.aou));
        figures.push(oracle_ratio_over_time(run, "trace-ratio", "A trace: oracle ratio over time"));
    }
    let x = Axis::new("rho, on top of the arrivals of the trace");
    figures.extend(aou_against(evidence, Source::TraceRho, "trace-rho", "A trace: AOU against rho", x));
    figures
}

pub(super) fn horizon(evidence: &Evidence) -> Vec<Figure> {
    let x = Axis::new("horizon T").unit("slots");
    let figure = Figure::new("horizon", "AOU against the horizon", x, Axis::new("AOU").including(0.0));
    let points = evidence.horizons();
    points.map(|points| lines(&points, figure, "", PolicyOutcome::aou)).into_iter().collect()
}

pub(super) fn gang(evidence: &Evidence) -> Vec<Figure> {
    let run = evidence.single(Source::Gang);
    run.map(|run| oracle_ratio_over_time(run, "gang", "Gangs: oracle ratio over time")).into_iter().collect()
}

pub(super) fn fleet(evidence: &Evidence) -> Vec<Figure> {
    let (x, y) = (Axis::new("servers |R|").log(), Axis::new("AOU / oracle's AOU").including(0.0));
    let figure =
        Figure::new("fleet-ratio", "Fleets: oracle ratio against the number of servers", x.clone(), y);
    let caption = "`esdp-index` and `esdp-paper` judge each channel alone; `esdp` and `esdp-pooled` let \
                   channels learn from each other.";
    let mut figures = swept(evidence, Source::Fleets, figure, caption, |policy| {
        policy.oracle_ratio().unwrap_or(Spread::of([]))
    });
    figures.extend(aou_against(
        evidence,
        Source::Fleets,
        "fleet-aou",
        "Fleets: AOU against the number of servers",
        x,
    ));
    let over_time =
        evidence.points(Source::Fleets).into_iter().flatten().filter(|point| OVER_TIME.contains(&point.x));
    figures.extend(over_time.map(|point| {
        let (id, title) =
            (format!("fleet-{}", point.x), format!("{} servers: oracle ratio over time", point.x));
        oracle_ratio_over_time(point, &id, &title)
    }));
    figures
}

fn oracle_ratio_over_time(run: &Measured, id: &str, title: &str) -> Figure {
    let ratio = |point: &CurvePoint| match point.oracle {
        Some(oracle) if oracle > 0.0 => point.aou / oracle,
        _ => 1.0,
    };
    let figure = Figure::new(id, title, Axis::new("slot"), Axis::new("AOU / oracle's AOU"));
    curves(figure, run, shown, ratio)
}

fn aou_against(evidence: &Evidence, source: Source, id: &str, title: &str, x: Axis) -> Vec<Figure> {
    let figure = Figure::new(id, title, x, Axis::new("AOU").including(0.0));
    swept(evidence, source, figure, "", PolicyOutcome::aou)
}

/// One line per policy over the points of a source.
fn swept(
    evidence: &Evidence,
    source: Source,
    figure: Figure,
    caption: &str,
    value: impl Fn(&PolicyOutcome) -> Spread,
) -> Vec<Figure> {
    let points = evidence.points(source);
    points.map(|points| lines(points, figure, caption, value)).into_iter().collect()
}

fn lines(
    points: &[Measured],
    figure: Figure,
    caption: &str,
    value: impl Fn(&PolicyOutcome) -> Spread,
) -> Figure {
    let mut figure = figure.caption(format!("{caption} {}", seeds(&points[0])).trim());
    for policy in points[0].outcome.policies.iter().filter(|policy| shown(&policy.label)) {
        let at = |point: &Measured| {
            let spread = value(point.policy(&policy.label)?);
            Some((point.x, spread.mean, spread.stderr))
        };
        figure =
            figure.with(Series::line(&policy.label).points(points.iter().filter_map(at).collect::<Vec<_>>()));
    }
    figure
}

fn seeds(run: &Measured) -> String {
    match run.outcome.seeds.len() {
        1 => "One seed.".to_owned(),
        n => format!("Mean of {n} seeds; bands show one standard error."),
    }
}
