//! `esdp solve`: one slot's problem as JSON in, a decision with a certified bound out.

mod answer;
mod gangs;
mod input;
mod write;

pub use answer::{Answer, AnswerChoice, Placed};
pub use gangs::Origin;
pub use input::{Input, parse};
pub use write::to_json;

use crate::output::{self, OutputFormat};
use anyhow::Context;
use clap::{Args, ValueEnum};
use esdp::solver::{Exact, Exhaustive, Greedy, Paper, Solver};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a microsecond of `--budget-us` buys, in the solver's units of work. The work is
/// counted, not timed, so that the same problem gets the same answer on every machine;
/// this is about what one does on an ordinary one.
const UNITS_PER_MICROSECOND: u64 = 400;

const DETAILS: &str = r#"Input, a JSON document:
  {"capacity": [6, 5, 8],
   "channels": [{"request": [1, 2, 1], "mean": 0.41, "width": 0.20},
                {"request": [2, 1, 1], "mean": 0.37}]}
`capacity` and `request` are whole numbers, one for each device type. `mean` is the
estimated net utility and may be negative; `width`, at least 0 and 0 if left out, is the
squared width of its confidence interval (the paper's sigma-hat squared).

Output of --format json, one JSON document:
  {"chosen": [0, 1], "value": 1.227, "bound": 1.227, "guarantee": "optimal",
   "solver": "...", "micros": 3.1, "stopped": "proved"}
`chosen` are positions in `channels`; `bound` is never below the best possible value, up
to rounding (1e-11 of the largest mean, root of a width, or value); `guarantee` is
"optimal" or "bounded"; `micros` is the time the solver took; `stopped` says why it
stopped: "proved" (the optimum), "budget" (a larger --budget-us may find better or prove
more) or "gap" (the method finds and proves no more, whatever the budget).

Jobs of several tasks that run together or not at all, on servers with capacities of
their own, are another form of the input:
  {"servers": [{"capacity": [8, 4]}, {"capacity": [4, 4]}],
   "jobs": [{"min": 3,
             "tasks": [{"count": 4, "request": [1, 1],
                        "channels": [{"server": 0, "mean": 0.4, "width": 0.0},
                                     {"server": 1, "mean": 0.3, "width": 0.1}]}]}]}
A job runs with at least `min` of its tasks or not at all. `tasks` are groups of `count`
identical tasks with the same `request`, of which a job needs at least the group's own
`min`, 0 if left out; `channels` say on which servers (positions in
`servers`) a task may run and what it then adds. `copies`, 1 if left out, is how many such
jobs there are; a `capacity` beside `servers` limits the cluster as a whole. The answer has
`placements` in the place of `chosen`:
  {"placements": [{"job": 0, "task": 0, "server": 0, "count": 4}], "value": 1.6, ...}
with one entry per job, group of tasks and server, however many tasks run there; all jobs
together may have up to 2^26 (67108864) tasks.
The solver `paper` does not take this form.

Examples:
  esdp solve problem.json
  esdp solve --format json gangs.json
  esdp solve --format json - < problem.json
  esdp solve --solver paper problem.json
  esdp solve --budget-us 500 large.json"#;

/// Decides one slot: which channels to use.
///
/// Maximises sum(mean) + sqrt(sum(width)) over the sets of channels whose requests fit
/// the capacity, and prints the set, its value and a proved upper bound.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp solve --help` for the formats and examples.")]
pub struct SolveArgs {
    /// The problem, a JSON file; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which solver decides
    #[arg(long, value_enum, default_value_t)]
    solver: SolverName,
    /// How much work `exact` may spend, in nominal microseconds; what it has then is
    /// printed with the bound it has proved. Work is counted, not timed, so the answer
    /// does not depend on the machine. The other solvers take no budget
    #[arg(long, value_name = "N", value_parser = output::whole(0, u64::MAX), allow_negative_numbers = true)]
    budget_us: Option<u64>,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// Print nothing on standard error but errors (this command never does)
    #[arg(short, long)]
    quiet: bool,
}

/// The solvers a user can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SolverName {
    /// The best one for the problem: `exact`
    #[default]
    Auto,
    /// Optimal, or a certified gap when its work budget ends
    Exact,
    /// The paper's dynamic program, on rounded means and widths; small capacities only
    Paper,
    /// Every feasible set; up to 24 channels, or as many decisions of tasks
    Exhaustive,
    /// Fast and feasible, with a certified bound
    Greedy,
}

impl SolverName {
    fn build(self, budget_us: Option<u64>) -> Box<dyn Solver> {
        match self {
            Self::Auto | Self::Exact => {
                let solver = Exact::default();
                Box::new(match budget_us {
                    Some(micros) => solver.with_work_budget(micros.saturating_mul(UNITS_PER_MICROSECOND)),
                    None => solver,
                })
            }
            Self::Paper => Box::new(Paper::default()),
            Self::Exhaustive => Box::new(Exhaustive::default()),
            Self::Greedy => Box::new(Greedy::default()),
        }
    }
}

/// Solves a JSON problem: the command without files and formats.
///
/// # Errors
/// With the key and the value that do not fit, or why the solver cannot take the problem.
///
/// ```
/// use esdp_cli::solve::{SolverName, solve_json};
///
/// let json = br#"{"capacity": [1], "channels": [{"request": [1], "mean": 0.5}]}"#;
/// let answer = solve_json(json, SolverName::Auto, None)?;
/// assert_eq!((answer.chosen(), answer.value), (&[0][..], 0.5));
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn solve_json(json: &[u8], solver: SolverName, budget_us: Option<u64>) -> anyhow::Result<Answer> {
    let input = parse(json)?;
    let problem = input.instance.problem()?;
    let mut solver = solver.build(budget_us);
    let started = Instant::now();
    let solution = solver.solve(&problem)?;
    let elapsed = started.elapsed();
    Ok(Answer::new(&problem, input.origins.as_deref(), solution, elapsed))
}

/// Runs the command.
///
/// # Errors
/// With one sentence that starts with the file.
pub fn run(args: &SolveArgs) -> anyhow::Result<()> {
    let from_stdin = args.file == Path::new("-");
    let name = if from_stdin { "standard input".to_owned() } else { args.file.display().to_string() };
    let json = if from_stdin { read_stdin() } else { std::fs::read(&args.file) };
    let json = json.context("cannot be read").with_context(|| name.clone())?;
    let answer = solve_json(&json, args.solver, args.budget_us).context(name)?;
    match args.format {
        OutputFormat::Json => output::print_json(&answer),
        OutputFormat::Table => output::print(&answer.table()),
    }
}

fn read_stdin() -> std::io::Result<Vec<u8>> {
    let mut json = Vec::new();
    std::io::stdin().lock().read_to_end(&mut json)?;
    Ok(json)
}
