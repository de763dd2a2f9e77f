//! How often each channel is used, and sums over it.
//!
//! A job may have millions of identical tasks: a decision counts them and never lists them, so that neither
//! its size nor the time to evaluate it depends on a number in the input.

/// A channel and how many tasks use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The channel's position.
    pub channel: u32,
    /// How often it is used, at least once.
    pub count: u32,
}

/// The chosen channels, each with its number of uses.
///
/// Every [`Solution`](super::Solution) has them by ascending channel, each channel once. Without
/// [`Gangs`](super::Gangs) a channel is used once or not at all, and this is a set.
///
/// ```
/// use esdp::solver::{Use, Uses};
///
/// let uses = Uses::from([4, 1, 4]); // a list of tasks
/// assert_eq!(uses.iter().collect::<Vec<_>>(), [Use { channel: 1, count: 1 }, Use { channel: 4, count: 2 }]);
/// assert_eq!((uses.len(), uses.tasks()), (2, 3));
/// assert!(uses.each().eq([1, 4, 4]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uses(Vec<Use>);

impl Uses {
    /// Forgets all uses; the memory is kept.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds uses of a channel. [`sort`](Uses::sort) is due after channels that do not ascend.
    pub fn push(&mut self, channel: u32, count: u32) {
        if count > 0 {
            self.0.push(Use { channel, count });
        }
    }

    /// Orders by channel and adds up the uses of each.
    pub fn sort(&mut self) {
        self.0.sort_unstable_by_key(|used| used.channel);
        self.0.dedup_by(|next, first| {
            let same = next.channel == first.channel;
            if same {
                first.count = first.count.saturating_add(next.count);
            }
            same
        });
    }

    /// The number of channels that are used.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is used.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of uses of all channels.
    pub fn tasks(&self) -> u64 {
        self.iter().map(|Use { count, .. }| u64::from(count)).sum()
    }

    /// The used channels and how often each is used.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Use> {
        self.0.iter().copied()
    }

    /// The used channels.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = u32> {
        self.iter().map(|Use { channel, .. }| channel)
    }

    /// A channel for each task: as long as there are tasks.
    pub fn each(&self) -> impl Iterator<Item = u32> {
        self.iter().flat_map(|Use { channel, count }| std::iter::repeat_n(channel, count as usize))
    }

    /// Whether the channels ascend.
    pub fn is_sorted(&self) -> bool {
        self.0.is_sorted_by(|a, b| a.channel < b.channel)
    }
}

impl Extend<u32> for Uses {
    /// Adds a use of each channel.
    fn extend<I: IntoIterator<Item = u32>>(&mut self, channels: I) {
        self.0.extend(channels.into_iter().map(|channel| Use { channel, count: 1 }));
    }
}

impl FromIterator<u32> for Uses {
    /// Counts a list of tasks, each told by its channel.
    fn from_iter<I: IntoIterator<Item = u32>>(channels: I) -> Self {
        let mut uses = Self::default();
        uses.extend(channels);
        uses.sort();
        uses
    }
}

impl<const N: usize> From<[u32; N]> for Uses {
    /// Counts a list of tasks, each told by its channel.
    fn from(channels: [u32; N]) -> Self {
        channels.into_iter().collect()
    }
}

/// A sum whose rounding does not grow with the number of terms (Neumaier): millions of equal channels add up
/// to what a product gives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost +=
            if self.sum.abs() >= term.abs() { (self.sum - sum) + term } else { (term - sum) + self.sum };
        self.sum = sum;
    }

    pub fn total(self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_of_a_channel_are_added_up() {
        let mut uses = Uses::default();
        for (channel, count) in [(7, 2), (3, 1), (7, u32::MAX), (5, 0)] {
            uses.push(channel, count);
        }
        assert!(!uses.is_sorted());
        uses.sort();
        assert_eq!(uses.0, [Use { channel: 3, count: 1 }, Use { channel: 7, count: u32::MAX }]);
        assert!(uses.is_sorted() && uses.tasks() == 1 + u64::from(u32::MAX));
        assert!(uses.len() == 2 && !uses.is_empty() && Uses::default().is_empty());
        assert_eq!(Uses::from([2, 0, 2]), [0, 2, 2].into_iter().collect());
        let mut listed: Uses = [2, 0, 2].into_iter().collect();
        assert_eq!(listed.each().collect::<Vec<_>>(), [0, 2, 2]);
        listed.extend([5, 4]);
        assert_eq!(listed.each().collect::<Vec<_>>(), [0, 2, 2, 5, 4]);
        listed.clear();
        assert!(listed.is_empty());
        // A channel that stands there twice is not sorted: it must be counted once.
        assert!(!Uses(vec![Use { channel: 3, count: 1 }; 2]).is_sorted());
    }

    #[test]
    fn long_sums_do_not_drift() {
        let (mut sum, mut plain) = (Sum::default(), 0.0);
        for _ in 0..1_000_000 {
            sum.add(0.1);
            plain += 0.1;
        }
        assert_eq!(sum.total(), 100_000.0);
        assert_ne!(plain, 100_000.0);
        let mut cancelling = Sum::default();
        [1.0, 1e100, 1.0, -1e100].into_iter().for_each(|term| cancelling.add(term));
        assert_eq!(cancelling.total(), 2.0);
    }
}
