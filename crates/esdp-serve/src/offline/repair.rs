//! A new journal from what is sound of a damaged one, and a list of what is lost by that.
//!
//! The old directory is only read, from a copy: nothing that may help is overwritten. What is lost is what
//! somebody was told and the new journal does not have. It is read from the frames after the damage, as far
//! as they can be read, and from the answers that are kept.

use super::OfflineError;
use crate::engine::PolicyMaker;
use crate::engine::answers::{Answers, answered_starts};
use crate::engine::core::Core;
use crate::engine::recover;
use crate::storage::salvage::{self, RawFrame, RawSnapshot, Salvage, Sound};
use crate::storage::{DataLock, Frame, SlotRow, StorageError};
use esdp::live::{Decided, DecidedStart, Event};
use esdp::policy::PolicySpec;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use thiserror::Error;

/// As many answers are kept [default of `kept_slots`].
const MOST_SLOTS: u64 = 20_000;
/// The tokens go with the data: without them, a service on the loopback address is open.
const TOKENS: &str = "tokens.json";

/// Why a journal was not repaired. Fatal; the old directory is as it was.
#[derive(Debug, Error)]
pub enum RepairError {
    /// The data cannot be read, or the new data cannot be written.
    #[error(transparent)]
    Offline(#[from] OfflineError),
    /// The new directory is in use.
    #[error("`{0}` is not empty; give a new directory to --out")]
    NotEmpty(String),
    /// The policy is not known any more.
    #[error(
        "the note of the policy is damaged ({0}); say which it was by --policy, and --seed if it was not 0"
    )]
    Policy(OfflineError),
    /// Nothing is sound.
    #[error("nothing can be repaired: {0}; restore a backup")]
    Nothing(String),
    /// More is asked for than there is.
    #[error("the journal is sound up to event {sound} only, {asked} was asked for by --to: {why}")]
    TooFar {
        /// The last event up to which all is sound.
        sound: u64,
        /// The event asked for.
        asked: u64,
        /// What is wrong after it.
        why: String,
    },
    /// The system.
    #[error("{0}")]
    Io(String),
}

impl From<StorageError> for RepairError {
    fn from(error: StorageError) -> Self {
        Self::Offline(error.into())
    }
}

/// What was repaired, and what is lost.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Repaired {
    /// The last event of the new journal.
    pub to: u64,
    /// Why the old one is not sound after it, as far as that is known.
    pub why: Vec<String>,
    /// The last event that somebody was told of, as far as that is known.
    pub acknowledged: u64,
    /// The events after `to` that cannot be read, as ranges.
    pub unreadable: Vec<(u64, u64)>,
    /// Slots whose answers are not kept any more.
    pub slots: Vec<LostSlot>,
    /// Jobs of which something was said in lost events.
    pub jobs: Vec<LostJob>,
    /// Outcomes that have to be reported again, or are not learned.
    pub outcomes: Vec<LostOutcome>,
    /// Other lost events, by kind.
    pub others: BTreeMap<String, u64>,
}

/// A slot that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostSlot {
    /// The slot.
    pub slot: u64,
    /// Its key, if it can be read.
    pub key: Option<String>,
    /// What clients were told to start, if it can be read.
    pub starts: Option<Vec<DecidedStart>>,
}

/// A job of which something is lost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LostJob {
    /// The job.
    pub job: String,
    /// What: `submitted`, `started`, `ended` or `cancelled`.
    pub what: &'static str,
}

/// An outcome that was reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LostOutcome {
    /// Its place in the journal.
    pub event: u64,
    /// The event.
    pub report: Event,
}

/// One way from a snapshot, or from the beginning.
struct Way {
    base: Option<RawSnapshot>,
    frames: Vec<(Frame, RawFrame)>,
    core: Core,
    /// Why it ends where it ends; none if nothing more is wanted or there.
    fault: Option<String>,
}

