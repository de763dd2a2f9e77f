//! An answer over HTTP 1.1, as its reader sees it: of this service, or of another one that tells how long its
//! answers are, such as Slurm's.

use std::io::{self, BufRead, ErrorKind, Read as _};

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 1 << 30;

/// What came back for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// Its status, such as 200.
    pub status: u16,
    /// What it says.
    pub body: Vec<u8>,
    /// Whether the connection ends with it.
    pub is_last: bool,
}

impl HttpAnswer {
    /// Reads one to its end, and no further.
    ///
    /// # Errors
    /// When the connection breaks, and on anything else than an answer that tells its length.
    pub fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let broken = |what: &str| io::Error::new(ErrorKind::InvalidData, what.to_owned());
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the service has closed the connection"));
        }
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| broken("not an answer of an HTTP service"))?;
        let (mut length, mut is_last) = (None, false);
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => length = value.parse().ok(),
                ("connection", value) => is_last = value.eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        let length = length
            .filter(|&length| length <= LONGEST)
            .ok_or_else(|| broken("an answer without a length, or with one above 1 GiB"))?;
        let mut body = Vec::new();
        if stream.take(length).read_to_end(&mut body)? as u64 != length {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "an answer that is cut off"));
        }
        Ok(Self { status, body, is_last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_to_their_end_and_no_further() {
        let mut text = &b"HTTP/1.1 404 NOT FOUND\r\nConnection: Close\r\nContent-Length: 2\r\n\r\n{}HTTP"[..];
        let answer = HttpAnswer::read(&mut text).unwrap();
        assert_eq!(answer, HttpAnswer { status: 404, body: b"{}".to_vec(), is_last: true });
        assert_eq!(text, b"HTTP");
        let mut text = &b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..];
        assert!(!HttpAnswer::read(&mut text).unwrap().is_last);
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for (text, said) in [
            ("", "has closed the connection"),
            ("GET / HTTP/1.1\r\n\r\n", "not an answer"),
            ("HTTP/1.1 200 OK\r\n\r\n", "without a length"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1073741825\r\n\r\n", "above 1 GiB"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", "cut off"),
        ] {
            let error = HttpAnswer::read(&mut text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(said), "{text:?}: {error}");
        }
    }
}
