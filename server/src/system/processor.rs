//! The processor's model name.

use std::process::Command;

/// Cores of Arm by the number in the main identification register (`MIDR_EL1`, bits 4 to 15), from Arm's technical reference
/// manuals; other makers number theirs anew.
const CORES_OF_ARM: [(&str, &str); 12] = [
    ("0xd03", "Cortex-A53"),
    ("0xd05", "Cortex-A55"),
    ("0xd07", "Cortex-A57"),
    ("0xd08", "Cortex-A72"),
    ("0xd0b", "Cortex-A76"),
    ("0xd0c", "Neoverse N1"),
    ("0xd40", "Neoverse V1"),
    ("0xd41", "Cortex-A78"),
    ("0xd44", "Cortex-X1"),
    ("0xd47", "Cortex-A710"),
    ("0xd49", "Neoverse N2"),
    ("0xd4f", "Neoverse V2"),
];

const ARM: &str = "0x41";

/// The name of the processor, where the system tells.
pub fn name() -> Option<String> {
    if let Ok(text) = std::fs::read_to_string("/proc/cpuinfo") {
        return named_by_linux(&text);
    }
    if cfg!(target_os = "macos") {
        let output =
            Command::new("/usr/sbin/sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
        return Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
            .filter(|name| !name.is_empty());
    }
    std::env::var("PROCESSOR_IDENTIFIER").ok()
}

/// x86 gives a name, ARM the numbers of a maker and of a part.
fn named_by_linux(text: &str) -> Option<String> {
    let field = |wanted: &str| {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        fields
            .map(|(name, value)| (name.trim(), value.trim()))
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| value)
    };
    if let Some(name) = field("model name") {
        return Some(name.to_owned());
    }
    let (maker, part) = (field("CPU implementer")?, field("CPU part")?);
    let known = CORES_OF_ARM.iter().find(|(number, _)| maker == ARM && *number == part);
    Some(
        known.map_or_else(|| format!("processor {part} of maker {maker}"), |(_, name)| format!("Arm {name}")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_named() {
        let x86 = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 9R14\n";
        assert_eq!(named_by_linux(x86).as_deref(), Some("AMD EPYC 9R14"));
        let arm = |maker: &str, part: &str| {
            let text = format!(
                "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: {maker}\nCPU part\t: {part}\n"
            );
            named_by_linux(&text).unwrap()
        };
        assert_eq!(arm("0x41", "0xd4f"), "Arm Neoverse V2");
        assert_eq!(arm("0x61", "0xd4f"), "processor 0xd4f of maker 0x61");
        assert_eq!(named_by_linux("processor\t: 0\n"), None);
    }
}
