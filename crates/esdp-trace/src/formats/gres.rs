//! GPUs of a node as Slurm writes its generic resources: `gpu:a100:4(S:0-1),nvme:1`.

/// How many GPUs there are, and their models, joined by `+`; `None` where a number is none.
pub(super) fn gpus(text: &str) -> Option<(f64, String)> {
    let (mut count, mut models) = (0.0, Vec::new());
    for part in outside_of_brackets(text) {
        // Where it is plugged in, and which of them are used, do not matter.
        let part = part.split('(').next().unwrap_or_default().trim();
        let fields: Vec<&str> = part.split(':').collect();
        let (model, number) = match fields.as_slice() {
            ["gpu"] => ("", "1"),
            ["gpu", number] if number.parse::<f64>().is_ok() => ("", *number),
            ["gpu", model] => (*model, "1"),
            ["gpu", model, number] => (*model, *number),
            _ => continue,
        };
        count += number.parse::<f64>().ok().filter(|number| (0.0..=1e6).contains(number))?;
        if !model.is_empty() && !models.contains(&model) {
            models.push(model);
        }
    }
    Some((count, models.join("+")))
}

/// The parts between commas; a comma in brackets is no end.
fn outside_of_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth <= 0
    })
}

/// Whether a node in this state takes jobs: `idle`, `MIXED+PLANNED`. Out are nodes that are down, drained,
/// off (`POWERED_DOWN`, `~`), about to be (`%`, `!`), silent (`*`), in maintenance (`$`), not there yet or
/// not as Slurm's configuration has them (`INVAL`, `INVALID_REG`).
pub(super) fn in_service(state: &str) -> bool {
    let state = state.to_ascii_lowercase();
    let words =
        ["down", "pow_dn", "drain", "drng", "fail", "maint", "unk", "fut", "no_respond", "not_respond"];
    !words.iter().any(|word| state.contains(word))
        && !state.contains("inval")
        && !state.ends_with(['*', '~', '%', '!', '$'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_numbers() {
        assert_eq!(gpus("gpu:a100:4(S:0-1,3),nvme:1"), Some((4.0, "a100".to_owned())));
        assert_eq!(gpus("gpu:a100:2,gpu:v100:2"), Some((4.0, "a100+v100".to_owned())));
        assert_eq!(gpus("gpu:8"), Some((8.0, String::new())));
        assert_eq!(gpus("(null)"), Some((0.0, String::new())));
        assert_eq!(gpus("gpu:a100:many"), None);
    }

    #[test]
    fn who_takes_jobs() {
        for state in ["", "idle", "MIXED", "IDLE+PLANNED", "alloc#", "POWERING_UP", "idle-", "mix@"] {
            assert!(in_service(state), "{state}");
        }
        let out = ["IDLE+DRAIN", "down*", "idle~", "idle*", "IDLE+CLOUD+POWERED_DOWN", "pow_dn", "inval"];
        for state in out.into_iter().chain(["INVALID_REG", "IDLE+NOT_RESPONDING", "futr", "mixed%", "drng"]) {
            assert!(!in_service(state), "{state}");
        }
    }
}
