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
            "weight":1.0,"reference_speed":120.0},
        {"name":"ps","groups":[{"name":"ps","request":{"cpu":1},"count":1,"min":1},
            {"name":"w","request":{"gpu":1},"count":3}]},
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
