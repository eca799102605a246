//! An auction and a pay roll on encrypted integers: sorting, the largest, and exact statistics modulo nothing.
//!
//!     cargo run --release -p refloat --features parallel --example 13_sort_and_statistics
//!     cargo run --release -p refloat --features parallel --example 13_sort_and_statistics -- msb16
//!
//! Sixteen bids come encrypted, in two arrangements of the slots. The server compares all pairs at once by the highest digit of their
//! differences, adds up ranks, and puts each bid in its place by a table: two readouts. The holder of the key then opens the index of
//! the winner and the second-highest bid, which is the price in a sealed-bid auction of the second price.
//!
//! Then sums and sums of squares of salaries are computed modulo 97 and modulo 64, as residues that are reduced only where they have
//! become too large; the owner puts both together to the exact number below 97 * 64 (the Chinese remainder theorem).
//!
//! Without an argument this runs a demonstration size without any security; `msb16` has 128 bits and takes 12 GB of memory.

use std::time::Instant;

use refloat::{
    Error,
    bootstrapping::ckks_msb::{
        MsbEvaluator, MsbKeys, MsbParams, MsbSecretKey, Numbers, Radix, Residue, ResidueEvaluator,
        ResidueRing,
    },
    circuits::linear_transform::PlaintextStorage,
    params::msb_preset,
    random::Seed,
    schemes::ckks::{Ciphertext, Complex},
};

const BIDS: [u64; 16] = [310, 47, 499, 120, 7, 310, 256, 88, 402, 511, 19, 333, 260, 75, 198, 441];

fn decrypt(secret: &MsbSecretKey, x: &Ciphertext<u64>) -> Result<Vec<f64>, Error> {
    Ok(secret.decrypt(x)?.reveal_to_key_owner().iter().map(|z| z.re).collect())
}

fn auction(
    params: &MsbParams,
    secret: &MsbSecretKey,
    keys: &MsbKeys,
    evaluator: &MsbEvaluator,
) -> Result<(), Error> {
    let (n, radix) = (BIDS.len(), Radix::new(&[32, 32])?);
    let encrypt = |bid: &dyn Fn(usize) -> u64| {
        let fraction = |slot| Complex::new(bid(slot) as f64 / radix.modulus() as f64, 0.0);
        let slots: Vec<Complex> = (0..params.slots()).map(fraction).collect();
        secret.encrypt(&slots, params.levels().output, &Seed::random()?)
    };
    let (rows, columns) = (encrypt(&|slot| BIDS[slot / n % n])?, encrypt(&|slot| BIDS[slot % n])?);
    let start = Instant::now();
    let order = evaluator.sort((&rows, &columns), n, &radix, keys, &mut ())?;
    // The largest is where (rank + 1) / n is 0 modulo 1.
    let last = (0..n).map(|j| f64::from(u8::from(j == 0)).into()).collect();
    let winner = evaluator.look_up(Numbers::up_to(&order.ranks, 2.0), &[last], keys, &mut ())?.remove(0);
    println!("{n} bids sorted in {:.2} s", start.elapsed().as_secs_f64());

    let flags = decrypt(secret, &winner)?;
    let winner = (0..n).find(|&i| flags[(n * i + n * n - 1) % (n * n)].round() > 0.5);
    let sorted: Vec<u64> = decrypt(secret, &order.sorted)?[..n]
        .iter()
        .map(|x| (x * radix.modulus() as f64).round() as u64)
        .collect();
    let mut wanted = BIDS;
    wanted.sort_unstable();
    assert_eq!(sorted, wanted);
    assert_eq!(winner.map(|i| BIDS[i]), wanted.last().copied());
    println!("  bidder {} wins and pays {}\n", winner.unwrap_or(n), sorted[n - 2]);
    Ok(())
}

/// The sum of the products of all terms with themselves, modulo n.
fn sum_of_squares(
    (evaluator, ring): (&ResidueEvaluator<'_>, &ResidueRing),
    secret: &MsbSecretKey,
    terms: &[Vec<u64>],
) -> Result<Residue, Error> {
    let (n, level) = (ring.modulus(), ring.params().levels().output);
    let mut sum: Option<Residue> = None;
    for term in terms {
        let reduced: Vec<u64> = term.iter().map(|z| z % n).collect();
        let mut x = ring.encrypt(secret, &reduced, level, &Seed::random()?)?;
        let mut square = evaluator.square(&mut x, &mut ())?;
        sum = Some(match sum {
            None => square,
            Some(mut sum) => evaluator.add(&mut sum, &mut square, &mut ())?,
        });
    }
    sum.ok_or_else(|| Error::InvalidArgument("no terms".into()))
}

fn statistics(
    params: &MsbParams,
    secret: &MsbSecretKey,
    keys: &MsbKeys,
    evaluator: &MsbEvaluator,
) -> Result<(), Error> {
    // In every slot the years of service of twelve people of a department.
    let terms: Vec<Vec<u64>> = (0..12)
        .map(|i| (0..params.slots() as u64).map(|slot| (slot * 31 + i * i * 17) % 23).collect())
        .collect();
    let moduli = [97u64, 64];
    let start = Instant::now();
    let mut found = Vec::new();
    for n in moduli {
        let ring = ResidueRing::new(params, n)?;
        let residues = ResidueEvaluator::new(evaluator, &ring, keys)?;
        let sum = sum_of_squares((&residues, &ring), secret, &terms)?;
        let reduced = residues.reduce(&sum, &mut ())?;
        println!(
            "  modulo {n}: a sum of squares, 0 to {:.0} before its reduction, off by less than {:.1e}, and {:.1e} after it",
            sum.largest(),
            sum.off(),
            reduced.off()
        );
        found.push(ring.decrypt(secret, &reduced)?);
    }
    println!("sums of twelve squares in {:.2} s", start.elapsed().as_secs_f64());
    for slot in 0..params.slots() {
        let [a, b] = [0, 1].map(|i| found[i].reveal_to_key_owner()[slot]);
        let together = (0..moduli[0] * moduli[1]).find(|z| z % moduli[0] == a && z % moduli[1] == b);
        let wanted: u64 = terms.iter().map(|term| term[slot] * term[slot]).sum();
        assert_eq!(together, Some(wanted), "slot {slot}");
    }
    println!("  every one of {} exact", params.slots());
    Ok(())
}

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "toy-msb11".into());
    let preset = msb_preset(&name)?;
    let params = preset.params()?;
    println!("{name}: {}\n{}\n", preset.title, params.security().statement);
    let secret = MsbSecretKey::generate(&params, &Seed::random()?);
    let keys = MsbKeys::generate(&secret)?;
    let evaluator = MsbEvaluator::new(&params, PlaintextStorage::Evaluated)?;
    auction(&params, &secret, &keys, &evaluator)?;
    statistics(&params, &secret, &keys, &evaluator)
}
