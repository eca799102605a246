//! Chains and encapsulations that cannot work.

use refloat::rlwe::{EncapsulationContext, EncapsulationDigits, RlweContext, RlweSpec};
use refloat::security::SecurityPolicy;
use refloat_tests::rns::primes;

use super::setup::{refused, spec};

#[test]
fn chains_that_cannot_work_are_refused() {
    let good = spec(16, &[&[28.0], &[27.0], &[26.0]], &[28.0], &[&[0, 2], &[1]]);
    assert!(RlweContext::<u32>::new(&good).is_ok());
    let changed = |change: &dyn Fn(&mut RlweSpec)| {
        let mut spec = good.clone();
        change(&mut spec);
        RlweContext::<u32>::new(&spec)
    };
    let insecure = changed(&|s| s.policy = SecurityPolicy::Strict128).err().expect("109 bits at N = 16");
    assert_eq!(insecure.code(), "INSECURE");
    refused(changed(&|s| s.n = 12), "12");
    refused(changed(&|s| s.n = 4), "from 8");
    refused(changed(&|s| s.n = 1 << 18), "131072");
    refused(changed(&|s| s.levels.clear()), "at least one prime");
    refused(changed(&|s| s.levels[1].clear()), "at least one prime");
    refused(changed(&|s| s.special.clear()), "one special prime");
    refused(changed(&|s| s.levels = vec![vec![97]; 257]), "257 levels");
    refused(changed(&|s| s.special = s.levels[0].clone()), "twice");
    refused(changed(&|s| s.levels[0][0] += 2), &(good.levels[0][0] + 2).to_string());
    refused(changed(&|s| s.digits = vec![vec![0, 1]]), "prime 2 is in no gadget digit");
    refused(changed(&|s| s.digits = vec![vec![0, 1], vec![1, 2]]), "prime 1 is in two");
    refused(changed(&|s| s.digits = vec![vec![0, 1], vec![2, 3]]), "names prime 3");
    refused(changed(&|s| s.digits = vec![vec![0, 1, 2], vec![]]), "empty");
    refused(changed(&|s| s.digits = vec![vec![1], vec![0, 2]]), "in the order of");
}

#[test]
fn encapsulations_that_cannot_work_are_refused() {
    let p = primes(16, &[28.0, 27.0, 26.0]);
    let new = |q0: &[u64], special, digits| EncapsulationContext::<u32>::new(16, q0, special, digits);
    let balanced = |count| EncapsulationDigits::Balanced { count };
    refused(new(&p[..2], p[2], balanced(1)), "2 primes");
    refused(new(&p[..1], p[2], balanced(0)), "0 digits");
    refused(new(&p[..1], p[2], balanced(17)), "17 digits");
    refused(new(&p[..1], p[0], balanced(1)), "twice");
    refused(new(&[], p[0], EncapsulationDigits::PerPrime), "at least one");
    refused(new(&p[..1], p[0] + 2, balanced(1)), &(p[0] + 2).to_string());
}
