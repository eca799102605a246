//! Blocks of ring-LWE samples: the form of the key-switching keys of CKKS and BGV (DM/CGGI has layouts of its own).

use alloc::{vec, vec::Vec};

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::keyswitch::Pair;
use crate::{
    arith::{KeyRows, Word, key_tile},
    par,
    random::{Seed, Stream},
    ring::{Basis, Binomial, Eval, Poly, SmallPoly, uniform_rows},
};

/// The two independent seeds of a set of evaluation keys.
///
/// The public one expands the second components `a` and travels with the keys; the secret one
/// expands the errors. Both are derived from one master seed by BLAKE3 with different labels, so
/// the public seed reveals nothing of the other. Each sample has a stream of its own, named by its
/// block and its index: regenerating a part of a key gives the same bytes again.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct KeySeeds {
    public: Seed,
    errors: Seed,
}

impl KeySeeds {
    /// Derives both seeds from the master seed of a key set.
    ///
    /// A master seed serves one chain. Two chains would give the same masks and errors to different
    /// payloads, and their difference shows the secret. Where a seed may serve several chains, bind it to
    /// the fingerprint of the chain first ([`Seed::derive`] with the words of the fingerprint as indices).
    pub fn derive(master: &Seed) -> Self {
        Self {
            public: master.derive("public second components", &[]),
            errors: master.derive("errors of evaluation keys", &[]),
        }
    }

    /// Seeds with a given public seed, for keys of a second scheme in one key set. It must differ from the public seed of the first
    /// scheme, because no two samples may share a stream.
    pub(crate) fn with_public(public: Seed, master: &Seed) -> Self {
        let mut seeds = Self::derive(master);
        seeds.public = public;
        seeds
    }

    /// The seed of the second components, which is public.
    pub fn public(&self) -> &Seed {
        &self.public
    }

    /// Sample `index` of `block`: (b, a) with b = -a v + e + payload modulo the basis of `v`,
    /// evaluation domain. `a` is what [`expand_a`] gives.
    pub fn sample<W: Word>(
        &self,
        block: [u64; 4],
        index: usize,
        v: &Poly<W, Eval>,
        payload: Option<&Poly<W, Eval>>,
    ) -> Pair<W> {
        self.sample_with(Binomial::Coins21, block, index, v, payload)
    }

    /// [`Self::sample`] with an error of another width.
    pub fn sample_with<W: Word>(
        &self,
        width: Binomial,
        block: [u64; 4],
        index: usize,
        v: &Poly<W, Eval>,
        payload: Option<&Poly<W, Eval>>,
    ) -> Pair<W> {
        let basis = v.basis();
        let a = expand_a(&self.public, block, index, basis);
        let mut stream = self.error_stream(block, index);
        // The error's own memory becomes b, so that there is no other copy to wipe.
        let mut b = SmallPoly::error_in(basis.ring(), width, &mut stream).to_poly(basis).into_eval();
        // Row by row, so that products are subtracted while they are in cache.
        let mut product = vec![W::ZERO; basis.n()];
        for (i, row) in b.rows_mut() {
            let (kernels, m) = (basis.kernels(), basis.modulus(i));
            product.copy_from_slice(a.row(i));
            kernels.mul_assign(m, &mut product, v.row(i));
            kernels.sub_assign(m, row, &product);
        }
        // a times the secret would give the secret away.
        product.zeroize();
        if let Some(payload) = payload {
            b.add_assign(payload);
        }
        Pair { b, a }
    }

    /// The stream of the errors of sample `index` of `block`.
    pub(crate) fn error_stream(&self, block: [u64; 4], index: usize) -> Stream {
        self.errors.derive("error", &stream_index(block, index)).stream()
    }
}

/// The stream of the public second component of sample `index` of `block`.
pub(crate) fn mask_stream(public: &Seed, block: [u64; 4], index: usize) -> Stream {
    public.derive("second component", &stream_index(block, index)).stream()
}

/// Second component of sample `index` of `block`: uniform residues, read in evaluation domain.
pub fn expand_a<W: Word>(public: &Seed, block: [u64; 4], index: usize, basis: &Basis<W>) -> Poly<W, Eval> {
    let mut stream = mask_stream(public, block, index);
    Poly::from_rows(basis, uniform_rows(basis, &mut stream))
}

fn stream_index(block: [u64; 4], index: usize) -> [u64; 5] {
    [block[0], block[1], block[2], block[3], index as u64]
}

/// Samples (b, a) modulo one basis Q_l P, evaluation domain, laid out in the order in which products read them:
/// `[limb]`, each as [`KeyRows`] in tiles of [`key_tile()`] words.
#[derive(Clone)]
pub struct SampleBlock<W: Word> {
    basis: Basis<W>,
    special: usize,
    samples: usize,
    data: Vec<W>,
}

