//! The example of the README is run as it stands there, by `sh` and `curl`.

use crate::service::{Service, esdp};
use serde_json::Value;
use std::process::Command;

const README: &str = include_str!("../../../../README.md");

#[test]
fn the_example_of_the_readme_does_what_it_says() {
    let data = tempfile::tempdir().unwrap();
    // The flags that it names, and no others.
    let named = README.split("Start `esdp serve ").nth(1).expect("how it starts").split('`').next().unwrap();
    let flags = named.strip_suffix("--data ./esdp-data").expect("where its data is");
    let mut start = esdp();
    start
        .arg("serve")
        .args(flags.split_whitespace())
        .args(["--listen", "127.0.0.1:0", "--data"])
        .arg(data.path());
    let service = Service::spawn(start).unwrap();
    let blocks = README.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script = blocks.into_iter().find(|block| block.starts_with("url=")).expect("the example");
    assert!((10..=15).contains(&script.lines().count()), "{script}");
    let script = script.replace("127.0.0.1:7070", &service.address.to_string());
    let output = Command::new("sh").args(["-e", "-c", &script]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{printed}{complaints} (it needs curl)");

    let answers: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [cluster, start, learned, end, servers] = &answers[..] else { panic!("{printed}") };
    assert_eq!(cluster["servers"], 2);
    let placed = start["placements"][0]["server"].as_str().expect("a placement");
    assert_eq!((&start["placements"][0]["job"], &start["held"]), (&"j1".into(), &Value::Array(vec![])));
    assert!(
        learned["learned"].as_u64() >= Some(1) && learned["refused"] == Value::Array(vec![]),
        "{learned}"
    );
    assert_eq!(end["slot"], 2);
    let tried = servers["servers"].as_array().unwrap().iter().find(|row| row["name"] == placed).unwrap();
    assert!(tried["count"].as_f64() >= Some(1.0), "{tried}");
    assert!(servers["servers"].as_array().unwrap().iter().all(|row| row["free"]["gpu"] == 8), "{servers}");
}
