//! When a certificate ends, read from its DER (RFC 5280, section 4.1):
//!
//! ```text
//! Certificate    ::= SEQUENCE { tbsCertificate SEQUENCE { version [0] OPTIONAL, serialNumber INTEGER,
//!                    signature SEQUENCE, issuer SEQUENCE, validity SEQUENCE { notBefore, notAfter }, ... } ... }
//! notAfter       ::= UTCTime "YYMMDDHHMMSSZ" | GeneralizedTime "YYYYMMDDHHMMSSZ"
//! ```

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;

/// The first element: its tag, what is in it, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)), rest)
        }
        _ => return None,
    };
    let (inside, rest) = rest.split_at_checked(length)?;
    Some((tag, inside, rest))
}

/// The inside of the first element, which has this tag, and what follows it.
fn expect(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    element(bytes).filter(|(found, ..)| *found == tag).map(|(_, inside, rest)| (inside, rest))
}

/// When a certificate ends, in seconds since 1970.
pub(super) fn end(der: &[u8]) -> Option<i64> {
    let (certificate, _) = expect(der, SEQUENCE)?;
    let (mut rest, _) = expect(certificate, SEQUENCE)?;
    if let Some((_, after)) = expect(rest, VERSION) {
        rest = after;
    }
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        (_, rest) = expect(rest, tag)?;
    }
    let (validity, _) = expect(rest, SEQUENCE)?;
    let (_, _, after) = element(validity)?;
    let (tag, text, _) = element(after)?;
    let text = str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            // Two digits mean 1950 to 2049.
            let year: u32 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let digits = rest.strip_suffix('Z').filter(|digits| digits.len() == 10)?;
    let pair = |at: usize| &digits[at..at + 2];
    let (month, day, hour, minute, second) = (pair(0), pair(2), pair(4), pair(6), pair(8));
    // What ended before our time has ended.
    let text = format!("{:04}-{month}-{day}T{hour}:{minute}:{second}Z", year.max(1970));
    crate::clock::parse(&text).map(|millis| (millis / 1000).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    #[test]
    fn the_end_of_a_certificate_is_read_and_damage_is_not() {
        let pem = include_bytes!("../../tests/fixtures/tls/cert.pem");
        let der = CertificateDer::from_pem_slice(pem).unwrap();
        // As `openssl x509 -enddate` says.
        assert_eq!(
            end(&der).map(|end| crate::clock::utc(end as u64 * 1000)).as_deref(),
            Some("2126-10-24T01:57:24Z")
        );
        for length in 0..der.len().min(200) {
            assert_eq!(end(&der[..length]), None, "{length}");
        }
        let nested = |inside: &[u8], tag: u8| [&[tag, inside.len() as u8], inside].concat();
        let certificate = |time: &[u8], tag: u8| {
            let validity = [nested(b"000101000000Z", UTC_TIME), nested(time, tag)].concat();
            let parts =
                [vec![INTEGER, 1, 1], vec![SEQUENCE, 0], vec![SEQUENCE, 0], nested(&validity, SEQUENCE)];
            nested(&nested(&parts.concat(), SEQUENCE), SEQUENCE)
        };
        let read =
            |time: &[u8], tag| end(&certificate(time, tag)).map(|end| crate::clock::utc(end as u64 * 1000));
        assert_eq!(read(b"491231235959Z", UTC_TIME).as_deref(), Some("2049-12-31T23:59:59Z"));
        assert_eq!(read(b"500101000000Z", UTC_TIME).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(read(b"20991231235959Z", GENERALIZED_TIME).as_deref(), Some("2099-12-31T23:59:59Z"));
        for (time, tag) in
            [(&b"491331235959Z"[..], UTC_TIME), (b"4912312359Z", UTC_TIME), (b"\xff", UTC_TIME)]
        {
            assert_eq!(read(time, tag), None);
        }
    }
}
