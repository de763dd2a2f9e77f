//! What every [`Storage`] must keep: run [`check`] on your own.

use super::{AuditQuery, AuditRow, Batch, Frame, SlotRow, SnapshotRow, Storage, StorageError};
use esdp::live::{EVENT_VERSION, Event};

fn frame(sequence: u64, events: u64) -> Frame {
    let event = |number: u64| Event::Ended { job: format!("j{number} \"é\u{1}\n") };
    let events = (sequence..sequence + events).map(event).collect();
    Frame { sequence, at: 7 * sequence, version: EVENT_VERSION, digest: u64::MAX - sequence, events }
}

fn slot(slot: u64) -> SlotRow {
    let key = format!("k{slot}");
    SlotRow {
        slot,
        key,
        at: slot,
        request: u64::MAX - slot,
        answer: format!("{{\"slot\":{slot}}}"),
        why: "{}".to_owned(),
    }
}

fn audit(sequence: u64, routine: bool) -> AuditRow {
    AuditRow {
        sequence,
        // Two at the same time, and clocks go back.
        at: 1000 + sequence / 2 * 2 % 8,
        actor: format!("token:t{}", sequence % 2),
        address: "10.0.0.1".to_owned(),
        request: format!("r{sequence}"),
        action: "drain".to_owned(),
        target: String::new(),
        servers: vec![format!("n{}", sequence % 3)],
        routine,
        damaged: false,
    }
}

fn audited(storage: &mut dyn Storage, query: &AuditQuery) -> Vec<u64> {
    let (mut rows, mut query) = (Vec::new(), query.clone());
    loop {
        let page = storage.audit(&query).expect("it is read");
        rows.extend(page.rows.iter().map(|row| row.sequence));
        match page.next {
            Some(next) => query.after = Some(next),
            None => return rows,
        }
    }
}

fn all(storage: &mut dyn Storage, from: u64) -> Vec<Frame> {
    let mut frames = Vec::new();
    let read = storage.frames(from, &mut |frame| {
        frames.push(frame);
        Ok(())
    });
    read.expect("frames are read");
    frames
}

