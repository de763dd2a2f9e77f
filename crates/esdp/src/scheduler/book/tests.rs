use super::*;
use crate::model::SlotView;
use crate::model::{ClusterDescription, JobShape, PortSpec, Remap, ServerSpec};
use crate::policy::{Choice, FirstFit, Policy};
use crate::scheduler::Sealer;

/// Servers `a` and `b` with two devices each; jobs of two tasks, at least one.
fn described() -> ClusterDescription {
    ClusterDescription {
        devices: vec!["gpu".into()],
        servers: vec![ServerSpec::new("a", &[("gpu", 2)]), ServerSpec::new("b", &[("gpu", 2)])],
        ports: vec![PortSpec::new("train", JobShape::tasks(2, 1, &[("gpu", 1)]))],
        ..ClusterDescription::default()
    }
}

/// Starts what fits, first come first served.
fn start(book: &mut Book, cluster: &Cluster, slot: u64) -> Vec<Ticket> {
    let mut arrivals = Arrivals::everywhere(cluster.ports().len());
    book.present(&mut arrivals);
    let free = book.free().clone();
    let view = SlotView::new(cluster, Slot(slot), &arrivals, &free);
    let (mut choice, mut decision) = (Choice::default(), Decision::nothing());
    FirstFit::default().decide(&view, &mut choice).unwrap();
    Sealer::default().seal(&view, &choice, &mut decision).unwrap();
    book.start(cluster, &decision).map(Ticket).collect()
}

fn free(book: &Book) -> Vec<Amount> {
    (0..2).map(|server| book.free().server(ServerId(server)).unwrap()[0]).collect()
}

#[test]
fn a_job_is_started_once_and_its_devices_come_back() {
    let cluster = described().cluster().unwrap();
    let mut book = Book::new(&cluster);
    let jobs: Vec<JobId> = (0..3).map(|_| book.submit(PortId(0), 1.0, Slot(1))).collect();
    let tickets = start(&mut book, &cluster, 1);
    assert_eq!((tickets.clone(), free(&book)), (vec![Ticket(1), Ticket(2)], vec![0, 0]));
    assert!(start(&mut book, &cluster, 2).is_empty(), "held from the start, accepted or not");
    let (slot, channels) = book.accept(Ticket(1)).unwrap();
    assert_eq!((slot, channels), (Slot(1), vec![ChannelId(0), ChannelId(1)]));
    assert_eq!(book.accept(Ticket(1)), Err(TicketError::Accepted(Ticket(1))));

    let refused = book.refuse(Ticket(2)).unwrap();
    assert_eq!(refused, Refused { job: jobs[1], waits: true, censored: vec![] }, "it was never pending");
    let order: Vec<JobId> = book.waiting(PortId(0)).map(|waiting| waiting.job).collect();
    assert_eq!(order, [jobs[1], jobs[2]], "it waits at its old place");
    assert_eq!(free(&book), [1, 1]);

    book.report(Ticket(1), 0).unwrap();
    assert_eq!(book.report(Ticket(1), 0), Err(TicketError::Reported { ticket: Ticket(1), task: 0 }));
    assert_eq!(
        book.report(Ticket(1), 2),
        Err(TicketError::UnknownTask { ticket: Ticket(1), task: 2, tasks: 2 })
    );
    book.end(Ticket(1)).unwrap();
    assert_eq!((book.end(Ticket(1)), free(&book)), (Err(TicketError::Over(Ticket(1))), vec![2, 2]));
    let late = book.report(Ticket(1), 1).unwrap();
    assert_eq!(late, ClosedUse { slot: Slot(1), channel: Some(ChannelId(1)) });
    assert_eq!(book.report(Ticket(1), 1), Err(TicketError::Closed(Ticket(1))));
    assert_eq!(book.report(Ticket(9), 0), Err(TicketError::Unknown(Ticket(9))));
    assert_eq!(book.report(Ticket(0), 0), Err(TicketError::Unknown(Ticket(0))));
}

