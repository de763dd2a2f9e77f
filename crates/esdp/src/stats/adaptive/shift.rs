//! Whether all servers became faster or slower at once, and by which factor.
//!
//! A network that slows down, a new driver, a season: every speed is then *c* times what it was, the order
//! of the channels stays, and nothing has to be forgotten. But a memory that goes on averaging takes the
//! channels in use for slower than those that nobody has tried since. So when it is sure that most servers
//! changed by one factor, what the memories know is multiplied by it, for all channels (`Pool::shift`).
//!
//! With the speed *z* of an outcome, and *m* and *v*, what the long memory expected of it and its variance,
//! the last outcomes of server *r* are likelier after a change by *c* than without by
//!
//! ```text
//! L_r(c) = ( (c - 1) A_r - (c^2 - 1) B_r / 2 ) / phi        A_r = sum z m / v,   B_r = sum m^2 / v
//! ```
//!
//! as a logarithm, where *phi*, at least 1, is how many times larger than *v* the squared distances of all
//! outcomes from *c m* are: more noise is no change.
//!
//! A server that changes by itself, as a share *pi* of them does, has a factor of its own, drawn from a
//! normal law around 1 of precision *k*, or drifts as the short memory saw it, which was better by *D_r*:
//!
//! ```text
//! I_r = max( D_r, (A_r - B_r)^2 / (2 (B_r + k)) + ln( k / (B_r + k) ) / 2 )
//! evidence = sum_r ln( ( (1 - pi) exp L_r(c) + pi exp I_r ) / ( (1 - pi) + pi exp I_r ) )
//! ```
//!
//! where *A_r* and *B_r* are divided by *phi* too.
//!
//! So no server counts for more than it is unlikely to have changed by itself, for or against, and where all
//! servers drift by themselves there is little evidence of anything else. *c* is found by expectation and
//! maximisation, and drawn to 1: evidence suffices sooner where luck exaggerates the change. Three quarters
//! of the servers that were seen have to have changed by it: half a cluster that is throttled is no change of
//! all.
//!
//! Cost: an outcome costs *O(1)*, a slot *O(servers)*.
//!
//! Limits: it sees the servers in use. If these are a tenth of all or more, and all of them change, the rest
//! is taken to have changed with them.

use super::weights::damaged;
use crate::model::Remap;
use crate::stats::StateError;
use crate::stats::pooled::Tree;
use crate::stats::state::check_length;
use serde::{Deserialize, Serialize};

/// How many slots the sums look back.
const SLOTS: f64 = 40.0;
/// The evidence, as a logarithm, that is enough.
const ENOUGH: f64 = 10.0;
/// Where all outcomes together, whatever their server, say less than this, servers are not looked at.
const WORTH_A_LOOK: f64 = 5.0;
/// The share of the servers that have to be seen, where one of which *B_r* is [`SEEN`] counts half.
const LEAST_SEEN: f64 = 0.1;
const SEEN: f64 = 5.0;
/// The share of those seen that have to have changed by the factor.
const LEAST_ALIKE: f64 = 0.75;
/// Slots before which nothing is known that could have changed.
const LEAST_AGE: u64 = 100;
/// How strongly the factor is drawn to 1, as a *B*.
const DRAWN: f64 = 50.0;
/// The largest factor of one change; what is left of a larger one is found by the next slots.
const LARGEST: f64 = 3.0;
/// The precision with which a server's own factor is expected to be 1, where it changes by itself.
const OWN: f64 = 4.0;
/// Steps of expectation and maximisation.
const STEPS: usize = 5;
/// Beyond this, a logarithm of likelihoods is certainty.
const CERTAIN: f64 = 50.0;

/// Faded sums over the outcomes of a server.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShiftSums {
    /// How many.
    pub count: f64,
    /// Of *z^2 / v*.
    pub speeds: f64,
    /// Of *z m / v*: *A*.
    pub cross: f64,
    /// Of *m^2 / v*: *B*.
    pub square: f64,
    /// Of what the short memory was better by: *D*.
    pub short: f64,
}

impl ShiftSums {
    /// The sums where outcomes weigh `left`; what the short memory was better by weighs `of_short`.
    fn weighed(&self, left: f64, of_short: f64) -> Self {
        Self {
            count: left * self.count,
            speeds: left * self.speeds,
            cross: left * self.cross,
            square: left * self.square,
            short: of_short * self.short,
        }
    }

    /// The likelihoods after a change of all by `factor`, and after one of this server alone, over that of no
    /// change.
    fn likelihoods(&self, factor: f64) -> (f64, f64) {
        let moved = (factor - 1.0) * self.cross - (factor * factor - 1.0) * self.square / 2.0;
        let apart = self.cross - self.square;
        let precision = self.square + OWN;
        let own = apart * apart / (2.0 * precision) + 0.5 * (OWN / precision).ln();
        (moved.clamp(-CERTAIN, CERTAIN).exp(), self.short.max(own).clamp(-CERTAIN, CERTAIN).exp())
    }

