//! Galois rings, whose elements fill the slots of a ring of odd index.

use alloc::{format, vec, vec::Vec};

use zeroize::Zeroizing;

use crate::{
    arith::{PrimePower, primes::is_prime},
    error::Error,
    ring::FirstAxis,
};

/// Attempts to split a polynomial, each of which succeeds with a probability of about one half.
const ATTEMPTS: u64 = 1000;

/// E = Z/P\[zeta\]/F, where P = p^k, zeta has the prime order q, and d is the order of p modulo q. Modulo p it is the field of p^d
/// elements. An element is given by its d coordinates in 1, zeta, .., zeta^(d-1).
///
/// F divides the cyclotomic polynomial of q. Modulo p it is one of the factors of that polynomial, always the same one; modulo p^k its
/// roots are the roots of unity above the roots modulo p.
pub struct GaloisRing {
    ring: PrimePower,
    order: u64,
    /// F without its leading coefficient, which is 1.
    modulus: Vec<u64>,
    /// Coordinates of zeta^e, for e below q.
    powers: Vec<Vec<u64>>,
}

impl GaloisRing {
    /// The ring for an odd prime `order`, modulo which p must not have order 1.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another order or p.
    pub fn new(ring: PrimePower, order: u64) -> Result<Self, Error> {
        let (p, base) = (ring.prime(), ring.with_exponent(1)?);
        check_order(order)?;
        let degree = multiplicative_order(p, order).filter(|&d| d > 1).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{p} is 0 or 1 modulo {order}, so that slots would hold integers; take another prime"
            ))
        })?;
        let residues = factor(base, order, degree)?;
        let over = |ring, modulus: Vec<u64>| {
            let mut out = Self { ring, order, modulus, powers: Vec::new() };
            let next = |x: &Vec<u64>| Some(out.times_zeta(x));
            out.powers = core::iter::successors(Some(out.integer(1)), next).take(order as usize).collect();
            out
        };
        if ring.exponent() == 1 {
            return Ok(over(ring, residues));
        }
        // The same numbers modulo p^k define the same ring, with another root. The root of unity above zeta is a power of that root.
        let rough = over(ring, residues);
        let zeta = rough.root_above(&rough.powers[1]);
        // F is the product of all X - zeta^(p^i).
        let (mut conjugate, mut product) = (zeta, vec![rough.integer(1)]);
        for _ in 0..degree {
            let mut next = vec![rough.integer(0); product.len() + 1];
            for (i, c) in product.iter().enumerate() {
                next[i + 1] = rough.add(&next[i + 1], c);
                next[i] = rough.sub(&next[i], &rough.mul(c, &conjugate));
            }
            product = next;
            conjugate = rough.pow(&conjugate, p);
        }
        Ok(over(ring, product.iter().take(degree).map(|c| c[0]).collect()))
    }

    /// Z/P.
    pub fn ring(&self) -> PrimePower {
        self.ring
    }

    /// d.
    pub fn degree(&self) -> usize {
        self.modulus.len()
    }

    /// zeta^e.
    pub fn power_of_zeta(&self, e: u64) -> &[u64] {
        &self.powers[(e % self.order) as usize]
    }

    /// The integer c as an element.
    pub fn integer(&self, c: u64) -> Vec<u64> {
        let mut out = vec![0; self.degree()];
        out[0] = c;
        out
    }

    /// x + y.
    pub fn add(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        x.iter().zip(y).map(|(&x, &y)| self.ring.add(x, y)).collect()
    }

    /// The sum of some elements.
    pub fn sum(&self, terms: impl Iterator<Item = Vec<u64>>) -> Vec<u64> {
        terms.fold(self.integer(0), |sum, term| self.add(&sum, &term))
    }

    /// x - y.
    pub fn sub(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        x.iter().zip(y).map(|(&x, &y)| self.ring.sub(x, y)).collect()
    }

    /// x y.
    pub fn mul(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        self.products([(x, y)].into_iter())
    }

    /// The sum of products x y, wiped when dropped, with all that was computed on the way.
    pub fn sum_of_products<'a>(
        &self,
        terms: impl Iterator<Item = (&'a [u64], &'a [u64])>,
    ) -> Zeroizing<Vec<u64>> {
        Zeroizing::new(self.products(terms))
    }

    fn products<'a>(&self, terms: impl Iterator<Item = (&'a [u64], &'a [u64])>) -> Vec<u64> {
        let (d, m) = (self.degree(), self.ring.modulus());
        let mut out = vec![0; 2 * d - 1];
        for (x, y) in terms {
            for (i, &x) in x.iter().enumerate() {
                for (out, &y) in out[i..].iter_mut().zip(y) {
                    *out = m.add(*out, m.mul(x, y));
                }
            }
        }
        for at in (d..2 * d - 1).rev() {
            let lead = out[at];
            for (j, &c) in self.modulus.iter().enumerate() {
                out[at - d + j] = m.sub(out[at - d + j], m.mul(lead, c));
            }
        }
        out.truncate(d);
        out
    }

    /// x^e, for a public x.
    pub fn pow(&self, x: &[u64], mut e: u64) -> Vec<u64> {
        let (mut out, mut base) = (self.integer(1), x.to_vec());
        while e > 0 {
            if e & 1 == 1 {
                out = self.mul(&out, &base);
            }
            base = self.mul(&base, &base);
            e >>= 1;
        }
        out
    }

    /// sigma^i(x), sigma the Frobenius automorphism: zeta to zeta^p.
    pub fn frobenius(&self, x: &[u64], i: usize) -> Vec<u64> {
        let step = (0..i % self.degree()).fold(1, |e, _| e * (self.ring.prime() % self.order) % self.order);
        let m = self.ring.modulus();
        let mut out = vec![0; self.degree()];
        for (k, &c) in (0..).zip(x) {
            let image = self.power_of_zeta(k * step);
            out.iter_mut().zip(image).for_each(|(out, &y)| *out = m.add(*out, m.mul(c, y)));
        }
        out
    }

    /// The trace of zeta^e, for e below q: the sum of its images under all powers of the Frobenius automorphism.
    pub fn traces(&self) -> Vec<u64> {
        let trace =
            |x: &Vec<u64>| (0..self.degree()).fold(0, |sum, i| self.ring.add(sum, self.frobenius(x, i)[0]));
        self.powers.iter().map(trace).collect()
    }

    /// A root of unity of order `order`, which divides p^d - 1 and is a prime or a product of two. It is always the same root, and roots
    /// for different k reduce to each other.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another order.
    pub fn root_of_unity(&self, order: u64) -> Result<Vec<u64>, Error> {
        let first = (3..).step_by(2).take_while(|q| q * q < order).find(|&q| order.is_multiple_of(q));
        match first {
            Some(first) => Ok(self.mul(&self.root_of_prime(first)?, &self.root_of_prime(order / first)?)),
            None => self.root_of_prime(order),
        }
    }

    fn root_of_prime(&self, order: u64) -> Result<Vec<u64>, Error> {
        check_order(order)?;
        let (p, d) = (self.ring.prime(), self.degree());
        // (p^d - 1) / order in digits to base p, the highest first: long division of d digits p - 1.
        let mut rest: u128 = 0;
        let digits: Vec<u64> = (0..d)
            .map(|_| {
                let dividend = rest * u128::from(p) + u128::from(p - 1);
                rest = dividend % u128::from(order);
                (dividend / u128::from(order)) as u64
            })
            .collect();
        if rest != 0 {
            return Err(Error::InvalidArgument(format!(
                "no root of unity of order {order} in slots of {d} coordinates modulo {p}; take an index whose primes divide {p}^{d} - 1"
            )));
        }
        for shift in 0..ATTEMPTS {
            // All elements of the field in turn, if need be.
            let (mut x, mut rest) = (self.powers[1].clone(), shift);
            for c in &mut x {
                *c = self.ring.add(*c, self.ring.reduce(rest % p));
                rest /= p;
            }
            let power = digits
                .iter()
                .fold(self.integer(1), |out, &digit| self.mul(&self.pow(&out, p), &self.pow(&x, digit)));
            let root = self.root_above(&power);
            if root != self.integer(1) && self.pow(&root, order) == self.integer(1) {
                return Ok(root);
            }
        }
        Err(Error::InvalidArgument(format!(
            "no root of unity of order {order} was found in {ATTEMPTS} attempts"
        )))
    }

    /// The multiplier of the value at the k-th power of a root in the coefficient of row `row` of a first axis, where `powers` are all
    /// powers of that root: conjugates of the basis element and of the powers that it occurs in.
    pub fn dual_of_row(&self, powers: &[Vec<u64>], axis: &FirstAxis, row: usize, k: u64) -> Vec<u64> {
        let order = powers.len() as u64;
        let power = |e: u64| &powers[((order - e) * k % order) as usize];
        let mut out = power(axis.rows[row]).clone();
        for &(other, negative) in &axis.terms[row] {
            let other = power(axis.others[other]);
            out = if negative { self.sub(&out, other) } else { self.add(&out, other) };
        }
        out
    }

    /// The root of unity, of an order not divisible by p, that is congruent to x modulo p.
    fn root_above(&self, x: &[u64]) -> Vec<u64> {
        // Raising to p^d leaves the element in place modulo p, and takes it nearer to the root by at least a factor of p.
        let steps = self.degree() * (self.ring.exponent() as usize - 1);
        (0..steps).fold(x.to_vec(), |x, _| self.pow(&x, self.ring.prime()))
    }

    fn times_zeta(&self, x: &[u64]) -> Vec<u64> {
        let (d, m) = (self.degree(), self.ring.modulus());
        let lead = x[d - 1];
        let below = core::iter::once(&0).chain(x);
        below.zip(&self.modulus).map(|(&x, &c)| m.sub(x, m.mul(lead, c))).collect()
    }
}