#[test]
fn urgent_jobs_start_first() {
    let cluster = described().cluster().unwrap();
    let mut book = Book::new(&cluster);
    let jobs: Vec<JobId> =
        [1.0, 1.0, 5.0, 1.0].map(|weight| book.submit(PortId(0), weight, Slot(1))).to_vec();
    let order: Vec<JobId> = book.waiting(PortId(0)).map(|waiting| waiting.job).collect();
    assert_eq!(order, [jobs[2], jobs[0], jobs[1], jobs[3]]);
    let places: Vec<Option<usize>> = jobs
        .iter()
        .zip([1.0, 1.0, 5.0, 2.0])
        .map(|(&job, weight)| book.place(PortId(0), weight, job))
        .collect();
    assert_eq!(places, [Some(1), Some(2), Some(0), None], "the last one has another weight");
    assert!(book.withdraw(PortId(0), jobs[0], 1.0).is_some());
    assert!(book.withdraw(PortId(0), jobs[0], 1.0).is_none());
    assert!(book.reweigh(PortId(0), jobs[3], 1.0, 5.0) && !book.reweigh(PortId(0), jobs[3], 1.0, 5.0));
    let order: Vec<JobId> = book.waiting(PortId(0)).map(|waiting| waiting.job).collect();
    assert_eq!(order, [jobs[2], jobs[3], jobs[1]], "as if it had been submitted so");
}

#[test]
fn what_nobody_answers_expires() {
    let cluster = described().cluster().unwrap();
    let mut book = Book::new(&cluster);
    let _ = [(); 2].map(|()| book.submit(PortId(0), 1.0, Slot(1)));
    start(&mut book, &cluster, 1);
    book.accept(Ticket(1)).unwrap();
    assert_eq!(book.expire(Slot(1)), Expired::default(), "not before its time");
    let expired = book.expire(Slot(2));
    assert_eq!(expired.refused.len(), 1);
    assert_eq!((expired.tickets, expired.censored.len()), (vec![Ticket(1)], 2));
    assert_eq!(free(&book), [1, 1], "a job that runs keeps its devices");
    assert_eq!(book.report(Ticket(1), 0), Err(TicketError::Reported { ticket: Ticket(1), task: 0 }));
    book.end(Ticket(1)).unwrap();
    assert_eq!((book.report(Ticket(1), 0), free(&book)), (Err(TicketError::Expired(Ticket(1))), vec![2, 2]));
}

#[test]
fn a_change_loses_what_ran_on_servers_that_left_and_nothing_else() {
    let mut described = described();
    described.ports[0].jobs = JobShape::tasks(1, 1, &[("gpu", 2)]);
    let cluster = described.cluster().unwrap();
    let mut book = Book::new(&cluster);
    let jobs: Vec<JobId> = (0..3).map(|_| book.submit(PortId(0), 1.0, Slot(1))).collect();
    start(&mut book, &cluster, 1);
    book.accept(Ticket(1)).unwrap();
    book.accept(Ticket(2)).unwrap();
    // Server `a` leaves, `b` shrinks below what is held there, `c` comes.
    described.servers = vec![ServerSpec::new("c", &[("gpu", 3)]), ServerSpec::new("b", &[("gpu", 1)])];
    let next = described.cluster().unwrap();
    let moved = book.change(&next, &Remap::between(&cluster, &next));
    let use_of = |channel| ClosedUse { slot: Slot(1), channel: Some(ChannelId(channel)) };
    assert_eq!(moved.lost, [(Ticket(1), jobs[0], vec![use_of(0)])]);
    assert!(moved.dropped.is_empty());
    assert_eq!(free(&book), [3, 0]);
    assert_eq!(book.report(Ticket(2), 0).unwrap().channel, Some(ChannelId(1)), "channels are found by name");
    book.end(Ticket(2)).unwrap();
    assert_eq!(free(&book), [3, 1]);
    // The port leaves: who waits there is dropped.
    described.ports[0].name = "serve".into();
    let last = described.cluster().unwrap();
    assert_eq!(book.change(&last, &Remap::between(&next, &last)).dropped, [jobs[2]]);
}

#[test]
fn a_book_can_be_saved() {
    let cluster = described().cluster().unwrap();
    let mut book = Book::new(&cluster);
    let _ = [(); 3].map(|()| book.submit(PortId(0), 1.5, Slot(1)));
    start(&mut book, &cluster, 1);
    book.accept(Ticket(1)).unwrap();
    book.expire(Slot(2));
    let saved = serde_json::to_string(&book).unwrap();
    assert_eq!(serde_json::from_str::<Book>(&saved).unwrap(), book);
}
