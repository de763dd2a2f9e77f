//! Bodies in, within their limits, with errors that say where.

use super::App;
use crate::wire::{ApiError, Code, Objects, OneOrMany, check_length};
use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{DeserializeOwned, DeserializeSeed};
use std::marker::PhantomData;
use tokio::sync::Semaphore;

/// The largest body that is read where connections are served.
const SMALL: usize = 64 << 10;
/// Larger ones are read one at a time, elsewhere.
static LARGE: Semaphore = Semaphore::const_new(1);

/// Makes of a body what it is, without keeping other connections waiting if it is large.
pub(super) async fn understand<T: Send + 'static>(
    bytes: Vec<u8>,
    read: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if bytes.len() <= SMALL {
        return read(&bytes);
    }
    // It is never closed; without a place it is read all the same.
    let _place = LARGE.acquire().await;
    let read = tokio::task::spawn_blocking(move || read(&bytes)).await;
    read.map_err(|error| ApiError::new(Code::Internal, error.to_string()))?
}

/// Reads a body whole.
pub(super) async fn read(app: &App, request: Request<Body>, most: usize) -> Result<Vec<u8>, ApiError> {
    check_type(request.headers())?;
    let limited = Limited::new(request.into_body(), most);
    let collected = tokio::time::timeout(app.limits.body_time, limited.collect()).await;
    let collected = collected.map_err(|_| ApiError::new(Code::Timeout, "the body did not arrive in time"))?;
    match collected {
        Ok(body) => Ok(body.to_bytes().into()),
        Err(error) if error.is::<LengthLimitError>() => Err(ApiError::new(
            Code::TooLarge,
            format!("the body is too large; at most {most} bytes are accepted"),
        )),
        Err(_) => Err(ApiError::new(Code::InvalidJson, "the body broke off")),
    }
}

/// Browsers send JSON to other sites only after asking; other types they send at once.
fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let given = given.to_str().unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence == "application/json" || essence.ends_with("+json") {
        true => Ok(()),
        false => Err(ApiError::new(Code::UnsupportedMediaType, "the body must be application/json")),
    }
}

/// Reads a JSON text.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // A list in the place of an object would be read key by key.
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => Err(ApiError::value("", "a list was found", "an object")),
        _ => read_json(bytes),
    }
}

fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    read_seed(bytes, PhantomData)
}

fn read_seed<'de, S: DeserializeSeed<'de>>(bytes: &'de [u8], seed: S) -> Result<S::Value, ApiError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut deserializer, &mut track);
    let value = seed.deserialize(tracked).map_err(|cause| {
        let path = track.path().to_string();
        match cause.classify() {
            serde_json::error::Category::Data => {
                let text = cause.to_string();
                let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
                let field = if path == "." { String::new() } else { path };
                ApiError { field: Some(field), ..ApiError::new(Code::InvalidValue, message) }
            }
            _ => ApiError::new(Code::InvalidJson, format!("the body is not JSON: {cause}")),
        }
    })?;
    deserializer
        .end()
        .map_err(|error| ApiError::new(Code::InvalidJson, format!("the body is not JSON: {error}")))?;
    Ok(value)
}

/// Reads one value or a list of them, at most `most`.
pub(super) fn one_or_many<T: DeserializeOwned>(
    bytes: &[u8],
    what: &str,
    most: usize,
) -> Result<OneOrMany<T>, ApiError> {
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => {
            let (list, length) = read_seed(bytes, Objects::<T>::at_most(most))?;
            check_length(what, length, most)?;
            Ok(OneOrMany { list, single: false })
        }
        _ => Ok(OneOrMany { list: vec![parse(bytes)?], single: true }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::SlotWire;

    #[test]
    fn an_error_says_where_it_is() {
        let error = parse::<SlotWire>(br#"{"key":"k","jobs":[{"id":"a","port":"p"},{"id":"b","port":7}]}"#)
            .unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidValue, Some("jobs[1].port")));
        let error = parse::<SlotWire>(br#"{"key":"k","jobz":[]}"#).unwrap_err();
        assert!(error.message.contains("unknown field `jobz`"), "{error}");
        for text in ["", "{", "{} x", "nul", "\u{0}"] {
            assert_eq!(
                parse::<serde_json::Value>(text.as_bytes()).unwrap_err().code,
                Code::InvalidJson,
                "{text:?}"
            );
        }
        assert_eq!(parse::<SlotWire>(b"[]").unwrap_err().code, Code::InvalidValue);
        let deep = "[".repeat(10_000);
        assert_eq!(read_json::<serde_json::Value>(deep.as_bytes()).unwrap_err().code, Code::InvalidJson);
    }
}
