//! Memory limits of Linux control groups, versions 2 and 1; every container is in one.

use std::path::{Path, PathBuf};

/// Memory of the tightest group that this process is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Bytes that the processes of the group may take together.
    pub total: u64,
    /// Bytes of them that can still be taken.
    pub available: u64,
}

/// Names of the files of one version.
struct Version {
    /// Controller in `/proc/self/cgroup`; version 2 has one hierarchy for all.
    controller: &'static str,
    mount: &'static str,
    limit: &'static str,
    used: &'static str,
    /// The field of `memory.stat` with bytes of files that were read and can be dropped at once.
    cache: &'static str,
}

const VERSIONS: [Version; 2] = [
    Version {
        controller: "",
        mount: "sys/fs/cgroup",
        limit: "memory.max",
        used: "memory.current",
        cache: "inactive_file",
    },
    Version {
        controller: "memory",
        mount: "sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        used: "memory.usage_in_bytes",
        cache: "total_inactive_file",
    },
];

/// The memory that control groups leave this process, in the file system with root `root`; `None` if there is no limit.
pub fn memory(root: &Path) -> Option<Memory> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let bounds = VERSIONS.iter().flat_map(|version| {
        let mount = root.join(version.mount);
        folders(&mount, &groups, version.controller).into_iter().filter_map(|folder| version.read(&folder))
    });
    bounds.reduce(|one, other| Memory {
        total: one.total.min(other.total),
        available: one.available.min(other.available),
    })
}

impl Version {
    fn read(&self, folder: &Path) -> Option<Memory> {
        let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        // `max` is not a number: there is no bound.
        let total = number(self.limit)?;
        let statistics = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let field = |line: &str| line.strip_prefix(self.cache)?.trim().parse::<u64>().ok();
        let cache = statistics.lines().find_map(field).unwrap_or(0);
        let used = number(self.used)?.saturating_sub(cache);
        Some(Memory { total, available: total.saturating_sub(used) })
    }
}

/// The folders of this process's group and of all groups around it, up to the mount. In a container the mount is often the group itself,
/// because the container does not always see the path that the host uses.
fn folders(mount: &Path, groups: &str, controller: &str) -> Vec<PathBuf> {
    let path = groups.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    });
    let Some(path) = path else { return Vec::new() };
    let inner = Path::new(path.trim_start_matches('/'));
    inner.ancestors().map(|part| mount.join(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn machine(files: &[(&str, &str)]) -> Option<Memory> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        memory(root.path())
    }

    #[test]
    fn a_container_of_version_2_is_bounded_by_its_group() {
        let found = machine(&[
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "4294967296\n"),
            ("sys/fs/cgroup/memory.current", "3221225472\n"),
            ("sys/fs/cgroup/memory.stat", "anon 1\nfile 9\ninactive_file 1073741824\nactive_file 7\n"),
        ]);
        assert_eq!(
            found,
            Some(Memory { total: 4 * GIB, available: 2 * GIB }),
            "files that were read do not count"
        );
    }

    #[test]
    fn of_groups_within_each_other_the_tightest_counts() {
        let found = machine(&[
            ("proc/self/cgroup", "0::/system.slice/refloat.service\n"),
            ("sys/fs/cgroup/system.slice/refloat.service/memory.max", "max\n"),
            ("sys/fs/cgroup/system.slice/refloat.service/memory.current", "1\n"),
            ("sys/fs/cgroup/system.slice/memory.max", "2147483648\n"),
            ("sys/fs/cgroup/system.slice/memory.current", "2147483649\n"),
        ]);
        assert_eq!(
            found,
            Some(Memory { total: 2 * GIB, available: 0 }),
            "no statistics, and more used than allowed"
        );
    }

    #[test]
    fn version_1_is_read_at_its_path_and_at_its_mount() {
        let groups = "12:cpu,cpuacct:/docker/ab\n5:memory:/docker/ab\n0::/docker/ab\n";
        let unbounded = "9223372036854771712\n";
        for place in ["sys/fs/cgroup/memory", "sys/fs/cgroup/memory/docker/ab"] {
            let file = |name: &str| format!("{place}/{name}");
            let found = machine(&[
                ("proc/self/cgroup", groups),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", unbounded),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", "5368709120\n"),
                (&file("memory.limit_in_bytes"), "1073741824\n"),
                (&file("memory.usage_in_bytes"), "536870912\n"),
                (&file("memory.stat"), "inactive_file 5\ntotal_inactive_file 0\n"),
            ]);
            assert_eq!(found, Some(Memory { total: GIB, available: GIB / 2 }), "{place}");
        }
    }

    #[test]
    fn without_a_bound_or_without_groups_there_is_none() {
        assert_eq!(machine(&[]), None);
        assert_eq!(machine(&[("proc/self/cgroup", "0::/user.slice\n")]), None);
        assert_eq!(
            machine(&[("proc/self/cgroup", "nonsense\n:\n"), ("sys/fs/cgroup/memory.max", "1\n")]),
            None
        );
        let unbounded = [("proc/self/cgroup", "0::/\n"), ("sys/fs/cgroup/memory.max", "max\n")];
        assert_eq!(machine(&unbounded), None);
        let damaged =
            [("proc/self/cgroup", "0::/\n"), ("sys/fs/cgroup/memory.max", "18446744073709551616\n")];
        assert_eq!(machine(&damaged), None);
    }
}
