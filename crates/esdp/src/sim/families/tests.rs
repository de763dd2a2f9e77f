use super::*;
use crate::solver::{Greedy, Solver};

/// A size at which every solver is fast.
fn small(family: Family) -> Dimensions {
    match family {
        Family::RealNodes => Dimensions(6, 10),
        Family::Congested => Dimensions(20, 8),
        Family::OrLibrary | Family::ManyLimits => Dimensions(8, 40),
        Family::Ties => Dimensions(60, 4),
        Family::Quotas => Dimensions(5, 6),
        Family::OneTask => Dimensions(40, 12),
        Family::Pisinger => Dimensions(60, 1_000),
    }
}

fn draws(numbers: std::ops::Range<u64>) -> impl Iterator<Item = Draw> {
    numbers.flat_map(|number| {
        Family::ALL.into_iter().flat_map(move |family| {
            let size = small(family);
            IndexKind::ALL.into_iter().map(move |index| Draw { family, size, index, seed: 1, number })
        })
    })
}

#[test]
fn every_draw_is_a_problem_that_can_be_decided() {
    for draw in draws(0..20) {
        let instance = draw.instance();
        let problem = instance.problem().unwrap_or_else(|error| panic!("{draw}: {error}"));
        let answer = Greedy::default().solve(&problem).unwrap();
        assert!(problem.is_feasible(&answer.chosen) && answer.bound > 0.0, "{draw}");
        // Not everything fits: there is something to decide.
        let uses: u64 = (0..problem.len()).map(|channel| problem.most(channel)).sum();
        assert!(answer.chosen.tasks() < uses, "{draw}");
    }
}

#[test]
fn a_draw_is_its_name() {
    for draw in draws(0..3) {
        let instance = draw.instance();
        assert_eq!(instance, draw.instance(), "{draw}");
        let others = [Draw { seed: 2, ..draw }, Draw { number: draw.number + 84, ..draw }];
        assert!(others.iter().all(|other| other.instance() != instance), "{draw}");
    }
}

#[test]
fn both_indices_share_all_but_their_values() {
    for draw in draws(0..20).filter(|draw| draw.index == IndexKind::Optimistic) {
        let optimistic = draw.instance();
        let linear = Draw { index: IndexKind::Linear, ..draw }.instance();
        assert!(linear.width.iter().all(|&width| width == 0.0), "{draw}");
        assert!(optimistic.width.iter().all(|&width| width > 0.0), "{draw}");
        let blank = Instance { mean: linear.mean.clone(), width: linear.width.clone(), ..optimistic };
        assert_eq!(blank, linear, "{draw}");
    }
}

#[test]
fn shapes_are_those_of_the_size() {
    let instance = |family, size: &str, number| {
        Draw { family, size: size.parse().unwrap(), index: IndexKind::Linear, seed: 0, number }.instance()
    };
    let nodes = instance(Family::RealNodes, "40x60", 0);
    assert_eq!((nodes.jobs.len(), nodes.server_capacity.len(), nodes.capacity.len()), (60, 120, 3));
    assert!(nodes.jobs.iter().zip(&nodes.groups).all(|(job, group)| job.minimum == group.count));
    let slices = instance(Family::RealNodes, "40x60", 7);
    assert_eq!((slices.capacity.len(), slices.server_capacity.len()), (4, 160));
    assert!(instance(Family::RealNodes, "40x60", 4).groups.len() > 60);
    let congested = instance(Family::Congested, "300x40", 0);
    assert_eq!((congested.jobs.len(), congested.server_capacity.len()), (300, 80));
    let library = instance(Family::OrLibrary, "10x250", 0);
    assert_eq!((library.capacity.len(), library.mean.len()), (10, 250));
    let asked: u64 = library.requests.iter().step_by(10).sum();
    assert_eq!(library.capacity[0], asked / 4);
    let ties = instance(Family::Ties, "20000x1", 0);
    assert_eq!((ties.mean.len(), &ties.capacity[..]), (20_000, &[6_000][..]));
    assert!(ties.mean.iter().all(|&mean| mean == 0.5));
    let quotas = instance(Family::Quotas, "8x16", 0);
    assert_eq!((quotas.capacity.len(), quotas.server_capacity.len()), (10, 160));
    assert_eq!(instance(Family::ManyLimits, "8x400", 0).requests.len(), 3_200);
    assert_eq!(instance(Family::OneTask, "400x40", 0).mean.len(), 400);
    assert!(instance(Family::OneTask, "400x40", 1).mean.len() >= 1_600);
    assert_eq!(instance(Family::Pisinger, "200x1000", 5).mean.len(), 200);
}

#[test]
fn names_and_sizes_are_read_and_shown_alike() {
    for family in Family::ALL {
        assert_eq!(family.name().parse(), Ok(family));
        for &size in family.sizes() {
            assert_eq!(size.to_string().parse(), Ok(size));
            assert_eq!(family.check(size), Ok(()));
        }
    }
    assert!("nodes".parse::<Family>().unwrap_err().to_string().contains("real-nodes"));
    for bad in ["", "40", "40x", "x60", "40x-1", "40x60x2"] {
        assert!(bad.parse::<Dimensions>().is_err(), "{bad}");
    }
    assert!(
        Family::Quotas.check(Dimensions(0, 5)).is_err() && Family::Quotas.check(Dimensions(101, 5)).is_err()
    );
}
