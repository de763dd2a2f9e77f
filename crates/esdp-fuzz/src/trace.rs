//! Any bytes as a trace.

use esdp_trace::FORMATS;

/// The first byte chooses the format, or leaves it to be found by content.
pub fn hold(data: &[u8]) {
    if let Some((first, bytes)) = data.split_first() {
        esdp_trace::hostile::hold(FORMATS.get(usize::from(*first) % (FORMATS.len() + 1)).copied(), bytes);
    }
}
