//! Scenarios as specs: the same as by text.

use super::*;

#[test]
fn a_spec_builds_what_its_toml_says() {
    for (name, text) in presets() {
        let scenario = Scenario::from_toml(text).unwrap();
        assert_eq!(scenario.spec().clone().build().unwrap(), scenario, "{name}");
    }
    let spec = Spec::new("typed").slots(70).seeds(5, 3).policies([LabelledPolicy::named("cts").unwrap()]);
    let text = "name = \"typed\"\nslots = 70\npolicies = [\"cts\"]\n[seeds]\nfirst = 5\ncount = 3\n";
    assert_eq!(spec.build().unwrap(), Scenario::from_toml(text).unwrap());
}

#[test]
fn a_typed_change_is_the_change_by_text() {
    let rho = Scenario::preset("rho").unwrap();
    assert_eq!(rho.with_slots(9).unwrap(), rho.set("slots", "9").unwrap());
    assert_eq!(rho.with_seed_count(4).unwrap(), rho.set("seeds.count", "4").unwrap());
    assert_eq!(rho.with_first_seed(7).unwrap(), rho.set("seeds.first", "7").unwrap());
    let listed = rho.set("seeds.list", "[8, 2]").unwrap();
    assert_eq!(listed.with_seed_count(4).unwrap(), listed.set("seeds.count", "4").unwrap());
    assert_eq!(listed.with_first_seed(7).unwrap(), listed.set("seeds.first", "7").unwrap());
    let horizon = Scenario::preset("horizon").unwrap();
    assert_eq!(horizon.with_slots(9).unwrap(), horizon.set("slots", "9").unwrap());
    // By its label a policy keeps its parameters, by its name it has the default ones.
    let bold = rho.set("policies", r#"[{ name = "cts", sigma = 0.5, label = "bold" }]"#).unwrap();
    let chosen = bold.choose(["cts", "bold"]).unwrap();
    assert_eq!(chosen.policies()[0], LabelledPolicy::named("cts").unwrap());
    assert_eq!(chosen.policies()[1], bold.policies()[0]);
    let unknown = rho.choose(["cst"]).unwrap_err().to_string();
    assert!(unknown.starts_with("`policies`: unknown policy `cst`, expected one of"), "{unknown}");
}

#[test]
fn what_is_wrong_with_a_spec_is_told_too() {
    let refused = |change: fn(&mut Spec)| {
        let mut spec = Spec::default();
        change(&mut spec);
        spec.build().unwrap_err().to_string()
    };
    assert_eq!(refused(|spec| spec.policies.clear()), "`policies` is empty, expected at least one policy");
    assert!(
        refused(|spec| spec.policies[1].label.clear())
            .starts_with("`policies[1].label` is \"\", expected a text")
    );
    assert!(refused(|spec| spec.graph.count = Some(1)).starts_with("`graph.count` is 1, expected"));
    assert!(!refused(|spec| spec.speeds.hold = u64::MAX).is_empty(), "TOML cannot write that down");
}
