//! `esdp scenario`, `esdp presets`, `esdp policies`, `esdp completions`, `esdp man`.

use crate::util::{esdp, esdp_in};

const SMALL: &[u8] = b"slots = 20\npolicies = [\"esdp\"]\n[seeds]\ncount = 1\n";

#[test]
fn a_preset_is_shown_as_written_and_resolved() {
    let written = esdp(&["scenario", "show", "drift"], b"").fine();
    assert_eq!(written, include_str!("../../../esdp/scenarios/drift-switch.toml"));
    let resolved = esdp(&["scenario", "show", "drift", "--resolved"], b"").fine();
    assert!(resolved.contains("[costs]") && !resolved.contains('#'), "{resolved}");
    // What is shown can be shown again.
    assert_eq!(esdp(&["scenario", "show", "-"], resolved.as_bytes()).fine(), resolved);
    let unknown = esdp(&["scenario", "show", "nope"], b"").refused();
    assert_eq!(unknown, "nope: neither a file nor a preset; `esdp presets` lists them");
}

#[test]
fn files_are_checked_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("good.toml"), SMALL).unwrap();
    std::fs::write(dir.path().join("bad.toml"), "[graph]\nprots = 3\n").unwrap();
    let checked = esdp_in(dir.path(), &["scenario", "check", "good.toml", "-"], SMALL).fine();
    let words = "ok, 8 ports, 40 servers, 20 slots, 1 seed, 1 policy";
    assert_eq!(checked, format!("good.toml: {words}\n-: {words}\n"));
    let bad = esdp_in(dir.path(), &["scenario", "check", "good.toml", "bad.toml"], b"");
    assert_eq!((bad.code, bad.stdout.lines().count()), (2, 1), "{}", bad.stdout);
    assert!(bad.stderr.starts_with("error: bad.toml: line 2: unknown key `graph.prots`"), "{}", bad.stderr);
}

#[test]
fn what_only_a_cluster_shows_is_checked_too() {
    let gang = b"[graph]\nports = [\"llm\"]\nservers = 2\n[devices]\nnames = [\"gpu\"]\n\
                 [[gangs.list]]\nport = \"llm\"\nminimum = 5\ntasks = [4]\nrequests = [[1]]\n";
    let refused = esdp(&["scenario", "check", "-"], gang).refused();
    assert_eq!(
        refused,
        "-: line 8: `gangs.list[0].minimum` is 5, expected a whole number from 1 to 4, the number of its \
         tasks, for port `llm`"
    );
}

/// Two named job types on two servers with 4 GPUs each; the second asks for more than any server has.
fn too_large(extra: &str) -> String {
    format!(
        "{extra}[seeds]\ncount = 2\n[graph]\nports = [\"small\", \"llm\"]\nprobability = 1.0\n[devices]\n\
         names = [\"cpu\", \"gpu\"]\n[[servers.kinds]]\nkind = \"box\"\ncount = 2\ncapacity = [16, 4]\n\
         [[gangs.list]]\nport = \"small\"\nminimum = 1\ntasks = [1]\nrequests = [[1, 1]]\n\
         [[gangs.list]]\nport = \"llm\"\nminimum = 1\ntasks = [1]\nrequests = [[1, 8]]\n"
    )
}

#[test]
fn what_can_hardly_be_meant_is_a_warning() {
    let stuck = "warning: port `llm` can start no job: a task requests 8 gpu, and the largest server has 4\n";
    let checked = esdp(&["scenario", "check", "-"], too_large("slots = 20\n").as_bytes());
    assert_eq!(
        (checked.code, &*checked.stderr),
        (0, &*stuck.replace("warning: ", "warning: -: ")),
        "{}",
        checked.stdout
    );
    let dir = tempfile::tempdir().unwrap();
    let run = ["run", "-", "--policies", "esdp,lcf"];
    let ran = esdp_in(dir.path(), &run, too_large("slots = 20\n").as_bytes());
    assert_eq!((ran.code, &*ran.stderr), (0, stuck), "once, for both seeds");
    let quiet = esdp_in(dir.path(), &[&run[..], &["-q"]].concat(), too_large("slots = 20\n").as_bytes());
    assert_eq!(quiet.stderr, "");
    // A channel that is listed keeps its request, and nobody can serve it.
    let listed =
        b"[seeds]\ncount = 1\n[graph]\nports = [\"llm\"]\nservers = 1\nchannels = [{ port = \"llm\", \
                   server = 0, request = [9] }]\n[devices]\nnames = [\"gpu\"]\namounts = [8]\n";
    let checked = esdp(&["scenario", "check", "-"], listed);
    let why = "port `llm` can start no job: a task requests 9 gpu, and the cluster has 8";
    assert!(checked.code == 0 && checked.stderr.contains(why), "{}", checked.stderr);
    // More tasks at once than there is room for.
    let many = too_large("slots = 20\n")
        .replace("tasks = [1]\nrequests = [[1, 8]]", "tasks = [9]\nrequests = [[1, 1]]");
    let many = many.replace("port = \"llm\"\nminimum = 1", "port = \"llm\"\nminimum = 9");
    let checked = esdp(&["scenario", "check", "-"], many.as_bytes());
    let why = "it needs 9 tasks at once, and the empty cluster has room for 8";
    assert!(checked.code == 0 && checked.stderr.contains(why), "{}", checked.stderr);
}