/// Refuses all but odd primes below 2^17, which are the primes of rings.
fn check_order(order: u64) -> Result<(), Error> {
    if order % 2 == 1 && order >> 17 == 0 && is_prime(order) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{order} is not an odd prime below 2^17, and slots have the roots of unity of one; take one"
    )))
}

/// The order of a modulo a prime q, unless q divides a.
pub(super) fn multiplicative_order(a: u64, q: u64) -> Option<usize> {
    let mut power = a % q;
    if power == 0 {
        return None;
    }
    let mut order = 1;
    while power != 1 {
        power = power * (a % q) % q;
        order += 1;
    }
    Some(order)
}

/// A monic factor of the cyclotomic polynomial of q modulo p, of the degree that all of them have, without its leading coefficient.
///
/// The sums of X^(c p^i) over i are fixed by the Frobenius automorphism: modulo each factor such a sum is a number modulo p, and not all
/// are the same (Berlekamp). Random combinations of them are squares modulo about half of the factors; for p = 2 they are 0 there.
fn factor(ring: PrimePower, q: u64, degree: usize) -> Result<Vec<u64>, Error> {
    let (p, n) = (ring.prime(), q as usize - 1);
    let mut found = vec![1; n + 1];
    let mut state = 1u64;
    for _ in 0..ATTEMPTS {
        if found.len() == degree + 1 {
            found.pop();
            return Ok(found);
        }
        let mut mixed = vec![0; q as usize];
        let mut seen = vec![false; q as usize];
        for c in 1..q as usize {
            if seen[c] {
                continue;
            }
            // Numbers that are the same on every machine.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // The low bits repeat soon, so modulo 2 the highest one is used.
            let weight = ring.reduce(if p == 2 { state >> 63 } else { state >> 8 });
            let mut e = c;
            for _ in 0..degree {
                (seen[e], mixed[e]) = (true, weight);
                e = (e as u64 * (p % q) % q) as usize;
            }
        }
        mixed = remainder(ring, mixed, &found);
        let root = if p == 2 {
            // Already 0 or 1 modulo every factor.
            mixed
        } else {
            let mut root = power_modulo(ring, &mixed, (p - 1) / 2, &found);
            root.resize(root.len().max(1), 0);
            root[0] = ring.sub(root[0], 1);
            root
        };
        let divisor = common_divisor(ring, found.clone(), root);
        if divisor.len() > 1 && divisor.len() < found.len() {
            found =
                if 2 * divisor.len() <= found.len() + 1 { divisor } else { quotient(ring, found, &divisor) };
        }
    }
    Err(Error::InvalidArgument(format!(
        "the cyclotomic polynomial of {q} modulo {p} was not split in {ATTEMPTS} attempts; take another prime"
    )))
}

