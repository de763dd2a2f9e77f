//! A slab among the statistics: what a few outliers do to what the others share.

use super::*;

/// Port 0 on old servers has a speed of .3, but on server 4 one of .9, give or take `scatter` in an outcome;
/// each of the first 15 old ones, without server 4 unless `fast`, is tried ten times.
fn taught_alike(slab: f64, fast: bool, scatter: f64) -> Pooled {
    let mut pooled = Pooled::new(&forty(), true, 1.0).with_slab(slab);
    let mut rng = stream(3, Purpose::Speeds, 0, 0);
    for slot in 1..=10 {
        pooled.advance(Slot(slot));
        for server in (0..30).step_by(2).filter(|server| fast || *server != 4) {
            let mean = if server == 4 { 0.9 } else { 0.3 };
            pooled.observe(&ran(slot, at(0, server), mean + 2.0 * scatter * (rng.random::<f64>() - 0.5)));
        }
    }
    (11..40).for_each(|slot| pooled.advance(Slot(slot)));
    pooled
}

#[test]
fn an_outlier_does_not_blur_what_the_others_share() {
    let [none, slab] = [0.0, 0.03].map(|slab| taught_alike(slab, true, 0.1));
    let group =
        |pooled: &Pooled| pooled.prior().into_iter().find(|group| group.path == ["train", "old"]).unwrap();
    let [blurred, sharp] = [&none, &slab].map(|pooled| group(pooled).prior);
    assert!(blurred.between > 0.01 && sharp.between < 0.5 * blurred.between, "{blurred:?} {sharp:?}");
    assert!((sharp.mean - 0.3).abs() < (blurred.mean - 0.3).abs(), "{blurred:?} {sharp:?}");
    // Nor is its server thought to be fast for the other port: one outlier is no fast machine.
    assert!(slab.servers()[4].factor < 0.5 * none.servers()[4].factor, "{:?}", slab.servers()[4]);
}

#[test]
fn an_outlier_is_found_sooner() {
    let [none, slab] = [0.0, 0.03].map(|slab| {
        let mut pooled = taught_alike(slab, false, 0.3);
        let before = pooled.estimate(at(0, 4));
        (40..43).for_each(|slot| pooled.observe(&ran(slot, at(0, 4), 0.9)));
        (before, pooled.estimate(at(0, 4)))
    });
    assert!((none.0 - slab.0).abs() < 0.02, "{none:?} {slab:?}");
    assert!(slab.1 > none.1 + 0.1, "{none:?} {slab:?}");
}

#[test]
fn what_is_never_tried_stays_wide() {
    let [none, slab] = [0.0, 0.03].map(|slab| taught_alike(slab, true, 0.1));
    let variance = |pooled: &Pooled, channel| 2.0 * UNIT * pooled.variance(channel);
    let group = slab.prior().into_iter().find(|group| group.path == ["train", "old"]).unwrap().prior;
    let expected =
        group.between + 0.03 * 0.09 + group.uncertainty + group.mean.powi(2) * slab.servers()[38].uncertainty;
    assert!((variance(&slab, at(0, 38)) - expected).abs() < 1e-12);
    // What was tried often is known as well with it as without.
    let tried = [&none, &slab].map(|pooled| variance(pooled, at(0, 0)));
    assert!(tried[1] < 1.1 * tried[0], "{tried:?}");
}
