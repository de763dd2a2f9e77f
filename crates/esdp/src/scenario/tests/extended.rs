//! What a scenario takes from others and from files.

use super::*;

#[test]
fn a_scenario_extends_others_and_reads_tables() {
    let mut read = |path: &str| match path {
        "bases/small.toml" => {
            Ok("extends = \"../root.toml\"\nname = \"small\"\n[graph]\nservers = 6\n[jobs]\n\
                                  list = \"work.csv\"\n"
                .to_owned())
        }
        "bases/../root.toml" => {
            Ok("extends = \"default\"\n[arrivals]\nrho = 0.3\n[seeds]\ncount = 2".to_owned())
        }
        "bases/work.csv" => Ok("# slots at full speed\n3, 2.5,\n4\n".to_owned()),
        "speeds.csv" => Ok("a,b,c\n0.5,0.25,1\n\n0.1,0.2,0.3\n".to_owned()),
        "bad.csv" => Ok("0.5,0.25,1\n0.1,x,0.3\n".to_owned()),
        "circle.toml" => Ok("extends = \"round.toml\"".to_owned()),
        "round.toml" => Ok("extends = \"circle.toml\"".to_owned()),
        "broken.toml" => Ok("slots = 5\nslots = 6".to_owned()),
        "fat.toml" => Ok("slots = 5\n[jobs]\nlist = \"none.csv\"".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let mut from = |text: &str| Scenario::from_toml_with(text, &mut read);
    let text = "extends = \"bases/small.toml\"\n[graph]\nports = [\"x\", \"y\"]\ncount = 3\n[speeds]\n\
                table = \"speeds.csv\"\nhold = 2";
    let scenario = from(text).unwrap();
    let spec = scenario.spec();
    assert_eq!((scenario.name(), scenario.servers(), scenario.seeds()), ("custom", 6, &[0, 1][..]));
    assert_eq!((spec.graph.probability, spec.graph.count), (None, Some(3)), "what excludes it is dropped");
    assert_eq!(spec.jobs.list, Some(vec![vec![3.0, 2.5], vec![4.0]]));
    assert_eq!(spec.speeds.table, Some(vec![vec![0.5, 0.25, 1.0], vec![0.1, 0.2, 0.3]]));
    assert!(scenario.to_toml().contains("rho = 0.3"));
    assert_eq!(Scenario::from_toml(&scenario.to_toml()).unwrap(), scenario, "it stands alone then");

    // Another law replaces the keys of the one before.
    let bursty = from("extends = \"default\"\n[arrivals]\nlaw = \"bursty\"").unwrap();
    assert!(bursty.to_toml().contains("law = \"bursty\""));
    // What counts servers and devices follows what lists them.
    let listed = from(
        "extends = \"default\"\n[servers]\nkinds = [{ kind = \"a\", count = 7 }]\n[devices]\nnames = \
        [\"gpu\"]",
    );
    let listed = listed.unwrap();
    assert_eq!((listed.servers(), listed.spec().devices.count), (7, 1));
    assert_eq!(listed.set("servers.kinds.a.count", "9").unwrap().servers(), 9);

    let mut told = |text: &str| from(text).unwrap_err().to_string();
    assert_eq!(
        told("[graph]\ncount = 9\n[speeds]\ntable = \"bad.csv\""),
        "line 4: `speeds.table`: bad.csv: line 2: cell 2 is \"x\", expected a number"
    );
    assert_eq!(
        told("slots = 3\nextends = \"circle.toml\""),
        "line 2: `extends`: circle.toml: line 1: `extends`: round.toml: line 1: `extends`: scenarios \
        extend each \
         other in a circle: circle.toml, round.toml, circle.toml"
    );
    assert!(told("extends = \"broken.toml\"").starts_with("line 1: `extends`: broken.toml: line 2: "));
    assert_eq!(
        told("extends = \"fat.toml\""),
        "line 1: `extends`: fat.toml: line 3: `jobs.list`: none.csv: no such file"
    );
    assert!(told("extends = 3").starts_with("line 1: `extends` is 3, expected the name of a preset or"));
}
