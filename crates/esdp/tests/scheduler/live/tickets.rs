//! Tickets count once, whatever is said of them, how often and in which order.

use super::cluster::{live, outcomes, pending, policy, report, single, slot, submit};
use esdp::live::{Effect, Event, Live, Mode, REMEMBERED_NAMES, Rejection, SpeedReport, WhichTasks};
use esdp::model::{ChannelId, Slot, Ticket};

#[test]
fn a_ticket_counts_once() {
    let mut live = live();
    submit(&mut live, "j1");
    assert!(
        matches!(&submit(&mut live, "j1")[..], [Effect::Duplicate { .. }]),
        "saying it again is harmless"
    );
    let starts = slot(&mut live, 1);
    let ticket = starts[0].ticket;
    assert_eq!((starts.len(), pending(&live)), (1, 0), "nothing is pending before it was accepted");
    assert!(live.apply(&Event::Accepted { ticket }).is_empty());
    assert_eq!(pending(&live), 2);
    assert!(matches!(&live.apply(&Event::Accepted { ticket })[..], [Effect::Duplicate { .. }]));
    assert_eq!(pending(&live), 2);
    assert_eq!(live.apply(&report(ticket, SpeedReport::Utility(0.5))), [Effect::Learned { uses: 2 }]);
    assert_eq!((pending(&live), outcomes(&live)), (0, 2.0));
    for _ in 0..3 {
        let again = live.apply(&report(ticket, SpeedReport::Utility(0.9)));
        assert!(matches!(&again[..], [Effect::Duplicate { .. }]), "{again:?}");
    }
    live.apply(&Event::Ended { job: "j1".into() });
    let closed = live.apply(&report(ticket, SpeedReport::Utility(0.9)));
    assert!(matches!(&closed[..], [Effect::Duplicate { .. }]), "{closed:?}");
    let unknown = live.apply(&report(Ticket(99), SpeedReport::Utility(0.9)));
    assert_eq!(
        unknown,
        [Effect::Rejected { why: "ticket 99 was never handed out".into(), cause: Rejection::Unknown }]
    );
    assert_eq!((outcomes(&live), live.counts().duplicates, live.counts().rejected), (2.0, 6, 1));
    assert!(
        matches!(&submit(&mut live, "j1")[..], [Effect::Duplicate { .. }]),
        "a job that is over does not start again"
    );
    assert!(slot(&mut live, 2).is_empty());
}

#[test]
fn what_is_refused_waits_again_and_what_never_reports_expires() {
    let mut live = Live::new(single(), policy("hauf")).unwrap();
    (0..3).for_each(|job| drop(submit(&mut live, &format!("j{job}"))));
    let starts = slot(&mut live, 1);
    assert_eq!(starts.iter().map(|start| start.job.as_str()).collect::<Vec<_>>(), ["j0", "j1", "j2"]);
    let refused = live.apply(&Event::Refused { ticket: starts[0].ticket, why: "node drained".into() });
    assert_eq!(refused, [Effect::Requeued { job: "j0".into(), ticket: starts[0].ticket }]);
    // It was accepted, and then not: what was pending is taken back.
    live.apply(&Event::Accepted { ticket: starts[1].ticket });
    assert_eq!(pending(&live), 1);
    live.apply(&Event::Refused { ticket: starts[1].ticket, why: String::new() });
    assert_eq!((pending(&live), outcomes(&live)), (0, 0.0));
    live.apply(&Event::Accepted { ticket: starts[2].ticket });
    let again = slot(&mut live, 2);
    assert_eq!(
        again.iter().map(|start| start.job.as_str()).collect::<Vec<_>>(),
        ["j0", "j1"],
        "at their old places"
    );
    let effects = live.apply(&Event::Expired { before: Slot(3) });
    assert_eq!(effects.len(), 2, "nobody answered those of slot 2");
    assert_eq!(pending(&live), 0);
    let late = live.apply(&report(starts[2].ticket, SpeedReport::Utility(0.5)));
    assert!(matches!(&late[..], [Effect::Duplicate { .. } | Effect::Rejected { .. }]), "{late:?}");
    live.apply(&Event::Ended { job: "j2".into() });
    let late = live.apply(&report(starts[2].ticket, SpeedReport::Utility(0.5)));
    assert_eq!(late, [Effect::Rejected { why: "ticket 3 has expired".into(), cause: Rejection::Conflict }]);
    assert_eq!(outcomes(&live), 0.0);
}

