//! The arms beside each other, for people: one table per load.

use super::arm::Arm;
use super::summary::{OUTCOMES, Summary};
use super::workload::{NODES, USERS};
use esdp_report::table::TextTable;

/// The tables of all loads.
pub(super) fn render(summaries: &[Summary]) -> String {
    let mut loads: Vec<f64> = summaries.iter().map(|summary| summary.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let tables = loads.into_iter().map(|load| {
        let here: Vec<&Summary> = summaries.iter().filter(|summary| summary.load == load).collect();
        render_load(load, &here)
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn render_load(load: f64, summaries: &[&Summary]) -> String {
    let of = |arm: Arm| summaries.iter().copied().filter(|summary| summary.arm == arm).collect::<Vec<_>>();
    let arms: Vec<(Arm, Vec<&Summary>)> =
        Arm::ALL.map(|arm| (arm, of(arm))).into_iter().filter(|(_, own)| !own.is_empty()).collect();
    let (jobs, repetitions) = summaries.first().map_or((0, 0), |one| (one.jobs, of(one.arm).len()));
    let times = if repetitions == 1 {
        String::new()
    } else {
        format!(", {repetitions} repetitions: mean ± standard error")
    };
    let mut text = format!("Load {:.0} %: {jobs} jobs on {NODES} nodes{times}\n\n", 100.0 * load);
    let header = ["", "completion", "against Slurm", "waiting", "makespan", "work/min", "busy"];
    let mut table = TextTable::new(&header);
    let alone = of(Arm::Slurm);
    for (arm, own) in &arms {
        let figure = |value: &dyn Fn(&Summary) -> f64, digits: usize, unit: &str| {
            Estimate::of(own.iter().map(|summary| value(summary))).show(digits, unit)
        };
        let paired = own.iter().filter_map(|summary| {
            let rival = alone.iter().find(|rival| rival.seed == summary.seed && *arm != Arm::Slurm)?;
            Some(100.0 * (summary.completion / rival.completion - 1.0))
        });
        let paired: Vec<f64> = paired.collect();
        let against =
            if paired.is_empty() { String::new() } else { Estimate::of(paired).show_signed(1, " %") };
        table.row([
            arm.name().to_owned(),
            figure(&|one| one.completion, 2, " s"),
            against,
            figure(&|one| one.waiting, 2, " s"),
            figure(&|one| one.makespan, 1, " s"),
            figure(&|one| one.work_per_minute, 0, ""),
            figure(&|one| 100.0 * one.busy, 0, " %"),
        ]);
    }
    text += &table.render();
    let names: Vec<&str> =
        std::iter::once("waiting of user").chain(arms.iter().map(|(arm, _)| arm.name())).collect();
    let mut waiting = TextTable::new(&names);
    for user in USERS {
        let mean = |own: &[&Summary]| Estimate::of(own.iter().map(|one| one.waiting_by_user[user]));
        let cell = |(arm, own): &(Arm, Vec<&Summary>)| match *arm == Arm::Slurm || alone.is_empty() {
            true => mean(own).show(2, " s"),
            false => {
                let against =
                    Estimate { mean: 100.0 * (mean(own).mean / mean(&alone).mean - 1.0), error: None };
                format!("{} ({})", mean(own).show(2, " s"), against.show_signed(0, " %"))
            }
        };
        waiting.row(std::iter::once(user.to_owned()).chain(arms.iter().map(cell)));
    }
    text += "\n";
    text += &waiting.render();
    for (arm, own) in &arms {
        let known = own.iter().flat_map(|one| &one.learned).filter(|speed| speed.outcomes >= OUTCOMES);
        let errors: Vec<f64> = known.map(|speed| 100.0 * speed.error()).collect();
        if let Some(worst) = errors.iter().copied().reduce(f64::max) {
            let mean = Estimate::of(errors.iter().copied()).mean;
            text += &format!(
                "\n{}: {} learned speeds with {OUTCOMES} outcomes or more are {mean:.1} % off on average, \
                 {worst:.1} % at worst",
                arm.name(),
                errors.len(),
            );
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// A mean and, if there are several values, its standard error.
struct Estimate {
    mean: f64,
    error: Option<f64>,
}

impl Estimate {
    fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, error: (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt()) }
    }

    fn show(&self, digits: usize, unit: &str) -> String {
        let error = self.error.map(|error| format!(" ± {error:.digits$}")).unwrap_or_default();
        format!("{:.digits$}{error}{unit}", self.mean)
    }

    fn show_signed(&self, digits: usize, unit: &str) -> String {
        let sign = if self.mean >= 0.0 { "+" } else { "" };
        format!("{sign}{}", self.show(digits, unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slurm::demo::summary::LearnedSpeed;

    fn summary(arm: Arm, seed: u64, completion: f64) -> Summary {
        Summary {
            arm,
            load: 0.4,
            seed,
            jobs: 150,
            completion,
            waiting: 0.5,
            waiting_by_user: USERS.iter().map(|&user| (user, 0.5)).collect(),
            makespan: 120.0,
            work_per_minute: 200.0,
            busy: 0.4,
            learned: Vec::new(),
        }
    }

    #[test]
    fn repetitions_are_compared_in_pairs() {
        let all = [
            summary(Arm::Slurm, 1, 8.0),
            summary(Arm::Placement, 1, 4.0),
            summary(Arm::Slurm, 2, 10.0),
            summary(Arm::Placement, 2, 7.0),
        ];
        let text = render(&all);
        assert!(
            text.starts_with("Load 40 %: 150 jobs on 8 nodes, 2 repetitions: mean ± standard error\n"),
            "{text}"
        );
        assert!(text.contains("-40.0 ± 10.0 %") && text.contains("9.00 ± 1.00 s"), "{text}");
    }

    #[test]
    fn speeds_that_were_hardly_tried_are_not_compared() {
        let mut one = summary(Arm::Placement, 1, 4.0);
        let speed = |learned, outcomes| LearnedSpeed {
            kind: "train",
            node: "n0".to_owned(),
            truth: 0.5,
            learned,
            outcomes,
        };
        one.learned = vec![speed(0.51, 10.0), speed(0.9, 3.0)];
        let text = render(&[one]);
        assert!(
            text.contains("placement: 1 learned speeds with 10 outcomes or more are 2.0 % off"),
            "{text}"
        );
    }
}
