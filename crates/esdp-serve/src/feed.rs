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

/// Where the engine leaves news and the state.
#[derive(Debug)]
pub struct Feed {
    kept: Mutex<VecDeque<News>>,
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
    pub(crate) fn send(&self, news: impl Iterator<Item = News>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for news in news {
            if kept.len() == KEPT {
                kept.pop_front();
            }
            kept.push_back(news.clone());
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
    pub fn watch(self: &Arc<Self>, after: Option<u64>) -> (Vec<News>, bool, Watch) {
        // Subscribed before looking: what comes in between is seen twice and told apart by its id, not missed.
        let receiver = self.sender.subscribe();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        self.watchers.fetch_add(1, Relaxed);
        let watch = Watch { receiver, feed: Arc::clone(self) };
        let Some(after) = after else { return (Vec::new(), false, watch) };
        let missed: Vec<News> = kept.iter().filter(|news| news.id > after).cloned().collect();
        let gap = kept.front().is_none_or(|first| first.id > after + 1) && !missed.iter().any(|news| news.id == after + 1);
        let gap = gap && kept.back().is_none_or(|last| last.id != after);
        (missed, gap, watch)
    }
}

/// One who watches.
#[derive(Debug)]
pub struct Watch {
    /// What comes.
    pub receiver: broadcast::Receiver<News>,
    feed: Arc<Feed>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.feed.watchers.fetch_sub(1, Relaxed);
    }
}
