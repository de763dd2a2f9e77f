//! The load that a scenario puts on its cluster.

use super::*;

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml(&format!("slots = 4000\npolicies = [\"lwtf\"]\n{text}")).unwrap()
}

/// The N-model: `a` runs on both servers, `b` on the first only.
fn n_model(a: f64, b: f64, rest: &str) -> Scenario {
    scenario(&format!(
        "[graph]\nports = [\"a\", \"b\"]\nservers = [\"s1\", \"s2\"]\nchannels = [\
         {{ port = \"a\", server = \"s1\", request = [1] }}, \
         {{ port = \"a\", server = \"s2\", request = [1] }}, \
         {{ port = \"b\", server = \"s1\", request = [1] }}]\n[devices]\n\
         names = [\"gpu\"]\nservers = [[1], [1]]\n\
         [costs]\nscale = 0.0\n[arrivals]\nlaw = \"poisson\"\nrate = {{ a = {a}, b = {b} }}\n\
         [jobs]\nheld = true\nwork = [5.0, 5.0]\n[speeds]\ndeviation = 0.0\n\
         table = [[1.0, 0.9, 0.5]]\n{rest}"
    ))
}

#[test]
fn the_n_model_has_the_load_of_the_textbook() {
    let mean = |scenario: &Scenario| {
        let loads = (0..8).map(|seed| scenario.setting(seed).unwrap().load(4000).unwrap().load);
        loads.sum::<f64>() / 8.0
    };
    // 0.8 of s1 for b; a share x of a on s1: 0.8 + 0.825 x = 0.99 (1 - x).
    assert!((mean(&n_model(0.165, 0.08, "")) - 0.8864).abs() < 0.03);
    assert!(mean(&n_model(0.33, 0.16, "")) > 1.6);
    let above = n_model(0.33, 0.16, "").setting(0).unwrap().load(4000).unwrap();
    assert_eq!(above.least_completion, None);
}

/// Rates are but proportions where a load is asked for, under every seed.
#[test]
fn a_load_that_is_asked_for_is_there() {
    for (load, rest) in [("0.7", ""), ("0.95", ""), ("1.3", "")] {
        for rates in ["{ a = 0.165, b = 0.08 }", "{ a = 16.5, b = 8.0 }"] {
            let scenario = n_model(0.1, 0.1, rest).set("arrivals.rate", rates).unwrap();
            let scenario = scenario.set("arrivals.load", load).unwrap();
            let of = |seed| scenario.setting(seed).unwrap().load(50_000).unwrap().load;
            let mean = (0..4).map(of).sum::<f64>() / 4.0;
            assert!((mean - load.parse::<f64>().unwrap()).abs() < 0.02, "{mean} for {load}");
        }
    }
    assert_eq!(
        Scenario::from_toml("[arrivals]\nlaw = \"poisson\"\nrate = 0.5\nload = 0.5").unwrap_err().to_string(),
        "line 4: `arrivals.load` is 0.5, expected none unless jobs wait and hold their devices (`jobs.held` \
         is false)"
    );
    let busy = n_model(0.1, 0.1, "").set("arrivals.load", "9.0").unwrap();
    let refused = |scenario: Scenario| scenario.setting(0).unwrap_err().to_string();
    assert!(busy.setting(0).is_ok());
    let few = busy.set("arrivals.most", "1").unwrap().set("jobs.work", "[0.1, 0.1]").unwrap();
    assert_eq!(
        refused(few),
        "arrivals: `load` is 9, expected none, because ports may not have that many jobs in a slot: raise \
         `most`"
    );
    let none = n_model(0.0, 0.0, "").set("arrivals.load", "0.5").unwrap();
    assert!(refused(none).contains("no jobs come at these rates"));
    let lost = n_model(0.1, 0.1, "").set("speeds.table", "[[1.0, 1.0, 0.0]]").unwrap();
    assert!(refused(lost.set("arrivals.load", "0.5").unwrap()).contains("no server runs the jobs"));
}

#[test]
fn whole_slots_count() {
    let load = |work: &str, rest: &str| {
        let scenario = n_model(0.01, 0.02, rest).set("jobs.work", work).unwrap();
        scenario.setting(3).unwrap().load(4000).unwrap()
    };
    // On s1 alone, b of work 0.1 and of work 0.5 lasts one slot.
    assert_eq!(load("[0.1, 0.1]", "").load, load("[0.5, 0.5]", "").load);
    assert!(load("[0.51, 0.51]", "").load > 1.5 * load("[0.5, 0.5]", "").load);
    assert!(load("[5.0, 5.0]", "").least_completion.unwrap() < 10.0);
}

/// Two servers of two devices each, at half speed; gangs of two tasks and of one.
#[test]
fn gangs_count_by_their_tasks() {
    let of = |tasks: u32, rate: f64| {
        let text = format!(
            "[graph]\nports = 1\nservers = 2\nprobability = 1.0\n[devices]\ncount = 1\nrequest = [1, 1]\n\
             server_capacity = [2, 2]\n[costs]\nscale = 0.0\n[arrivals]\n\
             law = \"poisson\"\nrate = {rate}\n\
             [gangs]\n\
             list = [{{ port = 0, minimum = {tasks}, tasks = [{tasks}], requests = [[1]] }}]\n\
             [jobs]\nheld = true\nwork = [10.0, 10.0]\n\
             [speeds]\ndeviation = 0.0\nmean = [0.5, 0.5]\n"
        );
        scenario(&text).setting(1).unwrap().load(4000).unwrap()
    };
    let (one, two) = (of(1, 0.1), of(2, 0.05));
    // As many tasks come in both: 0.1 a slot, of 20 slots each, on four devices.
    assert!((one.load - 0.5).abs() < 0.05, "{one:?}");
    assert!((two.load / one.load - 1.0).abs() < 0.15, "{two:?}");
    assert!((one.least_completion.unwrap() - 20.0).abs() < 1e-6, "{one:?}");
    assert!((two.least_completion.unwrap() - 20.0).abs() < 1e-6, "{two:?}");
}

#[test]
fn jobs_of_one_slot_have_no_load_and_a_lost_port_has_no_end_of_it() {
    assert_eq!(Scenario::preset("default").unwrap().setting(0).unwrap().load(100), None);
    let slow = n_model(0.1, 0.1, "").set("speeds.table", "[[1.0, 1.0, 0.0]]").unwrap();
    assert_eq!(slow.setting(0).unwrap().load(1000).unwrap().load, f64::INFINITY);
}
