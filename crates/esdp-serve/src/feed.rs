//! News for those who watch.

use std::collections::VecDeque;
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

/// Where the engine leaves news.
#[derive(Debug)]
pub struct Feed {
    kept: Mutex<Kept>,
    sender: broadcast::Sender<News>,
}

impl Default for Feed {
    fn default() -> Self {
        let (sender, _) = broadcast::channel(KEPT);
        Self { kept: Mutex::default(), sender }
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

    /// News after an id as far as it is kept, whether some is missing, and all that comes.
    pub fn watch(&self, after: Option<u64>) -> (Vec<News>, bool, broadcast::Receiver<News>) {
        // Subscribed before looking: what comes in between is seen twice and told apart by its id, not
        // missed.
        let receiver = self.sender.subscribe();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(after) = after else { return (Vec::new(), false, receiver) };
        let missed = kept.news.iter().filter(|news| news.id > after).cloned().collect();
        let gap = after < kept.dropped;
        (missed, gap, receiver)
    }
}
