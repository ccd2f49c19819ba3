//! How much memory a search may use unless a person says so: what is free, within what the system allows this process.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The default where nobody can say how much there is.
const FALLBACK_BYTES: u64 = 2 << 30;
/// Where the control groups are mounted.
const GROUPS: &str = "/sys/fs/cgroup";
/// Kernel values of at least this mean "unlimited".
const UNLIMITED_BYTES: u64 = 1 << 60;

/// Address space that a check needs beside its data: stacks of threads, and the heaps that the allocator reserves for them.
const OVERHEAD_BYTES: u64 = 192 << 20;

/// The memory that a search may use: three quarters of what is free and of what the control groups (containers) of the
/// process leave. Of what its limits on address space leave (`ulimit -v`, `ulimit -d`) a third, after the overhead: a
/// table that grows needs room for the old and the new one, whether it is used or not.
pub fn default_bytes() -> u64 {
    let Bounds { free, groups, limits } = Bounds::now();
    let free = [free, groups].into_iter().flatten().min().unwrap_or(FALLBACK_BYTES);
    let limited = limits.map_or(u64::MAX, |bytes| bytes.saturating_sub(OVERHEAD_BYTES).max(bytes / 8) / 3);
    (free / 4 * 3).min(limited)
}

/// The memory that this process can still get.
pub fn available_bytes() -> u64 {
    let Bounds { free, groups, limits } = Bounds::now();
    [free, groups, limits].into_iter().flatten().min().unwrap_or(FALLBACK_BYTES)
}

/// What bounds the memory that this process can still get, in bytes, as far as the system says.
#[derive(Clone, Copy)]
struct Bounds {
    free: Option<u64>,
    groups: Option<u64>,
    limits: Option<u64>,
}

impl Bounds {
    /// They are looked up no more often than this: a check asks for them several times as it begins.
    const FRESH: Duration = Duration::from_millis(10);

    fn now() -> Self {
        static LAST: Mutex<Option<(Instant, Bounds)>> = Mutex::new(None);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, bounds)) = *last
            && at.elapsed() < Self::FRESH
        {
            return bounds;
        }
        let bounds = Self { free: free_bytes(), groups: groups_bytes(Path::new(GROUPS)), limits: limits_bytes() };
        *last = Some((Instant::now(), bounds));
        bounds
    }
}

/// The text of a file of the system, which is seldom longer than a page and never as long as this.
const SMALL_BYTES_MAX: u64 = 1 << 20;

/// The text of such a file; `None` if it cannot be read.
pub(super) fn read_small(path: &Path) -> Option<String> {
    let mut text = Vec::with_capacity(4096);
    File::open(path).ok()?.take(SMALL_BYTES_MAX).read_to_end(&mut text).ok()?;
    String::from_utf8(text).ok()
}

/// Memory of the machine that is free or can be freed.
fn free_bytes() -> Option<u64> {
    let text = read_small("/proc/meminfo".as_ref())?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    kibibytes(line)
}

/// What the control groups of this process leave: those of the one hierarchy, or the old memory controller's.
fn groups_bytes(mount: &Path) -> Option<u64> {
    let groups = read_small("/proc/self/cgroup".as_ref()).unwrap_or_default();
    let of = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let old = controllers.split(',').any(|name| name == "memory");
        (old || controllers.is_empty()).then(|| group_bytes(mount, path, old)).flatten()
    };
    groups.lines().filter_map(of).min()
}

/// What a group and those that contain it leave.
fn group_bytes(mount: &Path, path: &str, old: bool) -> Option<u64> {
    let (root, limit, used, reclaimable) = if old {
        (mount.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ")
    } else {
        (mount.to_path_buf(), "memory.max", "memory.current", "inactive_file ")
    };
    let number = |folder: &Path, file: &str| read_small(&folder.join(file))?.trim().parse::<u64>().ok();
    let left = |folder: &Path| {
        let limit = number(folder, limit).filter(|&limit| limit < UNLIMITED_BYTES)?;
        let statistics = read_small(&folder.join("memory.stat")).unwrap_or_default();
        let cached = statistics.lines().find_map(|line| line.strip_prefix(reclaimable)?.trim().parse().ok());
        let used = number(folder, used).unwrap_or(0).saturating_sub(cached.unwrap_or(0));
        Some(limit.saturating_sub(used))
    };
    // In a container the path may name groups that cannot be seen from inside; the mounted root is its own then.
    let group: PathBuf = root.join(path.trim_start_matches('/'));
    group.ancestors().take_while(|folder| folder.starts_with(&root)).filter_map(left).min()
}

/// What the limits of the process leave.
fn limits_bytes() -> Option<u64> {
    let limits = read_small("/proc/self/limits".as_ref())?;
    let (address_space, data) = (limit(&limits, "Max address space"), limit(&limits, "Max data size"));
    // Most often there is none, and what is used need not be read.
    address_space.or(data)?;
    let status = read_small("/proc/self/status".as_ref()).unwrap_or_default();
    let used = |name: &str| status.lines().find_map(|line| kibibytes(line.strip_prefix(name)?)).unwrap_or(0);
    let address_space = address_space.map(|bytes| bytes.saturating_sub(used("VmSize:")));
    let data = data.map(|bytes| bytes.saturating_sub(used("VmData:")));
    address_space.into_iter().chain(data).min()
}

/// The soft limit in a line of `/proc/self/limits`; `None` if there is none.
fn limit(limits: &str, name: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

/// The bytes of a line such as `   1024 kB`.
fn kibibytes(text: &str) -> Option<u64> {
    text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A folder of the test's own, removed in the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let name = format!("fabius-groups-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(path.join("outer/inner")).expect("a folder");
            Self(path)
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.0.join(file), text).expect("a file");
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_default_limit_is_a_limit() {
        let bytes = default_bytes();
        assert!(bytes > 1 << 20 && bytes < 1 << 50, "{bytes}");
    }

    #[test]
    fn a_group_leaves_what_is_not_used_and_no_more_than_the_groups_around_it() {
        let folder = Folder::new();
        assert_eq!(group_bytes(&folder.0, "/outer/inner", false), None);
        folder.write("outer/inner/memory.max", "max\n");
        assert_eq!(group_bytes(&folder.0, "/outer/inner", false), None);
        folder.write("outer/memory.max", "1000\n");
        folder.write("outer/memory.current", "300\n");
        folder.write("outer/memory.stat", "anon 200\ninactive_file 100\n");
        assert_eq!(group_bytes(&folder.0, "/outer/inner", false), Some(800));
        folder.write("outer/inner/memory.max", "500\n");
        folder.write("outer/inner/memory.current", "600\n");
        assert_eq!(group_bytes(&folder.0, "/outer/inner", false), Some(0));
    }

    #[test]
    fn a_container_that_sees_only_its_own_group_has_the_limit_of_the_root() {
        let folder = Folder::new();
        folder.write("memory.max", "4096\n");
        assert_eq!(group_bytes(&folder.0, "/somewhere/else", false), Some(4096));
    }

    #[test]
    fn a_soft_limit_is_read_and_unlimited_is_none() {
        let limits = "Limit            Soft Limit  Hard Limit  Units\n\
                      Max data size    unlimited   unlimited   bytes\n\
                      Max address space  1048576   unlimited   bytes\n";
        assert_eq!(limit(limits, "Max address space"), Some(1 << 20));
        assert_eq!(limit(limits, "Max data size"), None);
    }
}
