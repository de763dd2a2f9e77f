//! The real traces that `crates/esdp-trace/tests/real.rs` reads, and whether this machine has them.

use std::path::Path;

use crate::cargo::workspace_root;

/// Names the folder; without it, the folder is `../shared/data` from the project's root.
const VARIABLE: &str = "ESDP_DATA";

/// What the tests did not check; nothing where they found the folder, or failed for want of it.
pub(crate) fn missing() -> Option<String> {
    (std::env::var_os(VARIABLE).is_none() && !is_expected(&workspace_root())).then(|| {
        format!(
            "the counts of crates/esdp-trace/tests/real.rs, for want of the real traces (see {VARIABLE} \
                 there)"
        )
    })
}

/// Whether the folder must be there: a machine that has `../shared` has the traces in it.
fn is_expected(root: &Path) -> bool {
    root.join("../shared").is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_folder_beside_the_project_must_have_the_traces() {
        let place = std::env::temp_dir().join(format!("xtask-real-{}", std::process::id()));
        let root = place.join("project");
        std::fs::create_dir_all(&root).unwrap();
        assert!(!is_expected(&root));
        std::fs::create_dir(place.join("shared")).unwrap();
        assert!(is_expected(&root));
        std::fs::remove_dir_all(&place).unwrap();
    }
}
