//! Jobs one can find, and what can be said of one that waits.

use super::cluster::{described, policy, report, slot, submit};
use esdp::live::{
    Effect, Event, ExpectedLength, Feature, FoundJob, HeldReason, JobCursor, JobState, JobTraits, LOOKED_AT,
    Live, Rejection, SpeedReport, WhichJobs,
};
use esdp::model::{JobShape, PortSpec, Slot};

/// Room for three jobs, which start as they come.
fn live() -> Live {
    Live::new(described(), policy("first-fit")).unwrap()
}

/// The same cluster with a second port, whose jobs find no room beside those of the first.
fn two_ports() -> Live {
    let mut described = described();
    described.ports.push(PortSpec::new("eval", JobShape::tasks(1, 1, &[("gpu", 4)])));
    Live::new(described, policy("first-fit")).unwrap()
}

fn amended(live: &mut Live, job: &str, weight: Option<f64>, traits: Option<JobTraits>) -> Vec<Effect> {
    live.apply(&Event::Amended { job: job.into(), weight, traits })
}

fn traits() -> JobTraits {
    JobTraits {
        tenant: Some("lab".into()),
        expected: Some(ExpectedLength::Seconds(90.0)),
        features: vec![Feature::Word("bert".into()), Feature::Number(128.0)],
    }
}

/// All pages of so many jobs.
fn all(live: &Live, which: &WhichJobs, limit: usize) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), None);
    loop {
        let page = live.jobs_page(which, cursor, limit);
        assert!(page.jobs.len() <= limit);
        names.extend(page.jobs.into_iter().map(|job| job.name));
        cursor = page.next;
        if cursor.is_none() {
            return names;
        }
    }
}

fn which(state: Option<JobState>, port: &str, server: &str, name: &str) -> WhichJobs {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    WhichJobs { state, port: some(port), server: some(server), name: some(name) }
}

#[test]
fn jobs_are_found_by_what_they_do_and_where() {
    let mut live = two_ports();
    for job in ["a1", "b2", "c3", "d4"] {
        submit(&mut live, job);
    }
    live.apply(&Event::Submitted { job: "e5".into(), port: "eval".into(), weight: 2.0 });
    let starts = slot(&mut live, 1);
    assert_eq!(starts.len(), 3);
    let ended = starts[0].clone();
    live.apply(&Event::Directed { mode: live.mode(), most_exploration: None, objective: None });
    live.apply(&Event::Ended { job: ended.job.clone() });
    submit(&mut live, "f6");
    let (waiting, running, over) = (Some(JobState::Waiting), Some(JobState::Running), Some(JobState::Over));
    let names = |starts: &[esdp::live::Start]| -> Vec<String> {
        starts.iter().map(|start| start.job.clone()).collect()
    };
    for limit in [1, 2, 100] {
        assert_eq!(all(&live, &which(waiting, "", "", ""), limit), ["d4", "e5", "f6"]);
        assert_eq!(all(&live, &which(waiting, "train", "", ""), limit), ["d4", "f6"]);
        assert_eq!(all(&live, &which(waiting, "eval", "", ""), limit), ["e5"]);
        assert_eq!(all(&live, &which(running, "", "", ""), limit), names(&starts[1..]));
        assert_eq!(all(&live, &which(over, "", "", ""), limit), [ended.job.as_str()]);
        assert_eq!(all(&live, &which(over, "eval", "", ""), limit), [""; 0]);
        assert_eq!(all(&live, &which(None, "", "", "E"), limit), ["e5"]);
        assert_eq!(all(&live, &which(None, "eval", "", ""), limit), ["e5"]);
        assert_eq!(all(&live, &which(None, "nowhere", "", ""), limit), [""; 0]);
        assert_eq!(all(&live, &which(waiting, "nowhere", "", ""), limit), [""; 0]);
        assert_eq!(all(&live, &which(waiting, "", "n0", ""), limit), [""; 0]);
        let on = |server: &str| {
            let there = |start: &&esdp::live::Start| start.placements.iter().any(|p| p.server == server);
            starts[1..].iter().filter(there).map(|start| start.job.clone()).collect::<Vec<_>>()
        };
        assert_eq!(all(&live, &which(None, "", "n0", ""), limit), on("n0"));
        assert_eq!(all(&live, &which(running, "train", "n1", ""), limit), on("n1"));
        assert!(all(&live, &which(None, "", "n9", ""), limit).is_empty());
        assert_eq!(all(&live, &WhichJobs::default(), limit).len(), 5);
    }
}

#[test]
fn a_job_is_shown_with_where_and_why() {
    let mut live = two_ports();
    live.apply(&Event::Directed { mode: live.mode(), most_exploration: None, objective: None });
    ["a", "b", "c", "d"].iter().for_each(|job| drop(submit(&mut live, job)));
    let fresh = live.job("d").unwrap().waits.unwrap();
    assert_eq!((fresh.position, fresh.of, fresh.reason), (4, 4, HeldReason::NotDecided));
    let starts = slot(&mut live, 5);
    let waits = live.job("d").unwrap();
    let place = waits.waits.unwrap();
    assert_eq!((waits.state, waits.submitted, place.position, place.of), (JobState::Waiting, Slot(0), 1, 1));
    let held = live.held().find(|held| held.job == "d").unwrap();
    assert_eq!((place.reason, place.detail), (held.reason, held.detail));

    let runs = live.job("a").unwrap();
    let (start, reported) = runs.start.unwrap();
    assert_eq!((runs.state, &start, reported), (JobState::Running, &starts[0], vec![0]));
    live.apply(&report(start.ticket, SpeedReport::Utility(0.5)));
    assert_eq!(live.job("a").unwrap().start.unwrap().1, [2], "both of its tasks");
    live.apply(&Event::Ended { job: "b".into() });
    let over = live.job("b").unwrap();
    assert_eq!((over.state, over.port.as_deref()), (JobState::Over, Some("train")));
    assert_eq!(over.start.unwrap().0.placements, starts[1].placements, "its outcomes are awaited");
    live.apply(&Event::Ended { job: "a".into() });
    let over = live.job("a").unwrap();
    assert_eq!((over.state, over.port, over.start), (JobState::Over, None, None));
    assert_eq!(live.job("nobody"), None);
}