fn trimmed(mut x: Vec<u64>) -> Vec<u64> {
    while x.last() == Some(&0) {
        x.pop();
    }
    x
}

/// The quotient by a monic polynomial, in the upper coefficients, and the remainder in the lower ones.
fn divided(ring: PrimePower, mut x: Vec<u64>, by: &[u64]) -> Vec<u64> {
    let (d, m) = (by.len() - 1, ring.modulus());
    for at in (d..x.len()).rev() {
        let lead = x[at];
        if lead != 0 {
            for (x, &c) in x[at - d..at].iter_mut().zip(by) {
                *x = m.sub(*x, m.mul(lead, c));
            }
        }
    }
    x
}

fn remainder(ring: PrimePower, x: Vec<u64>, by: &[u64]) -> Vec<u64> {
    let mut out = divided(ring, x, by);
    out.truncate(by.len() - 1);
    trimmed(out)
}

fn quotient(ring: PrimePower, x: Vec<u64>, by: &[u64]) -> Vec<u64> {
    divided(ring, x, by).split_off(by.len() - 1)
}

/// The monic greatest common divisor modulo p; x is not 0.
fn common_divisor(ring: PrimePower, x: Vec<u64>, y: Vec<u64>) -> Vec<u64> {
    let monic = |x: Vec<u64>| {
        let over = x.last().and_then(|&lead| ring.inverse(lead)).unwrap_or(1);
        x.into_iter().map(|c| ring.mul(c, over)).collect::<Vec<_>>()
    };
    let (mut x, mut y) = (monic(trimmed(x)), monic(trimmed(y)));
    while !y.is_empty() {
        let rest = remainder(ring, x, &y);
        x = y;
        y = monic(rest);
    }
    x
}

