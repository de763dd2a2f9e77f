//! Who runs: the paper's policies in every reading of them, ours, and the oracle.

use esdp::policy::{EsdpPaperSpec, HaufSpec, LcfSpec, LwtfSpec, PolicySpec, Rank};
use esdp::scenario::LabelledPolicy;

/// Those under their own names.
const NAMED: [&str; 7] = ["oracle", "esdp", "esdp-index", "esdp-paper", "hauf", "lcf", "lwtf"];

/// What ends the label of a baseline that stops at what does not fit.
pub(super) const STOPS: &str = "-stop";
/// HAUF that ranks channels one by one.
pub(super) const BY_CHANNEL: &str = "hauf-channel";
/// The paper's policy without its covering round.
pub(super) const UNCOVERED: &str = "esdp-paper, no cover";

fn labelled(label: &str, spec: PolicySpec) -> LabelledPolicy {
    LabelledPolicy { label: label.to_owned(), spec }
}

fn named(names: &[&str]) -> anyhow::Result<Vec<LabelledPolicy>> {
    Ok(names.iter().map(|name| LabelledPolicy::named(name)).collect::<Result<_, _>>()?)
}

/// The policies of the paper's figures in every reading, ours, and the oracle.
pub(super) fn figured() -> anyhow::Result<Vec<LabelledPolicy>> {
    let hauf = |by, stop| PolicySpec::Hauf(HaufSpec { by, stop });
    let mut all = named(&NAMED)?;
    all.extend([
        labelled(BY_CHANNEL, hauf(Rank::Channel, false)),
        labelled(&format!("hauf{STOPS}"), hauf(Rank::Port, true)),
        labelled(&format!("{BY_CHANNEL}{STOPS}"), hauf(Rank::Channel, true)),
        labelled(&format!("lcf{STOPS}"), PolicySpec::Lcf(LcfSpec { stop: true })),
        labelled(&format!("lwtf{STOPS}"), PolicySpec::Lwtf(LwtfSpec { stop: true })),
    ]);
    Ok(all)
}

/// The paper's policy with and without a round that tries every channel first, and who may be ahead of it.
pub(super) fn starts() -> anyhow::Result<Vec<LabelledPolicy>> {
    let uncovered = EsdpPaperSpec { cover: false, ..EsdpPaperSpec::default() };
    let mut all = named(&["oracle", "esdp", "esdp-paper", "hauf"])?;
    all.push(labelled(UNCOVERED, PolicySpec::EsdpPaper(uncovered)));
    all.push(labelled(BY_CHANNEL, PolicySpec::Hauf(HaufSpec { by: Rank::Channel, ..HaufSpec::default() })));
    Ok(all)
}
