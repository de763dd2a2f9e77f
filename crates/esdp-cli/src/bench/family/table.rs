//! The families on a terminal, within 80 columns.

use super::figures::{FamilyReport, Loss, RivalReport};
use crate::bench::report::{gap, ratio, time};
use esdp::sim::families::IndexKind;
use esdp_report::table::{TextTable, percent};

/// All tables: the exact solver's, then one for each rival.
pub(in crate::bench) fn table(reports: &[FamilyReport]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut text = format!(
        "Drawn problems, {} of each, one thread; gaps are certified, the (largest) loss\n\
         is below the best value that any solver of this run found\n",
        first.instances
    );
    for index in IndexKind::ALL {
        let of = || reports.iter().filter(move |report| report.index == index);
        if of().next().is_some() {
            text.push_str(&format!("\n{index} index\n{}", exact(of())));
        }
    }
    for (place, rival) in first.rivals.iter().enumerate() {
        let version = rival.version.as_ref().map_or(String::new(), |version| format!(" {version}"));
        text.push_str(&format!(
            "\n`{}`{version} on the same problems: `ratio` is its median time over that of\n\
             `exact`, `lost` how far `exact` is below the better of the two\n",
            rival.name
        ));
        for index in IndexKind::ALL {
            let of = || reports.iter().filter(move |report| report.index == index);
            if of().next().is_some() {
                text.push_str(&format!("\n{index} index\n{}", against(of(), place)));
            }
        }
        text.push_str(&refusals(reports, place));
    }
    text
}

fn exact<'a>(reports: impl Iterator<Item = &'a FamilyReport>) -> String {
    let mut table = TextTable::new(&["family", "p50", "p95", "max", "proved", "gap p50", "gap max", "loss"]);
    for report in reports {
        let exact = &report.exact;
        let times = [exact.p50_us, exact.p95_us, exact.max_us].map(time);
        let gaps = [exact.median_gap, exact.largest_gap, report.exact_loss.largest].map(gap);
        table.row([report.name()].into_iter().chain(times).chain([percent(exact.proved_share)]).chain(gaps));
    }
    table.render()
}

fn against<'a>(reports: impl Iterator<Item = &'a FamilyReport>, place: usize) -> String {
    let mut table =
        TextTable::new(&["family", "p50", "n", "ratio", "gap p50", "gap max", "lost", "lost max"]);
    for report in reports {
        let rival = &report.rivals[place];
        // With half of them stopped, the median is only a lower bound.
        let more = if 2 * rival.unfinished > rival.decisions { ">" } else { "" };
        let figures = rival.figures.as_ref();
        let shown = |value: Option<f64>, show: fn(f64) -> String| value.map_or("-".to_owned(), show);
        let loss = |loss: &Option<Loss>, part: fn(&Loss) -> f64| shown(loss.as_ref().map(part), gap);
        table.row([
            report.name(),
            shown(figures.map(|figures| figures.p50_us), time).replace_prefix(more),
            done(rival),
            shown(rival.ratio_p50, ratio).replace_prefix(more),
            shown(figures.map(|figures| figures.median_gap), gap),
            shown(figures.map(|figures| figures.largest_gap), gap),
            loss(&rival.exact_loss, |loss| loss.median),
            loss(&rival.exact_loss, |loss| loss.largest),
        ]);
    }
    table.render()
}

/// How many it proved, of how many it answered.
fn done(rival: &RivalReport) -> String {
    match rival.decisions {
        0 => "-".to_owned(),
        all if rival.unfinished == 0 => all.to_string(),
        all => format!("{}/{all}", all - rival.unfinished),
    }
}

trait Prefixed {
    fn replace_prefix(self, prefix: &str) -> String;
}

impl Prefixed for String {
    /// Puts a mark in front of a number, and of nothing else.
    fn replace_prefix(self, prefix: &str) -> String {
        if self == "-" { self } else { format!("{prefix}{self}") }
    }
}

fn refusals(reports: &[FamilyReport], place: usize) -> String {
    let refused = || reports.iter().filter(|report| report.rivals[place].refused > 0);
    let Some(cause) = refused().find_map(|report| report.rivals[place].refusal.as_ref()) else {
        return String::new();
    };
    let mut names: Vec<String> = refused().map(FamilyReport::name).collect();
    names.sort_unstable();
    names.dedup();
    let lines: Vec<String> = names.chunks(3).map(|names| format!("  {}", names.join(", "))).collect();
    format!("\nno answer at\n{}\nthe first: {cause}\n", lines.join(",\n"))
}
