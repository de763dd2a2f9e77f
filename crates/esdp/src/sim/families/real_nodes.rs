//! Gangs on machines of real size.
//!
//! Servers are of four kinds, by cores, gigabytes and GPUs; jobs have 1 to 16 tasks of six shapes,
//! and every server on which a task fits is a channel. In the plain variant each of them is worth a
//! number of its own, uniform between 0 and 1. The other variants have what real clusters have:
//!
//! | number mod 10 | variant |
//! |---|---|
//! | 0, 1 | plain; all tasks or none |
//! | 2 | some jobs run with 3/4 or half of their tasks |
//! | 3 | memory in megabytes without a common divisor |
//! | 4 | some jobs have one or two parameter servers beside their workers |
//! | 5 | speeds by kind, job and server, as learned |
//! | 6 | servers that are partly occupied |
//! | 7 | half of the GPUs cut into slices, a fourth device |
//! | 8 | as 2, 4 and 5 together, with several copies of some jobs |
//! | 9 | as 3 and 6 together, no two memories alike, speeds known by kind alone: many ties |

use super::gangs::{add_group, add_job, minimum};
use super::learner::Learner;
use super::{Dimensions, Draw};
use crate::model::Amount;
use crate::rng::Stream;
use crate::solver::Instance;
use rand::RngExt;

/// Cores, gigabytes, GPUs.
const KINDS: [[Amount; 3]; 4] = [[128, 1024, 8], [96, 768, 8], [64, 512, 4], [48, 384, 0]];
const REQUESTS: [[Amount; 3]; 6] =
    [[8, 64, 1], [16, 128, 2], [4, 32, 1], [32, 200, 4], [2, 8, 0], [12, 100, 1]];
const TASKS: [u32; 5] = [1, 2, 4, 8, 16];
/// The same memories in megabytes, as systems report them and users write them.
const KIND_MEGABYTES: [Amount; 4] = [1_031_787, 773_841, 515_893, 386_921];
const REQUEST_MEGABYTES: [Amount; 6] = [65_431, 131_009, 32_749, 204_797, 8_191, 102_397];
/// What a parameter server asks for.
const PARAMETER_SERVER: ([Amount; 3], Amount) = ([4, 48, 0], 49_157);
/// The slices of a GPU.
const SLICES: Amount = 7;

/// Where the value of a channel comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speeds {
    Uniform,
    Learned,
    ByKind,
}

/// What sets a variant apart.
#[derive(Debug, Clone, Copy)]
struct Variant {
    partial_minima: bool,
    megabytes: bool,
    parameter_servers: bool,
    copies: bool,
    occupied: bool,
    slices: bool,
    speeds: Speeds,
}

impl Variant {
    fn of(number: u64) -> Self {
        let variant = number % 10;
        Self {
            partial_minima: matches!(variant, 2 | 8),
            megabytes: matches!(variant, 3 | 9),
            parameter_servers: matches!(variant, 4 | 8),
            copies: variant == 8,
            occupied: matches!(variant, 6 | 9),
            slices: variant == 7,
            speeds: match variant {
                5 | 8 => Speeds::Learned,
                9 => Speeds::ByKind,
                _ => Speeds::Uniform,
            },
        }
    }

    fn capacity(self, kind: usize) -> Vec<Amount> {
        let [cores, gigabytes, gpus] = KINDS[kind];
        let memory = if self.megabytes { KIND_MEGABYTES[kind] } else { gigabytes };
        match self.slices {
            true => vec![cores, memory, gpus - gpus / 2, SLICES * (gpus / 2)],
            false => vec![cores, memory, gpus],
        }
    }

    /// A task's request; of those with one GPU, `slices` says how much of it suffices.
    fn request(self, shape: usize, slices: Amount) -> Vec<Amount> {
        let [cores, gigabytes, gpus] = REQUESTS[shape];
        let memory = if self.megabytes { REQUEST_MEGABYTES[shape] } else { gigabytes };
        match self.slices {
            true if gpus == 1 && slices > 0 => vec![cores, memory, 0, slices],
            true => vec![cores, memory, gpus, 0],
            false => vec![cores, memory, gpus],
        }
    }

