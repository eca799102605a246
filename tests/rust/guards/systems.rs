//! Operating systems: where the server may ask which one it runs on.

use refloat_tests::source::files;

/// Whether a line of the server asks which system it runs on. Combined conditions count whatever they ask.
fn asks_for_the_system(line: &str) -> bool {
    let conditions = ["cfg(", "cfg!(", "cfg_attr("];
    let names = ["unix", "windows", "not(unix", "not(windows", "any(", "all(", "not(any(", "not(all("];
    let conditional = conditions.iter().any(|condition| {
        line.split(condition).skip(1).any(|asked| names.iter().any(|name| asked.starts_with(name)))
    });
    // `persist` of temporary files replaces others by other rules than `std::fs::rename`: `system::files::replace` is for that.
    let anywhere = ["target_os", "target_family", "os::unix", "os::windows", "rustix", ".persist("];
    conditional || anywhere.iter().any(|name| line.contains(name))
}

#[test]
fn one_module_of_the_server_knows_what_systems_do_differently() {
    for line in [
        "#[cfg(unix)]",
        "if cfg!(not(windows)) {",
        "#[cfg(any(unix, test))]",
        "#[cfg(all(test, windows))]",
        "#[cfg(not(any(unix)))]",
        "#[cfg_attr(windows, allow(dead_code))]",
        "#[cfg(target_os = \"macos\")]",
        "if cfg!(target_family = \"unix\") {",
        "use std::os::unix::fs::MetadataExt;",
        "rustix::fs::statvfs(path)",
        "temporary.persist(place)?",
    ] {
        assert!(asks_for_the_system(line), "{line}");
    }
    for line in ["#[cfg(test)]", "#[cfg(feature = \"s3\")]", "let unix = OffsetDateTime::UNIX_EPOCH;"] {
        assert!(!asks_for_the_system(line), "{line}");
    }
    let (mut seen, mut violations) = (0, Vec::new());
    for file in files("server/src", &["rs"]) {
        // Tests stand last, and may look at what a system has.
        let code = file.text.lines().take_while(|line| !line.contains("cfg(test)"));
        let lines: Vec<usize> = code
            .enumerate()
            .filter(|(_, line)| asks_for_the_system(line))
            .map(|(line, _)| line + 1)
            .collect();
        if file.path.starts_with("server/src/system/") {
            seen += lines.len();
        } else if file.path == "server/src/memory.rs" {
            // Settings of the allocator are Linux's alone, by a section of its programs.
            assert_eq!(lines.len(), 1, "{} asks which system it runs on for its settings alone", file.path);
        } else {
            violations.extend(lines.iter().map(|line| format!("{}:{line}", file.path)));
        }
    }
    assert!(seen > 10, "only {seen} questions found in server/src/system: the test reads the wrong files");
    assert!(
        violations.is_empty(),
        "which system it is, asked outside server/src/system:\n{}\n",
        violations.join("\n")
    );
}
