//! Exact numbers: how many records two registers have in common, counted on encrypted identifiers.
//!
//!     cargo run --release -p refloat --features parallel --example 14_private_intersection
//!     cargo run --release -p refloat --features parallel --example 14_private_intersection -- bgv15
//!
//! A hospital has a list of patients, an office has another list. The hospital sends its identifiers encrypted and gets one encrypted
//! number back: how many of them the office has too. The office learns nothing. The hospital learns the number, and no more as long as
//! it keeps to the protocol: the office's computation is deterministic and its list leaves traces in the noise of the result, so
//! that a hospital that wants to can test guesses of the whole list against it.
//!
//! An identifier is 16 bits of value and the slot it goes into. In every slot the office multiplies the differences between the
//! hospital's value and all of its own values. The product z is 0 exactly where there is a match, and 1 - z^(p-1) is 1 there and 0
//! elsewhere, by Fermat. p - 1 = 2^16, sixteen squares in a row, with a bootstrap whenever levels run out; rotations add up the
//! slots. A single error in the last place of a single slot would make the count worthless.
//!
//! Without an argument this runs a demonstration size without any security; `bgv15` has 128 bits and takes 3.4 GB of memory.

use std::collections::BTreeSet;
use std::time::Instant;

use refloat::{
    Error,
    bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvPreset, BgvSecretKey},
    circuits::linear_transform::PlaintextStorage,
    random::Seed,
    schemes::bgv::BgvCiphertext,
};

/// Values of identifiers are below p - 2: these two mark slots in which one of the parties has none.
const HOSPITAL_EMPTY: u64 = 65536;
const OFFICE_EMPTY: u64 = 65535;

/// The identifiers of a register, slot by slot: row k has the k-th of each slot, or `empty`.
///
/// # Errors
/// [`Error::InvalidArgument`] for an identifier of 65535 times the number of slots or more.
fn rows(identifiers: &BTreeSet<u64>, slots: usize, empty: u64) -> Result<Vec<Vec<u64>>, Error> {
    let mut columns = vec![Vec::new(); slots];
    for id in identifiers {
        let value = id / slots as u64;
        if value >= OFFICE_EMPTY {
            return Err(Error::InvalidArgument(format!(
                "the identifier {id}: {slots} slots take those below {}; number the records anew, or take a set with more slots",
                OFFICE_EMPTY * slots as u64
            )));
        }
        columns[(id % slots as u64) as usize].push(value);
    }
    let deepest = columns.iter().map(Vec::len).max().unwrap_or(0);
    Ok((0..deepest)
        .map(|k| columns.iter().map(|column| *column.get(k).unwrap_or(&empty)).collect())
        .collect())
}

/// What the office computes with: no secret key.
struct Office<'a> {
    bootstrapper: &'a BgvBootstrapper,
    keys: &'a BgvKeys<u64>,
    bootstraps: usize,
}

impl Office<'_> {
    /// x y; operands whose levels are used up are refreshed first.
    fn multiply(&mut self, x: &BgvCiphertext, y: &BgvCiphertext) -> Result<BgvCiphertext, Error> {
        let (x, y) = (self.with_levels(x)?, self.with_levels(y)?);
        self.bootstrapper.multiply(&x, &y, self.keys)
    }

    fn square(&mut self, x: &BgvCiphertext) -> Result<BgvCiphertext, Error> {
        let x = self.with_levels(x)?;
        self.bootstrapper.multiply(&x, &x, self.keys)
    }

    fn with_levels(&mut self, x: &BgvCiphertext) -> Result<BgvCiphertext, Error> {
        if x.level() > self.bootstrapper.params().levels().input {
            return Ok(x.clone());
        }
        self.bootstraps += 1;
        self.bootstrapper.bootstrap(x, self.keys, &mut ())
    }

    /// 1 in every slot whose value is among those of the rows, else 0.
    fn matches(&mut self, x: &BgvCiphertext, rows: &[Vec<u64>]) -> Result<BgvCiphertext, Error> {
        let (ring, bgv) = (x.ring(), self.bootstrapper.bgv());
        let difference = |row: &Vec<u64>| -> Result<BgvCiphertext, Error> {
            bgv.add_plain(x, &row.iter().map(|&y| ring.neg(y)).collect::<Vec<_>>())
        };
        // Pairs, pairs of pairs, ..: as few levels as there can be.
        let mut factors = rows.iter().map(difference).collect::<Result<Vec<_>, _>>()?;
        while factors.len() > 1 {
            factors = factors
                .chunks(2)
                .map(|pair| match pair {
                    [x, y] => self.multiply(x, y),
                    rest => Ok(rest[0].clone()),
                })
                .collect::<Result<_, _>>()?;
        }
        let mut power = factors.pop().ok_or_else(|| Error::InvalidArgument("an empty register".into()))?;
        for _ in 0..(ring.value() - 1).ilog2() {
            power = self.square(&power)?;
        }
        bgv.add_constant(&bgv.negate(&power), 1)
    }

    /// The sum of all slots, in every slot.
    fn sum_of_slots(&mut self, x: &BgvCiphertext) -> Result<BgvCiphertext, Error> {
        let (bgv, columns) = (self.bootstrapper.bgv(), self.bootstrapper.params().n() / 2);
        let mut sum = self.with_levels(x)?;
        for log in 0..columns.ilog2() {
            sum = bgv.add(&sum, &bgv.rotate(&sum, 1 << log, self.keys)?)?;
        }
        bgv.add(&sum, &bgv.swap_rows(&sum, self.keys)?)
    }

    /// The number of identifiers in the hospital's rows that the office has too.
    fn count(&mut self, hospital: &[BgvCiphertext], rows: &[Vec<u64>]) -> Result<BgvCiphertext, Error> {
        let matches = hospital.iter().map(|x| self.matches(x, rows)).collect::<Result<Vec<_>, _>>()?;
        let (first, rest) =
            matches.split_first().ok_or_else(|| Error::InvalidArgument("an empty register".into()))?;
        let mut sum = first.clone();
        for x in rest {
            // Each was multiplied as often as the others, so that levels and factors are alike.
            sum = self.bootstrapper.bgv().add(&sum, x)?;
        }
        self.sum_of_slots(&sum)
    }
}

