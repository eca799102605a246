//! Samplers against their exact distributions. Seeds are fixed, so a bound is met always or never;
//! bounds are set where a correct sampler fails with a probability below one in a million.

use alloc::vec;

use super::samplers::{cbd21_of, multiply_high};
use super::*;
use crate::error::hex;
use rand_core::Rng;

const SAMPLES: usize = 1 << 18;

fn stream(purpose: u64) -> Stream {
    Seed::from_bytes([42; 32]).derive("refloat test: random", &[purpose]).stream()
}

/// Pearson's statistic of counts against probabilities, and a bound on it: the normal
/// approximation of the chi-square distribution, five standard deviations and a bit for its skew.
fn chi_square(counts: &[u64], probabilities: &[f64]) -> (f64, f64) {
    let total = counts.iter().sum::<u64>() as f64;
    let statistic = counts
        .iter()
        .zip(probabilities)
        .map(|(&count, p)| (count as f64 - total * p).powi(2) / (total * p))
        .sum();
    let freedom = (counts.len() - 1) as f64;
    (statistic, freedom + 5.0 * (2.0 * freedom).sqrt() + 16.0)
}

/// Mean and variance of samples that should have variance `variance` and fourth central moment
/// `fourth`: both must lie within five standard errors.
fn assert_moments(samples: &[i8], variance: f64, fourth: f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    assert!(mean.abs() < 5.0 * (variance / n).sqrt(), "mean {mean}");
    let measured = samples.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / n;
    let error = ((fourth - variance * variance) / n).sqrt();
    assert!((measured - variance).abs() < 5.0 * error, "variance {measured}, not {variance} ± {error}");
}

