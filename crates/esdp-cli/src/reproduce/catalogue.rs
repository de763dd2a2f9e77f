//! The figures of the paper's evaluation: their names, what they show, what they need.

use super::draw;
use super::evidence::Evidence;
use super::source::Source;
use anyhow::bail;
use esdp_report::figure::Figure;

/// A figure of the paper, or of what it names and does not show.
pub(super) struct Entry {
    /// The name users choose it by.
    pub(super) name: &'static str,
    /// Its caption in the paper, where it is there.
    pub(super) caption: &'static str,
    pub(super) sources: &'static [Source],
    /// Draws it, and what goes with it; nothing without data.
    pub(super) draw: fn(&Evidence) -> Vec<Figure>,
}

pub(super) const FIGURES: [Entry; 17] = [
    Entry {
        name: "aou",
        caption: "The AOU vs. time slots",
        sources: &[Source::Time, Source::Literal, Source::Costs],
        draw: draw::aou,
    },
    Entry {
        name: "ratio",
        caption: "The ratio between the AOUs",
        sources: &[Source::Time],
        draw: draw::ratio,
    },
    Entry {
        name: "average",
        caption: "The average AOU vs. time slots",
        sources: &[Source::Time],
        draw: draw::average,
    },
    Entry {
        name: "regret",
        caption: "Theorem 2, without a figure there",
        sources: &[Source::Time],
        draw: draw::regret,
    },
    Entry {
        name: "start",
        caption: "The initial solution, without a figure there",
        sources: &[Source::Start],
        draw: draw::start,
    },
    Entry {
        name: "overhead",
        caption: "Computation overheads",
        sources: &[Source::Overhead, Source::OverheadBudgets, Source::OverheadCapacity],
        draw: draw::overhead,
    },
    Entry {
        name: "solution-space",
        caption: "AOU vs. the solution space",
        sources: &[Source::SolutionSpace],
        draw: draw::solution_space,
    },
    Entry {
        name: "delta",
        caption: "AOU vs. delta(t)",
        sources: &[Source::Delta, Source::DeltaOverhead],
        draw: draw::delta,
    },
    Entry { name: "g", caption: "AOU vs. g(t)", sources: &[Source::G], draw: draw::g },
    Entry { name: "rho", caption: "AOU vs. rho", sources: &[Source::Rho], draw: draw::rho },
    Entry { name: "edges", caption: "AOU vs. |E|", sources: &[Source::Edges], draw: draw::edges },
    Entry { name: "ports", caption: "AOU vs. |L|", sources: &[Source::Ports], draw: draw::ports },
    Entry {
        name: "servers",
        caption: "AOU vs. |R|",
        sources: &[Source::Servers, Source::ServersGrowing],
        draw: draw::servers,
    },
    Entry { name: "horizon", caption: "AOU vs. T", sources: &[Source::Time], draw: draw::horizon },
    Entry {
        name: "trace",
        caption: "Capacities, requests and arrivals from a trace, without a figure there",
        // Its claims are told beside those of the run without a trace.
        sources: &[Source::Time, Source::Trace, Source::TraceRho],
        draw: draw::trace,
    },
    Entry {
        name: "gang",
        caption: "Gangs over time (the paper's extension, without a figure there)",
        sources: &[Source::Gang],
        draw: draw::gang,
    },
    Entry {
        name: "fleet",
        caption: "AOU vs. |R|, continued to 5,000 servers (not in the paper)",
        sources: &[Source::Fleets],
        draw: draw::fleet,
    },
];

/// The figures asked for, in the paper's order; all of them where none is named.
pub(super) fn select(names: &[String]) -> anyhow::Result<Vec<&'static Entry>> {
    for name in names {
        if !FIGURES.iter().any(|figure| figure.name == name) {
            let known: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
            bail!("unknown figure `{name}`, expected one or several of {}", known.join(", "));
        }
    }
    let asked = |figure: &&Entry| names.is_empty() || names.iter().any(|name| name == figure.name);
    Ok(FIGURES.iter().filter(asked).collect())
}

/// What some figures need, each once.
pub(super) fn sources(figures: &[&Entry]) -> Vec<Source> {
    let mut needed: Vec<Source> = figures.iter().flat_map(|figure| figure.sources).copied().collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_chosen_by_name() {
        let names = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
            select(&asked).map(|found| found.iter().map(|figure| figure.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), FIGURES.len());
        assert_eq!(names(&["g", "aou"]).unwrap(), ["aou", "g"]);
        let refused = names(&["fig7"]).unwrap_err().to_string();
        assert!(
            refused.starts_with("unknown figure `fig7`, expected one or several of aou, ratio"),
            "{refused}"
        );
    }

    #[test]
    fn a_source_is_simulated_once() {
        let all: Vec<&Entry> = FIGURES.iter().collect();
        assert_eq!(sources(&all).len(), 20);
        assert_eq!(sources(&all[..3]), [Source::Time, Source::Literal, Source::Costs]);
    }
}
