//! TypeScript types of the descriptions of parameter sets, of operations, gates and errors.
//!
//! They are generated from the schemas that also describe the HTTP interface, and from the known sets, operations, gates and
//! errors, so that the npm package repeats none of these.

use std::fmt::Write;

use refloat::Error;
use refloat::bootstrapping::method::{Fact, GateInfo, OrderInfo, Part, Scheme, SetInfo, SlotMode, Stage};
use refloat::circuits::netlist::Gate;
use serde_json::Value;
use utoipa::ToSchema;

use crate::engine::{BOOTSTRAP, JobSet};
use crate::engines::Engines;
use crate::programs::PROGRAM;

/// The types, as the text of a module.
pub fn typescript(engines: &Engines) -> String {
    let declarations = [
        declaration::<SetInfo>(),
        declaration::<Scheme>(),
        declaration::<SlotMode>(),
        declaration::<Stage>(),
        declaration::<Part>(),
        declaration::<GateInfo>(),
        declaration::<OrderInfo>(),
        declaration::<Fact>(),
        by_method("SetNames", "Names of the sets of each method.", engines, |set| vec![&set.name]),
        by_method("StageIds", "Stages of each method.", engines, |set| {
            set.stages.iter().map(|stage| &stage.id).collect()
        }),
        format!(
            "/** Identifiers of the stages that compare numbers in slots by gates, and bring bits back. */\nexport type OrderStageId = {};\n",
            union(&order_stages(engines))
        ),
        operations(engines),
        format!(
            "/** Names of the gates; `andny` is (not a) and b, `andyn` a and not b, `mux` a ? b : c. */\nexport type GateName = {};\n",
            union(&Gate::ALL.map(Gate::name))
        ),
        format!(
            "/** Codes of the core's errors, the same in Rust and in the server's problem documents. */\nexport const CORE_ERROR_CODES = [{}] as const;\n",
            quoted(&Error::CODES).join(", ")
        ),
    ];
    format!(
        "// Written by `refloat about --types` from the core's descriptions: run it again instead of editing this.\n\n{}",
        declarations.join("\n")
    )
}

/// The declaration of a type: an interface, or a union of names.
fn declaration<T: ToSchema>() -> String {
    let schema = serde_json::to_value(T::schema()).unwrap_or_default();
    let (name, documentation) = (T::name(), comment(&schema, ""));
    if let Some(names) = schema["enum"].as_array() {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        return format!("{documentation}export type {name} = {};\n", union(&names));
    }
    let mut text = format!("{documentation}export interface {name} {{\n");
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    let optional = properties.into_iter().flatten().map(|(name, _)| name.as_str());
    let optional = optional.filter(|name| !required.contains(name));
    for (property, needed) in
        required.iter().map(|&name| (name, true)).chain(optional.map(|name| (name, false)))
    {
        let of_property = &schema["properties"][property];
        let (mark, absent) = if needed { ("", "") } else { ("?", " | undefined") };
        text += &comment(of_property, "  ");
        let _ = writeln!(text, "  readonly {property}{mark}: {}{absent};", type_of(of_property));
    }
    text + "}\n"
}

/// An interface with a union of names for each method.
fn by_method<'a>(
    name: &str,
    documentation: &str,
    engines: &'a Engines,
    names: impl Fn(&'a SetInfo) -> Vec<&'a String>,
) -> String {
    let mut text = format!("/** {documentation} */\nexport interface {name} {{\n");
    let today: Vec<&SetInfo> = engines.infos().filter(|set| set.successor.is_none()).collect();
    for sets in today.chunk_by(|a, b| a.method == b.method) {
        let known = each_once(sets.iter().flat_map(|set| names(set)).map(String::as_str));
        let _ = writeln!(text, "  readonly '{}': {};", sets[0].method, union(&known));
    }
    text + "}\n"
}

/// Stages of comparison, of all sets that compare.
fn order_stages(engines: &Engines) -> Vec<&str> {
    let orders = engines.infos().filter_map(|set| set.orders.as_ref());
    each_once(orders.flat_map(|orders| &orders.stages).map(|stage| stage.id.as_str()))
}

/// Lists of operations that a job can do one after the other, for each scheme that has any: those of sets whose jobs bootstrap,
/// except for a program, which is the only operation of its job.
fn operations(engines: &Engines) -> String {
    let mut text = "/** Operations that a job can do one after the other, for each scheme. */\nexport const JOB_OPERATIONS = {\n".to_owned();
    let sets: Vec<&dyn JobSet> = engines.sets().filter(|set| set.operations().contains(&BOOTSTRAP)).collect();
    for scheme in each_once(sets.iter().map(|set| set.info().scheme.name())) {
        let own = sets.iter().filter(|set| set.info().scheme.name() == scheme);
        let names = own.flat_map(|set| set.operations()).copied().filter(|name| *name != PROGRAM);
        let _ = writeln!(text, "  {scheme}: [{}],", quoted(&each_once(names)).join(", "));
    }
    text + "} as const;\n"
}

/// Names in the order in which they come first.
fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

fn union(names: &[&str]) -> String {
    quoted(names).join(" | ")
}

fn quoted(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("'{name}'")).collect()
}

fn comment(schema: &Value, indent: &str) -> String {
    // For an optional reference, the description stands beside the reference.
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    let Some(text) = std::iter::once(schema).chain(choices).find_map(|schema| schema["description"].as_str())
    else {
        return String::new();
    };
    format!("{indent}/** {} */\n", text.replace('\n', " "))
}

/// The type of a property, without the `null` of an optional one.
fn type_of(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return choices.iter().find(|choice| choice["type"] != "null").map_or_else(String::new, type_of);
    }
    let kind = &schema["type"];
    let kinds = kind.as_array().map_or_else(|| vec![kind], |kinds| kinds.iter().collect());
    match kinds.into_iter().filter_map(Value::as_str).find(|kind| *kind != "null") {
        Some("array") => format!("readonly {}[]", type_of(&schema["items"])),
        Some("integer" | "number") => "number".to_owned(),
        Some(other) => other.to_owned(),
        None => "unknown".to_owned(),
    }
}
