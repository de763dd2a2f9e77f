//! The result, as JSON and as tables of at most 80 columns.

use super::family::{self, FamilyReport};
use super::live::LiveReport;
use super::measure::ExactFigures;
use super::plan::{Case, Index, Size};
use super::rivals::{self, RivalFigures};
use esdp_report::table::{self, TextTable};
use serde::Serialize;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    version: &'static str,
    seed: u64,
    cases: Vec<CaseReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    families: Vec<FamilyReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<LiveReport>,
}

#[derive(Debug, Serialize)]
struct CaseReport {
    /// `channels:capacity`, or ports x servers of gangs.
    size: String,
    /// Of gangs about how many.
    channels: usize,
    /// None of gangs, whose servers have their own.
    capacity: Option<u64>,
    index: Index,
    slots: u64,
    exact: ExactFigures,
    rivals: Vec<RivalFigures>,
}

impl Report {
    pub(super) fn new(seed: u64) -> Self {
        Self { version: env!("CARGO_PKG_VERSION"), seed, cases: Vec::new(), families: Vec::new(), live: None }
    }

    pub(super) fn add(&mut self, case: &Case, exact: ExactFigures, rivals: Vec<RivalFigures>) {
        let Case { size, index, slots } = *case;
        let capacity = match size {
            Size::Channels { capacity, .. } => Some(capacity),
            Size::Gangs { .. } => None,
        };
        let channels = size.channels();
        self.cases.push(CaseReport {
            size: size.to_string(),
            channels,
            capacity,
            index,
            slots,
            exact,
            rivals,
        });
    }

    pub(super) fn add_family(&mut self, family: FamilyReport) {
        self.families.push(family);
    }

    pub(super) fn set_live(&mut self, live: LiveReport) {
        self.live = Some(live);
    }

    pub(super) fn table(&self) -> String {
        let live = self.live.as_ref().map_or_else(String::new, LiveReport::table);
        let parts = [self.learned(), family::table(&self.families), live];
        parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn learned(&self) -> String {
        if self.cases.is_empty() {
            return String::new();
        }
        let mut text = String::from(
            "Time per decision of `exact` on learned problems, one thread\n\
             (E:c: channels and capacity, 3 devices; LxR: gangs of L ports on R servers)\n",
        );
        for index in Index::ALL {
            text.push_str(&format!("\n{index} index\n{}", self.exact_table(index)));
        }
        text.push_str(
            "\nRivals on n of the same problems (n/m: took n of m), ratios of medians,\n\
             the median of the MILP's gaps\n",
        );
        for index in Index::ALL {
            text.push_str(&format!("\n{index} index\n{}", self.rival_table(index)));
        }
        text.push_str("\nHiGHS on n of the same problems; only the time that it runs itself\n");
        for index in Index::ALL {
            text.push_str(&format!("\n{index} index\n{}", self.highs_table(index)));
        }
        text.push_str(&self.notes());
        text
    }

    fn of(&self, index: Index) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(move |case| case.index == index)
    }

    fn exact_table(&self, index: Index) -> String {
        let mut table =
            TextTable::new(&["size", "slots", "p50", "p99", "max", "proved", "gap p50", "gap max", "memory"]);
        for case in self.of(index) {
            let exact = &case.exact;
            let times = [exact.p50_us, exact.p99_us, exact.max_us].map(time);
            let gaps = [exact.median_gap, exact.largest_gap].map(gap);
            let memory =
                exact.peak_memory_bytes.map_or("-".to_owned(), |bytes| format!("{} MB", bytes / 1_000_000));
            let proved =
                if exact.decisions > 0 { table::percent(exact.proved_share) } else { "-".to_owned() };
            let first = [case.size.clone(), case.slots.to_string()];
            table.row(first.into_iter().chain(times).chain([proved]).chain(gaps).chain([memory]));
        }
        table.render()
    }