/// Writes the journal up to an event, or as far as it is sound, to a new directory; `policy` with its seed is
/// taken instead of the one that is noted.
///
/// # Errors
/// When nothing is sound, less than was asked for, or the new directory cannot be written.
pub fn repair(
    directory: &Path,
    to: Option<u64>,
    policy: Option<(&PolicySpec, u64)>,
    out: &Path,
) -> Result<Repaired, RepairError> {
    let io = |error: std::io::Error| RepairError::Io(format!("{}: {error}", out.display()));
    if std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(RepairError::NotEmpty(out.display().to_string()));
    }
    let _lock = directory.join("lock").exists().then(|| DataLock::take(directory)).transpose()?;
    crate::private::make_directory(out).map_err(io)?;
    let copy = out.join("copy");
    std::fs::create_dir(&copy).map_err(io)?;
    let done = from_copy(directory, &copy, to, policy, out);
    std::fs::remove_dir_all(&copy).map_err(io)?;
    let done = done?;
    super::verify(out)?;
    Ok(done)
}

fn from_copy(
    directory: &Path,
    copy: &Path,
    to: Option<u64>,
    policy: Option<(&PolicySpec, u64)>,
    out: &Path,
) -> Result<Repaired, RepairError> {
    let old = Salvage::open(directory, copy).map_err(|error| RepairError::Nothing(error.to_string()))?;
    let mut repaired = Repaired::default();
    if !old.notes_fit {
        repaired.why.push("the notes: their checksum does not fit".to_owned());
    }
    let mut notes = old.notes();
    if let Some((spec, seed)) = policy {
        notes.retain(|(key, _)| key != "policy");
        notes.push(("policy".to_owned(), crate::policy_note(spec, seed)));
    }
    let (snapshots, faults) = old.snapshots();
    repaired.why.extend(faults);
    let (rows, mut damaged, from_start) = old.slots();
    repaired.why.extend(damaged.iter().map(|slot| format!("the answer of slot {slot} is damaged")));
    let way = best_way(&old, &snapshots, &rows, &notes, to.unwrap_or(u64::MAX))?;
    repaired.to = way.core.sequence();
    if let (Some(asked), Some(why)) = (to, &way.fault)
        && asked > repaired.to
    {
        return Err(RepairError::TooFar { sound: repaired.to, asked, why: why.clone() });
    }
    repaired.why.extend(way.fault.clone());
    let (kept, lost): (Vec<SlotRow>, Vec<SlotRow>) =
        rows.into_iter().partition(|row| row.slot <= way.core.slot());
    // Slots follow each other: where one is missing, its answer cannot be read.
    let last = way.core.slot();
    let first = match kept.first() {
        Some(row) if from_start => row.slot,
        _ => last.saturating_sub(MOST_SLOTS).max(1),
    };
    let known: BTreeSet<u64> = kept.iter().map(|row| row.slot).chain(damaged.iter().copied()).collect();
    damaged.extend((first..=last).filter(|slot| !known.contains(slot)));
    // A later snapshot bounds the next start, and is compared then.
    let base = way.base.as_ref().map_or(0, |base| base.row().sequence);
    let between = |snapshot: &&RawSnapshot| (base + 1..=repaired.to).contains(&snapshot.row().sequence);
    let snapshots: Vec<RawSnapshot> =
        way.base.iter().chain(snapshots.iter().filter(between)).cloned().collect();
    repaired.list(&old, &way, &kept, &lost, &damaged);
    let gone: Vec<String> = repaired
        .slots
        .iter()
        .filter(|lost| lost.slot <= way.core.slot())
        .map(|lost| lost.slot.to_string())
        .collect();
    if !gone.is_empty() {
        notes.push((recover::LOST_NOTE.to_owned(), gone.join(" ")));
    }
    let frames: Vec<RawFrame> = way.frames.into_iter().map(|(_, raw)| raw).collect();
    salvage::write(out, &notes, &snapshots, &frames, &kept, &old.audit(repaired.to))?;
    let tokens = directory.join(TOKENS);
    if tokens.exists() {
        let failed = |error: std::io::Error| RepairError::Io(format!("{}: {error}", tokens.display()));
        std::fs::copy(&tokens, out.join(TOKENS)).map_err(failed)?;
    }
    Ok(repaired)
}

