//! A second copy of the state, for readers, in a thread of its own.
//!
//! ```text
//! engine --frames, after their commit--> queue --> follower: applies them, then answers readers
//! ```
//!
//! Decisions are facts: a frame that is applied gives the state that the engine has, and nothing is decided
//! for that. So the engine hands over what it has committed, which costs the same however large the cluster
//! is, and never makes a row or writes a state out for anybody. It hands over before it answers, and a reader
//! is answered after all that was handed over before it asked: who was told that something is done sees it.
//!
//! Frames are applied when somebody asks, or when many have come together, since nobody may be looking.

use super::answers::Answers;
use super::core::{Core, PolicyMaker};
use super::{View, command};
use crate::storage::{Frame, SnapshotRow, Storage, StorageError};
use crate::wire::{ApiError, Code};
use esdp::live::Live;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// How many events may wait before they are applied unasked: so many that the thread is seldom woken, so few
/// that who asks next is not kept waiting.
const MOST_BEHIND: usize = 256;

/// What the engine knows beside the state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct EngineNote {
    /// The event of the last snapshot.
    pub(super) snapshot: u64,
    /// Why nothing can be written, if so.
    pub(super) degraded: Option<String>,
    /// The size of the database in bytes.
    pub(super) database_bytes: u64,
}

/// The state, as readers find it.
pub struct Followed {
    core: Core,
    /// Answers of slots; it only reads.
    storage: Box<dyn Storage>,
    note: EngineNote,
    /// How many times something was handed over.
    version: u64,
    /// All rows of this state, if anybody has asked for them.
    view: Option<Arc<View>>,
}

/// What is asked of the follower.
type Question = Box<dyn FnOnce(&mut Followed) + Send>;

#[derive(Default)]
struct Queue {
    frames: Vec<Frame>,
    events: usize,
    questions: VecDeque<Question>,
    note: EngineNote,
    /// Whether nothing more will be answered.
    closed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    version: AtomicU64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        // Those who wait for an answer learn that none comes.
        queue.questions.clear();
        drop(queue);
        self.wake.notify_all();
    }
}

/// The way to the follower, for readers.
#[derive(Clone)]
pub struct Follower(Arc<Shared>);

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").field("version", &self.version()).finish()
    }
}

impl Follower {
    /// How many times something was handed over; an answer of this version or a later one shows it all.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    fn post<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Followed) -> T + Send + 'static,
    ) -> Result<oneshot::Receiver<T>, ApiError> {
        let (reply, answer) = oneshot::channel();
        let mut queue = self.0.lock();
        if queue.closed {
            return Err(command::stopping());
        }
        // Who has hung up does not want to know.
        queue.questions.push_back(Box::new(move |followed| drop(reply.send(question(followed)))));
        drop(queue);
        self.0.wake.notify_one();
        Ok(answer)
    }

    /// Asks for something that is short to make; what takes long to write out is written out elsewhere.
    ///
    /// # Errors
    /// When the service stops.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Followed) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.post(question)?.await.map_err(|_| self.unanswered())
    }

    /// The same for a thread that may wait.
    ///
    /// # Errors
    /// When the service stops.
    pub fn ask_blocking<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Followed) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.post(question)?.blocking_recv().map_err(|_| self.unanswered())
    }

    fn unanswered(&self) -> ApiError {
        match self.0.lock().closed {
            true => command::stopping(),
            false => ApiError::new(Code::Internal, "what was asked for cannot be shown"),
        }
    }
}

impl Followed {
    /// The live core.
    ///
    /// # Errors
    /// Before the first cluster.
    pub fn live(&self) -> Result<&Live, ApiError> {
        self.core.live()
    }

    /// How many events have been applied.
    pub fn sequence(&self) -> u64 {
        self.core.sequence()
    }

    /// The last slot.
    pub fn slot(&self) -> u64 {
        self.core.slot()
    }

    /// How many times something was handed over before.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What is kept of slots.
    pub fn storage(&mut self) -> &mut dyn Storage {
        &mut *self.storage
    }

    pub(super) fn note(&self) -> &EngineNote {
        &self.note
    }

    /// All rows; made once for each state.
    pub fn view(&mut self) -> Arc<View> {
        let view = self.view.take().unwrap_or_else(|| Arc::new(View::of(self)));
        self.view = Some(Arc::clone(&view));
        view
    }

    fn snapshot(&self) -> Result<Option<SnapshotRow>, StorageError> {
        let state = self.core.snapshot()?;
        Ok(state.map(|state| SnapshotRow { sequence: self.core.sequence(), state }))
    }

