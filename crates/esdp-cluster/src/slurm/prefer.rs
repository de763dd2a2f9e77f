//! Speed classes as node features, and a `job_submit.lua` that lets jobs prefer them: nothing is held, and
//! Slurm decides.
//!
//! A rule of the configuration, `train` say, gives the feature `esdp_train` to the nodes that are fast for
//! its jobs: those whose learned speed is at least [`SHARE`] of the best. The script adds
//! `--prefer=esdp_train` to jobs that fit the rule and prefer nothing else.

use super::config::{Config, TypeRule};
use super::node::SlurmNode;
use esdp_serve::engine::ChannelRow;
use std::collections::{BTreeMap, BTreeSet};

/// How all features of ours begin.
const PREFIX: &str = "esdp_";
/// What a node that is fast has of the best node's speed, at least.
pub const SHARE: f64 = 0.75;
/// How many outcomes tell a speed.
const ENOUGH: f64 = 3.0;

/// The features of a node, as they are and as they should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    /// The node.
    pub node: String,
    /// Its features.
    pub from: Vec<String>,
    /// Those it shall have.
    pub to: Vec<String>,
}

/// The feature of a rule; Slurm allows letters, digits and `_`.
pub fn feature(rule: &TypeRule) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("{PREFIX}{}", rule.name.chars().map(plain).collect::<String>())
}

/// The features that nodes shall have: their own, and ours for the rules whose jobs they are fast for.
pub fn plan(config: &Config, nodes: &[SlurmNode], beliefs: &[ChannelRow]) -> Vec<Features> {
    let mut fast: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for rule in &config.port {
        let ports =
            |row: &&ChannelRow| row.port.split(' ').next() == Some(rule.name.as_str()) && row.count >= ENOUGH;
        // A rule's jobs may be of several sizes; a node counts by the one on which it does best against the
        // others.
        let mut best: BTreeMap<&str, f64> = BTreeMap::new();
        for row in beliefs.iter().filter(ports) {
            let top = best.entry(&row.port).or_default();
            *top = top.max(row.mean);
        }
        for row in beliefs.iter().filter(ports).filter(|row| row.mean >= SHARE * best[row.port.as_str()]) {
            fast.entry(&row.server).or_default().insert(feature(rule));
        }
    }
    let change = |node: &SlurmNode| {
        let own = node.features.iter().filter(|feature| !feature.starts_with(PREFIX)).cloned();
        let ours = fast.get(node.name.as_str()).into_iter().flatten().cloned();
        Features { node: node.name.clone(), from: node.features.clone(), to: own.chain(ours).collect() }
    };
    nodes.iter().map(change).collect()
}

/// The features of nodes without any of ours.
pub fn restoration(nodes: &[SlurmNode]) -> Vec<Features> {
    plan(&Config::default(), nodes, &[])
}

/// The lines for `scontrol`.
pub fn lines(changes: &[Features]) -> Vec<String> {
    let moved = changes.iter().filter(|change| change.from != change.to);
    let line = |change: &Features| {
        let list = change.to.join(",");
        format!("update nodename={} availablefeatures={list} activefeatures={list}", change.node)
    };
    moved.map(line).collect()
}

/// The script, for the rules that name jobs or accounts by a pattern.
pub fn script(config: &Config) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace(['"', '\\', '\n'], ""));
    let pattern = |given: &Option<String>| {
        // Lua's patterns: `*` becomes `.*`, all else is taken as it is.
        let escape = |c: char| match c {
            '*' => ".*".to_owned(),
            c if c.is_ascii_alphanumeric() || c == '_' => c.to_string(),
            c => format!("%{c}"),
        };
        quoted_pattern(&given.as_deref().unwrap_or("*").chars().map(escape).collect::<String>())
    };
    let row = |rule: &TypeRule| {
        let (job, account, feature) = (pattern(&rule.job), pattern(&rule.account), quoted(&feature(rule)));
        format!("  {{ job = {job}, account = {account}, feature = {feature} }},\n")
    };
    let rows: String = config.port.iter().map(row).collect();
    format!(
        r#"-- Written by `esdp slurm prefer --print-lua`. Jobs prefer the nodes that are fast for
-- them; nothing is held.
-- To go back: take `lua` out of JobSubmitPlugins, `scontrol reconfigure`, and `esdp slurm prefer --restore`.

local rules = {{
{rows}}}

function slurm_job_submit(job_desc, part_list, submit_uid)
  if job_desc.prefer ~= nil and job_desc.prefer ~= "" then return slurm.SUCCESS end
  for _, rule in ipairs(rules) do
    if string.match(job_desc.name or "", rule.job) and string.match(job_desc.account or "", rule.account) then
      job_desc.prefer = rule.feature
      return slurm.SUCCESS
    end
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
"#
    )
}

fn quoted_pattern(pattern: &str) -> String {
    format!("\"^{}$\"", pattern.replace(['"', '\\', '\n'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(port: &str, server: &str, mean: f64, count: f64) -> ChannelRow {
        ChannelRow {
            port: port.to_owned(),
            group: "node".to_owned(),
            server: server.to_owned(),
            mean,
            interval: None,
            count,
            pending: 0,
            unit: "work/s",
            estimate: 0.5,
        }
    }

    #[test]
    fn fast_nodes_get_the_feature_and_keep_their_own() {
        let rule =
            TypeRule { name: "train".to_owned(), job: Some("train-*".to_owned()), ..TypeRule::default() };
        let config = Config { port: vec![rule], ..Config::default() };
        let node = |name: &str, features: &[&str]| SlurmNode {
            name: name.to_owned(),
            features: features.iter().map(|&feature| feature.to_owned()).collect(),
            ..SlurmNode::default()
        };
        let nodes = [node("a", &["big"]), node("b", &["big", "esdp_train"]), node("c", &[]), node("d", &[])];
        let beliefs = [
            row("train 2n cpu:1", "a", 10.0, 5.0),
            row("train 2n cpu:1", "b", 4.0, 5.0),
            row("train 2n cpu:1", "c", 9.0, 5.0),
            row("train 2n cpu:1", "d", 11.0, 1.0),
            row("serve 1n cpu:1", "d", 11.0, 9.0),
        ];
        let lines = lines(&plan(&config, &nodes, &beliefs));
        assert_eq!(
            lines,
            [
                "update nodename=a availablefeatures=big,esdp_train activefeatures=big,esdp_train",
                "update nodename=b availablefeatures=big activefeatures=big",
                "update nodename=c availablefeatures=esdp_train activefeatures=esdp_train",
            ]
        );
        assert_eq!(super::lines(&restoration(&nodes)).len(), 1);
        assert!(
            script(&config).contains(r#"{ job = "^train%-.*$", account = "^.*$", feature = "esdp_train" }"#)
        );
    }
}
