//! Which scenario: a file or a preset, with the common flags on top.

use anyhow::{Context, bail};
use clap::Args;
use esdp::scenario::{LabelledPolicy, Scenario, ScenarioError, presets};
use std::path::{Path, PathBuf};

/// The flags that choose and change a scenario, shared by the commands that simulate.
#[derive(Debug, Clone, Default, Args)]
pub struct SourceArgs {
    /// The scenario, a TOML file
    #[arg(value_name = "SCENARIO.toml", conflicts_with = "preset")]
    file: Option<PathBuf>,
    /// A scenario that comes with esdp; `default` where no file is given either
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The first seed; the others follow it
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<String>,
    /// How many seeds
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seeds: Option<String>,
    /// How many slots to simulate
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    slots: Option<String>,
    /// Which policies, by label or name
    #[arg(long, value_name = "a,b,c", value_delimiter = ',')]
    policies: Vec<String>,
}

impl SourceArgs {
    /// A file or a preset and a seed, for commands that play one run.
    pub(crate) fn one(file: Option<PathBuf>, preset: Option<String>, seed: Option<u64>) -> Self {
        Self { file, preset, seed: seed.map(|seed| seed.to_string()), ..Self::default() }
    }

    /// Whether the user named a scenario.
    pub(crate) fn is_given(&self) -> bool {
        self.file.is_some() || self.preset.is_some()
    }

    /// Reads the scenario and changes it as the flags say.
    ///
    /// # Errors
    /// With the file or flag, the key, its value and what is accepted.
    pub fn scenario(&self) -> anyhow::Result<Scenario> {
        let mut scenario = match &self.file {
            Some(file) => from_file(file)?,
            None => from_preset(self.preset.as_deref().unwrap_or("default"))?,
        };
        // The number of seeds before the first: it turns a list into a range.
        let flags = [
            ("--seeds", "seeds.count", &self.seeds),
            ("--seed", "seeds.first", &self.seed),
            ("--slots", "slots", &self.slots),
        ];
        for (flag, key, value) in flags {
            let Some(value) = value else { continue };
            // In TOML `1_0` and `0x10` are numbers too; on a command line they are typing errors.
            if value.parse::<u64>().is_err() {
                bail!("{flag} {value}: expected a whole number");
            }
            scenario = scenario.set(key, value).with_context(|| format!("{flag} {value}"))?;
        }
        if !self.policies.is_empty() {
            let list = self.policies(&scenario);
            let flag = || format!("--policies {}", self.policies.join(","));
            scenario = scenario.set("policies", &list?).with_context(flag)?;
        }
        Ok(scenario)
    }

    /// A preset of the suite, with its slots, policies and number of seeds where the flags say nothing else.
    pub(crate) fn of_suite(&self, preset: &str, slots: u64, policies: &[&str], seeds: u64) -> anyhow::Result<Scenario> {
        let mut one = Self { preset: Some(preset.to_owned()), ..self.clone() };
        one.slots.get_or_insert(slots.to_string());
        one.seeds.get_or_insert(seeds.to_string());
        if one.policies.is_empty() {
            one.policies = policies.iter().map(|&policy| policy.to_owned()).collect();
        }
        one.scenario()
    }

    /// The policies as a TOML list: with the scenario's parameters where it has one of that label.
    fn policies(&self, scenario: &Scenario) -> anyhow::Result<String> {
        let chosen = |name: &String| {
            let name = name.trim();
            let known = scenario.policies().iter().find(|policy: &&LabelledPolicy| policy.label == name);
            known.map_or_else(|| Ok(toml::Value::from(name)), toml::Value::try_from)
        };
        let list = self.policies.iter().map(chosen).collect::<Result<Vec<_>, _>>()?;
        Ok(toml::Value::Array(list).to_string())
    }

    /// Where results go unless told: `out/`, and in there the scenario's name.
    pub(crate) fn default_out(&self, scenario: &Scenario) -> PathBuf {
        let stem = self.file.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy());
        // A file without a name is called by its own.
        let name = match (scenario.name(), stem) {
            ("custom", Some(stem)) => stem.into_owned(),
            (name, _) => name.to_owned(),
        };
        // A name is anything; a directory shall not be above `out`, nor hidden.
        let safe = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
        let name: String = name.chars().map(safe).collect();
        let name = name.trim_matches(['.', '-']);
        Path::new("out").join(if name.is_empty() { "custom" } else { name })
    }
}

