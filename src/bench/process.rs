//! What this process uses, as the kernel counts it.

use std::fs;
use std::io;
use std::time::Duration;

/// Bytes of one kibibyte, the unit of `/proc/self/status`.
const KIB: u64 = 1_024;
/// Ticks of a second in `/proc/self/stat`: a constant of the kernel's interface.
const TICKS_PER_S: u64 = 100;
/// Where processor time in user mode stands in `/proc/self/stat`, counted behind the name.
const USER_TICKS: usize = 11;

/// Memory, threads and open descriptors of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) rss_bytes: u64,
    pub(super) threads: u64,
    pub(super) descriptors: u64,
}

impl Usage {
    /// As it is now.
    pub(super) fn now() -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            number.ok_or_else(|| io::Error::other(format!("/proc/self/status has no {name}")))
        };
        let descriptors = u64::try_from(fs::read_dir("/proc/self/fd")?.count()).unwrap_or(u64::MAX);
        Ok(Self { rss_bytes: field("VmRSS:")? * KIB, threads: field("Threads:")?, descriptors })
    }
}

/// Processor time that this process has used, in user mode and in the kernel.
pub(super) fn processor_time() -> io::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name may hold blanks and brackets; what is counted comes behind the last of them.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let ticks: Option<u64> =
        behind.split_whitespace().skip(USER_TICKS).take(2).map(|ticks| ticks.parse::<u64>().ok()).sum();
    let ticks = ticks.ok_or_else(|| io::Error::other("/proc/self/stat has no processor time"))?;
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_PER_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_what_this_process_uses() {
        let usage = Usage::now().unwrap();
        assert!(usage.rss_bytes > 1_000_000 && usage.threads > 0 && usage.descriptors > 2, "{usage:?}");
        let before = processor_time().unwrap();
        let mut sum = 0_u64;
        while processor_time().unwrap() == before {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        assert!(processor_time().unwrap() > before);
    }
}
