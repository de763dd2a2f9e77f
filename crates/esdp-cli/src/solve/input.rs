//! The problem as JSON, checked key by key.

use super::gangs::{self, Origin, RawGangs};
use anyhow::{anyhow, ensure};
use esdp::model::Amount;
use esdp::solver::Instance;
use esdp_report::visible;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// The file as it is written; duplicate and unknown keys are refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProblem {
    capacity: Vec<Whole>,
    channels: Vec<Object<RawChannel>>,
}

impl Described for RawProblem {
    const WHAT: &'static str = "an object with `capacity` and `channels`";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawChannel {
    request: Vec<Whole>,
    mean: Real,
    #[serde(default)]
    width: Real,
}

impl Described for RawChannel {
    const WHAT: &'static str = "an object with `request`, `mean` and `width`";
}

/// What an object holds, for errors.
pub(super) trait Described {
    const WHAT: &'static str;
}

/// A JSON object. A derived `Deserialize` would take a list of the values as well.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Described> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

impl<'de, T: Deserialize<'de> + Described> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// An amount of devices, with an error that says what is accepted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole(pub(super) Amount);

/// A number that JSON can hold, with an error that says what is accepted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Real(pub(super) f64);

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 0 to {}", Amount::MAX)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Whole, E> {
        Ok(Whole(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Whole, E> {
        u64::try_from(value).map(Whole).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(WholeVisitor)
    }
}

struct RealVisitor;

impl Visitor<'_> for RealVisitor {
    type Value = Real;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a finite number")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Real, E> {
        Ok(Real(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Real, E> {
        Ok(Real(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Real, E> {
        Ok(Real(value as f64))
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(RealVisitor)
    }
}

/// A problem that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The numbers, for a solver.
    pub instance: Instance,
    /// In the gang form, the job and group of tasks of each channel.
    pub origins: Option<Vec<Origin>>,
}

/// Notes whether a document has a key of the gang form. It stops there, so that what is wrong
/// later in the document is found, and named, by the form that it is in.
struct GangKeys<'a>(&'a Cell<bool>);

impl<'de> Visitor<'de> for GangKeys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "jobs" || key == "servers" {
                self.0.set(true);
                break;
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

fn has_gangs(json: &[u8]) -> bool {
    let found = Cell::new(false);
    // An error, be it that the rest was not read, is for the form to report.
    let _ = serde_json::Deserializer::from_slice(json).deserialize_map(GangKeys(&found));
    found.get()
}

/// Reads a problem.
///
/// # Errors
/// With the place, the key, the value and what is accepted.
pub fn parse(json: &[u8]) -> anyhow::Result<Input> {
    ensure!(
        !json.trim_ascii().is_empty(),
        "the input is empty, expected {} or {}",
        RawProblem::WHAT,
        RawGangs::WHAT
    );
    if has_gangs(json) {
        let (instance, origins) = gangs::instance(&read(json)?)?;
        return Ok(Input { instance, origins: Some(origins) });
    }
    Ok(Input { instance: instance(read(json)?)?, origins: None })
}

fn read<'a, T: Deserialize<'a> + Described>(json: &'a [u8]) -> anyhow::Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let raw: Object<T> = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| located(json, &error.path().to_string(), error.inner()))?;
    reader.end().map_err(|error| located(json, ".", &error))?;
    Ok(raw.0)
}

/// `key: what is wrong (line, column)`.
fn located(json: &[u8], path: &str, error: &serde_json::Error) -> anyhow::Error {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    // `.` is the document, `?` a key that could not be read.
    let key = path.trim_end_matches(['.', '?']);
    let accepted = match key.rsplit('.').next().and_then(|last| last.split('[').next()) {
        Some("mean" | "width") => ", expected a finite number",
        Some("server" | "count" | "min" | "copies") => ", expected a whole number",
        Some("capacity" | "request") => ", expected a list of whole numbers",
        _ => "",
    };
    let what = match what {
        "expected value" | "expected ident" | "invalid number" => {
            format!("`{}` is not a JSON value{accepted}", token(json, line, column))
        }
        "number out of range" => format!("{} is out of range{accepted}", token(json, line, column)),
        other => shortened(other, 300),
    };
    let key = if key.is_empty() { String::new() } else { format!("{}: ", shortened(key, 100)) };
    anyhow!("{key}{what} (line {line}, column {column})")
}

/// A text that may quote any amount of the input, cut to a length and kept on its line.
fn shortened(text: &str, length: usize) -> String {
    let cut = if text.chars().nth(length).is_some() { "..." } else { "" };
    visible::line(&text.chars().take(length).collect::<String>()) + cut
}

/// The word around a place, for errors of the parser that do not show it.
fn token(json: &[u8], line: usize, column: usize) -> String {
    let line = json.split(|&byte| byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let at = column.saturating_sub(1).min(line.len());
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:[]{}\"".contains(byte);
    let from = line[..at].iter().rposition(ends).map_or(0, |end| end + 1);
    let length = line[at..].iter().position(ends).unwrap_or(line.len() - at);
    // A delimiter in the wrong place is its own word.
    let word = &line[from..(at + length.max(1)).min(line.len())];
    shortened(&String::from_utf8_lossy(word), 24)
}

fn instance(raw: RawProblem) -> anyhow::Result<Instance> {
    let devices = raw.capacity.len();
    let mut instance = Instance::new(raw.capacity.iter().map(|amount| amount.0).collect());
    instance.requests.reserve_exact(raw.channels.len().saturating_mul(devices));
    for (position, Object(channel)) in raw.channels.iter().enumerate() {
        let (found, Real(width)) = (channel.request.len(), channel.width);
        ensure!(
            found == devices,
            "channels[{position}].request: length {found}, expected {devices}, one for each entry of \
             `capacity`"
        );
        ensure!(
            width >= 0.0,
            "channels[{position}].width: {width} is negative, expected a number of at least 0"
        );
        instance.requests.extend(channel.request.iter().map(|amount| amount.0));
        instance.mean.push(channel.mean.0);
        instance.width.push(width);
    }
    Ok(instance)
}
