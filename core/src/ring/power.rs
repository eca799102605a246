//! Powers of exponents of automorphisms, which are units modulo the index of a ring.

/// a^e modulo p, below 2^32.
pub(super) fn power(a: u64, mut e: u64, p: u64) -> u64 {
    let (mut out, mut base) = (1 % p, a % p);
    while e > 0 {
        if e & 1 == 1 {
            out = out * base % p;
        }
        base = base * base % p;
        e >>= 1;
    }
    out
}
