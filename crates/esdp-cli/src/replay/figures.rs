//! The figures of a replay: completion, waiting, the queue, who is busy, and a chart of who ran when.

use super::play::{POINTS, Run, Runs};
use esdp_report::figure::{Axis, Figure, Series};
use esdp_trace::replay::Played;

/// How many points a distribution has.
const STEPS: usize = 200;
/// How many jobs a chart shows.
const CHARTED: usize = 1500;

/// All figures, of the last answer: the one in which speeds differ most.
pub(super) fn figures(played: &Played, runs: &Runs) -> Vec<Figure> {
    let Some(answer) = runs.runs.last() else { return Vec::new() };
    let own = |policy: usize| answer.iter().map(move |seed| &seed[policy]);
    let mut figures = vec![
        distribution(runs, "completion", "Completion time", "from arrival to end", |run| {
            run.done.iter().flatten().map(|done| done.completion()).collect()
        }),
        distribution(runs, "waiting", "Waiting time", "from arrival to start", |run| {
            run.done.iter().flatten().map(|done| done.waited).collect()
        }),
    ];
    let hours = |point: usize| played.window.length() * (point as f64 + 0.5) / POINTS as f64 / 3600.0;
    let over_time = |name: &str, value: &dyn Fn(&Run, usize) -> f64, policy: usize| {
        let seeds = answer.len() as f64;
        let mean = |point: usize| own(policy).map(|run| value(run, point)).sum::<f64>() / seeds;
        Series::line(name).points((0..POINTS).map(|point| (hours(point), mean(point), 0.0)))
    };
    let axis = || Axis::new("time since the start").unit("hours");
    let mut queue =
        Figure::new("queue", "Jobs that wait", axis(), Axis::new("jobs").including(0.0)).caption("Mean over seeds.");
    for (policy, label) in runs.labels.iter().enumerate() {
        queue = queue.with(over_time(label, &|run, point| run.queue[point], policy));
    }
    figures.push(queue);
    for policy in shown(runs) {
        let label = &runs.labels[policy];
        let mut busy = Figure::new(
            format!("busy-{label}"),
            format!("Busy servers by kind: {label}"),
            axis(),
            Axis::new("busy share of the scarcest device").including(0.0).including(1.0),
        );
        for (kind, name) in runs.kinds.iter().enumerate() {
            busy = busy.with(over_time(name, &|run, point| run.busy[point][kind], policy));
        }
        figures.push(busy);
    }
    figures.extend(shown(runs).map(|policy| chart(played, &runs.labels[policy], &answer[0][policy])));
    figures
}

/// The one that learns and the one it is compared with.
fn shown(runs: &Runs) -> impl Iterator<Item = usize> + '_ {
    ["esdp", "easy"].into_iter().filter_map(|name| runs.labels.iter().position(|label| label == name))
}

fn distribution(runs: &Runs, id: &str, title: &str, axis: &str, values: fn(&Run) -> Vec<f64>) -> Figure {
    let mut figure = Figure::new(
        id,
        title,
        Axis::new(axis).unit("minutes").log(),
        Axis::new("share of jobs").including(0.0).including(1.0),
    )
    .caption("All seeds together. Jobs that do not wait are left of the scale.");
    for (policy, label) in runs.labels.iter().enumerate() {
        let answer = runs.runs.last().map_or(&[][..], Vec::as_slice);
        let mut all: Vec<f64> = answer.iter().flat_map(|seed| values(&seed[policy])).collect();
        all.sort_by(f64::total_cmp);
        let count = all.len();
        let step = |at: usize| {
            let place = at * (count - 1) / STEPS;
            (all[place] / 60.0, (place + 1) as f64 / count as f64, 0.0)
        };
        let points: Vec<(f64, f64, f64)> = if count > 0 { (0..=STEPS).map(step).collect() } else { Vec::new() };
        figure = figure.with(Series::line(label).points(points.into_iter().filter(|(x, ..)| *x > 0.0)));
    }
    figure
}

/// Who ran when and where: a stroke for every task.
fn chart(played: &Played, label: &str, run: &Run) -> Figure {
    let mut figure = Figure::new(
        format!("chart-{label}"),
        format!("Who ran when: {label}"),
        Axis::new("time since the start").unit("hours"),
        Axis::new("server"),
    )
    .caption(format!("The first {CHARTED} jobs of the first seed, by type."));
    for (kind, sort) in played.types.iter().enumerate() {
        let mut series = Series::line(&sort.words);
        let mut strokes: Vec<(f64, f64, u32)> = Vec::new();
        for (job, done) in played.jobs.iter().zip(&run.done).take(CHARTED).filter(|(job, _)| job.kind == kind) {
            let Some(done) = done else { continue };
            debug_assert!(job.duration > 0.0);
            strokes.extend(done.servers.iter().map(|server| (done.start, done.start + done.ran, *server)));
        }
        strokes.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (start, end, server) in strokes {
            let (start, end) = (start / 3600.0, end / 3600.0);
            let y = f64::from(server) + 1.0;
            series = series.point(start, y, 0.0).point(end, y, 0.0).point(end, f64::NAN, 0.0);
        }
        figure = figure.with(series);
    }
    figure
}