fn from_file(file: &Path) -> anyhow::Result<Scenario> {
    let text = std::fs::read_to_string(file).context("cannot be read").with_context(|| file.display().to_string())?;
    Scenario::from_toml(&text).map_err(|error: ScenarioError| anyhow::anyhow!("{}: {error}", file.display()))
}

fn from_preset(name: &str) -> anyhow::Result<Scenario> {
    let names = || presets().iter().map(|preset| preset.0).collect::<Vec<_>>().join(", ");
    let Some((_, text)) = presets().iter().find(|preset| preset.0 == name) else {
        bail!("--preset {name}: unknown, expected one of {}", names());
    };
    Scenario::from_toml(text).with_context(|| format!("preset {name}"))
}

/// The seeds in words: `0 to 9`, or a list.
pub(crate) fn seeds_in_words(seeds: &[u64]) -> String {
    match seeds {
        [first, .., last] if seeds.windows(2).all(|pair| pair[0] + 1 == pair[1]) => format!("{first} to {last}"),
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_change_the_scenario() {
        let args = SourceArgs {
            seed: Some("5".into()),
            seeds: Some("3".into()),
            slots: Some("70".into()),
            policies: vec!["cts".into(), " esdp".into()],
            ..SourceArgs::default()
        };
        let scenario = args.scenario().unwrap();
        assert_eq!((scenario.seeds(), scenario.slots()), ([5, 6, 7].as_slice(), 70));
        let labels: Vec<&str> = scenario.policies().iter().map(|policy| policy.label.as_str()).collect();
        assert_eq!(labels, ["cts", "esdp"]);
        assert_eq!(args.default_out(&scenario), Path::new("out/default"));
    }

    #[test]
    fn a_chosen_policy_keeps_the_parameters_of_the_scenario() {
        let args = SourceArgs {
            preset: Some("g".into()),
            policies: vec!["g = ln(t+1)".into(), "random".into()],
            ..SourceArgs::default()
        };
        let (all, chosen) = (Scenario::preset("g").unwrap(), args.scenario().unwrap());
        assert_eq!(chosen.policies()[0], *all.policies().last().unwrap());
    }

    #[test]
    fn a_bad_flag_is_named() {
        let refused = |args: SourceArgs| format!("{:#}", args.scenario().unwrap_err());
        let slots = refused(SourceArgs { slots: Some("0".into()), ..SourceArgs::default() });
        assert!(slots.starts_with("--slots 0: `slots` is 0, expected a whole number from 1"), "{slots}");
        let seeds = refused(SourceArgs { seeds: Some("-3".into()), ..SourceArgs::default() });
        assert!(seeds.starts_with("--seeds -3: "), "{seeds}");
        let policy = refused(SourceArgs { policies: vec!["cst".into()], ..SourceArgs::default() });
        assert!(policy.contains("unknown policy `cst`, expected one of"), "{policy}");
        let preset = refused(SourceArgs { preset: Some("nope".into()), ..SourceArgs::default() });
        assert!(preset.starts_with("--preset nope: unknown, expected one of default, literal"), "{preset}");
    }

    #[test]
    fn a_name_stays_below_out() {
        let named = |name: &str| {
            let scenario = Scenario::preset("default").unwrap().set("name", &format!("{name:?}")).unwrap();
            SourceArgs::default().default_out(&scenario).display().to_string()
        };
        assert_eq!(named("../../etc"), "out/etc");
        assert_eq!(named("my run"), "out/my-run");
        assert_eq!(named("."), "out/custom");
    }

    #[test]
    fn seeds_read_well() {
        assert_eq!(seeds_in_words(&[0, 1, 2]), "0 to 2");
        assert_eq!(seeds_in_words(&[7]), "7");
        assert_eq!(seeds_in_words(&[3, 14]), "3, 14");
    }
}
