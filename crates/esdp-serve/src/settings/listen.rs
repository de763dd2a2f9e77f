//! Where a service listens: at an address, at a socket of this machine, or at both.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Where a service listens; at least one of the two is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listen {
    /// The address.
    pub tcp: Option<SocketAddr>,
    /// The path of a unix socket.
    pub unix: Option<PathBuf>,
}

impl Listen {
    /// Both of two.
    ///
    /// # Errors
    /// When both have an address, or both a socket.
    pub fn and(self, other: Self) -> Result<Self, String> {
        if self.tcp.is_some() && other.tcp.is_some() || self.unix.is_some() && other.unix.is_some() {
            return Err(format!("`listen` names {self} and {other}, expected one address and one socket"));
        }
        Ok(Self { tcp: self.tcp.or(other.tcp), unix: self.unix.or(other.unix) })
    }

    /// Whether other machines can reach it.
    pub fn is_public(&self) -> bool {
        self.tcp.is_some_and(|address| !address.ip().is_loopback())
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            // As long as the system takes it.
            return match (1..=100).contains(&path.len()) && !path.contains('\0') {
                true => Ok(Self { tcp: None, unix: Some(PathBuf::from(path)) }),
                false => Err(format!("`{text}`: the path of a socket has 1 to 100 bytes")),
            };
        }
        let expected = || format!("`{text}`, expected an address such as 127.0.0.1:7070, or unix:/PATH");
        text.parse::<SocketAddr>().map(Self::from).map_err(|_| expected())
    }
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Self {
        Self { tcp: Some(address), unix: None }
    }
}

impl<I: Into<IpAddr>> From<(I, u16)> for Listen {
    fn from(address: (I, u16)) -> Self {
        Self::from(SocketAddr::from(address))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.tcp, &self.unix) {
            (Some(address), None) => write!(f, "{address}"),
            (None, Some(path)) => write!(f, "unix:{}", path.display()),
            (Some(address), Some(path)) => write!(f, "{address} and unix:{}", path.display()),
            (None, None) => f.write_str("nowhere"),
        }
    }
}

/// From a text or a list of texts.
impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Texts {
            One(String),
            Some(Vec<String>),
        }
        let texts = match Texts::deserialize(deserializer)? {
            Texts::One(text) => vec![text],
            Texts::Some(texts) => texts,
        };
        let mut listen = Self::default();
        for text in texts {
            let more = text.parse().map_err(D::Error::custom)?;
            listen = listen.and(more).map_err(D::Error::custom)?;
        }
        match listen == Self::default() {
            true => Err(D::Error::custom("`listen` is an empty list")),
            false => Ok(listen),
        }
    }
}
