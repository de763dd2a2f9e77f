//! How many connections there are, and who has to leave when there are too many.
//!
//! A connection on which no request is under way waits: for the rest of a head or a body, or for the next
//! request. One address may have a quarter of all places waiting, and the oldest of them leaves for the next
//! one. When all places are taken, the oldest of those leaves whose address has most of them waiting. So
//! nobody is kept out by connections that do nothing, whoever has opened them.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How often it is said that somebody had to leave.
const SAID: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
struct Places {
    open: usize,
    next: u64,
    /// Those that wait, by address, the oldest first.
    waiting: HashMap<String, BTreeMap<u64, Arc<Notify>>>,
    /// How many had to leave, and when that was said last.
    evicted: u64,
    said: Option<Instant>,
}

impl Places {
    /// Lets the oldest that waits of an address leave.
    fn evict(&mut self, address: &str) {
        let oldest = self.waiting.get_mut(address).and_then(BTreeMap::pop_first);
        if let Some((_, leave)) = oldest {
            leave.notify_one();
            self.evicted += 1;
            if self.said.is_none_or(|said| said.elapsed() >= SAID) {
                tracing::warn!(
                    address,
                    closed = self.evicted,
                    "too many connections wait; the oldest are closed"
                );
                (self.said, self.evicted) = (Some(Instant::now()), 0);
            }
        }
        self.tidy(address);
    }

    fn tidy(&mut self, address: &str) {
        if self.waiting.get(address).is_some_and(BTreeMap::is_empty) {
            self.waiting.remove(address);
        }
    }
}

/// The places of all connections.
#[derive(Debug)]
pub(super) struct Gate {
    most: usize,
    places: Mutex<Places>,
    empty: Notify,
}

/// Who is counted together: an address, and of IPv6 what one household gets.
pub(super) fn household(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

impl Gate {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, places: Mutex::default(), empty: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place; none if all have requests under way.
    pub(super) fn enter(self: &Arc<Self>, address: String) -> Option<Arc<Seat>> {
        let mut places = self.lock();
        let share = (self.most / 4).max(1);
        if places.waiting.get(&address).is_some_and(|waiting| waiting.len() >= share) {
            places.evict(&address);
        } else if places.open >= self.most {
            let most = places.waiting.iter().max_by_key(|(_, waiting)| waiting.len());
            let most = most.map(|(address, _)| address.clone())?;
            places.evict(&most);
        }
        places.open += 1;
        drop(places);
        let leave = Arc::new(Notify::new());
        let seat = Arc::new(Seat { gate: Arc::clone(self), address, leave, place: Mutex::new(None) });
        seat.wait();
        Some(seat)
    }

    /// Ends when nobody is there.
    pub(super) async fn emptied(&self) {
        loop {
            let empty = self.empty.notified();
            if self.lock().open == 0 {
                return;
            }
            empty.await;
        }
    }
}

/// The place of a connection.
#[derive(Debug)]
pub(super) struct Seat {
    gate: Arc<Gate>,
    address: String,
    leave: Arc<Notify>,
    /// Its number among those that wait.
    place: Mutex<Option<u64>>,
}

impl Seat {
    /// Nothing is under way from now on.
    pub(super) fn wait(&self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_some() {
            return;
        }
        let mut places = self.gate.lock();
        places.next += 1;
        let number = places.next;
        places.waiting.entry(self.address.clone()).or_default().insert(number, Arc::clone(&self.leave));
        *place = Some(number);
    }

    /// A request is under way from now on.
    pub(super) fn work(&self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(number) = place.take() else { return };
        let mut places = self.gate.lock();
        places.waiting.get_mut(&self.address).map(|waiting| waiting.remove(&number));
        places.tidy(&self.address);
    }

    /// Ends when the connection has to leave.
    pub(super) async fn leave(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.work();
        let mut places = self.gate.lock();
        places.open -= 1;
        if places.open == 0 {
            self.gate.empty.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_to_leave(seat: &Seat) -> bool {
        let mut leave = std::pin::pin!(seat.leave());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        leave.as_mut().poll(&mut context).is_ready()
    }

    #[test]
    fn the_oldest_that_waits_leaves_for_the_next() {
        let gate = Gate::new(8);
        let enter = |address: &str| gate.enter(address.to_owned()).unwrap();
        // Two places of eight are the share of one address.
        let evil: Vec<_> = (0..3).map(|_| enter("evil")).collect();
        assert_eq!(evil.iter().map(|seat| has_to_leave(seat)).collect::<Vec<_>>(), [true, false, false]);
        drop(evil);
        // Those with a request under way are not counted, and stay.
        let busy: Vec<_> = (0..7).map(|_| enter("proxy")).inspect(|seat| seat.work()).collect();
        let idle = enter("other");
        let good = enter("good");
        assert!(has_to_leave(&idle) && !has_to_leave(&good));
        drop(idle);
        good.work();
        assert!(gate.enter("late".to_owned()).is_none(), "all are at work");
        assert!(busy.iter().all(|seat| !has_to_leave(seat)));
        busy[3].wait();
        assert!(gate.enter("late".to_owned()).is_some() && has_to_leave(&busy[3]));
    }

    #[test]
    fn neighbours_of_ipv6_are_one() {
        let household = |text: &str| household(text.parse().unwrap());
        assert_eq!(household("2001:db8::1"), household("2001:db8::ffff:1"));
        assert_ne!(household("2001:db8::1"), household("2001:db8:0:1::1"));
        assert_eq!(household("::ffff:10.0.0.1"), household("10.0.0.1"));
    }
}
