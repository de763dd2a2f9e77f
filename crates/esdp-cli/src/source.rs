//! Which scenario: a file or a preset, with the common flags on top.

use crate::output::whole;
use anyhow::{Context, bail};
use clap::Args;
use esdp::scenario::{Scenario, ScenarioError, nearest, presets};
use std::io;
use std::path::{Path, PathBuf};

/// The flags that choose and change a scenario, shared by the commands that simulate.
#[derive(Debug, Clone, Default, Args)]
pub struct SourceArgs {
    /// The scenario, a TOML file; `-` is standard input
    #[arg(value_name = "SCENARIO.toml", conflicts_with = "preset")]
    file: Option<PathBuf>,
    /// A scenario that comes with esdp, see `esdp presets` [default: `default`, if no file is given]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The first seed; the others follow it
    #[arg(long, value_name = "N", value_parser = whole(0, u64::MAX), allow_negative_numbers = true)]
    seed: Option<u64>,
    /// How many seeds
    #[arg(long, value_name = "N", value_parser = whole(0, u64::MAX), allow_negative_numbers = true)]
    seeds: Option<u64>,
    /// How many slots to simulate
    #[arg(long, value_name = "T", value_parser = whole(0, u64::MAX), allow_negative_numbers = true)]
    slots: Option<u64>,
    /// Which policies, by label or name
    #[arg(long, value_name = "a,b,c", value_delimiter = ',')]
    policies: Vec<String>,
}

impl SourceArgs {
    /// A file or a preset and a seed, for commands that play one run.
    pub(crate) fn one(file: Option<PathBuf>, preset: Option<String>, seed: Option<u64>) -> Self {
        Self { file, preset, seed, ..Self::default() }
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
        if let Some(count) = self.seeds {
            scenario = scenario.with_seed_count(count).with_context(|| format!("--seeds {count}"))?;
        }
        if let Some(first) = self.seed {
            scenario = scenario.with_first_seed(first).with_context(|| format!("--seed {first}"))?;
        }
        if let Some(slots) = self.slots {
            scenario = scenario.with_slots(slots).with_context(|| format!("--slots {slots}"))?;
        }
        with_policies(scenario, &self.policies)
    }

    /// A preset of the suite, with its slots, policies and number of seeds where the flags say nothing else.
    pub(crate) fn of_suite(
        &self,
        preset: &str,
        slots: u64,
        policies: &[&str],
        seeds: u64,
    ) -> anyhow::Result<Scenario> {
        let mut one = Self { preset: Some(preset.to_owned()), ..self.clone() };
        one.slots.get_or_insert(slots);
        one.seeds.get_or_insert(seeds);
        if one.policies.is_empty() {
            one.policies = policies.iter().map(|&policy| policy.to_owned()).collect();
        }
        one.scenario()
    }

    /// Where results go by default: `out/`, and in there the scenario's name.
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

/// The scenario with the policies of a flag, by label or name; its own where none is given.
///
/// # Errors
/// With the flag and the name that is unknown.
pub(crate) fn with_policies(scenario: Scenario, names: &[String]) -> anyhow::Result<Scenario> {
    if names.is_empty() {
        return Ok(scenario);
    }
    let chosen = scenario.choose(names.iter().map(|name| name.trim()));
    chosen.with_context(|| format!("--policies {}", names.join(",")))
}

/// Reads and checks a scenario; `-` is standard input.
///
/// # Errors
/// With the file, the line, the key, its value and what is accepted.
pub(crate) fn from_file(file: &Path) -> anyhow::Result<Scenario> {
    let text =
        if file == Path::new("-") { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(file) };
    let text = text.map_err(|error| unreadable(file, error))?;
    // What it names is beside it; what comes from the standard input has no place, and is where we are.
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut read = |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string());
    Scenario::from_toml_with(&text, &mut read)
        .map_err(|error: ScenarioError| anyhow::anyhow!("{}: {error}", file.display()))
}

