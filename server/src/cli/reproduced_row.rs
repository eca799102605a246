//! One published and measured figure, as printed by suites that compare sets with a paper.

use serde::Serialize;

/// The names of the fields are those of the JSON output.
#[derive(Debug, Clone, Serialize)]
#[allow(clippy::struct_field_names)] // `row` is the name other programs read.
pub struct Row {
    pub suite: &'static str,
    /// The set's name in the source, if the source has the set.
    pub row: Option<&'static str>,
    pub metric: String,
    pub published: Option<f64>,
    pub measured: Option<f64>,
    pub unit: &'static str,
    /// `None` if the source does not say.
    pub threads: Option<usize>,
    pub params: &'static str,
    pub machine: String,
    pub note: String,
}
