//! How fast servers are taken to be: one answer where the files tell it, several where nobody knows.

use esdp_trace::relative::SpeedTrial;
use esdp_trace::replay::{MachineSource, Noise, Played, RelativeSpeeds};

/// What is assumed of speeds where nobody knows them: the fastest server over the slowest.
pub(super) const SPREADS: [f64; 4] = [1.0, 1.2, 1.5, 2.0];
/// How far the same job differs from run to run where nobody knows it: the median over tasks of Alibaba's
/// 2018 trace.
const USUAL_NOISE: f64 = 0.13;

/// Where speeds come from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    /// A table, whose rows name job types.
    Table,
    /// A table whose rows name other jobs: an illustration.
    Borrowed,
    /// Accounting: each seed draws speeds that are as likely as any by what is known.
    Accounting,
    /// Nobody knows: the fastest server is so many times as fast as the slowest.
    Assumed(f64),
}

/// One set of speeds, and what follows from it.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) source: Source,
    pub(super) noise: Noise,
}

/// All answers, and what was assumed for them.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    pub(super) list: Vec<Answer>,
    /// Sentences; the first of them is the one that matters most.
    pub(super) assumed: Vec<String>,
    /// What was measured, as sentences.
    pub(super) measured: Vec<String>,
}

pub(super) fn answers(played: &Played, alone: bool, block: u64) -> Answers {
    let (mut assumed, mut measured) = (Vec::new(), Vec::new());
    if alone {
        assumed.push("Without files, the trace is generated: nothing here is about your cluster.".to_owned());
    }
    let told = played.nodes.as_ref().filter(|nodes| nodes.tells());
    let sources = match (&played.table, told) {
        (Some((_, mapping)), _) => {
            let place = if mapping.dealt { &mut assumed } else { &mut measured };
            let what = if mapping.dealt {
                "NOBODY MEASURED YOUR JOBS: the rows of the speed table name none of their types, so rows \
                 were dealt \
                 out in order. The gain is an illustration, not a forecast."
            } else {
                "Speeds are those of the speed table."
            };
            place.push(format!("{what} Rows of types: {}.", mapping.lines.join("; ")));
            if mapping.dropped > 0 {
                assumed.push(format!(
                    "{} entries of the speed table are not above 0: they are taken for not measured.",
                    mapping.dropped
                ));
            }
            if !mapping.unmeasured.is_empty() {
                let names = mapping.unmeasured.iter().take(6).cloned().collect::<Vec<_>>().join(", ");
                assumed.push(format!(
                    "Servers that the speed table does not have run at the mean speed: {names}{}.",
                    if mapping.unmeasured.len() > 6 { ", ..." } else { "" }
                ));
            }
            vec![if mapping.dealt { Source::Borrowed } else { Source::Table }]
        }
        (None, Some(nodes)) => {
            let (slow, fast) = nodes.nodes.iter().fold((f64::INFINITY, 0.0_f64), |(slow, fast), node| {
                (slow.min(node.speed), fast.max(node.speed))
            });
            measured.push(format!(
                "Node speeds are estimated from {} of {} jobs: the same user's job of the same name and \
                 shape on \
                 different nodes. {} nodes run from {slow:.2} to {fast:.2} of their mean; the same job on \
                 the same \
                 node varies by {:.0} %. Every seed draws speeds within these estimates' errors \
                 (`esdp trace speeds` lists them).",
                nodes.used,
                nodes.seen,
                nodes.nodes.len(),
                100.0 * nodes.residual
            ));
            measured.extend(played.tried.as_ref().map(tried));
            if nodes.groups > 1 {
                assumed.push(format!(
                    "No job joins the nodes' {} groups: their means are taken to be equal.",
                    nodes.groups
                ));
            }
            let missing = played.servers.len()
                - played.by_node(nodes, &vec![2.0; nodes.nodes.len()]).iter().filter(|s| **s == 2.0).count();
            if missing > 0 {
                assumed.push(format!(
                    "{missing} servers ran no job that could be compared: they are taken to be average."
                ));
            }
            vec![Source::Accounting]
        }
        (None, None) => {
            let why = match &played.nodes {
                Some(nodes) if nodes.is_few() => {
                    format!("only {} jobs repeat on different nodes", nodes.used)
                }
                Some(nodes) => format!(
                    "the {} jobs that repeat on different nodes tell a node's speed to {:.0} % only",
                    nodes.used,
                    100.0 * nodes.typical_error
                ),
                None => "your files do not say it (NodeList and JobName of sacct would, or a speed table)"
                    .to_owned(),
            };
            assumed.push(format!(
                "NOBODY KNOWS HOW FAST YOUR SERVERS ARE: {why}. So the answer is a range: the fastest \
                 server is taken to \
                 be {} times as fast as the slowest, the others evenly between, in drawn order.",
                SPREADS.map(|spread| format!("{spread:.1}")).join(", ")
            ));
            SPREADS.map(Source::Assumed).to_vec()
        }
    };
    let noise = if played.series.is_empty() {
        assumed.push(
            "Servers keep their speeds; the noise of single jobs varies from run to run. How speeds change \
             with time was not measured, so nothing is gained by following that."
                .to_owned(),
        );
        match &played.nodes {
            Some(nodes) if nodes.residual > 0.0 => Noise::OfJobs(nodes.residual.clamp(0.01, 0.5)),
            _ => {
                assumed.push(format!(
                    "Nobody measured how the same job varies from run to run: {:.0} % is assumed.",
                    100.0 * USUAL_NOISE
                ));
                Noise::OfJobs(USUAL_NOISE)
            }
        }
    } else {
        measured.push(format!("Speeds fluctuate as {} measured series do.", played.series.len()));
        Noise::Measured(played.series.clone(), block)
    };
    assumed.extend(machines(played));
    assumed.push(
        "A policy sees how fast each job ran, as it does where jobs repeat or report progress. Queues with \
         backfill \
         know how long each job takes, which no real one does."
            .to_owned(),
    );
    let list = sources.into_iter().map(|source| Answer { source, noise: noise.clone() }).collect();
    Answers { list, assumed, measured }
}