    /// The chance that the server changed by `factor`, if most did.
    fn chance(&self, factor: f64, drifting: f64) -> f64 {
        let (moved, alone) = self.likelihoods(factor);
        let moved = (1.0 - drifting) * moved;
        moved / (moved + drifting * alone)
    }

    /// How much of the server was seen, 0 to 1, where the sums were divided by `noise`.
    fn seen(&self, noise: f64) -> f64 {
        noise * self.square / (noise * self.square + SEEN)
    }
}

/// What the last slots say of a change of all servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shift {
    /// How many slots there were.
    pub age: u64,
    /// By server.
    pub sums: Vec<ShiftSums>,
}

impl Shift {
    pub(super) fn new(servers: usize) -> Self {
        Self { age: 0, sums: vec![ShiftSums::default(); servers] }
    }

    /// Some slots pass.
    pub(super) fn advance(&mut self, slots: u64) {
        self.age = self.age.saturating_add(slots);
        let left = (1.0 - 1.0 / SLOTS).powf(slots as f64);
        self.sums.iter_mut().for_each(|sums| *sums = sums.weighed(left, left));
    }

    /// Takes an outcome of a server: its speed, which speed the long memory expected with which variance, and
    /// by how much the short memory was better, as a logarithm.
    pub(super) fn observe(&mut self, server: u32, speed: f64, expected: (f64, f64), short: f64) {
        let (expected, variance) = expected;
        let sums = &mut self.sums[server as usize];
        sums.count += 1.0;
        sums.speeds += speed * speed / variance;
        sums.cross += speed * expected / variance;
        sums.square += expected * expected / variance;
        sums.short += short;
    }

    /// The factor by which all servers changed, if that is sure; `drifting` is the share of those that drift
    /// by themselves. The sums then start anew.
    pub(super) fn found(&mut self, tree: &Tree, drifting: f64) -> Option<f64> {
        let all = |value: fn(&ShiftSums) -> f64| self.sums.iter().map(value).sum::<f64>();
        let (cross, square) = (all(|sums| sums.cross), all(|sums| sums.square));
        if self.age < LEAST_AGE || (cross - square).powi(2) <= 2.0 * WORTH_A_LOOK * square {
            return None;
        }
        let seen = all(|sums| sums.seen(1.0));
        if seen < LEAST_SEEN * tree.present as f64 {
            return None;
        }
        let noise = ((all(|sums| sums.speeds) - cross * cross / square) / all(|sums| sums.count)).max(1.0);
        let used = self.sums.iter().filter(|sums| sums.count > 0.0);
        let sums: Vec<ShiftSums> = used.map(|sums| sums.weighed(1.0 / noise, 1.0)).collect();
        let factor = likeliest(&sums, cross / square, drifting);
        let alike: f64 = sums.iter().map(|sums| sums.seen(noise) * sums.chance(factor, drifting)).sum();
        if evidence(&sums, factor, drifting) <= ENOUGH || alike < LEAST_ALIKE * seen {
            return None;
        }
        self.sums.fill(ShiftSums::default());
        Some(factor)
    }

    /// The same for the next version of a cluster.
    pub(super) fn change(&mut self, remap: &Remap) {
        let old = remap.old_servers().iter();
        self.sums =
            old.map(|old| old.map_or_else(ShiftSums::default, |old| self.sums[old.index()])).collect();
    }

    /// Refuses saved sums that are not of some outcomes of `servers` servers.
    pub(super) fn check(&self, servers: usize) -> Result<(), StateError> {
        check_length("shift", self.sums.len(), servers)?;
        let sound = |sums: &ShiftSums| {
            [sums.cross, sums.short].iter().all(|sum| sum.is_finite())
                && [sums.count, sums.speeds, sums.square].iter().all(|sum| sum.is_finite() && *sum >= 0.0)
        };
        match self.sums.iter().position(|sums| !sound(sums)) {
            None => Ok(()),
            Some(entry) => damaged("shift", entry, "expected sums of outcomes"),
        }
    }
}

/// The likeliest factor of all servers, drawn to 1.
fn likeliest(servers: &[ShiftSums], first: f64, drifting: f64) -> f64 {
    let within = |factor: f64| factor.clamp(1.0 / LARGEST, LARGEST);
    (0..STEPS).fold(within(first), |factor, _| {
        let (mut cross, mut square) = (DRAWN, DRAWN);
        for sums in servers {
            let chance = sums.chance(factor, drifting);
            cross += chance * sums.cross;
            square += chance * sums.square;
        }
        within(cross / square)
    })
}

/// How much likelier the outcomes are after a change by `factor` than without, as a logarithm.
fn evidence(servers: &[ShiftSums], factor: f64, drifting: f64) -> f64 {
    let of_server = |sums: &ShiftSums| {
        let (moved, alone) = sums.likelihoods(factor);
        let itself = drifting * alone;
        (((1.0 - drifting) * moved + itself) / (1.0 - drifting + itself)).ln()
    };
    servers.iter().map(of_server).sum()
}
