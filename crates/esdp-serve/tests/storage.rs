//! SQLite keeps what a storage promises.

use esdp::live::Event;
use esdp_serve::storage::{Batch, DataLock, Frame, Sqlite, Storage, StorageError, kit};

#[test]
fn sqlite_passes_the_kit() {
    let data = tempfile::tempdir().unwrap();
    kit::check(&mut || Box::new(Sqlite::open(data.path()).unwrap()));
}

/// Times are for people: a clock that was set back disturbs nothing.
#[test]
fn a_clock_may_go_back() {
    let data = tempfile::tempdir().unwrap();
    let mut storage = Sqlite::open(data.path()).unwrap();
    let frame = |sequence, at| Frame {
        sequence,
        at,
        version: 2,
        digest: 0,
        events: vec![Event::Ended { job: sequence.to_string() }],
    };
    for (sequence, at) in [(1, 5000), (2, 9000), (3, 10), (4, 0)] {
        storage
            .commit(&Batch { frames: vec![frame(sequence, at)], slots: vec![], ..Batch::default() })
            .unwrap();
    }
    let mut order = Vec::new();
    let read = storage.frames(1, &mut |frame| {
        order.push((frame.sequence, frame.at));
        Ok(())
    });
    read.unwrap();
    assert_eq!(order, [(1, 5000), (2, 9000), (3, 10), (4, 0)]);
}

#[test]
fn damage_is_noticed() {
    let data = tempfile::tempdir().unwrap();
    let event = Event::Ended { job: "a-name-to-be-found".into() };
    let batch = Batch {
        frames: vec![Frame { sequence: 1, at: 0, version: 2, digest: 0, events: vec![event] }],
        ..Batch::default()
    };
    Sqlite::open(data.path()).unwrap().commit(&batch).unwrap();
    let path = data.path().join("esdp.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(18).position(|window| window == b"a-name-to-be-found").unwrap();
    bytes[at] = b'b';
    std::fs::write(&path, bytes).unwrap();
    let mut storage = Sqlite::open(data.path()).unwrap();
    let read = storage.frames(1, &mut |_| Ok(()));
    assert!(matches!(&read, Err(StorageError::Damaged(why)) if why.contains("checksum")), "{read:?}");
    std::fs::write(&path, "this is not a database, and never was one").unwrap();
    assert!(matches!(Sqlite::open(data.path()), Err(StorageError::Damaged(_))));
}

#[test]
fn a_lock_is_for_one() {
    let data = tempfile::tempdir().unwrap();
    let held = DataLock::take(data.path()).unwrap();
    assert!(matches!(DataLock::take(data.path()), Err(StorageError::Locked(_))));
    drop(held);
    DataLock::take(data.path()).unwrap();
}
