//! What must hold of any bytes whatever, in any format: the function that property tests and fuzz targets
//! call.

use crate::error::TraceError;
use crate::formats::Format;
use crate::ledger::{Fate, Ledger};
use crate::plan::Window;
use crate::scenario::{Draft, Plan};
use crate::source::{Import, Source};
use crate::summary::TraceSummary;

/// Reads bytes as a trace, tolerant and strict, and holds the outcome against the contract.
///
/// # Panics
/// When the contract is broken: that is its purpose.
pub fn hold(format: Option<Format>, bytes: &[u8]) {
    let read = |strict: bool| {
        let (mut ledger, mut summary) = (Ledger::new(strict), TraceSummary::default());
        let outcome =
            Import::open(bytes, format).and_then(|mut import| import.stream(&mut ledger, &mut summary));
        (outcome, ledger, summary)
    };
    let (outcome, ledger, mut summary) = read(false);
    let reasons = |fate: Fate| {
        ledger
            .reasons()
            .filter(|(reason, _)| reason.fate() == fate)
            .map(|(_, tally)| tally.count)
            .sum::<u64>()
    };
    assert!(ledger.skipped <= reasons(Fate::Skipped), "every skipped row has a reason");
    assert!(ledger.repaired <= reasons(Fate::Repaired), "every repaired row has a reason");
    for (reason, tally) in ledger.reasons() {
        let place = tally.first.as_ref().expect("what is counted has a first place");
        assert!(place.line > 0 && place.column > 0 && place.value.len() < 300, "{reason:?} {place:?}");
    }
    match &outcome {
        // One row may leave its account open when reading ends in it.
        Ok(()) => {
            assert!(ledger.rows() <= bytes.len().max(1) as u64 * 1100, "no more rows than bytes, unpacked")
        }
        Err(error) => placed(error),
    }
    let told = summary.finish();
    if let Some(tasks) = &told.tasks {
        assert!(tasks.count <= ledger.rows() && tasks.first_arrival >= 0.0 && tasks.last_arrival.is_finite());
        assert!(tasks.requests.iter().all(|vector| vector.request.iter().all(|amount| *amount >= 0.0)));
    }
    // A scenario comes out, or a sentence.
    let window = Window { slots: 10, servers: 4, ..Window::default() };
    let plan = Plan { window, ..Plan::default() };
    match Draft::new(plan, &mut summary).and_then(Draft::finish) {
        Ok(built) => assert!(!built.toml.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let (strict, ledger, _) = read(true);
    match strict {
        Ok(()) => assert_eq!(ledger.repaired + ledger.skipped, 0, "strict tolerates nothing"),
        Err(error) => placed(&error),
    }
}

fn placed(error: &TraceError) {
    let text = error.to_string();
    assert!(text.contains("line "), "{text}");
    if !matches!(error, TraceError::Read { .. }) {
        assert!(text.contains(", column "), "{text}");
    }
    assert!(!text.contains('\n') && text.len() < 2000, "one sentence: {text}");
}
