//! The figures of a replay: completion, waiting, the queue, who is busy, and a chart of who ran when.

use super::play::{Run, Runs};
use esdp_report::figure::{Axis, Figure, Series};
use esdp_trace::replay::Played;

/// How many points a distribution has.
const STEPS: usize = 200;
/// How many jobs a chart shows.
const CHARTED: usize = 1500;

/// Places, values and their errors.
type Points = Vec<(f64, f64, f64)>;

/// All figures, of the last answer: the one in which speeds differ most.
pub(super) fn figures(played: &Played, runs: &Runs) -> Vec<Figure> {
    let Some(answer) = runs.runs.last() else { return Vec::new() };
    let own = |policy: usize| answer.iter().map(move |seed| &seed[policy]);
    let ends = Axis::new("share of jobs that are done by then").including(0.0).including(1.0);
    let waits = Axis::new("share of jobs that wait longer").including(0.0);
    let mut figures = vec![
        distribution(runs, ("completion", "Completion time", "from arrival to end"), ends, |run, count| {
            let times = run.done.iter().flatten().map(|done| done.completion()).collect();
            steps(times, |place| (place + 1) as f64 / count)
        }),
        distribution(runs, ("waiting", "Waiting time", "from arrival to start"), waits, |run, count| {
            let times = run.done.iter().flatten().map(|done| done.waited).collect();
            steps(times, |place| 1.0 - (place + 1) as f64 / count)
        }),
    ];
    let points = answer[0][0].queue.len();
    let hours = |point: usize| played.window.length() * (point as f64 + 0.5) / points as f64 / 3600.0;
    let over_time = |name: &str, value: &dyn Fn(&Run, usize) -> f64, policy: usize| {
        let seeds = answer.len() as f64;
        let mean = |point: usize| own(policy).map(|run| value(run, point)).sum::<f64>() / seeds;
        Series::line(name).points((0..points).map(|point| (hours(point), mean(point), 0.0)))
    };
    let axis = || Axis::new("time since the start").unit("hours");
    let mut queue = Figure::new("queue", "Jobs that wait", axis(), Axis::new("jobs").including(0.0))
        .caption("Mean over seeds.");
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

/// A distribution of the first seed, one line a policy.
fn distribution(
    runs: &Runs,
    (id, title, axis): (&str, &str, &str),
    share: Axis,
    line: fn(&Run, f64) -> Points,
) -> Figure {
    let mut figure = Figure::new(id, title, Axis::new(axis).unit("minutes").log(), share)
        .caption(format!("Seed {}.", runs.seeds[0]));
    let Some(answer) = runs.runs.last() else { return figure };
    for (label, run) in runs.labels.iter().zip(&answer[0]) {
        let count = run.done.iter().flatten().count() as f64;
        figure = figure.with(Series::line(label).points(line(run, count)));
    }
    figure
}

/// Some of the times in ascending order, in minutes, each with a share by its place; a logarithmic axis has
/// no 0.
fn steps(mut times: Vec<f64>, share: impl Fn(usize) -> f64) -> Points {
    times.sort_by(f64::total_cmp);
    let count = times.len();
    let first = times.partition_point(|time| *time <= 0.0);
    let places = (0..=STEPS).filter(|_| first < count).map(|at| first + at * (count - 1 - first) / STEPS);
    places.map(|place| (times[place] / 60.0, share(place), 0.0)).collect()
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
        for (job, done) in played.jobs.iter().zip(&run.done).take(CHARTED).filter(|(job, _)| job.kind == kind)
        {
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
