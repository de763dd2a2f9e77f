//! Clusters, read and written back.

use super::*;

fn read(text: &str) -> Result<ClusterDescription, ApiError> {
    serde_json::from_str::<ClusterWire>(text).unwrap().describe()
}

#[test]
fn a_cluster_comes_back_as_it_was_sent() {
    let text = r#"{"devices":["cpu","gpu"],"servers":[
        {"name":"n0","capacity":{"cpu":64,"gpu":8},"labels":["a100"]},
        {"name":"n1","capacity":{"cpu":8}}],"ports":[
        {"name":"train","request":{"cpu":8,"gpu":2},"tasks":4,"min":2,"servers":["n0","n1"],
            "weight":1.0,"reference_speed":120.0,"pace":"slowest","crossing":0.75},
        {"name":"ps","groups":[{"name":"ps","request":{"cpu":1},"count":1,"min":1},
            {"name":"w","request":{"gpu":1},"count":3}],"pace":"sum"},
        {"name":"parts","parts":true,"channels":[{"server":"n1","request":{"cpu":2}}]}]}"#;
    let described = read(text).unwrap();
    assert_eq!(ClusterWire::of(&described).describe().unwrap(), described);
    assert_eq!(described.ports[0].jobs, {
        let request: Amounts = [("cpu".to_owned(), 8), ("gpu".to_owned(), 2)].into();
        JobShape::Gang {
            minimum: 2,
            groups: vec![TaskGroupSpec { name: "worker".into(), count: 4, minimum: 0, request }],
        }
    });
}

#[test]
fn tasks_of_a_job_wait_for_each_other_unless_it_is_said_that_they_do_not() {
    let pace = |words: &str| {
        let text = format!(
            r#"{{"devices":["gpu"],"servers":[{{"name":"n0","capacity":{{"gpu":4}}}}],
            "ports":[{{"name":"p","request":{{"gpu":1}}{words}}}]}}"#
        );
        read(&text).map(|described| described.ports[0].pace)
    };
    let slowest = |crossing| Ok(Pace::Slowest { crossing });
    assert_eq!(pace(r#","tasks":2"#), slowest(1.0));
    assert_eq!(pace(r#","tasks":2,"crossing":0.5"#), slowest(0.5));
    assert_eq!(pace(r#","tasks":2,"pace":"sum""#), Ok(Pace::Sum));
    assert_eq!(pace(""), Ok(Pace::Sum), "one task waits for nobody");
    let refused = |words: &str| pace(words).unwrap_err();
    assert_eq!(refused(r#","tasks":2,"crossing":0"#).field.unwrap(), "ports[0].crossing");
    assert_eq!(refused(r#","tasks":2,"pace":"sum","crossing":0.5"#).field.unwrap(), "ports[0].crossing");
    assert_eq!(refused(r#","parts":true,"pace":"slowest""#).field.unwrap(), "ports[0].pace");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let refused = |ports: &str| {
        let text = format!(
            r#"{{"devices":["gpu"],"servers":[{{"name":"n0","capacity":{{"gpu":1}}}}],"ports":[{ports}]}}"#
        );
        let error = read(&text).unwrap_err();
        (error.field.unwrap(), error.accepted.unwrap())
    };
    let (field, accepted) = refused(r#"{"name":"p","request":{"gpus":1}}"#);
    assert_eq!((field.as_str(), accepted.as_str()), ("ports[0].request.gpus", "gpu"));
    assert_eq!(refused(r#"{"name":"p","request":{"gpu":1},"tasks":2,"min":3}"#).0, "ports[0].min");
    assert_eq!(refused(r#"{"name":"p"}"#).0, "ports[0].request");
    assert_eq!(refused(r#"{"name":"p","request":{},"weight":-1}"#).0, "ports[0].weight");
    assert_eq!(refused(r#"{"name":"","request":{}}"#).0, "ports[0]");
    assert_eq!(refused(r#"{"name":"p","request":{},"groups":[]}"#).0, "ports[0].groups");
}