/// The way that leads farthest; the one from the oldest snapshot, if several do.
fn best_way(
    old: &Salvage,
    snapshots: &[RawSnapshot],
    rows: &[SlotRow],
    notes: &[(String, String)],
    limit: u64,
) -> Result<Way, RepairError> {
    let note = |name: &str| notes.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let policy = super::maker(note("policy").map(|note| crate::todays_policy(&note)));
    let policy = policy.map_err(RepairError::Policy)?;
    let accepted = note(recover::ACCEPTED_NOTE).and_then(|event| event.parse().ok()).unwrap_or(0);
    let answers =
        Answers::of(rows.iter().cloned()).map_err(|error| RepairError::Nothing(error.to_string()))?;
    let mut best: Option<Way> = None;
    let mut why = "no snapshot is sound, and the first events are not there".to_owned();
    let from_start = (old.first() == Some(1)).then_some(None);
    let fit = snapshots.iter().filter(|snapshot| snapshot.row().sequence <= limit);
    for base in from_start.into_iter().chain(fit.cloned().map(Some)) {
        let Sound { mut frames, fault } =
            base.as_ref().map_or_else(|| old.all_frames(), |base| old.frames(base));
        let mut fault = fault.map(|fault| fault.to_string());
        let last = |frame: &Frame| frame.sequence + frame.events.len() as u64 - 1;
        let within = frames.partition_point(|(frame, _)| last(frame) <= limit);
        if within < frames.len() {
            (frames, fault) = (frames.drain(..within).collect(), None);
        }
        let walked = walk(base.as_ref(), &frames, &policy, &answers, accepted);
        let (core, walked) = match walked {
            Ok((core, None)) => (Ok(core), None),
            // Once more, up to the frame before the one that does not fit.
            Ok((_, Some((good, fault)))) => {
                frames.truncate(good);
                (walk(base.as_ref(), &frames, &policy, &answers, accepted).map(|(core, _)| core), Some(fault))
            }
            Err(error) => (Err(error), None),
        };
        let fault = walked.or(fault);
        match core {
            Ok(core) if best.as_ref().is_none_or(|best| core.sequence() > best.core.sequence()) => {
                best = Some(Way { base, frames, core, fault });
            }
            Ok(_) => {}
            Err(error) => why = error,
        }
    }
    best.filter(|way| way.core.sequence() > 0).ok_or(RepairError::Nothing(why))
}

/// Goes from a snapshot over frames: the state after them, or how many of them are sound and why not more.
fn walk(
    base: Option<&RawSnapshot>,
    frames: &[(Frame, RawFrame)],
    policy: &PolicyMaker,
    answers: &Answers,
    accepted: u64,
) -> Result<(Core, Option<(usize, String)>), String> {
    let live = base.map(|base| recover::restore(&base.row(), policy)).transpose();
    let mut core = Core::new(live.map_err(|error| error.to_string())?, PolicyMaker::clone(policy));
    for (good, (frame, _)) in frames.iter().enumerate() {
        let fault = match core.redo(frame, answers) {
            Err(error) => error.to_string(),
            Ok(()) if frame.sequence > accepted && !core.fits(frame) => {
                format!("the frame at event {} gives another state than when it was written", frame.sequence)
            }
            Ok(()) => continue,
        };
        return Ok((core, Some((good, fault))));
    }
    Ok((core, None))
}

