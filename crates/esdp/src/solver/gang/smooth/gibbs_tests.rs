//! The table against every use of a server, one by one.

use super::{ChannelNo, Gibbs, Number, Offer};

/// Adds up all uses that fit, by their weight: the sum, the means and the mean products.
fn enumerate(
    offers: &[(f64, Vec<usize>)],
    room: &[usize],
    temperature: f64,
    uses: &mut Vec<usize>,
    sums: &mut (f64, Vec<f64>),
) {
    let Some((_, request)) = offers.get(uses.len()) else {
        let value: f64 = offers.iter().zip(&*uses).map(|((r, _), &uses)| r * uses as f64).sum();
        let weight = f64::exp(value / temperature);
        sums.0 += weight;
        for (i, &first) in uses.iter().enumerate() {
            for (j, &second) in uses.iter().enumerate() {
                sums.1[i * offers.len() + j] += weight * (first * second) as f64;
            }
        }
        return;
    };
    let mut left = room.to_vec();
    for n in 0.. {
        uses.push(n);
        enumerate(offers, &left, temperature, uses, sums);
        uses.pop();
        if request.iter().zip(&left).any(|(a, left)| a > left) {
            return;
        }
        left.iter_mut().zip(request).for_each(|(left, a)| *left -= a);
    }
}

#[test]
fn the_table_counts_every_use() {
    let rooms: [&[usize]; 4] = [&[5], &[4, 3], &[3, 2, 4], &[4, 3, 2, 4]];
    for (case, room) in rooms.into_iter().enumerate() {
        let devices = room.len();
        let offers: Vec<(f64, Vec<usize>)> = (0..4)
            .map(|i| {
                let request =
                    (0..devices).map(|device| (i + device + case) % 3 + usize::from(device == 0)).collect();
                (0.9 - 0.31 * i as f64, request)
            })
            .collect();
        for temperature in [1.0, 0.2] {
            let mut gibbs = Gibbs::default();
            gibbs.offers.extend((0..).map(ChannelNo::at).zip(&offers).map(|(i, (r, _))| Offer::new(*r, i)));
            let requests: Vec<usize> = offers.iter().flat_map(|(_, request)| request.clone()).collect();
            let value = gibbs.solve(&requests, room, temperature);
            let kept: Vec<(f64, Vec<usize>)> =
                gibbs.offers.iter().map(|offer| (offer.r, offers[offer.channel.place()].1.clone())).collect();
            let count = kept.len();
            assert!(count > 1, "case {case}");
            let mut sums = (0.0, vec![0.0; count * count]);
            enumerate(&kept, room, temperature, &mut Vec::new(), &mut sums);
            let (total, products) = sums;
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            assert!(
                close(value, temperature * total.ln()),
                "case {case}: {value} {}",
                temperature * total.ln()
            );
            for i in 0..count {
                for j in 0..count {
                    let product = gibbs.covariance[i * count + j] + gibbs.mean[i] * gibbs.mean[j];
                    assert!(
                        close(product, products[i * count + j] / total),
                        "case {case}, {i} {j}: {product}"
                    );
                }
            }
        }
    }
}