/// What the speeds are worth, in words.
fn tried(trial: &SpeedTrial) -> String {
    let SpeedTrial { jobs, with_speeds, alike, luck } = *trial;
    let percent = |log: f64| format!("{:.1} %", 100.0 * log);
    format!(
        "The speeds tried on {jobs} jobs, each half of them foretold from the other: durations are off by {} \
         (root mean square), by {} as if all nodes were alike, and by {} through the jobs' own luck.",
        percent(with_speeds),
        percent(alike),
        percent(luck)
    )
}

fn machines(played: &Played) -> Option<String> {
    match played.machines {
        MachineSource::Table => None,
        MachineSource::Drawn => {
            Some(format!("{} of the machines were drawn, as asked.", played.servers.len()))
        }
        MachineSource::Cut => Some("One machine was cut into equal servers, as asked.".to_owned()),
        MachineSource::Named => Some(
            "There is no machine table: the servers are the nodes that accounting names, each as large as \
             the most that \
             ran there at once."
                .to_owned(),
        ),
        MachineSource::Assumed => Some(
            "THE MACHINES ARE MADE UP: equal ones, of a size that these jobs keep busy to 70 \
                  %."
            .to_owned(),
        ),
    }
}

impl Answer {
    /// Its name: empty for the only one.
    pub(super) fn name(&self) -> String {
        match self.source {
            Source::Assumed(spread) => format!("x{spread:.1}"),
            _ => String::new(),
        }
    }

    /// The speeds under a seed.
    pub(super) fn means(&self, played: &Played, seed: u64) -> RelativeSpeeds {
        match &self.source {
            Source::Assumed(spread) => RelativeSpeeds::spread(played, *spread, seed),
            Source::Accounting => match &played.nodes {
                Some(nodes) => RelativeSpeeds::of_servers(played, &played.by_node(nodes, &nodes.draw(seed))),
                None => RelativeSpeeds::spread(played, 1.0, seed),
            },
            Source::Table | Source::Borrowed => match &played.table {
                Some((means, _)) => means.clone(),
                None => RelativeSpeeds::spread(played, 1.0, seed),
            },
        }
    }

    /// The best guess of the speeds.
    pub(super) fn likely(&self, played: &Played, seed: u64) -> RelativeSpeeds {
        match (&self.source, &played.nodes) {
            (Source::Accounting, Some(nodes)) => {
                let speeds: Vec<f64> = nodes.nodes.iter().map(|node| node.speed).collect();
                RelativeSpeeds::of_servers(played, &played.by_node(nodes, &speeds))
            }
            _ => self.means(played, seed),
        }
    }
}