impl Repaired {
    /// Lists what is lost: what frames after the end say, and answers that have no place in the new journal.
    fn list(&mut self, old: &Salvage, way: &Way, kept: &[SlotRow], lost: &[SlotRow], damaged: &[u64]) {
        let Sound { mut frames, .. } = old.frames_after(self.to, None);
        let read = frames.last().map_or(self.to, |(frame, _)| frame.sequence + frame.events.len() as u64 - 1);
        let mut readable: Vec<Frame> = frames.drain(..).map(|(frame, _)| frame).collect();
        readable.extend(old.last_frames(read));
        let mut slots: BTreeMap<u64, LostSlot> = BTreeMap::new();
        let mut jobs: BTreeSet<LostJob> = BTreeSet::new();
        let mut next = self.to + 1;
        for frame in &readable {
            if frame.sequence > next {
                self.unreadable.push((next, frame.sequence - 1));
            }
            next = frame.sequence + frame.events.len() as u64;
            for (place, event) in frame.events.iter().enumerate() {
                self.lose(frame.sequence + place as u64, event, &mut slots, &mut jobs);
            }
        }
        self.acknowledged = old.acknowledged.unwrap_or(0).max(next - 1);
        if self.acknowledged >= next {
            self.unreadable.push((next, self.acknowledged));
            self.why.push(format!("events {next} to {} were acknowledged and are gone", self.acknowledged));
        }
        for row in lost {
            let starts = answered_starts(&row.answer).ok();
            for start in starts.iter().flatten() {
                jobs.insert(LostJob { job: start.job.clone(), what: "started" });
            }
            let answered = LostSlot { slot: row.slot, key: Some(row.key.clone()), starts };
            slots.entry(row.slot).or_insert(answered);
        }
        // Answers of slots that are in the new journal, and cannot be given again.
        let oldest = kept.first().map(|row| row.slot);
        let kept: BTreeSet<u64> = kept.iter().map(|row| row.slot).collect();
        for (frame, _) in &way.frames {
            for event in &frame.events {
                let Event::Decided(Decided { slot, key, starts, .. }) = event else { continue };
                let expected = damaged.contains(&slot.0) || oldest.is_none_or(|oldest| slot.0 > oldest);
                if !kept.contains(&slot.0) && !key.is_empty() && expected {
                    let (key, starts) = (Some(key.clone()), Some(starts.clone()));
                    slots.insert(slot.0, LostSlot { slot: slot.0, key, starts });
                }
            }
        }
        for &slot in damaged {
            slots.entry(slot).or_insert(LostSlot { slot, key: None, starts: None });
        }
        self.slots = slots.into_values().collect();
        self.jobs = jobs.into_iter().collect();
    }

    /// An event that is not in the new journal.
    fn lose(
        &mut self,
        at: u64,
        event: &Event,
        slots: &mut BTreeMap<u64, LostSlot>,
        jobs: &mut BTreeSet<LostJob>,
    ) {
        let mut of_job = |job: &str, what| jobs.extend([LostJob { job: job.to_owned(), what }]);
        match event {
            Event::Submitted { job, .. } => of_job(job, "submitted"),
            Event::Ended { job } => of_job(job, "ended"),
            Event::Cancelled { job } => of_job(job, "cancelled"),
            Event::Decided(Decided { slot, key, starts, .. }) => {
                starts.iter().for_each(|start| of_job(&start.job, "started"));
                let (key, starts) = (Some(key.clone()), Some(starts.clone()));
                slots.insert(slot.0, LostSlot { slot: slot.0, key, starts });
            }
            Event::Reported { .. } | Event::Observed { .. } => {
                self.outcomes.push(LostOutcome { event: at, report: event.clone() });
            }
            // They say no more than the decision before them.
            Event::SlotDue { .. } | Event::Accepted { .. } => {}
            other => {
                let value = serde_json::to_value(other).unwrap_or_default();
                let kind = value["event"].as_str().unwrap_or("unknown").to_owned();
                *self.others.entry(kind).or_default() += 1;
            }
        }
    }
}
