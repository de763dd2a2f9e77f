//! News for those who watch, and the last state that was left for them.

use crate::engine::View;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

/// How much news is kept for those who come back.
const KEPT: usize = 1024;

/// Something that happened, and is on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The event in the journal behind it; ascending.
    pub id: u64,
    /// What kind: `slot`, `learned`, `cluster`, `reset`, `drain`.
    pub kind: &'static str,
    /// JSON on one line.
    pub data: Arc<str>,
}

impl News {
    /// Some news.
    pub fn new(kind: &'static str, id: u64, data: &str) -> Self {
        Self { id, kind, data: data.into() }
    }
}

/// The last news.
#[derive(Debug, Default)]
struct Kept {
    news: VecDeque<News>,
    /// Up to which event there may have been news that is not kept.
    dropped: u64,
}

/// Where the engine leaves news and the state.
#[derive(Debug)]
pub struct Feed {
    kept: Mutex<Kept>,
    sender: broadcast::Sender<News>,
    view: Mutex<Option<Arc<View>>>,
    watchers: AtomicUsize,
}

impl Default for Feed {
    fn default() -> Self {
        let (sender, _) = broadcast::channel(KEPT);
        Self { kept: Mutex::default(), sender, view: Mutex::default(), watchers: AtomicUsize::new(0) }
    }
}

impl Feed {
    /// News of events up to this one is gone with an earlier process.
    pub(crate) fn begin(&self, sequence: u64) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).dropped = sequence;
    }

    pub(crate) fn send(&self, news: impl Iterator<Item = News>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for news in news {
            if kept.news.len() == KEPT
                && let Some(oldest) = kept.news.pop_front()
            {
                kept.dropped = oldest.id;
            }
            kept.news.push_back(news.clone());
            // Nobody may be listening.
            let _ = self.sender.send(news);
        }
    }

    pub(crate) fn publish(&self, view: Arc<View>) {
        *self.view.lock().unwrap_or_else(PoisonError::into_inner) = Some(view);
    }

    /// The last state that was published.
    pub fn latest(&self) -> Option<Arc<View>> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether anybody watches.
    pub fn is_watched(&self) -> bool {
        self.watchers.load(Relaxed) > 0
    }

    /// News after an id as far as it is kept, whether some is missing, and all that comes.
    pub fn watch(self: &Arc<Self>, after: Option<u64>) -> (Vec<News>, bool, FeedWatcher) {
        // Subscribed before looking: what comes in between is seen twice and told apart by its id, not
        // missed.
        let receiver = self.sender.subscribe();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        self.watchers.fetch_add(1, Relaxed);
        let watch = FeedWatcher { receiver, feed: Arc::clone(self) };
        let Some(after) = after else { return (Vec::new(), false, watch) };
        let missed = kept.news.iter().filter(|news| news.id > after).cloned().collect();
        let gap = after < kept.dropped;
        (missed, gap, watch)
    }
}

/// One who watches.
#[derive(Debug)]
pub struct FeedWatcher {
    /// What comes.
    pub receiver: broadcast::Receiver<News>,
    feed: Arc<Feed>,
}

impl Drop for FeedWatcher {
    fn drop(&mut self) {
        self.feed.watchers.fetch_sub(1, Relaxed);
    }
}
