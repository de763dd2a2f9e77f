//! What a series looks like: colour, dash and marker, the same in every figure.
//!
//! The first colours are those of Okabe and Ito, the others Paul Tol's: chosen to stay apart for
//! colour-blind readers. So many lines are more than colours alone can carry, and papers are
//! printed in black and white, so each has its own dash and marker too.

use super::scene::Color;
use super::{Figure, Series, Style};

/// The shape that marks the points of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
    Right,
    Cross,
    Plus,
    Ring,
    HollowSquare,
    HollowDiamond,
    HollowUp,
    HollowDown,
    Left,
    HollowLeft,
    HollowRight,
}

/// What a series looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub(super) color: Color,
    /// The colour on a dark page: the same hue, lighter.
    pub(super) dark: Color,
    pub(super) dash: &'static [f64],
    pub(super) marker: Marker,
    pub(super) width: f64,
}

const SOLID: &[f64] = &[];
const DASHED: &[f64] = &[7.0, 3.0];
const DOTTED: &[f64] = &[1.6, 2.6];
const DASH_DOT: &[f64] = &[8.0, 2.5, 1.6, 2.5];
const LONG: &[f64] = &[13.0, 4.0];
const SHORT: &[f64] = &[4.0, 2.5];
const DASH_DOT_DOT: &[f64] = &[8.0, 2.5, 1.6, 2.5, 1.6, 2.5];

const fn look(color: u32, dark: u32, dash: &'static [f64], marker: Marker) -> Look {
    Look { color: rgb(color), dark: rgb(dark), dash, marker, width: 1.7 }
}

const fn rgb(hex: u32) -> Color {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color(red, green, blue)
}

/// The places of the known policies. Ours stands out by its weight, the oracle by being black.
const KNOWN: [(&str, Look); 16] = [
    ("esdp", Look { width: 2.4, ..look(0x0072b2, 0x4db2f0, SOLID, Marker::Circle) }),
    ("esdp-paper", look(0xd55e00, 0xff8b3d, DASHED, Marker::Square)),
    ("esdp-drift", look(0x3fa3dc, 0x9bd8ff, DASH_DOT, Marker::Diamond)),
    ("escb", look(0x009e73, 0x2fcf9f, SOLID, Marker::Up)),
    ("cucb", look(0xc4609a, 0xf08fc4, DASHED, Marker::Down)),
    ("cts", look(0xe69f00, 0xffbf3f, SOLID, Marker::HollowDiamond)),
    ("epsilon-greedy", look(0x882255, 0xd6649a, DASH_DOT, Marker::Cross)),
    ("random", look(0x8a8a8a, 0xa8a8a8, DOTTED, Marker::Plus)),
    ("hauf", look(0x4433aa, 0x9d8cff, SHORT, Marker::HollowSquare)),
    ("lcf", look(0x88882a, 0xc8c860, LONG, Marker::HollowUp)),
    ("lwtf", look(0x8c510a, 0xcf9550, DASH_DOT_DOT, Marker::HollowDown)),
    ("oracle", look(0x111111, 0xf2f2f2, DOTTED, Marker::Ring)),
    // After the others, whose positions `OTHERS` names.
    ("esdp-pooled", Look { width: 2.4, ..look(0xcc3311, 0xff7a5c, SOLID, Marker::Right) }),
    ("esdp-index", look(0x1b6b5a, 0x63c9b4, LONG, Marker::HollowRight)),
    ("maxweight-ucb", look(0x7a3fb0, 0xc79bff, DASHED, Marker::Left)),
    ("first-fit", look(0x555566, 0x9a9ab0, SHORT, Marker::HollowLeft)),
];

/// A line to compare others with.
const GUIDE: Look = Look { width: 1.2, ..look(0x777777, 0x9a9a9a, SHORT, Marker::Circle) };

/// The looks of the series of a figure; guides take no place from the others.
pub(super) fn of(figure: &Figure) -> Vec<Look> {
    let is_guide = |series: &&Series| series.style == Style::Guide;
    let names: Vec<&str> = {
        let others = figure.series.iter().filter(|series| !is_guide(series));
        others.map(|series| series.name.as_str()).collect()
    };
    let others = looks(names.iter().copied());
    let named = |name: &str| Some(others[names.iter().position(|other| *other == name)?]);
    let mut next = others.iter().copied();
    let mut of = |series: &Series| match series.like.as_deref().and_then(named) {
        _ if !is_guide(&series) => next.next().unwrap_or(GUIDE),
        Some(Look { color, dark, .. }) => Look { color, dark, ..GUIDE },
        None => GUIDE,
    };
    figure.series.iter().map(&mut of).collect()
}

/// Which places a stranger takes: those whose colours differ most come first.
const OTHERS: [usize; 10] = [0, 1, 3, 5, 4, 8, 6, 2, 10, 9];
const OTHER_DASHES: [&[f64]; 5] = [SOLID, DASHED, SHORT, DASH_DOT, LONG];

/// The looks of the series of one figure. A policy has a place of its own. Other names are given
/// the places that are left, in their order; where those run out, the dash changes.
fn looks<'a>(names: impl IntoIterator<Item = &'a str> + Clone) -> Vec<Look> {
    let known = |name: &str| KNOWN.iter().position(|(policy, _)| *policy == name);
    let taken: Vec<usize> = names.clone().into_iter().filter_map(known).collect();
    let mut free: Vec<usize> = OTHERS.into_iter().filter(|place| !taken.contains(place)).collect();
    if free.is_empty() {
        free.extend(OTHERS);
    }
    let mut strangers = 0;
    let mut look = |name: &str| match known(name) {
        Some(place) => KNOWN[place].1,
        None => {
            let (round, place) = (strangers / free.len(), free[strangers % free.len()]);
            strangers += 1;
            let look = Look { width: 1.7, ..KNOWN[place].1 };
            if round == 0 { look } else { Look { dash: OTHER_DASHES[round % OTHER_DASHES.len()], ..look } }
        }
    };
    names.into_iter().map(&mut look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_looks_the_same_in_every_figure() {
        let alone = looks(["cts"]);
        let among = looks(["esdp", "something", "cts", "oracle"]);
        assert_eq!(alone[0], among[2]);
    }

    #[test]
    fn no_two_policies_look_alike_even_in_grey() {
        let names = KNOWN.map(|(name, _)| name);
        let all = looks(names);
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                assert_ne!(one.color, other.color);
                assert_ne!(one.marker, other.marker);
            }
        }
    }

    #[test]
    fn strangers_take_what_the_policies_leave() {
        let mixed = looks(["esdp", "a", "b"]);
        assert!(
            mixed[0].color != mixed[1].color
                && mixed[1].color != mixed[2].color
                && mixed[0].color != mixed[2].color
        );
    }

    #[test]
    fn every_known_policy_has_a_place() {
        let policies = esdp::policy::PolicySpec::all();
        assert!(policies.iter().all(|policy| KNOWN.iter().any(|(known, _)| *known == policy.name())));
    }
}
