//! Instances as files that others can check.

use crate::files;
use crate::solve::to_json;
use esdp::sim::families::Draw;
use esdp::solver::Instance;
use std::path::{Path, PathBuf};

const README: &str = "\
# Drawn slot problems

Each file is one problem, in the JSON that `esdp solve` reads (`esdp solve --help` has the format):

    esdp solve FILE

A file's name is FAMILY-SIZE-INDEX-SEED-NUMBER. The same files are written again by

    esdp bench --families FAMILY:SIZE --seed SEED --instances N --write DIR

with N larger than the number.
";

/// A directory of instances.
#[derive(Debug)]
pub(in crate::bench) struct Writer<'a> {
    directory: &'a Path,
}

impl<'a> Writer<'a> {
    /// Makes the directory, with a page that says what is in it.
    pub(in crate::bench) fn new(directory: &'a Path) -> anyhow::Result<Self> {
        files::directory(directory)?;
        files::write(&directory.join("README.md"), README)?;
        Ok(Self { directory })
    }

    /// Writes an instance and tells where it is.
    pub(in crate::bench) fn write(&self, draw: &Draw, instance: &Instance) -> anyhow::Result<PathBuf> {
        let path = self.directory.join(format!("{draw}.json"));
        files::write(&path, to_json(&instance.problem()?)?)?;
        Ok(path)
    }
}
