//! What is wrong with a scenario, in one sentence.

use super::*;

fn refused(text: &str) -> String {
    match Scenario::from_toml(text) {
        Ok(_) => panic!("{text} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_wrong_is_told_in_one_sentence() {
    let cases = [
        ("slots = \n", "line 1: "),
        ("slot = 5", "line 1: unknown key `slot`, expected one of `version`, `extends`, `name`, "),
        ("[graph]\nportz = 3", "line 2: unknown key `graph.portz`, expected one of `ports`, "),
        ("[arrivals]\nrhoo = 0.5", "line 2: unknown key `arrivals.rhoo`, expected `rho`"),
        ("[speeds.drift]\nkind = \"sine\"\nfaze = 1", "line 3: unknown key `speeds.drift.faze`"),
        ("slots = \"many\"", "line 1: `slots` is \"many\", expected a whole number"),
        ("slots = -5", "line 1: `slots` is -5, expected a whole number of at least 0"),
        ("slots = 2.5", "line 1: `slots` is 2.5, expected a whole number"),
        ("slots = 0", "line 1: `slots` is 0, expected a whole number from 1 to 1000000000"),
        ("slots = 5000000000", "line 1: `slots` is 5000000000, expected"),
        (
            "[arrivals]\nrho = \"x\"",
            "line 2: `arrivals.rho` is \"x\", expected a number or a list of numbers",
        ),
        (
            "[arrivals]\nrho = [0.1, 0.2, 1.5, 0, 0, 0, 0, 0]",
            "line 2: `arrivals.rho[2]` is 1.5, expected a number from 0 to 1",
        ),
        ("[arrivals]\nrho = nan", "line 2: `arrivals.rho` is NaN, expected a number from 0 to 1"),
        (
            "[arrivals]\nrho = [0.5]",
            "line 2: `arrivals.rho` is a list of 1 numbers, expected one number, or 8",
        ),
        (
            "[arrivals]\nlaw = \"uniform\"",
            "line 2: `arrivals.law` is \"uniform\", expected one of `bernoulli`, ",
        ),
        (
            "[devices]\nrequest = [2, 1]",
            "line 2: `devices.request` is [2, 1], expected two ascending whole numbers",
        ),
        (
            "[devices]\ncapacity = [0, 8]",
            "line 2: `devices.capacity` is [0, 8], expected two ascending whole numbers from 1",
        ),
        ("[devices]\ncapacity = 8", "line 2: `devices.capacity` is 8, expected a list of 2"),
        ("[devices]\ncapacity = [1, 2, 3]", "line 2: `devices.capacity` is [1, 2, 3], expected a list of 2"),
        (
            "[devices]\namounts = [6, 0, 8]",
            "line 2: `devices.amounts[1]` is 0, expected a whole number from 1",
        ),
        ("[devices]\namounts = [6]", "line 2: `devices.amounts` is a list of 1, expected 3, one per device"),
        ("[graph]\nports = 0", "line 2: `graph.ports` is 0, expected a whole number from 1"),
        ("[graph]\nchannels = []", "line 2: `graph.channels` is empty, expected at least one channel"),
        (
            "[graph]\nports = 2\nchannels = [{ port = 0, server = 1 }]",
            "line 3: `graph.channels`: port 1 has no channel",
        ),
        (
            "[graph]\nports = 1\nchannels = [{ port = 0, server = 1 }, { port = 0, server = 1 }]",
            "line 3: `graph.channels[1]`: port 0 and server 1 are joined by an earlier channel already",
        ),
        (
            "[graph]\nports = 1\nchannels = [{ port = 0, server = 99 }]",
            "line 3: `graph.channels[0].server` is 99, expected a whole number from 0 to 39",
        ),
        (
            "[graph]\nports = 1\nchannels = [{ port = 0, server = 1, request = [1] }]",
            "line 3: `graph.channels[0].request` is a list of 1, expected 3, one per device",
        ),
        (
            "[graph]\nprobability = 0.5\ncount = 20",
            "line 1: `graph`: give one of `probability`, `count` and `channels`",
        ),
        ("[graph]\nprobability = 1.5", "line 2: `graph.probability` is 1.5, expected a number from 0 to 1"),
        ("[graph]\ncount = 3", "line 2: `graph.count` is 3, expected a whole number from 8 to 320"),
        (
            "[graph]\nports = 90000\nservers = 900000",
            "line 1: `graph`: 90000 ports times 900000 servers are 81000000000 pairs",
        ),
        (
            "[graph]\nports = 4000\nservers = 4000\nprobability = 0.9",
            "line 1: `graph`: about 14400000 channels",
        ),
        (
            "policies = [\"esdp\", \"cst\"]",
            "line 1: `policies[1]`: unknown policy `cst`, expected one of `esdp`",
        ),
        ("policies = [\"esdp\", \"esdp\"]", "line 1: `policies[1]`: `esdp` is in the list already"),
        (
            "policies = [{ name = \"esdp-index\", kapa = 1 }]",
            "line 1: unknown key `policies[0].kapa`, expected one of `kappa`, `estimator`, `slab`",
        ),
        (
            "policies = [{ name = \"esdp-index\", kappa = \"x\" }]",
            "line 1: `policies[0].kappa` is \"x\", expected a number",
        ),
        (
            "policies = [{ name = \"esdp-index\", kappa = -1 }]",
            "line 1: `policies[0]`: policy `esdp-index`: `kappa` is -1",
        ),
        (
            "policies = [{ name = \"esdp\", kappa = 0.25 }]",
            "line 1: `policies[0].kappa`: `esdp` has no parameters any more; `kappa` belongs to what it \
             was, which is \
             `esdp-index` now",
        ),
        ("policies = [3]", "line 1: `policies[0]` is 3, expected a policy's name"),
        ("policies = []", "line 1: `policies` is empty, expected at least one policy"),
        ("[seeds]\ncount = 0", "line 2: `seeds.count` is 0, expected a whole number from 1 to 100000"),
        ("[seeds]\nlist = [1, 2, 1]", "line 2: `seeds.list`: the seed 1 comes twice"),
        ("[seeds]\nlist = []", "line 2: `seeds.list` is a list of 0, expected 1 to 100000"),
        ("[seeds]\nlist = [1]\ncount = 2", "line 1: `seeds`: give `list`, or `first` and `count`, not both"),
        (
            "[costs]\nper = \"channel\"\ndevices = [{ kind = \"linear\", rate = 1 }]",
            "line 1: `costs`: give `devices` or `per = \"channel\"`, not both",
        ),
        ("[costs]\nper = \"port\"", "line 2: `costs.per` is \"port\""),
        ("[costs]\nscale = inf", "line 2: `costs.scale` is inf, expected a number"),
        (
            "[costs]\ndevices = [{ kind = \"linear\", rate = -1 }]",
            "line 2: `costs.devices` is a list of 1, expected 3",
        ),
        (
            "[devices]\ncount = 1\n[costs]\ndevices = [{ kind = \"linear\", rate = -1 }]",
            "line 4: `costs.devices[0]`: `rate` is -1",
        ),
        ("[speeds]\nmean = [1.0, 0.5]", "line 2: `speeds.mean` is [1, 0.5], expected two ascending numbers"),
        (
            "[speeds]\ndrift = { kind = \"switch\", share = 2 }",
            "line 2: `speeds.drift.share` is 2, expected a number from 0 to 1",
        ),
        ("[speeds]\ntable = [[0.5]]", "line 2: `speeds.table`: needs a known number of channels"),
        (
            "[graph]\ncount = 9\n[speeds]\ntable = [[0.5]]",
            "line 4: `speeds.table[0]` is a list of 1, expected 9, one per channel",
        ),
        (
            "[gangs]\ntasks = [3, 1]",
            "line 2: `gangs.tasks` is [3, 1], expected two ascending whole numbers from 1",
        ),
        ("[gangs]\nminimum = 1.5", "line 2: `gangs.minimum` is 1.5, expected a number from 0 to 1"),
        ("[gangs]\nsize = 3", "line 2: unknown key `gangs.size`, expected one of `groups`, `tasks`"),
        ("[gangs]\nlist = []", "line 2: `gangs.list`: needs `graph.channels`"),
        (
            "[gangs]\nlist = [{ port = 0, minimum = 1, tasks = [1] }]\ntasks = [1, 2]",
            "line 1: `gangs`: give `list`, or `groups`, `tasks` and `minimum`, not both",
        ),
        (
            "[graph]\nports = 1\nchannels = [{ port = 0, server = 1, task = 2 }]\n[gangs]\nlist = [{ port = \
             0, minimum = 1, tasks = [1, 1] }]",
            "line 3: `graph.channels[0].task` is 2, expected less than 2, the number of task groups of port \
             0",
        ),
        (
            "[graph]\nports = 1\nchannels = [{ port = 0, server = 1 }]\n[gangs]\nlist = [{ port = 0, \
             minimum = 3, tasks = [2] }]",
            "line 5: `gangs.list[0].minimum` is 3, expected a whole number from 1 to 2",
        ),
        (
            "[graph]\nports = 1\nchannels = [{ port = 0, server = 1 }]\n[gangs]\nlist = [{ port = 0, \
             minimum = 1, tasks = [{ count = 2, min = 3 }] }]",
            "line 5: `gangs.list[0].tasks[0].min` is 3, expected a whole number from 0 to 2",
        ),
        (
            "[gangs]\nlist = [{ port = 0, minimum = 1, tasks = [{ count = 2, least = 1 }] }]",
            "line 2: unknown key `gangs.list[0].tasks[0].least`, expected `count` or `min`",
        ),
        (
            "[gangs]\nlist = [{ port = 0, minimum = 1, tasks = [\"two\"] }]",
            "line 2: `gangs.list[0].tasks[0]` is \"two\", expected a number of tasks, or a table with \
             `count` and `min`",
        ),
        (
            "[gangs]\nlist = [{ port = 0, minimum = 1, tasks = [-1] }]",
            "line 2: `gangs.list[0].tasks[0]` is -1, expected a number of tasks, or a table with `count` \
             and `min`",
        ),
        (
            "[graph]\nports = 1\nchannels = [{ port = 0, server = 1 }]\n[gangs]\ntasks = [1, 2]",
            "line 4: `gangs`: with `graph.channels` give `list`",
        ),
        (
            "[graph]\ncount = 9\n[gangs]\n[speeds]\ntable = [[0.5]]",
            "line 5: `speeds.table`: needs a known number",
        ),
        ("[jobs]\nheld = 1", "line 2: `jobs.held` is 1, expected true or false"),
        ("[jobs]\nlist = [[1.0]]", "line 2: `jobs.list` is a list of 1, expected 8, one per port"),
        (
            "[devices]\nservers = [[1, 2, 3]]",
            "line 2: `devices.servers` is a list of 1, expected 40, one per server",
        ),
        ("[jobs]\nwork = [0, 1]", "line 2: `jobs.work[0]` is 0, expected a number from"),
        ("[feedback]\ndelay = [3, 1]", "line 2: `feedback.delay` is [3, 1], expected two ascending"),
        ("[feedback]\ndelay = -1", "line 2: `feedback.delay` is -1, expected a whole number of at least 0"),
        (
            "[sweep]\nkey = \"arrivals.rho\"\nvalues = [0.5, 1.5]",
            "line 3: `sweep.values[1]`: `arrivals.rho` is 1.5",
        ),
        (
            "[sweep]\nkey = \"arrivals.rho\"\nvalues = []",
            "line 3: `sweep.values` is a list of 0, expected 1 to",
        ),
        ("[sweep]\nkey = \"arrivals.rho\"", "line 1: `sweep`: the key `values` is missing"),
        ("arrivals = 3", "line 1: `arrivals` is 3, expected a table"),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = refused(text);
        if !found.starts_with(expected) || found.contains('\n') {
            wrong.push(format!("{text:?}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn labels_that_do_not_fit_are_told() {
    let cases = [
        (
            "[servers]\nlabels = \"kinds\"",
            "line 2: `servers.labels`: needs kinds of servers, give `speeds.kinds`",
        ),
        ("[servers]\nlabelled = 1.5", "line 2: `servers.labelled` is 1.5, expected a number from 0 to 1"),
        ("[servers]\nlist = [[\"a\"]]", "line 2: `servers.list` is a list of 1, expected 40, one per server"),
        ("[speeds]\nkinds = 0", "line 2: `speeds.kinds` is 0, expected a whole number from 1 to 1000"),
        (
            "[speeds]\nkinds = [[1.0], [1.0, 0.5]]",
            "`speeds.kinds[1]` is a list of 2 numbers, expected 1, one per kind",
        ),
        (
            "[speeds]\nserver_deviation = 0.2",
            "`speeds.server_deviation` is 0.2, expected 0 unless `kinds` is given",
        ),
    ];
    for (text, expected) in cases {
        let found = refused(text);
        assert!(found.contains(expected), "{found}, not {expected}");
    }
}

#[test]
fn kinds_and_requests_that_do_not_fit_are_told() {
    let servers = "[graph]\nservers = 3\nports = 1\n[devices]\ncount = 1\n";
    let kinds = "[servers]\nkinds = [{ label = \"a\", count = 3, capacity = [4] }]\n";
    let cases = [
        (
            "[servers]\nkinds = [{ label = \"a\", count = 2, capacity = [4] }]".to_owned(),
            "`servers.kinds` is a list of 2 servers, expected 3 in all, the number of servers",
        ),
        (
            "[servers]\nkinds = [{ label = \"a\", count = 3, capacity = [4, 4] }]".to_owned(),
            "`servers.kinds[0].capacity` is a list of 2, expected 1, one per device",
        ),
        (
            format!("{kinds}list = [[\"a\"]]"),
            "`servers`: give `kinds`, or one of `labels` and `list`, not both",
        ),
        (
            format!("{kinds}[speeds]\nkinds = 2"),
            "`speeds.kinds` is 2 kinds, expected 1, as many as `servers.kinds`",
        ),
        (
            "[gangs]\nlist = [{ port = 0, minimum = 1, tasks = [1] }]".to_owned(),
            "`gangs.list[0]`: needs `requests`, or `graph.channels`",
        ),
        (
            "[gangs]\nlist = [{ port = 0, minimum = 1, tasks = [1], requests = [[1], [2]] }]".to_owned(),
            "`gangs.list[0].requests` is a list of 2, expected 1, one per task group",
        ),
        (
            "[gangs]\nlist = [{ port = 1, minimum = 1, tasks = [1], requests = [[1]] }]".to_owned(),
            "`gangs.list[0].port` is 1, expected a whole number from 0 to 0",
        ),
    ];
    for (text, expected) in cases {
        let found = refused(&format!("{servers}{text}"));
        assert!(found.contains(expected), "{found}, not {expected}");
    }
}

/// Sentences that once had no key, no value or nothing that is accepted, or had pages of it.
#[test]
fn sentences_say_what_is_accepted_and_stay_short() {
    let whole = "is too large, expected a whole number up to 9223372036854775807 or a number up to 1.8e308";
    let cases = [
        ("slots = 99999999999999999999", format!("line 1: 99999999999999999999 {whole}")),
        ("[seeds]\nfirst = 18446744073709551615", format!("line 2: 18446744073709551615 {whole}")),
        ("[arrivals]\nrho = 1e999", format!("line 2: 1e999 {whole}")),
        (
            "[speeds]\nkinds = \"four\"",
            "line 2: `speeds.kinds` is \"four\", expected the number of kinds or a list of rows, each of \
             one number per kind, or a table by kind with numbers for the ports"
                .to_owned(),
        ),
        ("[speeds]\nlaw = 7", "line 2: `speeds.law` is 7, expected a text".to_owned()),
        (
            "[arrivals]\nrho = 1e300",
            "line 2: `arrivals.rho` is 1e300, expected a number from 0 to 1".to_owned(),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(text), expected);
    }
    let long = "esdp".repeat(1250);
    for text in [
        format!("policies = [\"{long}\"]"),
        format!("{long} = 1"),
        format!(
            "policies = [{{ name = \"esdp\", label = \"{long}\" }}, {{ name = \"cts\", label = \"{long}\" }}]"
        ),
        format!("[speeds]\nlaw = \"{long}\""),
        "[graph]\nprobability = 1e300".to_owned(),
    ] {
        let sentence = refused(&text);
        assert!(sentence.chars().count() < 600, "{sentence}");
    }
}
