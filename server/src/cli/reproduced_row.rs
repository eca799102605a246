//! One figure, published and measured, as suites that compare sets with a paper print it.

use serde::Serialize;

/// What is serialised has these names.
#[derive(Debug, Clone, Serialize)]
#[allow(clippy::struct_field_names)] // `row` is the name other programs read.
pub struct Row {
    pub suite: &'static str,
    /// What the source calls the set, if it has it.
    pub row: Option<&'static str>,
    pub metric: String,
    pub published: Option<f64>,
    pub measured: Option<f64>,
    pub unit: &'static str,
    /// None where the source does not say.
    pub threads: Option<usize>,
    pub params: &'static str,
    pub machine: String,
    pub note: String,
}
