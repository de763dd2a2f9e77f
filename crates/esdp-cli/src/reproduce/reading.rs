//! Readings of the paper: what its text leaves open, and what it then says.
//!
//! | open | readings |
//! |---|---|
//! | what HAUF ranks | ports by the sum of their channels; channels one by one |
//! | "in turn until (cons1) can not be satisfied" | skip what does not fit, go on; stop there |
//! | by how much one policy outperforms another | the mean of the seeds' ratios; the ratio of the mean AOUs |
//! | capacities in the figure on *\|R\|* | those of Table 2; growing with the servers |
//! | the setting over time | Table 2, capacities 4 to 8; as printed; costs drawn per channel; a trace |
//!
//! The first of each is what all other figures show. The settings were simulated over time only.

use super::claims::Difference;
use super::contenders::{BY_CHANNEL, STOPS};
use super::source::Source;
use esdp::policy::Rank;
use esdp_engine::Spread;

/// One reading of everything that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// What HAUF ranks.
    pub(super) hauf: Rank,
    /// Whether the baselines stop at what does not fit.
    pub(super) stop: bool,
    pub(super) margin: Margin,
    pub(super) growing: bool,
    pub(super) setting: Setting,
}

/// By how much a policy outperforms another, over several seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Margin {
    /// The mean of the ratios of every seed.
    MeanOfRatios,
    /// The ratio of the means over all seeds: what one reads off averaged curves.
    RatioOfMeans,
}

impl Margin {
    /// The gain of `a` over `b`, of which each has a number a seed, with its standard error.
    ///
    /// That of the ratio of means is by the delta method: seed *i* counts *R + (a_i - R b_i) / mean(b)*,
    /// whose mean is *R = mean(a) / mean(b)* and whose scatter is that of *R* to first order.
    pub(super) fn of(self, a: &[f64], b: &[f64]) -> Difference {
        if self == Margin::MeanOfRatios {
            return Difference::gain(a, b);
        }
        let mean = |values: &[f64]| Spread::of(values.iter().copied()).mean;
        let scale = mean(b);
        if scale == 0.0 {
            return Difference::gain(a, b);
        }
        let ratio = mean(a) / scale;
        Difference::of(a.iter().zip(b).map(|(a, b)| ratio - 1.0 + (a - ratio * b) / scale))
    }
}

/// What is simulated over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// Table 2, capacities 4 to 8.
    Table,
    /// Capacities as printed.
    Printed,
    /// Costs drawn for every channel.
    Costs,
    /// Capacities, requests and arrivals from a trace.
    Trace,
}

impl Setting {
    pub(super) const ALL: [Setting; 4] = [Setting::Table, Setting::Printed, Setting::Costs, Setting::Trace];

    pub(super) fn source(self) -> Source {
        match self {
            Setting::Table => Source::Time,
            Setting::Printed => Source::Literal,
            Setting::Costs => Source::Costs,
            Setting::Trace => Source::Trace,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Setting::Table => "Table 2, capacities 4 to 8",
            Setting::Printed => "capacities 1 to 2, as printed",
            Setting::Costs => "costs per channel",
            Setting::Trace => "trace",
        }
    }
}

/// What the baselines may be.
pub(super) const BASELINES: [(Rank, bool); 4] =
    [(Rank::Port, false), (Rank::Channel, false), (Rank::Port, true), (Rank::Channel, true)];

impl Reading {
    /// What all figures show that do not say otherwise.
    pub(super) const FIRST: Reading = Reading {
        hauf: Rank::Port,
        stop: false,
        margin: Margin::MeanOfRatios,
        growing: false,
        setting: Setting::Table,
    };

    /// All readings of the whole evaluation, which is measured in the first setting.
    pub(super) fn all() -> Vec<Reading> {
        let mut all = Vec::new();
        for (hauf, stop) in BASELINES {
            for margin in [Margin::MeanOfRatios, Margin::RatioOfMeans] {
                for growing in [false, true] {
                    all.push(Reading { hauf, stop, margin, growing, setting: Setting::Table });
                }
            }
        }
        all
    }

    /// For which of the paper's experiments it takes these simulations; none where it takes others.
    pub(super) fn stands_for(self, source: Source) -> Option<Source> {
        if self.setting != Setting::Table {
            return (source == self.setting.source()).then_some(Source::Time);
        }
        match source {
            Source::Servers => (!self.growing).then_some(Source::Servers),
            Source::ServersGrowing => self.growing.then_some(Source::Servers),
            other => Some(other),
        }
    }

