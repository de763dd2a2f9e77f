//! Prometheus' text format.

use super::{BUCKETS, TimeBuckets};
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;

/// A page that grows.
#[derive(Debug, Default)]
pub(super) struct Page(String);

impl Page {
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"", if index == 0 { '{' } else { ',' });
            for c in text.chars() {
                match c {
                    '\\' => self.0.push_str("\\\\"),
                    '"' => self.0.push_str("\\\""),
                    '\n' => self.0.push_str("\\n"),
                    c => self.0.push(c),
                }
            }
            self.0.push('"');
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    pub(super) fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    pub(super) fn histogram(&mut self, name: &str, help: &str, histogram: &TimeBuckets) {
        self.family(name, "histogram", help);
        let mut sum = 0;
        for (bucket, end) in
            histogram.buckets.iter().zip(BUCKETS.iter().map(ToString::to_string).chain(["+Inf".to_owned()]))
        {
            sum += bucket.load(Relaxed);
            self.sample(&format!("{name}_bucket"), &[("le", &end)], sum as f64);
        }
        self.sample(&format!("{name}_sum"), &[], histogram.nanos.load(Relaxed) as f64 / 1e9);
        self.sample(&format!("{name}_count"), &[], sum as f64);
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_buckets_add_up() {
        let mut page = Page::default();
        page.sample("x", &[("a", "q\"\\\n"), ("b", "é")], 1.5);
        assert_eq!(page.0, "x{a=\"q\\\"\\\\\\n\",b=\"é\"} 1.5\n");
        let histogram = TimeBuckets::default();
        [1e-6, 1e-5, 3.0, 100.0].into_iter().for_each(|seconds| histogram.observe(seconds));
        let mut page = Page::default();
        page.histogram("h", "help", &histogram);
        assert!(page.0.contains("h_bucket{le=\"0.00001\"} 2\n"), "{}", page.0);
        assert!(
            page.0.contains("h_bucket{le=\"5\"} 3\n")
                && page.0.contains("h_bucket{le=\"+Inf\"} 4\nh_sum 103.")
        );
    }
}
