//! A table over a server's room, one cell for each room that may be left, with as many cells of zeros below
//! in every device: where its rows are.

/// The cells that hold a request, row after row of the last device: where each begins, how long it is, and
/// the product of what each unit of the other devices counts by. Missing requests are 0, missing factors 1.
#[inline(always)]
pub(in crate::solver::gang) fn rows(
    levels: &[usize],
    request: &[usize],
    by: &[f64],
    (at, value): (usize, f64),
    each: &mut impl FnMut(usize, usize, f64),
) {
    match levels {
        [] => each(at, 1, value),
        &[level] => {
            let a = request.first().copied().unwrap_or(0);
            each(at * (2 * level + 1) + level + a, level + 1 - a, value);
        }
        &[level, last] => {
            let (a, b) = (request.first().copied().unwrap_or(0), request.get(1).copied().unwrap_or(0));
            let factor = by.first().copied().unwrap_or(1.0);
            let mut value = value;
            for used in level + a..=2 * level {
                each((at * (2 * level + 1) + used) * (2 * last + 1) + last + b, last + 1 - b, value);
                value *= factor;
            }
        }
        _ => deeper(levels, request, by, (at, value), each),
    }
}

fn deeper(
    levels: &[usize],
    request: &[usize],
    by: &[f64],
    (at, mut value): (usize, f64),
    each: &mut impl FnMut(usize, usize, f64),
) {
    let level = levels[0];
    let a = request.first().copied().unwrap_or(0);
    for used in level + a..=2 * level {
        let (request, rest) = (request.get(1..).unwrap_or(&[]), by.get(1..).unwrap_or(&[]));
        rows(&levels[1..], request, rest, (at * (2 * level + 1) + used, value), each);
        value *= by.first().copied().unwrap_or(1.0);
    }
}