#[test]
fn a_seed_gives_the_rfc_8439_keystream() {
    // RFC 8439, A.1, test vectors 1 and 2: key 0, nonce 0, blocks 0 and 1.
    let mut out = [0; 72];
    Seed::from_bytes([0; 32]).stream().fill_bytes(&mut out);
    assert_eq!(out[..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
    assert_eq!(
        out[56..],
        [0xc3, 0x87, 0xb6, 0x69, 0xb2, 0xee, 0x65, 0x86, 0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a][..]
    );
}

#[test]
fn derivation_separates_domains() {
    let seed = Seed::from_bytes([9; 32]);
    let children = [
        seed.derive("a", &[]),
        seed.derive("b", &[]),
        seed.derive("a", &[0]),
        seed.derive("a", &[1]),
        seed.derive("a", &[0, 0]),
        seed.derive("ab", &[]),
        seed.derive("", &[]),
        // The label's bytes as an index, and the index's bytes as a label.
        seed.derive("", &[u64::from(b'a')]),
        seed.derive("a\0\0\0\0\0\0\0", &[]),
        seed.derive("a", &[]).derive("a", &[]),
        Seed::from_bytes([10; 32]).derive("a", &[]),
        seed.clone(),
    ];
    for (i, one) in children.iter().enumerate() {
        for other in &children[..i] {
            assert_ne!(one.as_bytes(), other.as_bytes());
        }
    }
    assert_eq!(seed.derive("a", &[7]).as_bytes(), seed.derive("a", &[7]).as_bytes());
}

#[test]
fn a_seed_is_drawn_from_a_generator() {
    let mut expected = [0; 32];
    stream(0).fill_bytes(&mut expected);
    assert_eq!(Seed::from_rng(&mut stream(0)).as_bytes(), &expected);
}

/// The vectors that every target must reproduce: the digest of each sampler's output, and what
/// comes after it, so that the number of bytes it takes is fixed too. An independent model (`ChaCha20`
/// and the samplers in Python, with the reference BLAKE3) gives the same.
#[test]
fn samplers_are_deterministic() {
    let seed =
        Seed::from_bytes(core::array::from_fn(|i| i as u8)).derive("refloat test: vectors", &[1, 2, 3]);
    assert_eq!(hex(seed.as_bytes()), DERIVED);
    let digest = |sample: &dyn Fn(&mut Stream) -> Vec<u8>| {
        let mut stream = seed.stream();
        let mut bytes = sample(&mut stream);
        bytes.extend(stream.next_u64().to_le_bytes());
        hex(&blake3::hash(&bytes).as_bytes()[..16])
    };
    let uniform_u32 = |stream: &mut Stream| {
        let mut out = vec![0; 1000];
        stream.fill_uniform_u32(557_057, &mut out);
        out.iter().flat_map(|x| x.to_le_bytes()).collect()
    };
    let uniform_u64 = |stream: &mut Stream| {
        let mut out = vec![0; 1000];
        stream.fill_uniform_u64(1_271_792_566_273, &mut out);
        out.iter().flat_map(|x| x.to_le_bytes()).collect()
    };
    let ternary = |stream: &mut Stream| {
        let mut out = vec![0; 1000];
        stream.ternary(&mut out);
        out.iter().flat_map(|x| x.to_le_bytes()).collect()
    };
    let cbd21 = |stream: &mut Stream| {
        let mut out = vec![0; 1001];
        stream.cbd21(&mut out);
        out.iter().flat_map(|x| x.to_le_bytes()).collect()
    };
    let below = |stream: &mut Stream| (0..100).flat_map(|_| stream.below(350).to_le_bytes()).collect();
    assert_eq!(
        [digest(&uniform_u32), digest(&uniform_u64), digest(&ternary), digest(&cbd21), digest(&below)],
        DIGESTS
    );
}

const DERIVED: &str = "f37d142456d90cbb310b7dd1841515edcaa050d22c6f0d6f4134f2ac0e73ca0e";

/// Uniform modulo 557057 and modulo 1271792566273, ternary, CBD(21), below 350.
const DIGESTS: [&str; 5] = [
    "9ce67ece9385852d466f4f14195b3884",
    "e97f7c0ba03f0908cf91f752da6325e8",
    "355eefa602f51eeceb1291eae9e9ac18",
    "24eaf7184e6cd562e2714e7e3a723a4d",
    "373a03d1f39fbc2f913d369a4e082ba9",
];

#[test]
fn uniform_residues_are_uniform() {
    for (purpose, p) in
        [(10, 2), (11, 3), (12, 64), (13, 557_057), (14, 4_882_433), (15, 2_147_483_647), (16, u32::MAX)]
    {
        let bins = (p as usize).min(64);
        let bin = |x: u64| (x * bins as u64 / u64::from(p)) as usize;
        // A bin holds the residues that map to it, which may be one more or less than p / bins.
        let mut start = vec![0u64; bins + 1];
        for (i, start) in start.iter_mut().enumerate() {
            *start = (i as u64 * u64::from(p)).div_ceil(bins as u64);
        }
        let probabilities: Vec<f64> = start.windows(2).map(|w| (w[1] - w[0]) as f64 / f64::from(p)).collect();

        let mut narrow = vec![u32::MAX; SAMPLES];
        stream(purpose).fill_uniform_u32(p, &mut narrow);
        let mut wide = vec![u64::MAX; SAMPLES];
        stream(purpose).fill_uniform_u64(u64::from(p), &mut wide);
        for samples in [narrow.iter().map(|&x| u64::from(x)).collect(), wide] {
            let mut counts = vec![0; bins];
            for x in samples {
                assert!(x < u64::from(p));
                counts[bin(x)] += 1;
            }
            let (statistic, bound) = chi_square(&counts, &probabilities);
            assert!(statistic < bound, "modulus {p}: {statistic} exceeds {bound}");
        }
    }
}

#[test]
fn uniform_residues_take_the_words_of_the_stream_in_order() {
    for p in [1, 2, 5, 557_057, 1 << 31, u32::MAX] {
        let scaled = |w: u32| u64::from(w) * u64::from(p);
        for n in [0, 1, 2, 575, 576, 577, 2000] {
            let (mut ours, mut plain) = (stream(20), stream(20));
            let mut out = vec![7; n];
            ours.fill_uniform_u32(p, &mut out);
            for x in out {
                // Keeps those of the 2^32 words that leave equally many for every residue.
                let kept = |w: &u32| scaled(*w) % (1 << 32) >= (1 << 32) % u64::from(p);
                let word = core::iter::repeat_with(|| plain.next_u32()).find(kept).unwrap();
                assert_eq!(u64::from(x), scaled(word) >> 32);
            }
            assert_eq!(ours.next_u32(), plain.next_u32(), "words taken for {n} residues modulo {p}");
        }
    }
    for p in [1u64 << 32, (1 << 32) + 1, (1 << 61) - 1, u64::MAX] {
        let scaled = |w: u64| u128::from(w) * u128::from(p);
        let (mut ours, mut plain) = (stream(21), stream(21));
        let mut out = vec![7; 500];
        ours.fill_uniform_u64(p, &mut out);
        for x in out {
            let kept = |w: &u64| scaled(*w) % (1 << 64) >= (1 << 64) % u128::from(p);
            let word = core::iter::repeat_with(|| plain.next_u64()).find(kept).unwrap();
            assert_eq!(u128::from(x), scaled(word) >> 64);
        }
        assert_eq!(ours.next_u64(), plain.next_u64());
    }
}

#[test]
fn narrow_moduli_give_the_same_residues_in_wide_words() {
    for p in [1, 3, 557_057, 1 << 31, u32::MAX] {
        for n in [0, 1, 575, 576, 577, 2000] {
            let (mut narrow, mut wide) = (stream(22), stream(22));
            let (mut narrow_out, mut wide_out) = (vec![7; n], vec![7; n]);
            narrow.fill_uniform_u32(p, &mut narrow_out);
            wide.fill_uniform_u64(p.into(), &mut wide_out);
            assert!(wide_out.iter().eq(narrow_out.iter().map(|&x| u64::from(x)).collect::<Vec<_>>().iter()));
            assert_eq!(narrow.next_u32(), wide.next_u32());
        }
    }
}

#[test]
fn ternary_values_are_uniform() {
    let mut samples = vec![9; SAMPLES];
    stream(30).ternary(&mut samples);
    let mut counts = [0; 3];
    for &x in &samples {
        counts[usize::try_from(x + 1).unwrap()] += 1;
    }
    let (statistic, bound) = chi_square(&counts, &[1.0 / 3.0; 3]);
    assert!(statistic < bound, "{statistic} exceeds {bound}");
    assert_moments(&samples, 2.0 / 3.0, 2.0 / 3.0);
}

#[test]
fn centred_binomial_samples_have_their_exact_distribution() {
    let mut samples = vec![99; SAMPLES];
    stream(31).cbd21(&mut samples);
    // P(x) = C(42, x + 21) / 2^42; the fourth central moment is 3 v^2 - v / 2 with v = 21/2.
    let mut choose = vec![1u64];
    for k in 0..42 {
        choose.push(choose[k] * (42 - k as u64) / (k as u64 + 1));
    }
    assert_eq!(choose.iter().sum::<u64>(), 1 << 42);
    let mut counts = [0u64; 43];
    for &x in &samples {
        counts[usize::try_from(x + 21).unwrap()] += 1;
    }
    // Bins of fewer than ten expected samples are joined to the tails.
    let expected = |k: usize| SAMPLES as f64 * choose[k] as f64 / (1u64 << 42) as f64;
    let first = (0..43).find(|&k| expected(k) >= 10.0).unwrap();
    let bin = |k: usize| k.clamp(first, 42 - first) - first;
    let bins = 43 - 2 * first;
    let (mut joined, mut probabilities) = (vec![0; bins], vec![0.0; bins]);
    for k in 0..43 {
        joined[bin(k)] += counts[k];
        probabilities[bin(k)] += choose[k] as f64 / (1u64 << 42) as f64;
    }
    assert!(bins >= 25);
    let (statistic, bound) = chi_square(&joined, &probabilities);
    assert!(statistic < bound, "{statistic} exceeds {bound}");
    assert_moments(&samples, 10.5, 3.0 * 10.5 * 10.5 - 5.25);
}

#[test]
fn a_centred_binomial_sample_is_the_difference_of_two_bit_counts() {
    let mut rng = stream(32);
    let check = |word: u64| {
        let bits = |from: u32| (word >> from & 0x1f_ffff).count_ones() as i8;
        assert_eq!(cbd21_of(word), bits(0) - bits(21));
    };
    for word in [0, u64::MAX, 0x1f_ffff, 0x1f_ffff << 21, !0 << 42] {
        check(word);
    }
    for _ in 0..10_000 {
        check(rng.next_u64());
    }
}

#[test]
fn small_draws_are_uniform_below_their_bound() {
    let mut rng = stream(33);
    for bound in [2, 31, 350, 528] {
        let mut counts = vec![0; bound as usize];
        for _ in 0..SAMPLES {
            counts[rng.below(bound) as usize] += 1;
        }
        let (statistic, limit) = chi_square(&counts, &vec![1.0 / f64::from(bound); bound as usize]);
        assert!(statistic < limit, "below {bound}: {statistic} exceeds {limit}");
    }
    assert_eq!((rng.below(0), rng.below(1)), (0, 0));
    for bound in [0, 1, 3, 350, 0x8000_0001, u32::MAX] {
        for word in [0, 1, u64::MAX, u64::MAX / 3, rng.next_u64(), rng.next_u64()] {
            let exact = ((u128::from(word) * u128::from(bound)) >> 64) as u32;
            assert_eq!(multiply_high(word, bound), exact);
        }
    }
}

#[test]
fn secret_samplers_take_a_fixed_number_of_bytes() {
    for n in [0, 1, 2, 191, 192, 193, 255, 256, 257, 1000] {
        // The number does not depend on what is drawn: two seeds, against a stream advanced by hand.
        for purpose in [34, 35] {
            let (mut ours, mut plain) = (stream(purpose), stream(purpose));
            ours.ternary(&mut vec![0; n]);
            plain.fill_bytes(&mut vec![0; 8 * n]);
            assert_eq!(ours.next_u32(), plain.next_u32());
            ours.cbd21(&mut vec![0; n]);
            plain.fill_bytes(&mut vec![0; (6 * n).next_multiple_of(4)]);
            assert_eq!(ours.next_u32(), plain.next_u32());
        }
    }
}

#[test]
fn the_wider_binomial_and_fair_bits_have_their_moments() {
    let mut samples = vec![0; SAMPLES + 1];
    stream(41).cbd32(&mut samples);
    // 32 terms of variance 1/2 and fourth moment 1/2.
    assert_moments(&samples, 16.0, 32.0 / 2.0 + 3.0 * 32.0 * 31.0 / 4.0);
    assert!(samples.iter().all(|x| x.abs() <= 32));
    stream(41).cbd36(&mut samples);
    assert_moments(&samples, 18.0, 36.0 / 2.0 + 3.0 * 36.0 * 35.0 / 4.0);
    assert!(samples.iter().all(|x| x.abs() <= 36));
    stream(42).binary(&mut samples);
    assert!(samples.iter().all(|x| (0..=1).contains(x)));
    let ones = samples.iter().map(|&x| f64::from(x)).sum::<f64>();
    let n = samples.len() as f64;
    assert!((ones - n / 2.0).abs() < 5.0 * (n / 4.0).sqrt(), "{ones} ones of {n}");
    // The same bytes whatever the length asked for.
    let mut short = vec![0; 1000];
    stream(42).binary(&mut short);
    assert_eq!(short, samples[..1000]);
}

/// A sampler, the bytes that it takes for a value, and the value by its definition.
type Sampler = (fn(&mut Stream, &mut [i8]), usize, fn(&[u8]) -> i8);

#[test]
fn samples_are_those_of_the_bytes_of_the_stream_in_order() {
    /// Bits `from..to` of little-endian bytes that are 1.
    fn ones(bytes: &[u8], from: usize, to: usize) -> i8 {
        (from..to).map(|i| (bytes[i / 8] >> (i % 8) & 1) as i8).sum()
    }
    let samplers: [Sampler; 5] = [
        (Stream::binary, 1, |byte| (byte[0] & 1) as i8),
        (Stream::ternary, 8, |word| {
            ((u128::from(u64::from_le_bytes(word.try_into().unwrap())) * 3) >> 64) as i8 - 1
        }),
        (Stream::cbd21, 6, |bytes| ones(bytes, 0, 21) - ones(bytes, 21, 42)),
        (Stream::cbd32, 8, |bytes| ones(bytes, 0, 32) - ones(bytes, 32, 64)),
        (Stream::cbd36, 9, |bytes| ones(bytes, 0, 36) - ones(bytes, 36, 72)),
    ];
    let lengths =
        [0, 1, 2, 3, 4, 5, 7, 255, 256, 257, 258, 287, 288, 289, 383, 384, 385, 1024, 2303, 2304, 2305];
    for (i, (sampler, bytes, value)) in samplers.into_iter().enumerate() {
        // One after the other, so that the stream is anywhere in its blocks, and with single words between them.
        let (mut ours, mut plain) = (stream(43), stream(43));
        for n in lengths {
            let mut out = vec![0; n];
            sampler(&mut ours, &mut out);
            let mut taken = vec![0; bytes * n];
            plain.fill_bytes(&mut taken);
            let expected: Vec<i8> = taken.chunks(bytes).map(value).collect();
            assert_eq!(out, expected, "sampler {i}, {n} values");
            assert_eq!(ours.next_u32(), plain.next_u32(), "sampler {i}, words taken for {n} values");
        }
    }
}

#[test]
fn a_stream_is_the_same_whatever_it_is_read_by() {
    let mut whole = vec![0u8; 6000];
    stream(44).fill_bytes(&mut whole);
    let mut words = whole.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    let mut rng = stream(44);
    for n in [1, 2, 3, 60, 64, 65, 128, 1, 127, 200, 63, 256, 320] {
        let mut out = vec![0; n];
        rng.rng.fill(&mut out);
        assert!(out.iter().eq(words.by_ref().take(n).collect::<Vec<_>>().iter()), "{n} words");
        assert_eq!(Some(rng.next_u32()), words.next());
        let pair = [words.next().unwrap(), words.next().unwrap()];
        assert_eq!(rng.next_u64().to_le_bytes(), *pair.map(u32::to_le_bytes).as_flattened());
        // Bytes end at a word.
        let mut five = [0; 5];
        rng.fill_bytes(&mut five);
        let pair = [words.next().unwrap(), words.next().unwrap()];
        assert_eq!(five, pair.map(u32::to_le_bytes).as_flattened()[..5]);
    }
}
