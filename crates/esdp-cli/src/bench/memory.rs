//! The peak memory of this process, where the system tells.

/// Starts counting the peak anew; without effect where the system does not allow it, and then
/// [`peak_bytes`] speaks of the whole run so far.
pub(super) fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The largest resident size since the last reset; `None` where `/proc` is not.
pub(super) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