fn power_modulo(ring: PrimePower, x: &[u64], mut e: u64, by: &[u64]) -> Vec<u64> {
    let m = ring.modulus();
    let product = |x: &[u64], y: &[u64]| {
        let mut out = vec![0; (x.len() + y.len()).max(1) - 1];
        for (i, &x) in x.iter().enumerate() {
            for (j, &y) in y.iter().enumerate() {
                out[i + j] = m.add(out[i + j], m.mul(x, y));
            }
        }
        remainder(ring, out, by)
    };
    let (mut out, mut base) = (vec![1], x.to_vec());
    while e > 0 {
        if e & 1 == 1 {
            out = product(&out, &base);
        }
        base = product(&base, &base);
        e >>= 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p, k, q and the degree.
    const RINGS: [(u64, u32, u64, usize); 10] = [
        (2, 9, 17, 8),
        (2, 1, 7, 3),
        (2, 4, 31, 5),
        (257, 3, 43, 2),
        (8191, 2, 43, 7),
        (127, 3, 43, 7),
        (8191, 1, 41, 4),
        (65537, 2, 97, 6),
        (3, 9, 7, 6),
        (17, 4, 29, 4),
    ];

    fn ring((p, k, q, degree): (u64, u32, u64, usize)) -> GaloisRing {
        let out = GaloisRing::new(PrimePower::new(p, k).expect("a prime"), q).expect("a ring");
        assert_eq!((out.degree(), multiplicative_order(p, q)), (degree, Some(degree)));
        out
    }

    #[test]
    fn the_modulus_divides_the_cyclotomic_polynomial() {
        for (p, k, q, degree) in RINGS {
            let found = ring((p, k, q, degree));
            let modulus = [&found.modulus[..], &[1]].concat();
            assert!(remainder(found.ring, vec![1; q as usize], &modulus).is_empty(), "{p}^{k}, {q}");
            // It reduces to the modulus for k = 1, which is irreducible: zeta^(p^i) is not zeta for i from 1 to below the degree.
            let field = ring((p, 1, q, degree));
            let reduced: Vec<u64> = found.modulus.iter().map(|c| c % p).collect();
            assert_eq!(reduced, field.modulus);
            for i in 1..degree {
                assert_ne!(
                    field.frobenius(field.power_of_zeta(1), i),
                    field.power_of_zeta(1),
                    "{p}, {q}, {i}"
                );
            }
        }
    }

    #[test]
    fn elements_are_a_ring_with_an_automorphism() {
        for place in RINGS {
            let (e, mut state) = (ring(place), 5u64);
            let mut random = || {
                (0..e.degree())
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        e.ring.reduce(state >> 3)
                    })
                    .collect::<Vec<_>>()
            };
            let (x, y, z) = (random(), random(), random());
            assert_eq!(e.mul(&x, &e.add(&y, &z)), e.add(&e.mul(&x, &y), &e.mul(&x, &z)));
            assert_eq!(e.mul(&x, &e.mul(&y, &z)), e.mul(&e.mul(&x, &y), &z));
            assert_eq!(e.frobenius(&e.mul(&x, &y), 1), e.mul(&e.frobenius(&x, 1), &e.frobenius(&y, 1)));
            assert_eq!(e.frobenius(&e.frobenius(&x, 1), e.degree() - 1), x);
            let by_p = |x: Vec<u64>| x.into_iter().map(|c| c % place.0).collect::<Vec<_>>();
            assert_eq!(by_p(e.frobenius(&x, 1)), by_p(e.pow(&x, place.0)));
            assert_eq!(e.pow(e.power_of_zeta(1), place.2), e.integer(1));
            for (power, trace) in (0..).zip(e.traces()) {
                let sum = (0..e.degree())
                    .fold(e.integer(0), |sum, i| e.add(&sum, &e.frobenius(e.power_of_zeta(power), i)));
                assert_eq!(sum, e.integer(trace));
            }
        }
    }

    #[test]
    fn roots_reduce_to_each_other() {
        for (p, k, q, degree, order) in
            [(257, 3, 43, 2, 3), (8191, 2, 43, 7, 5), (127, 2, 43, 7, 7), (65537, 2, 97, 6, 3)]
        {
            let (e, field) = (ring((p, k, q, degree)), ring((p, 1, q, degree)));
            let root = e.root_of_unity(order).expect("a root");
            assert_eq!((e.pow(&root, order), root == e.integer(1)), (e.integer(1), false));
            let reduced: Vec<u64> = root.iter().map(|c| c % p).collect();
            assert_eq!(Ok(reduced), field.root_of_unity(order));
            assert!(e.root_of_unity(101).is_err());
        }
    }
}
