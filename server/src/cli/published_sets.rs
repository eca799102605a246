//! Parameter sets from publications: they are measured, but no keys are made for them.

use refloat::bootstrapping::bgv;

/// Says what to do with the name of a published set; `None` for any other name.
pub fn hint(name: &str) -> Option<String> {
    let set = bgv::published_sets().iter().find(|set| set.name == name)?;
    let word = if set.secure() { "" } else { " --allow-insecure" };
    Some(format!(
        "{name} is there to be measured beside published figures, and no keys are made of it; run `refloat reproduce bgv --set {name}{word}`"
    ))
}