    /// Books a frame as a start does, and compares the state with the engine's.
    fn follow(&mut self, frame: &Frame) -> Result<(), String> {
        self.core.redo(frame, &Answers::unread()).map_err(|error| error.to_string())?;
        match self.core.fits(frame) {
            true => Ok(()),
            false => Err("its digest is another".to_owned()),
        }
    }
}

/// The engine's end: what it hands over. The follower ends with it.
pub(super) struct Lead {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), String>>>,
    note: EngineNote,
}

impl Lead {
    /// Starts the thread from a state that was written out; none before the first cluster.
    pub(super) fn start(
        state: Option<String>,
        policy: PolicyMaker,
        storage: Box<dyn Storage>,
    ) -> Result<Self, StorageError> {
        let shared = Arc::new(Shared::default());
        let queue = Arc::clone(&shared);
        let run = move || {
            let _end = EndOfAnswers(Arc::clone(&queue));
            let restored = state.map(|text| Live::restore(&text, |cluster| policy(cluster)));
            let live = restored.transpose().map_err(|error| error.to_string())?;
            let note = EngineNote::default();
            let core = Core::new(live, policy);
            run(Followed { core, storage, note, version: 0, view: None }, &queue)
        };
        let thread = std::thread::Builder::new().name("readers".to_owned()).spawn(run);
        let thread = thread.map_err(|error| StorageError::Failed(error.to_string()))?;
        Ok(Self { shared, thread: Some(thread), note: EngineNote::default() })
    }

    /// The way for readers.
    pub(super) fn follower(&self) -> Follower {
        Follower(Arc::clone(&self.shared))
    }

    /// Frames that were committed, in order.
    pub(super) fn hand(&self, frames: Vec<Frame>) {
        let events: usize = frames.iter().map(|frame| frame.events.len()).sum();
        let mut queue = self.shared.lock();
        queue.events += events;
        match queue.frames.is_empty() {
            true => queue.frames = frames,
            false => queue.frames.extend(frames),
        }
        let many = queue.events >= MOST_BEHIND;
        self.shared.version.fetch_add(1, Ordering::Release);
        drop(queue);
        if many {
            self.shared.wake.notify_one();
        }
    }

    /// What the engine knows beside the state, if that is news.
    pub(super) fn tell(&mut self, note: EngineNote) {
        if note != self.note {
            self.note = note.clone();
            let mut queue = self.shared.lock();
            queue.note = note;
            self.shared.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Asks for the state as a text; it comes when it is written.
    pub(super) fn snapshot(&self) -> mpsc::Receiver<Result<Option<SnapshotRow>, StorageError>> {
        let (sender, receiver) = mpsc::channel();
        let question = move |followed: &mut Followed| drop(sender.send(followed.snapshot()));
        // If it is gone, nothing comes, and whoever waits is told so by the channel.
        drop(self.follower().post(question));
        receiver
    }

    /// Why the follower has ended by itself, if so.
    pub(super) fn fault(&mut self) -> Option<String> {
        let thread = self.thread.take_if(|thread| thread.is_finished())?;
        Some(match thread.join() {
            Ok(Ok(())) => "it has ended".to_owned(),
            Ok(Err(why)) => why,
            Err(_) => "it panicked".to_owned(),
        })
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.shared.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// However the thread ends, nobody waits for it any more.
struct EndOfAnswers(Arc<Shared>);

impl Drop for EndOfAnswers {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn run(mut followed: Followed, shared: &Shared) -> Result<(), String> {
    loop {
        let mut queue = shared.lock();
        while queue.questions.is_empty() && queue.events < MOST_BEHIND && !queue.closed {
            queue = shared.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if queue.closed {
            return Ok(());
        }
        let question = queue.questions.pop_front();
        let frames = std::mem::take(&mut queue.frames);
        queue.events = 0;
        // Under the lock, under which it is raised: it counts what was taken just now, and no more.
        let version = shared.version.load(Ordering::Acquire);
        if followed.note != queue.note {
            followed.note = queue.note.clone();
        }
        drop(queue);
        if version > followed.version {
            (followed.version, followed.view) = (version, None);
        }
        for frame in &frames {
            followed.follow(frame).map_err(|why| {
                format!("the state of readers is not that of the journal at event {}: {why}", frame.sequence)
            })?;
        }
        if let Some(question) = question {
            // It only reads, so the state is sound whatever becomes of it; the panic itself was told.
            let _ = catch_unwind(AssertUnwindSafe(|| question(&mut followed)));
        }
    }
}