/// Checks a storage; `open` opens the same data each time it is called, which is empty at first.
///
/// # Panics
/// When it does not keep what a storage promises.
pub fn check(open: &mut dyn FnMut() -> Box<dyn Storage>) {
    let mut storage = open();
    assert_eq!(storage.last_sequence().unwrap(), 0, "it is empty at first");
    assert_eq!(storage.snapshot(u64::MAX).unwrap(), None);
    let batch = Batch {
        frames: vec![frame(1, 3), frame(4, 1)],
        slots: vec![slot(1)],
        audit: vec![audit(1, false), audit(4, true)],
    };
    storage.commit(&batch).expect("a first batch is kept");
    storage.probe().expect("another would be, too");
    drop(storage);

    let mut storage = open();
    assert_eq!(all(&mut *storage, 1), batch.frames, "what was kept is there after a restart, to the letter");
    assert_eq!(all(&mut *storage, 4), batch.frames[1..], "from an event on");
    assert_eq!(all(&mut *storage, 3), batch.frames, "with the frame that holds it");
    assert_eq!(storage.last_sequence().unwrap(), 4);
    assert!(storage.check().expect("what it wrote is sound").is_empty(), "and nothing is odd");
    let page = storage.audit(&AuditQuery::default()).unwrap();
    assert_eq!((page.rows, page.next), (vec![audit(4, true), audit(1, false)], None), "who it was");
    assert_eq!(storage.slot_by_key("k1").unwrap(), Some(slot(1)));
    assert_eq!((storage.slot(1).unwrap(), storage.slot(2).unwrap()), (Some(slot(1)), None));

    let twice = Batch { frames: vec![frame(5, 1), frame(4, 1)], slots: vec![slot(2)], ..Batch::default() };
    storage.commit(&twice).expect_err("no place is given twice");
    let same_key =
        Batch { frames: vec![frame(5, 1)], slots: vec![SlotRow { slot: 2, ..slot(1) }], ..Batch::default() };
    storage.commit(&same_key).expect_err("no key is used twice");
    assert_eq!(
        (all(&mut *storage, 1), storage.slot(2).unwrap()),
        (batch.frames.clone(), None),
        "all or nothing"
    );

    let stopped = storage.frames(1, &mut |_| Err(StorageError::Failed("enough".to_owned())));
    assert!(matches!(stopped, Err(StorageError::Failed(_))), "a reader may stop");

    for number in 5..=20 {
        storage
            .commit(&Batch {
                frames: vec![frame(number, 1)],
                slots: vec![slot(number)],
                audit: vec![audit(number, number % 5 != 0)],
            })
            .expect("it goes on");
    }
    for sequence in [6, 12, 18] {
        storage
            .save_snapshot(&SnapshotRow { sequence, state: format!("state {sequence}") })
            .expect("a snapshot");
        if sequence == 6 {
            while storage.compact(0, 3).expect("it compacts") {}
            assert_eq!(
                all(&mut *storage, 1).first().map(|frame| frame.sequence),
                Some(1),
                "one snapshot drops nothing"
            );
        }
    }
    assert_eq!(
        storage.snapshot(17).unwrap().map(|snapshot| snapshot.sequence),
        Some(12),
        "the last at or before"
    );
    assert_eq!(storage.snapshot(11).unwrap(), None, "two are kept");
    let kept: Vec<_> =
        storage.snapshots().unwrap().into_iter().map(|info| (info.sequence, info.build)).collect();
    assert_eq!(kept, [12, 18].map(|sequence| (sequence, esdp::BUILD.to_owned())), "with the build");
    storage.checkpoint().expect("what can wait is done");
    let mut rounds = 0;
    while storage.compact(10, 3).expect("it compacts") {
        rounds += 1;
        assert!(rounds < 100, "compaction ends");
    }
    drop(storage);

    let mut storage = open();
    let left: Vec<u64> = all(&mut *storage, 1).iter().map(|frame| frame.sequence).collect();
    assert_eq!(left, (13..=20).collect::<Vec<_>>(), "the frames after the older snapshot");
    assert_eq!(storage.last_sequence().unwrap(), 20, "numbers go on where they were");
    let slots: Vec<u64> = storage.last_slots(100).unwrap().iter().map(|row| row.slot).collect();
    assert_eq!(slots, (10..=20).rev().collect::<Vec<_>>(), "the last answers, newest first");
    assert_eq!(storage.last_slots(2).unwrap().len(), 2);
    // Changes stay; slots and outcomes have gone with their frames.
    let kept: Vec<u64> = [1, 5, 10].into_iter().chain(13..=20).collect();
    let mut found = audited(&mut *storage, &AuditQuery::default());
    found.sort_unstable();
    assert_eq!(found, kept, "who it was");
    let few = AuditQuery { limit: 2, ..AuditQuery::default() };
    let mut paged = audited(&mut *storage, &few);
    let times: Vec<u64> = paged.iter().map(|&sequence| audit(sequence, false).at).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "the newest first: {times:?}");
    paged.sort_unstable();
    assert_eq!(paged, kept, "in pages");
    for query in [
        AuditQuery { since: 1002, until: 1004, limit: 1, ..AuditQuery::default() },
        AuditQuery { server: Some("n2".to_owned()), limit: 1, ..AuditQuery::default() },
        AuditQuery { actor: Some("token:t1".to_owned()), ..AuditQuery::default() },
    ] {
        let fits = |&sequence: &u64| {
            let row = audit(sequence, false);
            (query.since..=query.until).contains(&row.at)
                && query.server.as_ref().is_none_or(|server| row.servers == [server.as_str()])
                && query.actor.as_ref().is_none_or(|actor| row.actor == *actor)
        };
        let mut found = audited(&mut *storage, &query);
        found.sort_unstable();
        assert_eq!(found, kept.iter().copied().filter(fits).collect::<Vec<_>>(), "{query:?}");
    }
    let state = storage.snapshot(u64::MAX).unwrap().expect("the latest snapshot").state;
    assert_eq!(state, "state 18");
    storage.drop_snapshot(18).expect("it is dropped");
    assert_eq!(storage.snapshot(u64::MAX).unwrap().map(|snapshot| snapshot.sequence), Some(12));
    assert_eq!(storage.first_sequence().unwrap(), Some(13));
    assert_eq!(storage.note("policy").unwrap(), None);
    for value in ["esdp", "escb"] {
        storage.save_note("policy", value).expect("a note is kept");
        assert_eq!(storage.note("policy").unwrap().as_deref(), Some(value));
    }
    assert!(storage.size().unwrap() > 0);
}