/// Why a file cannot be read. A word that is a preset's name was meant as that.
fn unreadable(file: &Path, error: io::Error) -> anyhow::Error {
    let path = file.display();
    let name = file.to_str().filter(|_| error.kind() == io::ErrorKind::NotFound);
    match name.and_then(|name| presets().iter().find(|preset| preset.0 == name)) {
        Some((name, _)) => anyhow::anyhow!(
            "{path}: there is no such file, but a preset: `--preset {name}` chooses it, `esdp scenario show \
             {name}` prints it"
        ),
        None => anyhow::Error::new(error).context("cannot be read").context(path.to_string()),
    }
}

fn from_preset(name: &str) -> anyhow::Result<Scenario> {
    let names = || presets().iter().map(|preset| preset.0);
    let Some((_, text)) = presets().iter().find(|preset| preset.0 == name) else {
        let near = nearest(name, names()).map(|near| format!("; did you mean `{near}`?"));
        let all = names().collect::<Vec<_>>().join(", ");
        bail!("--preset {name}: unknown, expected one of {all}{}", near.unwrap_or_default());
    };
    Scenario::from_toml(text).with_context(|| format!("preset {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_change_the_scenario() {
        let args = SourceArgs {
            seed: Some(5),
            seeds: Some(3),
            slots: Some(70),
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
        let slots = refused(SourceArgs { slots: Some(0), ..SourceArgs::default() });
        assert!(slots.starts_with("--slots 0: `slots` is 0, expected a whole number from 1"), "{slots}");
        let seeds = refused(SourceArgs { seeds: Some(0), ..SourceArgs::default() });
        assert!(
            seeds.starts_with("--seeds 0: `seeds.count` is 0, expected a whole number from 1"),
            "{seeds}"
        );
        let policy = refused(SourceArgs { policies: vec!["cst".into()], ..SourceArgs::default() });
        assert!(policy.contains("unknown policy `cst`, expected one of"), "{policy}");
        let preset = refused(SourceArgs { preset: Some("nope".into()), ..SourceArgs::default() });
        assert!(preset.starts_with("--preset nope: unknown, expected one of default, literal"), "{preset}");
        assert!(!preset.contains("did you mean"), "{preset}");
        // What was nearly said, and what was said in the wrong place.
        let preset = refused(SourceArgs { preset: Some("defualt".into()), ..SourceArgs::default() });
        assert!(preset.ends_with("; did you mean `default`?"), "{preset}");
        assert!(policy.ends_with("; did you mean `cts`?"), "{policy}");
        let file = refused(SourceArgs { file: Some("gang".into()), ..SourceArgs::default() });
        assert_eq!(
            file,
            "gang: there is no such file, but a preset: `--preset gang` chooses it, `esdp scenario show \
             gang` prints it"
        );
        let file = refused(SourceArgs { file: Some("gong".into()), ..SourceArgs::default() });
        assert!(file.starts_with("gong: cannot be read: "), "{file}");
    }

    #[test]
    fn files_are_beside_the_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("base.toml", "extends = \"default\"\nslots = 70\n");
        write("speeds.csv", "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8\n");
        write("mine.toml", "extends = \"base.toml\"\n[graph]\ncount = 8\n[speeds]\ntable = \"speeds.csv\"\n");
        let args = SourceArgs { file: Some(folder.path().join("mine.toml")), ..SourceArgs::default() };
        let scenario = args.scenario().unwrap();
        assert_eq!((scenario.slots(), scenario.spec().speeds.table.as_ref().unwrap()[0][7]), (70, 0.8));
        assert_eq!(args.default_out(&scenario), Path::new("out/mine"), "the name of the base is its own");
        write("mine.toml", "slots = 5\n[speeds]\ntable = \"none.csv\"\n");
        let refused = format!("{:#}", args.scenario().unwrap_err());
        assert!(refused.contains("mine.toml: line 3: `speeds.table`: none.csv: "), "{refused}");
    }

    #[test]
    fn a_name_stays_below_out() {
        let named = |name: &str| {
            let scenario =
                Scenario::preset("default").unwrap().change(|spec| spec.name = name.to_owned()).unwrap();
            SourceArgs::default().default_out(&scenario).display().to_string()
        };
        assert_eq!(named("../../etc"), "out/etc");
        assert_eq!(named("my run"), "out/my-run");
        assert_eq!(named("."), "out/custom");
    }
}
