//! New inputs from old ones: bytes changed, pieces moved, words of other inputs, numbers at the edge.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;

/// The longest input that is made.
const LONGEST: usize = 1 << 14;
/// The most changes of one input.
const MOST_CHANGES: usize = 6;
/// Numbers at the edge of what types hold, and such as are no numbers.
const NUMBERS: [&str; 24] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "-1e308",
    "1e309",
    "5e-324",
    "0.1",
    "nan",
    "inf",
];
/// What holds texts together, and breaks them.
const MARKS: [&str; 16] =
    [",", ":", "=", "\"", "'", "[", "]", "{", "}", "\n", "\r\n", "|", ";", "\0", "\u{feff}", "\\u001b"];

/// The inputs in a folder, in the order of their names, each with its name.
///
/// # Panics
/// When the folder or a file cannot be read, or there is none.
pub fn corpus(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.expect("the folder can be listed").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        })
        .collect();
    assert!(!inputs.is_empty(), "{}: no inputs", folder.display());
    inputs.sort();
    inputs
}

/// Makes inputs from a corpus; the same seed makes the same ones.
#[derive(Debug)]
pub struct Mutator {
    inputs: Vec<Vec<u8>>,
    /// Every word of the corpus.
    words: Vec<Vec<u8>>,
    rng: Xoshiro256PlusPlus,
}

impl Mutator {
    /// Over a corpus that is not empty.
    pub fn new(corpus: &[(String, Vec<u8>)], seed: u64) -> Self {
        let inputs: Vec<Vec<u8>> = corpus.iter().map(|(_, bytes)| bytes.clone()).collect();
        let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let split = |input: &Vec<u8>| {
            input
                .split(|byte| !in_word(byte))
                .filter(|word| word.len() > 1)
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        };
        let mut words: Vec<Vec<u8>> = inputs.iter().flat_map(split).collect();
        words.sort();
        words.dedup();
        Self { inputs, words, rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The next input.
    pub fn input(&mut self) -> Vec<u8> {
        let mut input = self.any_input();
        for _ in 0..self.rng.random_range(1..=MOST_CHANGES) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    fn any_input(&mut self) -> Vec<u8> {
        let at = self.rng.random_range(0..self.inputs.len());
        self.inputs[at].clone()
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let rng = &mut self.rng;
        let at = rng.random_range(0..=input.len());
        // Short pieces are more likely: a long one changes everything at once.
        let most = (input.len() - at).min(1 << rng.random_range(0..8));
        let length = rng.random_range(0..=most);
        let piece = at..at + length;
        match rng.random_range(0..9) {
            0 if at < input.len() => input[at] ^= 1 << rng.random_range(0..8),
            1 if at < input.len() => input[at] = rng.random(),
            2 => drop(input.drain(piece)),
            3 => {
                let copy = input[piece].to_vec();
                let to = rng.random_range(0..=input.len());
                input.splice(to..to, copy);
            }
            4 => {
                let number = NUMBERS[rng.random_range(0..NUMBERS.len())];
                let (from, to) = number_at(input, at);
                input.splice(from..to, number.bytes());
            }
            5 => {
                let mark = MARKS[rng.random_range(0..MARKS.len())];
                input.splice(piece, mark.bytes());
            }
            6 if !self.words.is_empty() => {
                let word = self.words[rng.random_range(0..self.words.len())].clone();
                let (from, to) = word_at(input, at);
                input.splice(from..to, word);
            }
            7 => {
                let other = self.any_input();
                let cut = self.rng.random_range(0..=other.len());
                input.truncate(at);
                input.extend_from_slice(&other[cut..]);
            }
            _ => {
                let byte = rng.random();
                input.insert(at, byte);
            }
        }
    }
}

/// The number that starts at or after a place, or the place itself.
fn number_at(input: &[u8], at: usize) -> (usize, usize) {
    let Some(from) = input[at..].iter().position(u8::is_ascii_digit).map(|start| at + start) else {
        return (at, at);
    };
    let in_number = |byte: &u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
    (from, from + input[from..].iter().take_while(|byte| in_number(byte)).count())
}

/// The word that starts at or after a place, or the place itself.
fn word_at(input: &[u8], at: usize) -> (usize, usize) {
    let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let Some(from) = input[at..].iter().position(in_word).map(|start| at + start) else { return (at, at) };
    (from, from + input[from..].iter().take_while(|byte| in_word(byte)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let corpus =
            [("a".to_owned(), b"slots = 12".to_vec()), ("b".to_owned(), b"[graph]\nports = 3".to_vec())];
        let made = |seed: u64| {
            let mut mutator = Mutator::new(&corpus, seed);
            (0..50).map(|_| mutator.input()).collect::<Vec<_>>()
        };
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
        let mut different = made(1);
        different.sort();
        different.dedup();
        assert!(different.len() > 45, "{}", different.len());
    }

    #[test]
    fn numbers_and_words_are_found() {
        assert_eq!(number_at(b"a = -1.5e3, b", 0), (5, 10));
        assert_eq!(number_at(b"abc", 1), (1, 1));
        assert_eq!(word_at(b"  esdp-paper, x", 0), (2, 12));
    }
}
