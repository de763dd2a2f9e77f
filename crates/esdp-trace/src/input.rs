//! Bytes in, lines out: plain or gzip, of bounded length.
//!
//! Gzip is told by its first two bytes; several members one after another are one text, and zeros after the
//! last one are padding, as `gzip` has it. A line is handed out straight from the reader's buffer where it
//! lies in one piece, which nearly all do, and copied otherwise. No line longer than [`LONGEST_LINE`] is ever
//! held: the rest is read past.

use crate::error::TraceError;
use flate2::bufread::GzDecoder;
use memchr::memchr;
use std::io::{self, BufRead, BufReader, Read};

/// The longest line, in bytes.
pub const LONGEST_LINE: usize = 65_536;
/// The buffer behind a decompressor, or in front of a file.
pub const BUFFER: usize = 1 << 18;

/// The text of an input: itself, or what a gzip file holds.
///
/// # Errors
/// When not even its first bytes can be read.
pub fn plain<'r>(mut input: impl BufRead + 'r) -> Result<Box<dyn BufRead + 'r>, TraceError> {
    let start = input.fill_buf().map_err(|cause| TraceError::Read { line: 1, cause })?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(
            BUFFER,
            Members(Some(Part::Member(GzDecoder::new(input)))),
        )));
    }
    Ok(Box::new(input))
}

/// The members of a gzip file, one after another, then padding; nothing once it has ended or failed.
struct Members<R>(Option<Part<R>>);

enum Part<R> {
    Member(GzDecoder<R>),
    /// What follows a member.
    Between(R),
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.take() {
                None => return Ok(0),
                Some(Part::Member(mut member)) => {
                    let read = member.read(bytes)?;
                    self.0 = Some(if read > 0 {
                        Part::Member(member)
                    } else {
                        Part::Between(member.into_inner())
                    });
                    if read > 0 || bytes.is_empty() {
                        return Ok(read);
                    }
                }
                Some(Part::Between(mut input)) => {
                    if padding(&mut input)? {
                        return Ok(0);
                    }
                    self.0 = Some(Part::Member(GzDecoder::new(input)));
                }
            }
        }
    }
}

/// Reads past zeros; whether nothing follows them.
fn padding(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        let zeros = buffer.iter().take_while(|byte| **byte == 0).count();
        if buffer.is_empty() || zeros < buffer.len() {
            return Ok(buffer.is_empty());
        }
        input.consume(zeros);
    }
}

/// A line, without its end.
pub(crate) enum Line<'l> {
    /// All of it.
    Whole(&'l [u8]),
    /// The start of one that is too long.
    Long(&'l [u8]),
}

/// Calls `each` with the number of every line that is not blank, from 1, and the line.
pub(crate) fn lines(
    input: &mut dyn BufRead,
    mut each: impl FnMut(u64, Line<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let mut number = 1u64;
    let mut started: Vec<u8> = Vec::new();
    let mut too_long = false;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(TraceError::Read { line: number, cause }),
        };
        if buffer.is_empty() {
            return hand(number, &started, too_long, &mut each);
        }
        let (length, mut rest) = (buffer.len(), buffer);
        while let Some(end) = memchr(b'\n', rest) {
            let piece = &rest[..end];
            if started.is_empty() && !too_long {
                hand(number, piece, piece.len() > LONGEST_LINE, &mut each)?;
            } else {
                too_long |= keep(&mut started, piece);
                hand(number, &started, too_long, &mut each)?;
                started.clear();
                too_long = false;
            }
            rest = &rest[end + 1..];
            number += 1;
        }
        too_long |= keep(&mut started, rest);
        input.consume(length);
    }
}

/// Keeps the piece of a line as far as there is room; whether it was cut.
fn keep(started: &mut Vec<u8>, piece: &[u8]) -> bool {
    let room = LONGEST_LINE.saturating_sub(started.len());
    started.extend_from_slice(&piece[..piece.len().min(room)]);
    piece.len() > room
}

fn hand(
    number: u64,
    line: &[u8],
    too_long: bool,
    each: &mut impl FnMut(u64, Line<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    if too_long {
        return each(number, Line::Long(&line[..line.len().min(LONGEST_LINE)]));
    }
    // A byte order mark is no part of the first column.
    let line = if number == 1 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) { Ok(()) } else { each(number, Line::Whole(line)) }
}

/// How a text may start that some editors write.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The input after its byte order mark, if it has one.
pub(crate) fn without_mark<'i>(input: &'i mut dyn BufRead) -> Result<impl Read + 'i, TraceError> {
    let mut start = Vec::new();
    let mark = (&mut *input).take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut start);
    mark.map_err(|cause| TraceError::Read { line: 1, cause })?;
    if start == BYTE_ORDER_MARK {
        start.clear();
    }
    Ok(io::Cursor::new(start).chain(input))
}

/// Reads up to `most` bytes of the start, and gives them back in front of the rest.
pub(crate) fn peek<'r>(
    mut input: Box<dyn BufRead + 'r>,
    most: usize,
) -> Result<(Vec<u8>, Box<dyn BufRead + 'r>), TraceError> {
    let mut start = Vec::new();
    let read = input.as_mut().take(most as u64).read_to_end(&mut start);
    if let Err(cause) = read {
        let line = 1 + memchr::memchr_iter(b'\n', &start).count() as u64;
        return Err(TraceError::Read { line, cause });
    }
    let again = io::Cursor::new(start.clone()).chain(input);
    Ok((start, Box::new(again)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(bytes: &[u8], buffer: usize) -> Vec<(u64, usize, bool)> {
        let mut seen = Vec::new();
        let mut input = BufReader::with_capacity(buffer, bytes);
        lines(&mut input, |number, line| {
            match line {
                Line::Whole(line) => seen.push((number, line.len(), false)),
                Line::Long(line) => seen.push((number, line.len(), true)),
            }
            Ok(())
        })
        .unwrap();
        seen
    }

    #[test]
    fn lines_are_the_same_whatever_the_buffer() {
        let long = vec![b'x'; LONGEST_LINE + 1];
        let text = [b"\xef\xbb\xbfab\r\n\n  \nabc\n", long.as_slice(), b"\nlast"].concat();
        let expected = vec![(1, 2, false), (4, 3, false), (5, LONGEST_LINE, true), (6, 4, false)];
        for buffer in [1, 2, 3, 7, 64, 1 << 20] {
            assert_eq!(read(&text, buffer), expected, "{buffer}");
        }
        assert_eq!(read(b"", 8), vec![]);
    }

    #[test]
    fn gzip_is_told_by_its_first_bytes_and_may_have_members() {
        let pack = |text: &[u8]| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(text).unwrap();
            packer.finish().unwrap()
        };
        let both = [pack(b"a\nb\n"), pack(b"c\n")].concat();
        let text = |bytes: &[u8]| {
            let mut out = String::new();
            plain(bytes).unwrap().read_to_string(&mut out).map(|_| out)
        };
        assert_eq!(text(&both).unwrap(), "a\nb\nc\n");
        assert_eq!(text(b"plain").unwrap(), "plain");
        assert!(text(&both[..both.len() - 3]).is_err());
        // As tapes and disk images have it.
        assert_eq!(text(&[both.as_slice(), &[0; 700]].concat()).unwrap(), "a\nb\nc\n");
        assert!(text(&[both.as_slice(), b"\0\0more"].concat()).is_err());
    }
}
