//! The powers of an argument that a plan asks for.

use alloc::{collections::BTreeMap, format, vec::Vec};

use super::{
    coefficient::{BasisOver, Coefficient},
    plan::Plan,
};
use crate::{error::Error, par, schemes::evaluator::Leveled, trace::Counters};

/// Elements of the basis as ciphertexts: element n at ceil(log2 n) levels below the first, each at a label of its own.
pub(super) struct Powers<E: Leveled> {
    by_index: BTreeMap<usize, E::Ciphertext>,
}

impl<E: Leveled<Coefficient: Coefficient>> Powers<E> {
    /// The powers of `plan` at the slots of `x`. Powers of one level are independent and run in parallel.
    pub fn new(
        evaluator: &E,
        key: &E::RelinearizationKey,
        plan: &Plan<E::Coefficient>,
        x: &E::Ciphertext,
        counters: &mut Counters,
    ) -> Result<Self, Error> {
        let minus_one = E::Coefficient::minus_one();
        // x_n from its factors; the difference is `None` for B_0.
        let product = |a: &E::Ciphertext, b: &E::Ciphertext, difference: Option<Option<&E::Ciphertext>>| {
            let mut counters = Counters::default();
            let mut product = evaluator.tensor(a, b)?;
            if let Some(difference) = difference {
                // 2 T_a T_b - T_(a-b), before the relinearisation and at the label of the product.
                evaluator.multiply_integer_assign(&mut product, 2)?;
                match difference {
                    None => evaluator.add_constant_assign(&mut product, &minus_one)?,
                    Some(x) => evaluator.add_multiple_assign(&mut product, x, &minus_one)?,
                }
            }
            Ok::<_, Error>((evaluator.reduce(&product, key, &mut counters)?, counters))
        };
        let mut first = x.clone();
        for _ in 0..plan.stride {
            let (_, _, difference) = plan.basis.factors(2);
            let (square, work) = product(&first, &first, difference.map(|_| None))?;
            *counters += work;
            first = square;
        }
        let mut powers = Self { by_index: BTreeMap::from([(1, first)]) };
        let mut rest = plan.powers.as_slice();
        while let Some(&next) = rest.first() {
            // All powers at the same level.
            let count = rest.partition_point(|&n| n <= next.next_power_of_two());
            let (now, later) = rest.split_at(count);
            let made = par::try_map(count, |i| {
                let (a, b, difference) = plan.basis.factors(now[i]);
                let difference =
                    difference.map(|d| (d > 0).then(|| powers.get(d)).transpose()).transpose()?;
                product(powers.get(a)?, powers.get(b)?, difference)
            })?;
            for (&n, (power, work)) in now.iter().zip(made) {
                *counters += work;
                powers.by_index.insert(n, power);
            }
            rest = later;
        }
        Ok(powers)
    }

    /// Element `n` >= 1.
    pub fn get(&self, n: usize) -> Result<&E::Ciphertext, Error> {
        self.by_index.get(&n).ok_or_else(|| {
            let known: Vec<&usize> = self.by_index.keys().collect();
            Error::InvalidArgument(format!("the plan has no power {n}, only {known:?}: a bug of the planner"))
        })
    }
}
