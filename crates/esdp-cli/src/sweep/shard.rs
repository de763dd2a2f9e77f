//! One part of a sweep that is spread over machines.

use crate::output;
use crate::provenance::stamped;
use crate::run::ResultFormat;
use serde_json::json;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Part `index`, from 0, of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "expected I/N with I from 0 to N-1, such as 0/4";
        let (index, count) = text.split_once('/').ok_or(FORM)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| FORM.to_owned());
        let shard = Self { index: number(index)?, count: number(count)? };
        if shard.index < shard.count { Ok(shard) } else { Err(FORM.to_owned()) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// Whether the piece at a position is one of its own. Dealt out like cards: neighbouring points
    /// cost about the same, so shards do too.
    pub(super) fn has(self, position: usize) -> bool {
        position % self.count == self.index
    }

    /// Says what is done; the result is made by the merge.
    pub(super) fn print(
        self,
        format: ResultFormat,
        done: usize,
        all: usize,
        out: &Path,
    ) -> anyhow::Result<()> {
        let out = out.display();
        match format {
            ResultFormat::Json => output::print_json(&stamped(&json!({
                "version": env!("CARGO_PKG_VERSION"),
                "shard": self.to_string(),
                "parts": all,
                "done": done,
            }))),
            ResultFormat::Csv => output::print(&format!("shard,parts,done\n{self},{all},{done}\n")),
            ResultFormat::Table => output::print(&format!(
                "Shard {self}: {done} of {all} parts are done, in {out}\n\
                 When all shards are: esdp sweep merge DIR... -o OUT\n"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_the_work() {
        let shards: Vec<Shard> = (0..3).map(|index| format!("{index}/3").parse().unwrap()).collect();
        for position in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(position)).count(), 1);
        }
        for bad in ["", "3", "3/3", "0/0", "-1/3", "a/b", "1/2/3"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
