//! The precision that remains of a message after several bootstraps in a row.

use refloat::bootstrapping::method::Promise;
use serde::Serialize;

use super::failure::Failure;
use super::output::table;
use crate::engine::SetInfo;

/// Bits of precision that remain after `bootstraps` bootstraps.
#[derive(Debug, Serialize)]
pub struct ChainRow {
    bootstraps: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    worst: f64,
}

/// The precision after chains of bootstraps with a set, up to the number asked for or to the longest with any promise.
pub struct Chain {
    /// Chains of 1, 2, 4 and so on.
    pub rows: Vec<ChainRow>,
    /// A remark on the rows.
    said: String,
}

impl Chain {
    /// The chains of a set.
    ///
    /// # Errors
    /// A failure for a set whose results are exact.
    pub fn of(set: &SetInfo, bootstraps: u32) -> Result<Self, Failure> {
        let promise = set.promise();
        let Promise::Precision { worst, mean, messages } = promise else {
            return Err(Failure::usage(format!(
                "--bootstraps is for sets of CKKS, whose errors add up; results of {} are exact, each wrong with the \
                 probability that it promises",
                set.name
            )));
        };
        if messages.cleaned() {
            let row = ChainRow { bootstraps, mean, worst };
            return Ok(Self {
                rows: vec![row],
                said: format!("of {}, which each bootstrap cleans\n", messages.words()),
            });
        }
        // The promise b - log2 k is above 0 for k below 2^b.
        let last = (worst.exp2().ceil() - 1.0).max(1.0) as u32;
        let after = |k: u32| match promise.after(k) {
            Promise::Precision { worst, mean, .. } => Some(ChainRow { bootstraps: k, mean, worst }),
            _ => None,
        };
        let rows = doublings(bootstraps.min(last)).filter_map(after).collect();
        let end =
            if bootstraps > last { format!("beyond {last} nothing is promised\n") } else { String::new() };
        let said = format!(
            "{end}of {}, with nothing computed between the bootstraps; a computation multiplies the errors before it by its \
             slope\n",
            messages.words()
        );
        Ok(Self { rows, said })
    }

    /// The rows as a table, with the remark on them.
    pub fn text(&self) -> String {
        let bits = |bits: Option<f64>| bits.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.2} bits"));
        let mut lines = vec![["bootstraps in a row", "mean", "worst slot"].map(str::to_owned).to_vec()];
        lines.extend(
            self.rows
                .iter()
                .map(|row| vec![row.bootstraps.to_string(), bits(row.mean), bits(Some(row.worst))]),
        );
        format!("\n\n{}\n{}", table(&lines), self.said)
    }
}

/// 1, 2, 4 and so on, and `last`.
fn doublings(last: u32) -> impl Iterator<Item = u32> {
    (0..32).map(|log| 1 << log).take_while(move |&k| k < last).chain([last])
}

#[cfg(test)]
mod tests {
    use refloat::params::ship_preset;

    use super::*;

    #[test]
    fn a_chain_ends_where_nothing_is_promised() {
        let sets = ["ship13", "ship13-bits"].map(|name| {
            let preset = ship_preset(name).unwrap();
            preset.describe(&preset.params().unwrap())
        });
        let chain = |set: usize, k| Chain::of(&sets[set], k).unwrap();
        let long = chain(0, 50);
        let counts: Vec<u32> = long.rows.iter().map(|row| row.bootstraps).collect();
        assert_eq!(counts, [1, 2, 4, 8, 16, 31]);
        assert!(long.rows.iter().all(|row| row.worst > 0.0) && long.text().contains("beyond 31 nothing"));
        assert_eq!(chain(0, 6).rows.last().unwrap().bootstraps, 6);
        assert!(!chain(0, 6).text().contains("nothing is promised"));
        let bits = chain(1, 1000);
        assert!(bits.rows.len() == 1 && bits.text().contains("4.00 bits"), "{}", bits.text());
    }
}