impl<W: Word> SampleBlock<W> {
    /// A block of zeros; the last `special` primes of the basis are the special ones.
    pub fn zero(basis: &Basis<W>, special: usize, samples: usize) -> Self {
        let data = vec![W::ZERO; basis.len() * samples * 2 * basis.n()];
        Self { basis: basis.clone(), special, samples, data }
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The modulus of the samples.
    pub fn basis(&self) -> &Basis<W> {
        &self.basis
    }

    /// Primes of the basis that are not special.
    pub fn q_len(&self) -> usize {
        self.basis.len() - self.special
    }

    /// Bytes in memory.
    pub fn memory_bytes(&self) -> usize {
        self.data.len() * size_of::<W>()
    }

    /// All words, in the order they are kept in.
    pub fn words(&self) -> &[W] {
        &self.data
    }

    /// A block from its words: as many as a block of zeros has, each below the prime of its limb.
    pub fn from_words(basis: &Basis<W>, special: usize, samples: usize, data: Vec<W>) -> Self {
        debug_assert_eq!(data.len(), basis.len() * samples * 2 * basis.n());
        Self { basis: basis.clone(), special, samples, data }
    }

    /// The sum of all words: a plain pass over the memory of the block.
    pub fn word_sum(&self) -> W {
        // As many sums as keep a vector unit busy.
        let mut sums = [W::ZERO; 64];
        let (chunks, rest) = self.data.as_chunks();
        for chunk in chunks {
            for (sum, &x) in sums.iter_mut().zip::<&[W; 64]>(chunk) {
                *sum = sum.wrapping_add(x);
            }
        }
        sums.iter().chain(rest).fold(W::ZERO, |sum, &x| sum.wrapping_add(x))
    }

    /// All samples modulo prime `limb`.
    pub fn limb(&self, limb: usize) -> KeyRows<'_, W> {
        let size = self.samples * 2 * self.basis.n();
        KeyRows::new(&self.data[limb * size..(limb + 1) * size], self.tile(), self.samples)
    }

    /// Sample `index`: what [`Self::set`] stored.
    pub fn get(&self, index: usize) -> Pair<W> {
        let mut out = Pair::zero(&self.basis);
        for limb in 0..self.basis.len() {
            for (t, [b, a]) in self.tiles(limb, index).enumerate() {
                let words = t * self.tile()..(t + 1) * self.tile();
                out.b.row_mut(limb)[words.clone()].copy_from_slice(&self.data[b..b + self.tile()]);
                out.a.row_mut(limb)[words].copy_from_slice(&self.data[a..a + self.tile()]);
            }
        }
        out
    }

    /// Stores sample `index`.
    pub fn set(&mut self, index: usize, sample: &Pair<W>) {
        let run = core::slice::from_ref(sample);
        let (shape, words) = self.room_for(run);
        for (limb, data) in self.data.chunks_exact_mut(words).enumerate() {
            place(shape, limb, data, index, run);
        }
    }

    /// Stores the samples from `first` on, limb by limb on as many threads as there are: memory that nobody has written to is
    /// handed out by the system at the first write, and that takes longer than the copy.
    pub fn set_run(&mut self, first: usize, run: &[Pair<W>]) {
        let (shape, words) = self.room_for(run);
        par::for_each_chunk_mut(&mut self.data, words, |limb, data| place(shape, limb, data, first, run));
    }

    /// Tile and samples, and the words of one limb, for samples of the same modulus.
    fn room_for(&self, run: &[Pair<W>]) -> ((usize, usize), usize) {
        let same = |s: &Pair<W>| s.b.basis().same_as(&self.basis) && s.a.basis().same_as(&self.basis);
        debug_assert!(run.iter().all(same));
        ((self.tile(), self.samples), (self.samples * 2 * self.basis.n()).max(1))
    }

    /// Words of a row that lie together.
    fn tile(&self) -> usize {
        self.basis.n().min(key_tile::<W>())
    }

    /// Where the two rows of a sample begin in each tile.
    fn tiles(&self, limb: usize, index: usize) -> impl Iterator<Item = [usize; 2]> + use<W> {
        let (tile, samples, tiles) = (self.tile(), self.samples, self.basis.n() / self.tile());
        (limb * tiles..(limb + 1) * tiles).map(move |t| {
            let start = (t * samples + index) * 2 * tile;
            [start, start + tile]
        })
    }
}

/// Stores one limb of the samples from `first` on into the words of that limb, where a tile holds `samples` samples.
fn place<W: Word>(
    (tile, samples): (usize, usize),
    limb: usize,
    data: &mut [W],
    first: usize,
    run: &[Pair<W>],
) {
    for (t, data) in data.chunks_exact_mut(samples * 2 * tile).enumerate() {
        let words = t * tile..(t + 1) * tile;
        for (to, Pair { b, a }) in data[first * 2 * tile..].chunks_exact_mut(2 * tile).zip(run) {
            to[..tile].copy_from_slice(&b.row(limb)[words.clone()]);
            to[tile..].copy_from_slice(&a.row(limb)[words.clone()]);
        }
    }
}
