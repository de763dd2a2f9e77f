//! The report of a sweep: one figure per metric, over the first varied key.

use super::{SweepPlan, SweepResults, SweepRow, heat, short_names};
use crate::results::{resolved, verdict_cell};
use crate::seeds_in_words;
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Cell, Column, Report, Section, Table};
use esdp_report::table::{NONE, duration};
use std::collections::HashMap;

/// With more combinations of the other keys than this, the table has to do.
const MOST_FIGURES: usize = 12;
/// Values that span more are shown on a logarithmic axis.
const WIDE: f64 = 50.0;
/// Above so many rows a page is no place for a table.
const MOST_ROWS: usize = 2000;

/// A mean and its standard error, as far as they apply.
type Drawn = Option<(f64, Option<f64>)>;

/// A number that is drawn.
struct Measure {
    id: &'static str,
    title: &'static str,
    axis: fn() -> Axis,
    /// Its mean and standard error in a line; none where it does not apply.
    value: fn(&SweepRow) -> Drawn,
    /// Whether the oracle's tells anything: its ratio is always 1, its regret 0.
    oracle: bool,
    caption: &'static str,
}

const BANDS: &str = "Means over the seeds; bands show one standard error.";

const PAIRED: &str = "Accumulated overall utility: means over the seeds; bands show one standard \
                      error of the difference to the oracle under the same seed, where there is \
                      an oracle.";

/// The standard error of the AOU's difference to the oracle, or of the AOU where there is none.
fn paired(line: &SweepRow) -> Option<f64> {
    line.row.regret_stderr.or(line.row.aou_stderr)
}

const MEASURES: [Measure; 6] = [
    Measure {
        id: "completion",
        title: "Completion",
        axis: || Axis::new("mean completion").unit("slots").including(0.0).or_log(),
        value: |line| Some((line.row.jct_mean?, line.row.jct_stderr)),
        oracle: true,
        caption: BANDS,
    },
    Measure {
        id: "waiting",
        title: "Waiting",
        axis: || Axis::new("mean wait").unit("slots").including(0.0).or_log(),
        value: |line| Some((line.row.wait_mean?, line.row.wait_stderr)),
        oracle: true,
        caption: BANDS,
    },
    Measure {
        id: "oracle-ratio",
        title: "Oracle ratio",
        axis: || Axis::new("AOU / oracle's AOU"),
        value: |line| Some((line.row.oracle_ratio_mean?, line.row.oracle_ratio_stderr)),
        oracle: false,
        caption: BANDS,
    },
    Measure {
        id: "aou",
        title: "AOU",
        axis: || Axis::new("AOU").including(0.0),
        value: |line| Some((line.row.aou_mean, paired(line))),
        oracle: true,
        caption: PAIRED,
    },
    Measure {
        id: "regret",
        title: "Regret",
        axis: || Axis::new("regret").including(0.0).or_log(),
        value: |line| Some((line.row.regret_mean?, line.row.regret_stderr)),
        oracle: false,
        caption: BANDS,
    },
    Measure {
        id: "decision-time",
        title: "Decision time",
        axis: || Axis::new("median decision").unit("µs").log(),
        value: |line| Some((line.row.decision_us_p50, None)),
        oracle: true,
        caption: "The median over all decisions, on this machine; it differs from run to run.",
    },
];

/// The page.
pub(super) fn report(results: &SweepResults) -> Report {
    let plan = results.plan();
    let base = &plan.base;
    let keys: Vec<&str> = plan.vary.iter().map(|vary| vary.key.as_str()).collect();
    let mut report = Report::new("esdp sweep", format!("{} over {}", base.name(), keys.join(" and ")))
        .made_by(concat!("esdp ", env!("CARGO_PKG_VERSION")))
        .meta("Version", env!("CARGO_PKG_VERSION"))
        .meta("Points", plan.points.len().to_string())
        .meta("Seeds", seeds_in_words(base.seeds()));
    if !results.is_complete() {
        let text = "The sweep is not complete: only finished parts are shown. The same command resumes it.";
        report = report.section(Section::new("Incomplete").text(text));
    }
    report = report.sections(heat::section(results));
    let groups = groups(results);
    let applies = |measure: &&Measure| results.rows().iter().any(|line| (measure.value)(line).is_some());
    for measure in MEASURES.iter().filter(applies) {
        let mut section = Section::new(measure.title);
        for (position, group) in groups.iter().take(MOST_FIGURES).enumerate() {
            section = section.figure(figure(plan, results, measure, position, group));
        }
        if groups.len() > MOST_FIGURES {
            section = section.text(format!(
                "The first {MOST_FIGURES} of {} combinations are drawn; all are in sweep.csv.",
                groups.len()
            ));
        }
        report = report.section(section);
    }
    let numbers = Section::new("Numbers");
    let numbers = match results.rows().len() {
        rows if rows > MOST_ROWS => numbers.text(format!("{rows} rows, in sweep.csv and sweep.json.")),
        _ => numbers.table(table(results)),
    };
    report.section(numbers).section(Section::new("Scenario").code("Resolved scenario (TOML)", resolved(base)))
}

