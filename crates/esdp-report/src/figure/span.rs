//! The range of an axis: from the data to a place between 0 and 1.

use super::{Axis, Scale, ticks};

/// The values an axis shows, and how they become places.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    log: bool,
    low: f64,
    high: f64,
    names: Vec<String>,
}

/// One tick with its label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// Sums and differences of values below this bound stay finite.
const LARGEST: f64 = 1e300;

impl Span {
    /// The range that holds the values, with a margin as a share of it. Data that are nowhere
    /// negative get no margin below zero.
    pub(super) fn of(axis: &Axis, values: impl IntoIterator<Item = f64>, margin: f64) -> Self {
        if let Scale::Categories(names) = &axis.scale {
            let high = names.len().max(1) as f64 - 0.5;
            return Self { log: false, low: -0.5, high, names: names.clone() };
        }
        let log = axis.scale == Scale::Log;
        let usable = |value: &f64| value.is_finite() && value.abs() < LARGEST && (!log || *value > 0.0);
        let values = values.into_iter().chain(axis.include.iter().copied()).filter(usable);
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = match (low > high, log) {
            (true, false) => (0.0, 1.0),
            (true, true) => (1.0, 10.0),
            (false, false) => Self::linear_ends(low, high, margin),
            (false, true) => Self::log_ends(low, high, margin),
        };
        Self { log, low, high, names: Vec::new() }
    }

    fn linear_ends(low: f64, high: f64, margin: f64) -> (f64, f64) {
        let size = low.abs().max(high.abs());
        // A single value, or values that differ by no more than rounding, need room around them.
        if high - low <= size * 1e-12 {
            let room = if size == 0.0 { 1.0 } else { size * 0.1 };
            return (low - room, high + room);
        }
        let room = (high - low) * margin;
        let bottom = match low {
            // So near to zero, the axis may as well start there.
            low if low >= 0.0 && low <= high * 0.05 => 0.0,
            low if low >= 0.0 => (low - room).max(0.0),
            low => low - room,
        };
        // A value that stands exactly at the end of the axis on purpose, such as zero, stays there.
        (bottom, if high == 0.0 { 0.0 } else { high + room })
    }

    fn log_ends(low: f64, high: f64, margin: f64) -> (f64, f64) {
        if high / low < 1.0 + 1e-9 {
            return (low / 2.0, high * 2.0);
        }
        let room = (high / low).powf(margin);
        (low / room, high * room)
    }

    /// The place of a value, 0 at the start of the axis and 1 at its end. Nothing for what
    /// cannot be drawn; values outside, such as the lower end of a band on a logarithmic axis,
    /// stop at the end.
    pub(super) fn at(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        let place = match self.log {
            true if value <= 0.0 => 0.0,
            true => (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10()),
            false => (value - self.low) / (self.high - self.low),
        };
        Some(place.clamp(0.0, 1.0))
    }

    /// Whether a value has a place of its own on this axis.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && value.abs() < LARGEST && (!self.log || value > 0.0)
    }

    /// Where bars begin.
    pub(super) fn base(&self) -> f64 {
        if self.log { self.low } else { 0f64.clamp(self.low, self.high) }
    }

    /// The ticks with labels, about as many as asked for.
    pub(super) fn ticks(&self, about: f64) -> Vec<Tick> {
        let tick = |(value, label): (f64, String)| Tick { value, label };
        if !self.names.is_empty() {
            return self.names.iter().enumerate().map(|(at, name)| tick((at as f64, name.clone()))).collect();
        }
        if self.log {
            let ticks = ticks::log(self.low, self.high).into_iter();
            return ticks.map(|value| tick((value, ticks::number(value, 3)))).collect();
        }
        let (values, step) = ticks::linear(self.low, self.high, about);
        let labels = ticks::labels(&values, step);
        values.into_iter().zip(labels).map(tick).collect()
    }

    /// The small ticks of a logarithmic axis.
    pub(super) fn minor(&self) -> Vec<f64> {
        if self.log { ticks::log_minor(self.low, self.high) } else { Vec::new() }
    }

    /// Whether names stand in place of numbers.
    pub(super) fn named(&self) -> bool {
        !self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_gets_room_on_both_sides() {
        let span = Span::of(&Axis::new("y"), [5.0], 0.05);
        assert_eq!(span.at(5.0), Some(0.5));
        let log = Span::of(&Axis::new("y").log(), [5.0], 0.05);
        assert!((log.at(5.0).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_show_still_has_ticks() {
        for axis in [Axis::new("y"), Axis::new("y").log(), Axis::categories("y", ["a"])] {
            assert!(!Span::of(&axis, [f64::NAN, f64::INFINITY], 0.05).ticks(5.0).is_empty());
        }
    }

    #[test]
    fn no_margin_below_zero() {
        let span = Span::of(&Axis::new("y").including(0.0), [3.0, 4.0], 0.05);
        assert_eq!(span.at(0.0), Some(0.0));
    }

    #[test]
    fn what_is_not_positive_has_no_place_on_a_log_axis() {
        let span = Span::of(&Axis::new("y").log(), [0.0, -3.0, 10.0, 1000.0], 0.0);
        assert!(!span.shows(0.0) && span.shows(10.0));
        assert_eq!(span.at(-1.0), Some(0.0));
        assert!((span.at(100.0).unwrap() - 0.5).abs() < 1e-12);
    }
}
