//! The scenarios that come with the library: the files in `scenarios/`.
//!
//! | preset | |
//! |---|---|
//! | `default`, `literal` | Table 2 with capacities 4 to 8, and as printed |
//! | `drift-switch`, `drift-sine` | speeds that change; `drift` is `drift-switch` |
//! | `fleet-200`, `fleet-1000`, `fleet-5000` | servers of four kinds, far more channels than can be tried |
//! | `fleet-real` | 200 servers with measured speeds by kind of GPU |
//! | `fleet-servers` | the figure of the number of servers, up to 5,000 |
//! | `gang`, `gang-large`, `gang-queue` | jobs whose tasks run together or not at all |
//! | `gang-sync`, `gang-sync-queue` | such jobs as fast as their slowest task |
//! | `queue-n`, `queue-w`, `queue-kinds`, `queue-gangs` | jobs that wait, where the sum starves some |
//! | `datacenter` | such jobs on 100 machines of real size, of four kinds |
//! | `suite-...` | what else a policy is judged by: throttled racks, servers that degrade, late outcomes |
//! | the others | one per figure of the paper's evaluation |

macro_rules! presets {
    ($($name:literal = $file:literal),* $(,)?) => {
        /// Every preset: its name and its TOML.
        pub fn presets() -> &'static [(&'static str, &'static str)] {
            &[$(($name, include_str!(concat!("../../scenarios/", $file, ".toml")))),*]
        }
    };
}

presets! {
    "default" = "default",
    "literal" = "literal",
    "drift" = "drift-switch",
    "drift-switch" = "drift-switch",
    "drift-sine" = "drift-sine",
    "fleet-200" = "fleet-200",
    "fleet-1000" = "fleet-1000",
    "fleet-5000" = "fleet-5000",
    "fleet-real" = "fleet-real",
    "fleet-servers" = "fleet-servers",
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
    "gang-sync" = "gang-sync",
    "gang-sync-queue" = "gang-sync-queue",
    "queue-n" = "queue-n",
    "queue-w" = "queue-w",
    "queue-kinds" = "queue-kinds",
    "queue-gangs" = "queue-gangs",
    "datacenter" = "datacenter",
    "suite-rack" = "suite-rack",
    "suite-degrading" = "suite-degrading",
    "suite-noise" = "suite-noise",
    "suite-upgrade" = "suite-upgrade",
    "suite-tails" = "suite-tails",
    "suite-late" = "suite-late",
    "suite-port" = "suite-port",
}

/// What a policy is judged by: presets, and after how many slots. The first ten were there when `esdp` was
/// made, the others were written afterwards, and nothing was tuned on them.
pub const SUITE: [(&str, u64); 19] = [
    ("default", 8000),
    ("literal", 8000),
    ("drift-switch", 8000),
    ("drift-sine", 8000),
    ("fleet-200", 2000),
    ("fleet-1000", 2000),
    ("fleet-5000", 500),
    ("fleet-real", 2000),
    ("gang", 500),
    ("gang-queue", 1000),
    ("gang-sync", 500),
    ("gang-sync-queue", 1000),
    ("suite-rack", 2000),
    ("suite-degrading", 2000),
    ("suite-noise", 2000),
    ("suite-upgrade", 2000),
    ("suite-tails", 2000),
    ("suite-late", 2000),
    ("suite-port", 2000),
];
