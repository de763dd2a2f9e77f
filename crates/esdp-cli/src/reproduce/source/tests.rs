//! What is simulated, at every size.

use super::*;

const ALL: [Source; 20] = [
    Source::Time,
    Source::Literal,
    Source::Costs,
    Source::Start,
    Source::Overhead,
    Source::OverheadCapacity,
    Source::OverheadBudgets,
    Source::SolutionSpace,
    Source::Delta,
    Source::DeltaOverhead,
    Source::G,
    Source::Rho,
    Source::Edges,
    Source::Ports,
    Source::Servers,
    Source::ServersGrowing,
    Source::Trace,
    Source::TraceRho,
    Source::Gang,
    Source::Fleets,
];

fn order(scale: Scale) -> Order {
    Order { scale, trace: Vec::new() }
}

#[test]
fn every_source_has_places_in_ascending_order() {
    for source in ALL {
        for scale in [Scale::FULL, Scale::QUICK, Scale::QUICK.with(Some(1), Some(7))] {
            // A trace of full length is the same, longer.
            if matches!(source, Source::Trace | Source::TraceRho) && scale.slots > 7 {
                continue;
            }
            let places = source.places(&order(scale)).unwrap();
            assert!(places.windows(2).all(|pair| pair[0].x < pair[1].x), "{source:?}: {places:?}");
            let seeds = source.size(scale).0;
            assert!(places.iter().all(|place| place.scenario.seeds().len() as u64 == seeds), "{source:?}");
        }
    }
}

#[test]
fn axes() {
    let xs = |source: Source, scale| {
        source.places(&order(scale)).unwrap().iter().map(|place| place.x).collect::<Vec<_>>()
    };
    assert_eq!(xs(Source::SolutionSpace, Scale::FULL), [1.0, 2.0, 4.0, 6.0, 8.0, 12.0]);
    assert_eq!(xs(Source::Overhead, Scale::FULL)[2], 32.0);
    assert_eq!(xs(Source::Fleets, Scale::QUICK), [40.0, 200.0, 1000.0, 5000.0]);
    assert_eq!(xs(Source::OverheadCapacity, Scale::FULL), [27.0, 64.0, 125.0, 343.0, 729.0]);
    // 4, 8, 16 and 32 channels over delta(200).
    let delta = 1.0 / ((201f64).ln().ln_1p() + 1.0);
    let xi = [4.0, 8.0, 16.0, 32.0].map(|most| (most / delta).ceil());
    assert_eq!(xs(Source::OverheadBudgets, Scale::FULL), xi);
}

#[test]
fn a_trace_has_a_place_for_every_rate_and_seed() {
    let places = Source::TraceRho.places(&order(Scale::QUICK.with(Some(2), Some(7)))).unwrap();
    let found: Vec<(f64, u64)> = places.iter().map(|place| (place.x, place.scenario.seeds()[0])).collect();
    let wanted: Vec<(f64, u64)> = TRACE_RHOS.iter().flat_map(|&rho| [(rho, 0), (rho, 1)]).collect();
    assert_eq!(found, wanted);
    let capacity = |at: usize| places[at].scenario.spec().devices.amounts.clone().unwrap();
    assert_eq!(capacity(0), capacity(8), "the trace's own, whatever comes on top");
}

#[test]
fn capacities_grow_with_the_servers_or_do_not() {
    let capacities = |source: Source| {
        let places = source.places(&order(Scale::FULL)).unwrap();
        let capacity = |place: &Place| (place.x, place.scenario.spec().devices.capacity.unwrap());
        places.iter().map(capacity).collect::<Vec<_>>()
    };
    assert!(capacities(Source::Servers).iter().all(|(_, capacity)| *capacity == (4, 8)));
    let grown = capacities(Source::ServersGrowing);
    assert_eq!(grown[0], (10.0, (1, 2)));
    assert_eq!(grown[3], (40.0, (4, 8)));
    assert_eq!(grown[7], (80.0, (8, 16)));
}

#[test]
fn the_overhead_of_delta_is_that_of_algorithm_2() {
    let scenario = Source::DeltaOverhead.scenario(Scale::QUICK).unwrap();
    let printed = scenario.policies().iter().filter_map(|policy| match &policy.spec {
        PolicySpec::EsdpPaper(spec) => Some(spec.solver),
        _ => None,
    });
    assert_eq!(printed.collect::<Vec<_>>(), [RoundedSolver::Paper; 3]);
}