    fn parameter_server(self) -> Vec<Amount> {
        let ([cores, gigabytes, gpus], megabytes) = PARAMETER_SERVER;
        vec![cores, if self.megabytes { megabytes } else { gigabytes }, gpus]
    }
}

struct Server {
    kind: usize,
    factor: f64,
    free: Vec<Amount>,
}

pub(super) fn draw(draw: &Draw) -> Instance {
    let Dimensions(servers, jobs) = draw.size;
    let variant = Variant::of(draw.number);
    let mut rng = draw.shape();
    let servers: Vec<Server> = (0..servers).map(|_| server(variant, &mut rng)).collect();
    let mut instance = Instance::new(vec![Amount::MAX; servers[0].free.len()]);
    instance.server_capacity = servers.iter().flat_map(|server| server.free.iter().copied()).collect();
    let mut learner = Learner::new(draw);
    for _ in 0..jobs {
        let workers = TASKS[rng.random_range(0..TASKS.len())];
        let request =
            variant.request(rng.random_range(0..REQUESTS.len()), [0, 1, 2, 3][rng.random_range(0..4)]);
        let share = [1.0, 1.0, 0.75, 0.5][if variant.partial_minima { rng.random_range(0..4) } else { 0 }];
        let copies = if variant.copies && rng.random_ratio(1, 4) { rng.random_range(2..=4) } else { 1 };
        let ahead = if variant.parameter_servers { [0, 0, 1, 2][rng.random_range(0..4)] } else { 0 };
        add_job(&mut instance, minimum(workers + ahead, share), copies);
        if ahead > 0 {
            let request = variant.parameter_server();
            reach(&mut instance, &servers, variant, ahead, &request, &mut rng, &mut learner);
        }
        reach(&mut instance, &servers, variant, workers, &request, &mut rng, &mut learner);
    }
    instance
}

fn server(variant: Variant, rng: &mut Stream) -> Server {
    let kind = rng.random_range(0..KINDS.len());
    let mut free = variant.capacity(kind);
    if variant.megabytes && variant.occupied {
        // The part that firmware keeps differs from machine to machine.
        free[1] -= rng.random_range(0..=512);
    }
    if variant.occupied {
        for _ in 0..rng.random_range(0..=12) {
            let request = variant.request(rng.random_range(0..REQUESTS.len()), 0);
            if fits(&request, &free) {
                free.iter_mut().zip(&request).for_each(|(free, taken)| *free -= taken);
            }
        }
    }
    Server { kind, factor: rng.random_range(0.85..1.15), free }
}

fn fits(request: &[Amount], free: &[Amount]) -> bool {
    request.iter().zip(free).all(|(asked, free)| asked <= free)
}

/// A group of tasks with a channel to every server on which one fits.
fn reach(
    instance: &mut Instance,
    servers: &[Server],
    variant: Variant,
    count: u32,
    request: &[Amount],
    rng: &mut Stream,
    learner: &mut Learner,
) {
    let on_kind: [f64; KINDS.len()] = std::array::from_fn(|_| rng.random_range(0.2..0.9));
    let by_kind = on_kind.map(|speed| learner.plain(speed, 1.0));
    let channels: Vec<(u32, (f64, f64))> = (0u32..)
        .zip(servers)
        .filter(|(_, server)| fits(request, &server.free))
        .map(|(position, server)| {
            let known = match variant.speeds {
                Speeds::Uniform => learner.plain(rng.random(), 1.0),
                Speeds::Learned => learner.learned(on_kind[server.kind] * server.factor),
                Speeds::ByKind => by_kind[server.kind],
            };
            (position, known)
        })
        .collect();
    add_group(instance, count, request, channels);
}
