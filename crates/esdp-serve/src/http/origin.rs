//! What browsers are kept from doing for other sites: every request says which name it was sent to, and those
//! of pages say which page it was. A page can point any name of its own at 127.0.0.1, so names are not
//! guessed at: an address is parsed, and a name is known or refused.

use crate::wire::{ApiError, Code};
use axum::http::{HeaderMap, HeaderName, header};
use std::net::{IpAddr, Ipv6Addr};

/// A host with its port, as `Host` and `Origin` have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Authority<'a> {
    host: &'a str,
    /// The host, if it is an address.
    address: Option<IpAddr>,
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']')?;
                (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
            }
            None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let plain = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = match port {
            Some(port) if plain(port) => Some(port.parse().ok()?),
            Some(_) => return None,
            None => None,
        };
        let address = match text.starts_with('[') {
            true => Some(IpAddr::V6(host.parse::<Ipv6Addr>().ok()?)),
            false => host.parse::<std::net::Ipv4Addr>().ok().map(IpAddr::V4),
        };
        let name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        match address.is_some() || !host.is_empty() && host.bytes().all(name) {
            true => Some(Self { host, address, port }),
            false => None,
        }
    }
}

/// Which names are ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Whether only this machine reaches us.
    pub local: bool,
    /// Names that somebody has told us.
    pub allowed: Vec<String>,
}

impl Hosts {
    fn allows(&self, host: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }

    /// Whether a request to this name may be meant for us.
    fn is_ours(&self, asked: Authority<'_>) -> bool {
        if self.allows(asked.host) {
            return true;
        }
        match (self.local, asked.address) {
            (true, Some(address)) => address.is_loopback(),
            (true, None) => asked.host.eq_ignore_ascii_case("localhost"),
            // Nobody can point an address elsewhere; names only matter if some were told.
            (false, Some(_)) => true,
            (false, None) => self.allowed.is_empty() || asked.host.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether a page of this origin is one of ours.
    fn is_own_page(&self, origin: &str, asked: Authority<'_>) -> bool {
        let Some((scheme, site)) = origin.split_once("://") else { return false };
        let Some(site) = Authority::parse(site).filter(|_| ["http", "https"].contains(&scheme)) else {
            return false;
        };
        let same = site.host.eq_ignore_ascii_case(asked.host) && site.port == asked.port;
        same || self.allows(site.host)
    }

    /// Refuses what pages of other sites make a browser send, and names that are not ours.
    ///
    /// # Errors
    /// With what was refused, and how it is allowed.
    pub(super) fn check(&self, headers: &HeaderMap, public: bool) -> Result<(), ApiError> {
        let refused = |why: String| Err(ApiError::new(Code::Forbidden, why));
        let text = |name: HeaderName| match headers.get_all(name).iter().collect::<Vec<_>>()[..] {
            [] => Ok(None),
            [one] => one.to_str().map(Some).map_err(|_| ()),
            _ => Err(()),
        };
        // Only clients of HTTP/1.0 send none, and no browser.
        let host = match text(header::HOST) {
            Ok(host) => host.unwrap_or("localhost"),
            Err(()) => return refused("the header Host was rejected".to_owned()),
        };
        let Some(asked) = Authority::parse(host).filter(|asked| self.is_ours(*asked)) else {
            let shown: String = host.chars().filter(|c| !c.is_control()).take(80).collect();
            return refused(format!(
                "`{shown}` in the header Host is not a name of this service; use its address or `localhost`, \
                 or start it with --allow-host NAME"
            ));
        };
        match text(header::ORIGIN) {
            Ok(None) => {}
            Ok(Some(origin)) if self.is_own_page(origin, asked) => {}
            _ => return refused("requests from pages of other sites are refused".to_owned()),
        }
        // A browser says so also where it sends no origin. A link to the page itself may be anywhere.
        match text(HeaderName::from_static("sec-fetch-site")) {
            Ok(None | Some("same-origin" | "none")) => Ok(()),
            _ if public => Ok(()),
            _ => refused("requests from pages of other sites are refused".to_owned()),
        }
    }
}

/// Whether a body has the type of a form: those a browser sends to any site without asking.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    let forms = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];
    headers.get_all(header::CONTENT_TYPE).iter().any(|given| {
        let given = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
        forms.iter().any(|form| given.trim().eq_ignore_ascii_case(form))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn check(hosts: &Hosts, headers: &[(&str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        hosts.check(&map, false).is_ok()
    }

    #[test]
    fn only_this_machine_is_our_own() {
        let hosts = Hosts { local: true, allowed: vec!["esdp.example.org".to_owned()] };
        let own = [
            "localhost",
            "LOCALHOST:7070",
            "127.0.0.1",
            "127.0.0.1:7070",
            "127.8.9.1",
            "[::1]",
            "[::1]:7",
            "ESDP.example.org:80",
        ];
        for host in own {
            assert!(check(&hosts, &[("host", host)]), "{host}");
        }
        let others = [
            "",
            ":7070",
            "127.evil.example",
            "127.0.0.1.nip.io",
            "127.0.0.1.nip.io:7070",
            "evil.example",
            "localhost.evil.example",
            "localhost.",
            "esdp.example.org.evil.example",
            "10.0.0.1",
            "[::2]",
            "[::1].evil.example",
            "[::1]evil",
            "127.0.0.1@evil.example",
            "127.0.0.1:evil",
            "127.0.0.1:",
            "127.0.0.1:99999",
            "127.0.0.1:7070:7070",
            "127.1",
            "2130706433",
            "0x7f000001",
            "127.0.0.1 evil.example",
            "localhost/",
            "l\u{f6}calhost",
        ];
        for host in others {
            assert!(!check(&hosts, &[("host", host)]), "{host}");
        }
        assert!(!check(&hosts, &[("host", "localhost"), ("host", "evil.example")]));
        let remote = Hosts { local: false, allowed: Vec::new() };
        assert!(check(&remote, &[("host", "scheduler:7070")]) && check(&remote, &[("host", "10.0.0.1")]));
        let named = Hosts { local: false, allowed: vec!["scheduler".to_owned()] };
        assert!(check(&named, &[("host", "scheduler:7070")]) && check(&named, &[("host", "10.0.0.1")]));
        assert!(!check(&named, &[("host", "evil.example")]));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let hosts = Hosts { local: true, allowed: vec!["esdp.example.org".to_owned()] };
        let from = |origin: &str| check(&hosts, &[("host", "127.0.0.1:7070"), ("origin", origin)]);
        for own in ["http://127.0.0.1:7070", "https://127.0.0.1:7070", "https://esdp.example.org"] {
            assert!(from(own), "{own}");
        }
        let others = [
            "null",
            "",
            "127.0.0.1:7070",
            "http://127.0.0.1",
            "http://127.0.0.1:7071",
            "http://localhost:7070",
            "http://127.0.0.1:7070.evil.example",
            "http://evil.example",
            "file://127.0.0.1:7070",
            "http://127.0.0.1:7070@evil.example",
            "http://127.0.0.1:7070/",
        ];
        for origin in others {
            assert!(!from(origin), "{origin}");
        }
        let site = |site: &str| check(&hosts, &[("host", "localhost"), ("sec-fetch-site", site)]);
        assert_eq!(
            ["same-origin", "none", "same-site", "cross-site", ""].map(site),
            [true, true, false, false, false]
        );
    }

    #[test]
    fn forms_are_known() {
        let form = |kind: &'static str| {
            is_form(&HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(kind))]))
        };
        for kind in ["text/plain", "Text/Plain;charset=utf-8", "multipart/form-data; boundary=x"] {
            assert!(form(kind), "{kind}");
        }
        assert!(form("application/x-www-form-urlencoded") && !form("application/json"));
        assert!(!is_form(&HeaderMap::new()));
    }
}
