use super::*;

mod extended;
mod load;
mod named;
mod refusals;
mod typed;

#[test]
fn an_empty_text_is_the_default() {
    let (empty, default) = (Scenario::from_toml("").unwrap(), Scenario::preset("default").unwrap());
    assert_eq!(empty.setting(3).unwrap().cluster(), default.setting(3).unwrap().cluster());
    assert_eq!((empty.slots(), empty.seeds()), (2000, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9][..]));
    assert_eq!(empty.policies(), default.policies());
}

#[test]
fn presets_read_resolve_and_read_back() {
    for (name, text) in presets() {
        let scenario = Scenario::from_toml(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let resolved = scenario.to_toml();
        let again =
            Scenario::from_toml(&resolved).unwrap_or_else(|error| panic!("{name}: {error}\n{resolved}"));
        assert_eq!(again, scenario, "{name}");
        assert_eq!(again.to_toml(), resolved, "{name}");
        assert!(*name == "drift" || scenario.name() == *name, "{name}");
        assert!(!scenario.description().is_empty(), "{name}");
        for (value, point) in scenario.points().unwrap() {
            assert_eq!(point.sweeps(), [], "{name} {value}");
            point.setting(0).unwrap_or_else(|error| panic!("{name} {value}: {error}"));
        }
    }
    assert_eq!(Scenario::preset("defualt"), None);
}

#[test]
fn the_resolved_text_says_everything() {
    let text = Scenario::preset("default").unwrap().to_toml();
    for key in [
        "slots = 2000",
        "sigma = 0.25",
        "probability = 0.1",
        "rho = 0.9",
        "correlation = 0.0",
        "delay = [0, 0]",
        "first = 0",
    ] {
        assert!(text.contains(key), "{key} is not in\n{text}");
    }
}

#[test]
fn a_cluster_can_be_written_down() {
    let text = r#"
        slots = 10
        policies = ["esdp"]
        [graph]
        ports = 2
        servers = 2
        channels = [
            { port = 0, server = 0, request = [1] }, { port = 0, server = 1, request = [2] },
            { port = 1, server = 1 },
        ]
        [devices]
        count = 1
        amounts = [3]
        server_capacity = [2, 2]
        [costs]
        devices = [{ kind = "linear", rate = 0.1 }]
        [arrivals]
        law = "list"
        jobs = [[1, 2]]
        [speeds]
        table = [[0.5, 0.6, 0.7]]
        deviation = 0.0
        [feedback]
        delay = 2
    "#;
    let scenario = Scenario::from_toml(text).unwrap();
    assert_eq!(Scenario::from_toml(&scenario.to_toml()).unwrap(), scenario);
    let setting = scenario.setting(1).unwrap();
    let cluster = setting.cluster();
    assert_eq!(cluster.request(crate::model::ChannelId(1)), [2]);
    assert_eq!(cluster.cost(crate::model::ChannelId(1)), 0.2);
    assert_eq!(cluster.capacity().cluster(), Some(&[3][..]));
    assert_eq!(cluster.capacity().server(crate::model::ServerId(1)), Some(&[2][..]));
    assert_eq!(setting.delay(), crate::sim::Delay(2, 2));
}

#[test]
fn gangs_can_be_written_down() {
    let text = r#"
        [graph]
        ports = 1
        servers = 2
        channels = [
            { port = 0, server = 0 }, { port = 0, server = 0, task = 1 }, { port = 0, server = 1, task = 1 },
        ]
        [devices]
        server_capacity = [4, 4]
        [gangs]
        list = [{ port = 0, minimum = 3, tasks = [4, 1] }]
        [jobs]
        held = true
    "#;
    let scenario = Scenario::from_toml(text).unwrap();
    assert_eq!(Scenario::from_toml(&scenario.to_toml()).unwrap(), scenario);
    let setting = scenario.setting(1).unwrap();
    let (cluster, port) = (setting.cluster(), crate::model::PortId(0));
    assert!(cluster.is_gang(port) && cluster.minimum(port) == 3 && setting.held().is_some());
    assert_eq!(cluster.task_groups().iter().map(|group| group.count).collect::<Vec<_>>(), [4, 1]);
    assert_eq!(cluster.capacity().cluster(), None, "servers limit alone");

    // The paper's own example: two workers of four and the parameter server, or nothing.
    let text = text.replace("tasks = [4, 1]", "tasks = [{ count = 4, min = 2 }, { count = 1, min = 1 }]");
    let scenario = Scenario::from_toml(&text).unwrap();
    assert_eq!(Scenario::from_toml(&scenario.to_toml()).unwrap(), scenario);
    let minima: Vec<u32> =
        scenario.setting(1).unwrap().cluster().task_groups().iter().map(|group| group.minimum).collect();
    assert_eq!(minima, [2, 1]);

    let drawn = Scenario::from_toml("[gangs]\ntasks = [2, 2]\n[devices]\nserver_capacity = [4, 4]").unwrap();
    assert!(drawn.to_toml().contains("groups = [1, 2]"), "defaults are written out");
    assert!(drawn.setting(1).unwrap().cluster().has_gangs());
}

#[test]
fn keys_can_be_set() {
    let scenario = Scenario::preset("rho").unwrap();
    let changed = scenario.set("arrivals.rho", "0.25").unwrap().set("slots", "77").unwrap();
    assert_eq!((changed.slots(), changed.sweeps().len()), (77, 0));
    let changed = changed.set("policies", "esdp-index,cts").unwrap().set("seeds.count", "2").unwrap();
    assert_eq!(
        changed.policies().iter().map(|policy| policy.label.as_str()).collect::<Vec<_>>(),
        ["esdp-index", "cts"]
    );
    assert_eq!(changed.set("seeds.first", "40").unwrap().seeds(), [40, 41]);
    assert_eq!(changed.set("seeds.list", "[5]").unwrap().seeds(), [5]);
    let kappa = changed.set("policies.esdp-index.kappa", "0.5").unwrap();
    assert!(kappa.to_toml().contains("kappa = 0.5"));
    assert!(changed.set("graph.count", "32").unwrap().to_toml().contains("count = 32"));
    assert!(changed.set("graf.count", "32").unwrap_err().to_string().starts_with("unknown key `graf`"));
    assert_eq!(scenario.points().unwrap().len(), 10);
}

#[test]
fn labels_tell_the_kinds_of_servers_or_less() {
    let fleet = Scenario::preset("fleet-200").unwrap();
    let labels = |scenario: &Scenario| -> Vec<Vec<String>> {
        let setting = scenario.setting(3).unwrap();
        (0..200).map(|server| setting.cluster().labels(crate::model::ServerId(server)).to_vec()).collect()
    };
    let told = labels(&fleet);
    let mut kinds: Vec<&String> = told.iter().flatten().collect();
    assert_eq!(kinds.len(), 200);
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, ["kind-0", "kind-1", "kind-2", "kind-3"]);
    let half = labels(&fleet.set("servers.labelled", "0.5").unwrap());
    let known = half.iter().filter(|labels| !labels.is_empty()).count();
    assert!((70..=130).contains(&known), "{known}");
    assert!(half.iter().zip(&told).all(|(half, told)| half.is_empty() || half == told));
    assert_ne!(labels(&fleet.set("servers.labels", "random").unwrap()), told);
    assert!(labels(&fleet.set("servers.labels", "none").unwrap()).iter().all(Vec::is_empty));
}