    fn rival_table(&self, index: Index) -> String {
        let mut table = TextTable::new(&["size", "paper p50", "n", "ratio", "milp p50", "n", "ratio", "gap"]);
        for case in self.of(index).filter(|case| !case.rivals.is_empty()) {
            let cells = ["paper", "milp"].into_iter().flat_map(|name| raced(case.rival(name)));
            table.row([case.size.clone()].into_iter().chain(cells).chain([typical_gap(case.rival("milp"))]));
        }
        table.render()
    }

    fn highs_table(&self, index: Index) -> String {
        let mut table = TextTable::new(&["size", "highs p50", "n", "ratio", "gap"]);
        for case in self.of(index).filter(|case| !case.rivals.is_empty()) {
            let highs = case.rival("highs");
            table.row([case.size.clone()].into_iter().chain(raced(highs)).chain([typical_gap(highs)]));
        }
        table.render()
    }

    /// What rivals refused and where they were stopped.
    fn notes(&self) -> String {
        let mut text = String::new();
        for name in rivals::NAMES {
            let figures =
                || self.cases.iter().flat_map(|case| case.rivals.iter().map(move |rival| (case, rival)));
            let figures = || figures().filter(|(_, rival)| rival.name == name);
            if let Some(cause) = figures().find_map(|(_, rival)| rival.refusal.as_ref()) {
                let sizes = places(figures().filter(|(_, rival)| rival.refused > 0), |_| String::new());
                text.push_str(&format!("\n{name} refused problems at{sizes}; the first:\n  {cause}\n"));
            }
            if figures().any(|(_, rival)| rival.unfinished > 0) {
                let stopped = figures().filter(|(_, rival)| rival.unfinished > 0);
                let sizes =
                    places(stopped, |rival| format!(" ({} of {})", rival.unfinished, rival.decisions));
                text.push_str(&format!("\n{name} was stopped by the time limit at{sizes}\n"));
            }
        }
        text
    }
}

impl CaseReport {
    fn rival(&self, name: &str) -> Option<&RivalFigures> {
        self.rivals.iter().find(|rival| rival.name == name)
    }
}

/// A rival's median time, how many problems it took, and the ratio to the exact solver's.
fn raced(rival: Option<&RivalFigures>) -> [String; 3] {
    let Some(rival) = rival else { return ["-", "0", "-"].map(str::to_owned) };
    // With half of them stopped, the median is only a lower bound.
    let more = if 2 * rival.unfinished >= rival.decisions { ">" } else { "" };
    let shown = |value: Option<f64>, show: fn(f64) -> String| {
        value.map_or("-".to_owned(), |value| format!("{more}{}", show(value)))
    };
    let (n, all) = (rival.decisions, rival.decisions + rival.refused);
    let n = if n == all { n.to_string() } else { format!("{n}/{all}") };
    [shown(rival.p50_us, time), n, shown(rival.ratio_p50, ratio)]
}

fn typical_gap(rival: Option<&RivalFigures>) -> String {
    rival.and_then(|rival| rival.median_gap).map_or("-".to_owned(), gap)
}

/// Sizes with a remark each, in lines of at most 80 columns; those of both indices once.
fn places<'a>(
    cases: impl Iterator<Item = (&'a CaseReport, &'a RivalFigures)>,
    remark: impl Fn(&RivalFigures) -> String,
) -> String {
    let mut words: Vec<String> =
        cases.map(|(case, rival)| format!("{}{}", case.size.clone(), remark(rival))).collect();
    words.dedup();
    let mut text = String::new();
    for line in words.chunks(4) {
        text.push_str(&format!("\n  {}", line.join(", ")));
    }
    text
}

pub(super) fn time(micros: f64) -> String {
    if micros.is_nan() { "-".to_owned() } else { table::duration(micros) }
}

/// A relative distance, such as a certified gap; `-` of nothing.
pub(super) fn gap(gap: f64) -> String {
    match gap {
        0.0 => "0".to_owned(),
        gap if gap.is_nan() => "-".to_owned(),
        gap if gap < 1e-4 => format!("{gap:.0e}"),
        gap if gap >= 0.9995 => format!("{:.0} %", 100.0 * gap),
        gap => format!("{:.2} %", 100.0 * gap),
    }
}

pub(super) fn ratio(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}x") } else { format!("{ratio:.0}x") }
}
