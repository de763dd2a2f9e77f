//! Figures as files.

use crate::files;
use anyhow::Context;
use esdp_report::figure::Figure;
use std::path::Path;

/// Writes a figure as SVG, PNG and CSV into a directory.
///
/// # Errors
/// With the figure or the file, and why.
pub(crate) fn save(figure: &Figure, directory: &Path) -> anyhow::Result<()> {
    let drawn = figure.files().with_context(|| format!("figure {} cannot be drawn", figure.file_stem()))?;
    drawn.iter().try_for_each(|(name, bytes)| files::write(&directory.join(name), bytes))
}

/// The names of the files of some figures.
pub(crate) fn names(figures: &[Figure]) -> Vec<String> {
    let files = |figure: &Figure| ["svg", "png", "csv"].map(|kind| format!("{}.{kind}", figure.file_stem()));
    figures.iter().flat_map(files).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use esdp_report::figure::Axis;

    #[test]
    fn files_are_written_beside_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let figure = Figure::new("id", "Title", Axis::new("x"), Axis::new("y"));
        save(&figure, directory.path()).unwrap();
        for name in names(std::slice::from_ref(&figure)) {
            assert!(directory.path().join(&name).is_file(), "{name}");
        }
        let missing = save(&figure, &directory.path().join("missing")).unwrap_err();
        assert!(format!("{missing:#}").contains("id.svg: cannot be written"), "{missing:#}");
    }
}