/// A page goes on behind a job, whatever has become of that job and of others.
#[test]
fn pages_bear_changes_in_between() {
    let mut live = live();
    (0..40).for_each(|job| drop(submit(&mut live, &format!("j{job:02}"))));
    let queue = which(Some(JobState::Waiting), "train", "", "");
    for which in [WhichJobs::default(), queue.clone()] {
        let page = live.jobs_page(&which, None, 10);
        let (last, next) = (page.jobs[9].name.clone(), page.jobs.len());
        live.apply(&Event::Cancelled { job: last.clone() });
        live.apply(&Event::Cancelled { job: page.jobs[3].name.clone() });
        submit(&mut live, &format!("late{next}{}", which.port.is_some()));
        let rest = live.jobs_page(&which, page.next, 100);
        assert!(rest.next.is_none());
        let first: Vec<&FoundJob> = page.jobs.iter().chain(&rest.jobs).collect();
        let mut names: Vec<&str> = first.iter().map(|job| job.name.as_str()).collect();
        names.dedup();
        assert_eq!(names.len(), live.jobs().len() + 2, "none twice, none left out");
    }
    let here = live.jobs_page(&queue, None, 5).next;
    assert!(matches!(here, Some(JobCursor::Queued(..))));
    assert_eq!(
        live.jobs_page(&WhichJobs::default(), here, 1),
        live.jobs_page(&WhichJobs::default(), None, 1)
    );
}

/// However many jobs there are, so many are looked at; a page may be empty and not the last.
#[test]
fn a_page_has_a_bound() {
    let mut live = live();
    (0..LOOKED_AT + 10).for_each(|job| drop(submit(&mut live, &format!("j{job}"))));
    submit(&mut live, "needle");
    let which = which(None, "", "", "needle");
    let page = live.jobs_page(&which, None, 10);
    assert!(page.jobs.is_empty() && page.next.is_some());
    let rest = live.jobs_page(&which, page.next, 10);
    assert_eq!((rest.jobs.len(), rest.next), (1, None));
    assert_eq!(rest.jobs[0].waits.as_ref().unwrap().position, LOOKED_AT + 11);
}

#[test]
fn what_waits_can_be_made_more_urgent() {
    let mut live = live();
    ["a", "b", "c", "d", "e"].iter().for_each(|job| drop(submit(&mut live, job)));
    assert_eq!(amended(&mut live, "e", Some(3.0), Some(traits())), []);
    let position = |live: &Live, job: &str| live.job(job).unwrap().waits.unwrap().position;
    assert_eq!((position(&live, "e"), position(&live, "a")), (1, 2));
    assert!(matches!(amended(&mut live, "e", Some(3.0), None)[..], [Effect::Duplicate { .. }]));
    assert!(matches!(amended(&mut live, "e", None, Some(traits()))[..], [Effect::Duplicate { .. }]));
    let found = live.job("e").unwrap();
    assert_eq!((found.weight, found.traits), (3.0, traits()));

    // The same after a restart, from a snapshot that knows the weights of the queue only.
    let mut twin = Live::restore(&live.snapshot().unwrap(), policy("first-fit")).unwrap();
    assert_eq!((twin.job("e"), twin.book_digest()), (live.job("e"), live.book_digest()));
    for live in [&mut live, &mut twin] {
        assert_eq!(amended(live, "e", Some(0.5), None), []);
        assert_eq!((position(live, "e"), live.job("e").unwrap().traits), (5, traits()));
        let before = live.book_digest();
        assert_eq!(amended(live, "e", None, Some(JobTraits::default())), []);
        assert!(live.job("e").unwrap().traits.is_empty() && live.book_digest() != before);
        let starts = slot(live, 1);
        assert_eq!(starts.iter().map(|start| start.job.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    }
    let cause = |effects: &[Effect]| match effects {
        [Effect::Rejected { cause, .. }] => *cause,
        other => panic!("{other:?}"),
    };
    let sequence = live.book_digest();
    assert_eq!(cause(&amended(&mut live, "a", Some(2.0), None)), Rejection::Conflict, "it runs");
    assert_eq!(cause(&amended(&mut live, "nobody", Some(2.0), None)), Rejection::Unknown);
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(cause(&amended(&mut live, "d", Some(weight), None)), Rejection::Conflict, "{weight}");
    }
    let endless = JobTraits { expected: Some(ExpectedLength::Work(f64::INFINITY)), ..traits() };
    assert_eq!(cause(&amended(&mut live, "d", None, Some(endless))), Rejection::Conflict);
    assert!(live.job("d").unwrap().traits.is_empty() && live.book_digest() != sequence, "all are counted");
    live.apply(&Event::Cancelled { job: "e".into() });
    assert!(!live.has_job("e") && live.book().waiting(esdp::model::PortId(0)).len() == 1);
    assert!(matches!(amended(&mut live, "e", Some(2.0), None)[..], [Effect::Duplicate { .. }]));
}