#[test]
fn what_begins_after_the_last_slot_is_a_warning() {
    let late = b"slots = 30\n[[servers.outages]]\nserver = \"server-1\"\nfrom = 31\nuntil = 40\n[speeds]\n\
                 later_deviation = [50, 0.1]\ndrift = { kind = \"ramp\", factor = 0.5, from = 30 }\n";
    let checked = esdp(&["scenario", "check", "-", "--format", "json"], late);
    let told: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!((checked.code, &*checked.stderr), (0, ""), "all of it is in the document");
    assert_eq!((&told["ok"], &told["files"][0]["ok"]), (&true.into(), &true.into()), "{told}");
    let said = told["files"][0]["warnings"].as_array().unwrap();
    let starts = [
        "`servers.outages[0].from` is 31, but the last slot is 30: the outage never comes",
        "`speeds.drift.from` is 30, but the last slot is 30",
        "`speeds.later_deviation[0]` is 50, but",
    ];
    assert_eq!(said.len(), starts.len(), "{said:?}");
    for (said, start) in said.iter().zip(starts) {
        assert!(said.as_str().unwrap().starts_with(start), "{said}");
    }
    // In the last slot is in time.
    let text =
        String::from_utf8_lossy(late).replace("from = 31", "from = 30").replace("from = 30 }", "from = 29 }");
    let checked = esdp(&["scenario", "check", "-"], text.replace("[50,", "[30,").as_bytes());
    assert_eq!((checked.code, &*checked.stderr), (0, ""), "{}", checked.stdout);
}

#[test]
fn presets_have_no_warnings_and_bad_files_are_told_as_json() {
    for (name, text) in esdp::scenario::presets() {
        let scenario = esdp::scenario::Scenario::from_toml(text).unwrap();
        if scenario.servers() <= 1000 {
            assert_eq!(scenario.warnings().unwrap(), [""; 0], "{name}");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("good.toml"), SMALL).unwrap();
    std::fs::write(dir.path().join("bad.toml"), "[graph]\nprots = 3\n").unwrap();
    let files = ["scenario", "check", "--format", "json", "bad.toml", "good.toml"];
    let checked = esdp_in(dir.path(), &files, b"");
    let told: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!((checked.code, &told["ok"]), (2, &false.into()), "{told}");
    assert_eq!((&told["files"][0]["ok"], &told["files"][1]["ok"]), (&false.into(), &true.into()), "{told}");
    let error = told["files"][0]["errors"][0].as_str().unwrap();
    assert!(error.starts_with("bad.toml: line 2: unknown key `graph.prots`"), "{error}");
    assert!(error.ends_with("; did you mean `ports`?"), "{error}");
    assert_eq!(checked.stderr.trim_end(), format!("error: {error}"));
}

#[test]
fn keys_are_listed_by_their_start() {
    let drift = esdp(&["scenario", "keys", "speeds.drift"], b"").fine();
    assert!(
        drift.lines().all(|line| line.starts_with("speeds.drift.") || line.starts_with("    ")),
        "{drift}"
    );
    let words = drift.split_whitespace().collect::<Vec<_>>().join(" ");
    let every = "speeds.drift.every (kind = \"switch\"): whole number, at least 1, in slots, default 500 The";
    assert!(words.contains(every), "{drift}");
    assert!(drift.contains("\n    \"switch\": A share of the servers is slow for a while.\n"), "{drift}");
    let all = esdp(&["scenario", "keys"], b"").fine();
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
    let json = esdp(&["scenario", "keys", "slots", "--format", "json"], b"").fine();
    let keys: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&keys[0]["key"], &keys[0]["default"]), (&"slots".into(), &"2000".into()), "{json}");
    let kinds = esdp(&["scenario", "keys", "kinds"], b"").fine();
    assert!(kinds.contains("servers.kinds") && kinds.contains("speeds.kinds"), "{kinds}");
    let none = esdp(&["scenario", "keys", "nope"], b"").refused();
    assert!(none.starts_with("no key has `nope` in it"), "{none}");
}