    /// The paper's name for what runs under a label; none for a policy that it does not take.
    pub(super) fn names(self, label: &str) -> Option<&str> {
        let plain = label.strip_suffix(STOPS);
        let (base, stops) = (plain.unwrap_or(label), plain.is_some());
        match base {
            "hauf" => (stops == self.stop && self.hauf == Rank::Port).then_some("hauf"),
            BY_CHANNEL => (stops == self.stop && self.hauf == Rank::Channel).then_some("hauf"),
            "lcf" | "lwtf" => (stops == self.stop).then_some(base),
            _ => Some(label),
        }
    }

    /// The baselines in words.
    pub(super) fn baselines(self) -> &'static str {
        match (self.hauf, self.stop) {
            (Rank::Port, false) => "HAUF by port",
            (Rank::Channel, false) => "HAUF by channel",
            (Rank::Port, true) => "HAUF by port, stop",
            (Rank::Channel, true) => "HAUF by channel, stop",
        }
    }

    /// What it says of each open point that differs from the first reading; empty for that one.
    pub(super) fn words(self) -> String {
        let first = Reading::FIRST;
        let margin = match self.margin {
            Margin::MeanOfRatios => "mean of the seeds' ratios",
            Margin::RatioOfMeans => "ratio of the means",
        };
        let growing = if self.growing { "capacities grow with the servers" } else { "capacities fixed" };
        let said = [
            ((self.hauf, self.stop) != (first.hauf, first.stop), self.baselines()),
            (self.margin != first.margin, margin),
            (self.growing != first.growing, growing),
            (self.setting != first.setting, self.setting.words()),
        ];
        said.iter().filter(|(differs, _)| *differs).map(|(_, words)| *words).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_takes_one_of_each_baseline() {
        let labels: Vec<String> =
            super::super::contenders::figured().unwrap().into_iter().map(|policy| policy.label).collect();
        for reading in Reading::all() {
            let taken: Vec<&str> = labels.iter().filter_map(|label| reading.names(label)).collect();
            assert_eq!(taken.len(), 7, "{reading:?}: {taken:?}");
            for name in ["esdp-paper", "hauf", "lcf", "lwtf"] {
                assert_eq!(taken.iter().filter(|taken| **taken == name).count(), 1, "{reading:?}: {name}");
            }
        }
        assert_eq!(Reading::all()[0], Reading::FIRST);
        assert_eq!(Reading::FIRST.words(), "");
        assert_eq!(
            Reading::all()[15].words(),
            "HAUF by channel, stop; ratio of the means; capacities grow with the servers"
        );
    }

    #[test]
    fn both_margins_by_hand() {
        let (a, b) = ([6.0, 2.0, 4.0], [2.0, 2.0, 4.0]);
        // Ratios 3, 1 and 1: 2/3 more on average, deviation sqrt(4/3), over the root of 3.
        let by_seed = Margin::MeanOfRatios.of(&a, &b).spread;
        assert!((by_seed.mean - 2.0 / 3.0).abs() < 1e-12 && (by_seed.stderr - 2.0 / 3.0).abs() < 1e-12);
        // Means 4 and 8/3: half as much again. Residuals a - 1.5 b are 3, -1 and -2, over 8/3: 1.125, -0.375
        // and -0.75; their squares add up to 1.96875.
        let of_means = Margin::RatioOfMeans.of(&a, &b).spread;
        assert!((of_means.mean - 0.5).abs() < 1e-12, "{of_means:?}");
        assert!((of_means.stderr - (1.96875f64 / 2.0 / 3.0).sqrt()).abs() < 1e-12, "{of_means:?}");
        assert_eq!(Margin::RatioOfMeans.of(&[1.0], &[0.0]).spread.mean, 0.0);
    }

    #[test]
    fn a_setting_stands_for_the_run_over_time_and_nothing_else() {
        let trace = Reading { setting: Setting::Trace, ..Reading::FIRST };
        assert_eq!(trace.stands_for(Source::Trace), Some(Source::Time));
        assert_eq!((trace.stands_for(Source::Time), trace.stands_for(Source::Rho)), (None, None));
        let growing = Reading { growing: true, ..Reading::FIRST };
        assert_eq!(growing.stands_for(Source::ServersGrowing), Some(Source::Servers));
        assert_eq!(growing.stands_for(Source::Servers), None);
    }
}