/// The lines of each combination of the keys but the first, in order, with its name.
fn groups(results: &SweepResults) -> Vec<(String, Vec<&SweepRow>)> {
    let mut groups: Vec<(String, Vec<&SweepRow>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let names = short_names(&results.plan().vary);
    for line in results.rows() {
        let at = results.point(line).at.iter().zip(&names).skip(1);
        let rest = at.map(|((_, value), name)| format!("{name} = {value}"));
        let name = rest.collect::<Vec<_>>().join(", ");
        let at = *known.entry(name.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[at].1.push(line);
    }
    groups
}

/// A measure over the first key, for one combination of the others.
fn figure(
    plan: &SweepPlan,
    results: &SweepResults,
    measure: &Measure,
    position: usize,
    (name, lines): &(String, Vec<&SweepRow>),
) -> Figure {
    let Measure { id, title, .. } = measure;
    let id = if position == 0 { (*id).to_owned() } else { format!("{id}-{position}") };
    let title = if name.is_empty() { (*title).to_owned() } else { format!("{title}, {name}") };
    let vary = &plan.vary[0];
    let numbers: Option<Vec<f64>> = vary.values.iter().map(|value| value.parse().ok()).collect();
    let (x, places) = match numbers {
        Some(numbers) => (numeric(&vary.key, &numbers), numbers),
        None => {
            let names = vary.values.iter().map(|value| value.trim_matches('"').to_owned());
            (Axis::categories(&vary.key, names), (0..vary.values.len()).map(|at| at as f64).collect())
        }
    };
    let figure = Figure::new(id, title, x, (measure.axis)()).caption(measure.caption);
    let mut policies: Vec<&str> = Vec::new();
    for line in lines.iter().filter(|line| measure.oracle || !line.oracle) {
        if !policies.contains(&line.row.name.as_str()) {
            policies.push(&line.row.name);
        }
    }
    policies.into_iter().fold(figure, |figure, policy| {
        let mine = lines.iter().filter(|line| line.row.name == policy);
        let mut points: Vec<(f64, f64, f64)> = mine
            .filter_map(|line| {
                let (_, at) = results.point(line).at.first()?;
                let place = places[vary.values.iter().position(|value| value == at)?];
                let (mean, stderr) = (measure.value)(line)?;
                Some((place, mean, stderr.unwrap_or(0.0)))
            })
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        figure.with(Series::line(policy).points(points))
    })
}

fn numeric(key: &str, values: &[f64]) -> Axis {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let axis = Axis::new(key);
    if low > 0.0 && high / low >= WIDE { axis.log() } else { axis }
}

fn table(results: &SweepResults) -> Table {
    let vary = &results.plan().vary;
    let keys =
        short_names(vary).into_iter().zip(vary).map(|(name, vary)| Column::text(name).about(&vary.key));
    let numbers = [
        Column::number("Oracle ratio").about("The AOU as a share of the oracle's on the same arrivals."),
        Column::number("Completion").about("From arrival to end, in slots, where jobs wait."),
        Column::number("Waiting").about("From arrival to start, in slots."),
        Column::text("Queue").about("Whether it is stable or grows, as far as the run tells."),
        Column::number("AOU").about(
            "Accumulated overall utility: the sum over the slots of the expected net utility of what was \
             chosen. Its ± is that of the difference to the oracle, where there is one.",
        ),
        Column::number("Regret").about("The oracle's AOU less the policy's."),
        Column::number("Decision p50").about("The median time of a decision, on this machine."),
    ];
    let columns = keys.chain([Column::text("Policy")]).chain(numbers).collect();
    let errors = results.rows().iter().any(|line| line.row.aou_stderr.is_some());
    let caption = match errors {
        true => {
            "Mean ± standard error over the seeds. Marked: the best of each point, and all that are not \
             clearly worse seed by seed (95 %)"
        }
        false => "One seed: no standard errors, and nothing is marked",
    };
    let mut table = Table::new(caption, columns);
    for line in results.rows() {
        let row = &line.row;
        let mean = |value: Option<f64>, error: Option<f64>, digits: usize| {
            let Some(value) = value else { return Cell::text(NONE) };
            let error = error.map(|error| format!("{error:.digits$}")).unwrap_or_default();
            Cell::mean(format!("{value:.digits$}"), error, value)
        };
        let at = results.point(line).at.iter().map(|(_, value)| Cell::text(value));
        let numbers = [
            mean(row.oracle_ratio_mean, row.oracle_ratio_stderr, 4)
                .best(line.leads && row.jct_mean.is_none()),
            mean(row.jct_mean, row.jct_stderr, 2).best(line.leads && row.jct_mean.is_some()),
            mean(row.wait_mean, row.wait_stderr, 2),
            verdict_cell(row),
            mean(Some(row.aou_mean), paired(line), 1),
            mean(row.regret_mean, row.regret_stderr, 1),
            Cell::number(duration(row.decision_us_p50), row.decision_us_p50),
        ];
        table.row(at.chain([Cell::text(&row.name)]).chain(numbers).collect());
    }
    table
}