#[test]
fn presets_and_policies_are_listed() {
    let presets = esdp(&["presets"], b"").fine();
    for (name, _) in esdp::scenario::presets() {
        assert!(presets.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {presets}");
    }
    assert!(presets.lines().any(|line| line.starts_with("drift ") && line.ends_with("drift-switch")));
    let policies = esdp(&["policies"], b"").fine();
    let json = esdp(&["policies", "--format", "json"], b"").fine();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (spec, entry) in esdp::policy::PolicySpec::all().iter().zip(json.as_array().unwrap()) {
        assert!(policies.contains(&format!("{}: {}\n", spec.name(), spec.summary())), "{policies}");
        assert_eq!(entry["name"], spec.name());
        let told = serde_json::to_value(spec).unwrap();
        for key in told.as_object().unwrap().keys().filter(|key| *key != "name") {
            let known = entry["parameters"].as_array().unwrap();
            assert!(known.iter().any(|known| known["key"] == **key), "{}: {key}", spec.name());
        }
    }
}

#[test]
fn standard_input_is_a_scenario_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str| dir.path().join(name).display().to_string();
    let run = esdp(&["run", "-", "-q", "-j", "1", "-o", &out("run")], SMALL).fine();
    assert!(run.contains("esdp"), "{run}");
    let sweep = ["sweep", "-", "-q", "--vary", "arrivals.rho=0.5", "-o", &out("sweep")];
    assert!(esdp(&sweep, SMALL).fine().contains("0.5"));
    // Without a scenario it is preset `default`.
    let small = ["sweep", "-q", "--vary", "arrivals.rho=0.5", "--slots", "5", "--seeds", "1"];
    let sweep = esdp_in(dir.path(), &small, b"").fine();
    assert!(sweep.contains("out/default-sweep"), "{sweep}");
}

#[test]
fn a_trace_comes_and_goes_by_the_standard_streams() {
    let trace = esdp(&["trace", "generate", "--hours", "0.2", "-o", "-"], b"");
    assert_eq!(trace.code, 0, "{}", trace.stderr);
    let by_file = {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("-"), &trace.stdout).unwrap();
        esdp_in(dir.path(), &["trace", "describe", "./-", "-q"], b"").fine().replace("./-", "-")
    };
    let described = esdp(&["trace", "describe", "-", "-q"], trace.stdout.as_bytes()).fine();
    // Columns are as wide as the names of files.
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&described), words(&by_file));
    // Read twice: once to look at it, once to build.
    let made = esdp(&["trace", "scenario", "-", "--out", "-"], trace.stdout.as_bytes());
    assert!(made.code == 0 && made.stdout.contains("[graph]"), "{}", made.stderr);
    // The name of old.
    let old = esdp(&["trace", "scenario", "-", "--output", "-"], trace.stdout.as_bytes());
    assert_eq!(old.stdout, made.stdout);
}

#[test]
fn a_missing_command_is_told_by_name() {
    let trace = esdp(&["trace"], b"").refused();
    assert_eq!(
        trace,
        "`esdp trace` needs a command: describe, scenario, speeds, generate; try `esdp trace --help`"
    );
    assert!(esdp(&["scenario"], b"").refused().contains("show, check, keys, schema, reference"));
}

#[test]
fn shells_and_man_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = esdp(&["completions", shell], b"").fine();
        assert!(script.contains("scenario") && script.contains("reproduce"), "{shell}");
    }
    let bash = esdp(&["completions", "bash"], b"").fine();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("esdp.bash"), bash).unwrap();
    let asked = "source ./esdp.bash; COMP_WORDS=(esdp scen); COMP_CWORD=1; _esdp esdp scen esdp; \
                 echo ${COMPREPLY[@]}";
    let asked = std::process::Command::new("bash").args(["-c", asked]).current_dir(dir.path()).output();
    assert_eq!(String::from_utf8(asked.unwrap().stdout).unwrap().trim(), "scenario");
    let page = esdp(&["man"], b"").fine();
    assert!(page.starts_with(".") && page.contains(".TH esdp 1"), "{}", &page[..200]);
    let pages = dir.path().join("man1");
    esdp(&["man", pages.to_str().unwrap()], b"").fine();
    let page = std::fs::read_to_string(pages.join("esdp-scenario-show.1")).unwrap();
    assert!(page.contains("\\-\\-resolved"), "{page}");
}