/// Both parties: the count, how many bootstraps it took, and their seconds.
///
/// # Errors
/// [`Error::InvalidArgument`] for an empty register, too large an identifier, and registers that may have 65537 records in common.
pub fn intersection(
    preset: &str,
    seed: &Seed,
    hospital: &BTreeSet<u64>,
    office: &BTreeSet<u64>,
) -> Result<(u64, usize, f64), Error> {
    let params = BgvPreset::named(preset)?.params()?;
    let slots = params.n();
    if hospital.len().min(office.len()) as u64 > HOSPITAL_EMPTY {
        return Err(Error::InvalidArgument(format!(
            "registers of {} and {} records: the count is modulo {}; split the smaller one",
            hospital.len(),
            office.len(),
            HOSPITAL_EMPTY + 1
        )));
    }
    let secret = BgvSecretKey::generate(&params, &seed.derive("key", &[]));
    let keys = BgvKeys::generate(&secret)?;
    let encrypted = rows(hospital, slots, HOSPITAL_EMPTY)?
        .iter()
        .enumerate()
        .map(|(i, row)| secret.encrypt(row, params.levels().output, &seed.derive("row", &[i as u64])))
        .collect::<Result<Vec<_>, _>>()?;

    let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated)?;
    let mut server = Office { bootstrapper: &bootstrapper, keys: &keys, bootstraps: 0 };
    let began = Instant::now();
    let count = server.count(&encrypted, &rows(office, slots, OFFICE_EMPTY)?)?;
    let seconds = began.elapsed().as_secs_f64();

    let decrypted = secret.decrypt(&count)?;
    Ok((decrypted.reveal_to_key_owner()[0], server.bootstraps, seconds))
}

/// A register of `count` different identifiers, by a linear congruence.
pub fn register(slots: u64, count: u64, from: u64) -> BTreeSet<u64> {
    let all = slots * OFFICE_EMPTY;
    (from..from + count).map(|i| (i * 2_654_435_761 + 12_345) % all).collect()
}

#[allow(dead_code)] // A test takes the functions above.
fn main() -> Result<(), Error> {
    let preset = std::env::args().nth(1).unwrap_or_else(|| "toy-bgv10".into());
    let slots = BgvPreset::named(&preset)?.params()?.n() as u64;
    // Two slots of three have a patient; every slot has two records of the office, and some of all of these are the same.
    let (hospital, office) = (register(slots, slots * 2 / 3, 0), register(slots, 2 * slots, slots / 2));
    let clear = hospital.intersection(&office).count() as u64;
    println!("{preset}: {} patients, {} in the office's register", hospital.len(), office.len());
    let (found, bootstraps, seconds) = intersection(&preset, &Seed::random()?, &hospital, &office)?;
    println!("in both registers: {found}, counted encrypted in {seconds:.2} s with {bootstraps} bootstraps");
    println!("in the clear:      {clear}");
    assert_eq!(found, clear, "exact");
    Ok(())
}
