//! Numbers of channels, jobs, groups and servers, and lists that only they open: the number of a job does not
//! pass where that of a group is meant.
//!
//! Tables and linear systems have places of their own: there, [`Number::place`] leads out of the types.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut, Range};

/// One of the consecutive numbers of a kind, from 0 on.
pub(in crate::solver::gang) trait Number: Copy {
    fn at(place: usize) -> Self;
    fn place(self) -> usize;
}

macro_rules! numbers {
    ($($(#[$about:meta])* $name:ident;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub(in crate::solver::gang) struct $name(u32);

        impl Number for $name {
            #[inline(always)]
            fn at(place: usize) -> Self {
                Self(place as u32)
            }

            #[inline(always)]
            fn place(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

numbers! {
    /// A channel of a form.
    ChannelNo;
    /// A job of a form.
    JobNo;
    /// A group of a form.
    GroupNo;
    /// A server of a form.
    ServerNo;
}

/// Consecutive numbers.
#[derive(Debug, Clone)]
pub(in crate::solver::gang) struct Numbers<N> {
    places: Range<usize>,
    kind: PhantomData<N>,
}

impl<N> From<Range<usize>> for Numbers<N> {
    fn from(places: Range<usize>) -> Self {
        Self { places, kind: PhantomData }
    }
}

impl<N> Numbers<N> {
    /// Where they begin.
    pub fn first(&self) -> usize {
        self.places.start
    }
}

impl<N: Number> Iterator for Numbers<N> {
    type Item = N;

    #[inline(always)]
    fn next(&mut self) -> Option<N> {
        self.places.next().map(N::at)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<N: Number> DoubleEndedIterator for Numbers<N> {
    fn next_back(&mut self) -> Option<N> {
        self.places.next_back().map(N::at)
    }
}

impl<N: Number> ExactSizeIterator for Numbers<N> {}

/// A vector with an entry for each number of a kind: one that no other number opens.
#[derive(Debug, PartialEq)]
pub(in crate::solver::gang) struct By<N, T> {
    entries: Vec<T>,
    kind: PhantomData<N>,
}

pub(in crate::solver::gang) type ByChannel<T> = By<ChannelNo, T>;
pub(in crate::solver::gang) type ByJob<T> = By<JobNo, T>;
pub(in crate::solver::gang) type ByGroup<T> = By<GroupNo, T>;
pub(in crate::solver::gang) type ByServer<T> = By<ServerNo, T>;

impl<N: Number, T> By<N, T> {
    /// All numbers.
    pub fn numbers(&self) -> Numbers<N> {
        Numbers::from(0..self.entries.len())
    }

    /// All entries, with their numbers.
    pub fn numbered(&self) -> impl ExactSizeIterator<Item = (N, &T)> {
        self.entries.iter().enumerate().map(|(place, entry)| (N::at(place), entry))
    }

    /// Becomes a list of so many equal entries.
    pub fn reset(&mut self, len: usize, entry: T)
    where
        T: Clone,
    {
        self.entries.clear();
        self.entries.resize(len, entry);
    }
}

impl<N, T> From<Vec<T>> for By<N, T> {
    fn from(entries: Vec<T>) -> Self {
        Self { entries, kind: PhantomData }
    }
}

impl<N, T> Default for By<N, T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<N, T: Clone> Clone for By<N, T> {
    fn clone(&self) -> Self {
        Self::from(self.entries.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        self.entries.clone_from(&source.entries);
    }
}

impl<N, T> Deref for By<N, T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.entries
    }
}

impl<N, T> DerefMut for By<N, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.entries
    }
}

impl<N: Number, T> Index<N> for By<N, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, number: N) -> &T {
        &self.entries[number.place()]
    }
}

impl<N: Number, T> IndexMut<N> for By<N, T> {
    #[inline(always)]
    fn index_mut(&mut self, number: N) -> &mut T {
        &mut self.entries[number.place()]
    }
}

impl<N: Number, T> Index<Numbers<N>> for By<N, T> {
    type Output = [T];

    fn index(&self, numbers: Numbers<N>) -> &[T] {
        &self.entries[numbers.places]
    }
}

impl<N: Number, T> IndexMut<Numbers<N>> for By<N, T> {
    fn index_mut(&mut self, numbers: Numbers<N>) -> &mut [T] {
        &mut self.entries[numbers.places]
    }
}

impl<'a, N, T> IntoIterator for &'a By<N, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}
