//! The scenarios that come with the library: the files in `scenarios/`.
//!
//! | preset | |
//! |---|---|
//! | `default`, `literal` | Table 2 with capacities 4 to 8, and as printed |
//! | `drift-switch`, `drift-sine` | speeds that change; `drift` is `drift-switch` |
//! | the others | one a figure of the paper's evaluation |

macro_rules! presets {
    ($($name:literal = $file:literal),* $(,)?) => {
        /// Every preset: its name and its TOML.
        pub fn presets() -> &'static [(&'static str, &'static str)] {
            &[$(($name, include_str!(concat!("../../../../scenarios/", $file, ".toml")))),*]
        }
    };
}

presets! {
    "default" = "default",
    "literal" = "literal",
    "drift" = "drift-switch",
    "drift-switch" = "drift-switch",
    "drift-sine" = "drift-sine",
    "aou" = "aou",
    "ratio" = "ratio",
    "average" = "average",
    "overhead" = "overhead",
    "solution-space" = "solution-space",
    "delta" = "delta",
    "g" = "g",
    "rho" = "rho",
    "edges" = "edges",
    "ports" = "ports",
    "servers" = "servers",
    "horizon" = "horizon",
    "gang" = "gang",
    "gang-large" = "gang-large",
    "gang-queue" = "gang-queue",
}