#[test]
fn a_data_centre_is_told_kind_by_kind() {
    use crate::model::{Channel, ChannelId, PortId, ServerId};
    let setting = Scenario::preset("datacenter").unwrap().setting(1).unwrap();
    let cluster = setting.cluster();
    assert_eq!((cluster.servers().len(), cluster.ports().len()), (100, 30));
    assert_eq!(cluster.capacity().server(ServerId(30)), Some(&[96, 768, 8][..]));
    assert_eq!(cluster.labels(ServerId(99)), ["cpu-48"]);
    assert_eq!(cluster.minimum(PortId(29)), 16);
    // Whatever asks for a GPU does not reach the servers without one.
    let cpu_only = cluster.channels().iter().filter(|channel| channel.server.0 >= 75);
    assert!(cpu_only.map(|channel| channel.port.0 % 6).all(|shape| shape == 4));
    assert_eq!(cluster.channels().len(), 5 * (5 * 75 + 100));
    // Speeds follow the kinds: two cores are fastest where there is no GPU.
    let means = setting.truth().means(crate::model::Slot(1)).to_vec();
    let mean = |from: u32, to: u32| {
        let on = |channel: &Channel| channel.port.0 == 4 && (from..to).contains(&channel.server.0);
        let chosen = (0..).zip(cluster.channels()).filter(|(_, channel)| on(channel));
        let chosen: Vec<f64> = chosen.map(|(id, _)| means[ChannelId(id).index()]).collect();
        chosen.iter().sum::<f64>() / chosen.len() as f64
    };
    assert!((mean(75, 100) - 0.9).abs() < 0.06 && (mean(0, 25) - 0.7).abs() < 0.06);
}