/// Jobs that end without a report do not pile up: the oldest are given up, and what is pending is taken back.
#[test]
fn jobs_that_nobody_reports_on_are_given_up() {
    let mut live = Live::new(single(), policy("hauf")).unwrap();
    live.apply(&Event::Directed { mode: Mode::Place, most_exploration: None, objective: None });
    let mut tickets = Vec::new();
    for number in 1..=REMEMBERED_NAMES as u64 / 3 + 2 {
        (0..3).for_each(|job| drop(submit(&mut live, &format!("{number}-{job}"))));
        for start in slot(&mut live, number) {
            tickets.push(start.ticket);
            live.apply(&Event::Ended { job: start.job });
        }
    }
    assert!(tickets.len() > REMEMBERED_NAMES);
    let open = live.book().starts().count();
    assert!((REMEMBERED_NAMES / 2..REMEMBERED_NAMES / 2 + 10).contains(&open), "{open}");
    assert_eq!(pending(&live) as usize, open);
    let late = live.apply(&report(tickets[0], SpeedReport::Utility(0.5)));
    assert!(matches!(&late[..], [Effect::Rejected { why, .. }] if why.contains("expired")), "{late:?}");
    let newest = live.apply(&report(*tickets.last().unwrap(), SpeedReport::Utility(0.5)));
    assert_eq!(newest, [Effect::Learned { uses: 1 }]);
}

#[test]
fn news_may_come_in_any_order() {
    let mut live = live();
    submit(&mut live, "j1");
    let ticket = slot(&mut live, 1)[0].ticket;
    // The end before the acceptance, the outcome after the end.
    assert!(live.apply(&Event::Ended { job: "j1".into() }).is_empty());
    assert_eq!(pending(&live), 2);
    assert!(matches!(&live.apply(&Event::Accepted { ticket })[..], [Effect::Duplicate { .. }]));
    assert_eq!(live.apply(&report(ticket, SpeedReport::Utility(0.5))), [Effect::Learned { uses: 2 }]);
    // A cancellation before the submission.
    live.apply(&Event::Cancelled { job: "j2".into() });
    submit(&mut live, "j2");
    assert!(slot(&mut live, 2).is_empty());
}

#[test]
fn tasks_may_report_one_by_one_or_by_server() {
    let mut live = live();
    submit(&mut live, "j1");
    let start = slot(&mut live, 1).remove(0);
    let server = start.placements[0].server.clone();
    let one = |task| Event::Reported {
        ticket: start.ticket,
        tasks: WhichTasks::One(task),
        report: SpeedReport::Utility(0.5),
        source: String::new(),
    };
    assert_eq!(live.apply(&one(1)), [Effect::Learned { uses: 1 }]);
    assert!(matches!(&live.apply(&one(1))[..], [Effect::Duplicate { .. }]));
    assert!(matches!(&live.apply(&one(7))[..], [Effect::Rejected { .. }]));
    let on = |server: &str| Event::Reported {
        ticket: start.ticket,
        tasks: WhichTasks::On(server.into()),
        report: SpeedReport::Lost,
        source: String::new(),
    };
    assert_eq!(live.apply(&on(&server)), [Effect::Learned { uses: 0 }]);
    assert!(matches!(&live.apply(&on(&server))[..], [Effect::Duplicate { .. }]));
    assert!(matches!(&live.apply(&on("n9"))[..], [Effect::Rejected { .. }]));
    assert_eq!((pending(&live), outcomes(&live)), (0, 1.0));
}

#[test]
fn reports_of_others_count_once() {
    let mut live = live();
    let seen = |id: &str| Event::Observed {
        id: id.into(),
        port: "train".into(),
        group: "task".into(),
        server: "n1".into(),
        report: SpeedReport::Rate(50.0),
        source: String::new(),
    };
    assert!(matches!(&live.apply(&seen("a"))[..], [Effect::Rejected { .. }]), "no slot yet");
    slot(&mut live, 1);
    assert_eq!(live.apply(&seen("a")), [Effect::Learned { uses: 1 }]);
    assert!(matches!(&live.apply(&seen("a"))[..], [Effect::Duplicate { .. }]));
    assert_eq!(live.apply(&seen("b")), [Effect::Learned { uses: 1 }]);
    assert_eq!(live.belief(ChannelId(1)).unwrap().speed, 50.0);
    assert_eq!(outcomes(&live), 2.0);
}
