//! Checks for `refloat verify` that integer sets keep every integer.

use refloat::bootstrapping::bgv::BgvPreset;
use serde::Serialize;

use super::failure::Failure;
use super::keyfiles::fresh_seed;
use super::output::{Output, table};
use super::reproduce_bgv::Bench;

/// A message of a set, over all keys.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExactRow {
    set: &'static str,
    message: &'static str,
    /// log2 of the promised probability that a bootstrap gives a wrong slot.
    log_failure: f64,
    /// How many slots were compared, and how many differ.
    slots: usize,
    wrong: usize,
}

impl ExactRow {
    /// Whether every slot came back.
    pub fn holds(&self) -> bool {
        self.wrong == 0
    }
}

/// Puts every message through one bootstrap under each of `keys` fresh keys.
pub fn rows(
    preset: &'static BgvPreset,
    keys: u64,
    budget: Option<u64>,
    output: &Output,
) -> Result<Vec<ExactRow>, Failure> {
    let mut rows: Vec<ExactRow> = Vec::new();
    for _ in 0..keys {
        let bench = Bench::new(preset.name, None, budget, output)?;
        let (params, mut random) = (bench.params(), fresh_seed()?.stream());
        let (n, modulus) = (params.n() as u64, params.messages().value());
        let all = |f: &mut dyn FnMut(u64) -> u64| (0..n).map(|i| f(i) % modulus).collect::<Vec<u64>>();
        let messages = [
            ("random", all(&mut |_| u64::from(random.below(u32::MAX)))),
            ("zeros", all(&mut |_| 0)),
            ("ones", all(&mut |_| 1)),
            ("the largest", all(&mut |_| modulus - 1)),
            ("a ramp", all(&mut |i| i)),
            ("one slot", all(&mut |i| u64::from(i == 0))),
        ];
        for (place, (message, integers)) in messages.into_iter().enumerate() {
            // A set that fits the memory but refuses its own results must not count as left out.
            let wrong = bench.wrong_slots(&integers).map_err(|failure| Failure {
                code: "WRONG_RESULT".to_owned(),
                detail: format!("{}, {message}: {}; please report this", preset.name, failure.detail),
            })?;
            let slots = params.context().slots();
            match rows.get_mut(place) {
                Some(row) => (row.slots, row.wrong) = (row.slots + slots, row.wrong + wrong),
                None => {
                    rows.push(ExactRow {
                        set: preset.name,
                        message,
                        log_failure: preset.promised,
                        slots,
                        wrong,
                    });
                }
            }
        }
    }
    Ok(rows)
}

/// The rows as a table.
pub fn text(rows: &[ExactRow]) -> String {
    let heading = ["set", "message", "wrong slot, promised", "slots", "wrong", ""];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|row| {
        vec![
            row.set.to_owned(),
            row.message.to_owned(),
            format!("2^{:.0}", row.log_failure),
            row.slots.to_string(),
            row.wrong.to_string(),
            if row.holds() { "holds" } else { "BELOW THE PROMISE" }.to_owned(),
        ]
    }));
    table(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toys_keep_every_integer_and_a_wrong_one_is_told() {
        let output = Output::new(true);
        for name in ["toy-bgv7", "toy-bgv-gf4"] {
            let preset = BgvPreset::named(name).unwrap();
            let mut rows = rows(preset, 2, None, &output).unwrap();
            assert!(rows.len() == 6 && rows.iter().all(ExactRow::holds), "{}", text(&rows));
            assert_eq!(rows[0].slots, 2 * preset.params().unwrap().context().slots());
            rows[3].wrong = 1;
            assert!(!rows[3].holds() && text(&rows).contains("BELOW THE PROMISE"));
        }
        let failure = super::rows(BgvPreset::named("bgv15").unwrap(), 1, Some(1 << 20), &output).unwrap_err();
        assert_eq!(failure.code, "LIMIT");
    }
}
