//! Evaluation keys: what a server holds.

use core::borrow::Borrow;

use alloc::{collections::BTreeMap, format, sync::Arc, vec, vec::Vec};

use super::{
    layout::{self, BlockId, Segment},
    params::ShipParams,
    secret::{ShipSecretKey, key_id_of},
};
use crate::{
    arith::Word,
    error::{Error, hex},
    par,
    random::Seed,
    ring::{Eval, Poly},
    rlwe::{Pair, SampleBlock, expand_a},
};

/// The keys of one track.
pub struct TrackKeys<W: Word> {
    /// Candidate r, quarter q at sample 4 r + q.
    pub(super) column: SampleBlock<W>,
    /// `[step][branch]`: gadget vector for b, then for a.
    pub(super) mux: Vec<Vec<SampleBlock<W>>>,
}

impl<W: Word> TrackKeys<W> {
    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        self.column.memory_bytes() + self.mux.iter().flatten().map(SampleBlock::memory_bytes).sum::<usize>()
    }
}

/// Where an evaluator takes its keys from: all in memory ([`ShipKeys`]), or track by track from the
/// holder of the secret ([`GeneratedKeys`]).
pub trait KeySource<W: Word>: Sync {
    /// The key set.
    fn key_id(&self) -> [u8; 16];
    /// Keys used outside the tracks.
    fn common(&self) -> &CommonKeys<W>;
    /// Keys of one track.
    ///
    /// # Errors
    /// [`Error::MissingKey`], or what reading or generating the keys may give.
    fn track(&self, track: usize) -> Result<Arc<TrackKeys<W>>, Error>;
    /// The secret key from which [`Self::track`] makes keys, if it makes them: a track can then be rotated without keeping any of them.
    #[doc(hidden)]
    fn maker(&self) -> Option<&ShipSecretKey<W>> {
        None
    }
}

/// Keys used once per bootstrap, outside the tracks.
pub struct CommonKeys<W: Word> {
    pub(super) encapsulation: SampleBlock<W>,
    pub(super) rotations: Vec<SampleBlock<W>>,
    pub(super) conjugation: SampleBlock<W>,
    pub(super) relinearization: SampleBlock<W>,
}

impl<W: Word> CommonKeys<W> {
    /// The relinearisation key, usable at every level.
    pub fn relinearization(&self) -> &SampleBlock<W> {
        &self.relinearization
    }

    /// The conjugation key, usable up to the output level.
    pub fn conjugation(&self) -> &SampleBlock<W> {
        &self.conjugation
    }

    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        [&self.encapsulation, &self.conjugation, &self.relinearization]
            .into_iter()
            .chain(&self.rotations)
            .map(SampleBlock::memory_bytes)
            .sum()
    }
}

/// The evaluation keys of one key set, expanded in memory.
pub struct ShipKeys<W: Word = u32> {
    params: ShipParams<W>,
    key_id: [u8; 16],
    common: CommonKeys<W>,
    tracks: Vec<Arc<TrackKeys<W>>>,
}

impl<W: Word> ShipKeys<W> {
    /// Collects chunks into keys.
    pub fn builder(params: &ShipParams<W>, key_id: [u8; 16]) -> ShipKeysBuilder<W> {
        ShipKeysBuilder {
            params: params.clone(),
            key_id,
            blocks: BTreeMap::new(),
            present: vec![false; params.key_parts().len()],
        }
    }

    /// Makes all evaluation keys of a secret key, on as many threads as there are.
    pub fn generate(secret: &ShipSecretKey<W>) -> Result<Self, Error> {
        let params = secret.params();
        let tracks = par::try_map(params.tracks(), |k| generate_track(secret, k).map(Arc::new))?;
        Ok(Self { params: params.clone(), key_id: secret.key_id(), common: generate_common(secret)?, tracks })
    }

    /// The parameter set.
    pub fn params(&self) -> &ShipParams<W> {
        &self.params
    }

    /// Reads the keys of all tracks once, on as many threads as there are, and gives the sum of their words. No
    /// bootstrap can take less time than this. Only `refloat bench` uses it, to show the two times side by side.
    #[doc(hidden)]
    pub fn read_tracks(&self) -> W {
        let sums = par::map(self.tracks.len(), |track| {
            let TrackKeys { column, mux } = &*self.tracks[track];
            let blocks = mux.iter().flatten().chain([column]);
            blocks.fold(W::ZERO, |sum, block| sum.wrapping_add(block.word_sum()))
        });
        sums.into_iter().fold(W::ZERO, W::wrapping_add)
    }

    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        self.common.memory_bytes() + self.tracks.iter().map(|t| t.memory_bytes()).sum::<usize>()
    }
}

impl<W: Word> KeySource<W> for ShipKeys<W> {
    fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    fn common(&self) -> &CommonKeys<W> {
        &self.common
    }

    fn track(&self, track: usize) -> Result<Arc<TrackKeys<W>>, Error> {
        self.tracks.get(track).cloned().ok_or_else(|| {
            Error::MissingKey(format!(
                "track {track} of a key set of {} tracks; ask for one below that",
                self.tracks.len()
            ))
        })
    }
}

/// Keys that the holder of the secret key makes on the fly, one track at a time, and drops again: a 128-bit bootstrap
/// in the memory of a browser tab. `S` is a reference to the secret key, or an `Arc` of it.
pub struct GeneratedKeys<S, W: Word = u32> {
    secret: S,
    common: CommonKeys<W>,
}

impl<W: Word, S: Borrow<ShipSecretKey<W>>> GeneratedKeys<S, W> {
    /// Makes the keys outside the tracks.
    pub fn new(secret: S) -> Result<Self, Error> {
        let common = generate_common(secret.borrow())?;
        Ok(Self { secret, common })
    }
}

impl<W: Word, S: Borrow<ShipSecretKey<W>> + Sync> KeySource<W> for GeneratedKeys<S, W> {
    fn key_id(&self) -> [u8; 16] {
        self.secret.borrow().key_id()
    }

    fn common(&self) -> &CommonKeys<W> {
        &self.common
    }

    fn track(&self, track: usize) -> Result<Arc<TrackKeys<W>>, Error> {
        generate_track(self.secret.borrow(), track).map(Arc::new)
    }

    fn maker(&self) -> Option<&ShipSecretKey<W>> {
        Some(self.secret.borrow())
    }
}

fn generate_block<W: Word>(secret: &ShipSecretKey<W>, block: BlockId) -> Result<SampleBlock<W>, Error> {
    let params = secret.params();
    let mut out = empty_block(params, block);
    let segment = Segment { block, first: 0, count: out.samples() };
    secret.for_each_sample(segment, &mut |index, sample| out.set(index, &sample))?;
    Ok(out)
}

/// The keys of one track, made from the secret key.
///
/// # Errors
/// None for a track below the set's number of tracks.
pub fn generate_track<W: Word>(secret: &ShipSecretKey<W>, track: usize) -> Result<TrackKeys<W>, Error> {
    let branches = &secret.params().spec().branches;
    let mut mux = Vec::with_capacity(branches.len());
    for (step, &count) in branches.iter().enumerate() {
        mux.push(
            (0..count)
                .map(|branch| generate_block(secret, BlockId::Mux { track, step, branch }))
                .collect::<Result<_, _>>()?,
        );
    }
    Ok(TrackKeys { column: generate_block(secret, BlockId::Column { track })?, mux })
}

fn generate_common<W: Word>(secret: &ShipSecretKey<W>) -> Result<CommonKeys<W>, Error> {
    let count = layout::rotation_count(secret.params().slots());
    Ok(CommonKeys {
        encapsulation: generate_block(secret, BlockId::Encapsulation)?,
        rotations: par::try_map(count, |index| generate_block(secret, BlockId::Rotation { index }))?,
        conjugation: generate_block(secret, BlockId::Conjugation)?,
        relinearization: generate_block(secret, BlockId::Relinearization)?,
    })
}

fn empty_block<W: Word>(params: &ShipParams<W>, block: BlockId) -> SampleBlock<W> {
    let (rlwe, encapsulation) = (params.ckks().rlwe(), params.encapsulation());
    let special = if block == BlockId::Encapsulation { 1 } else { rlwe.special().len() };
    let samples = layout::samples(block, params.spec(), rlwe, encapsulation);
    SampleBlock::zero(layout::basis(block, rlwe, encapsulation), special, samples)
}

/// Builds [`ShipKeys`] from chunks in any order.
pub struct ShipKeysBuilder<W: Word = u32> {
    params: ShipParams<W>,
    key_id: [u8; 16],
    blocks: BTreeMap<BlockId, SampleBlock<W>>,
    present: Vec<bool>,
}

impl<W: Word> ShipKeysBuilder<W> {
    /// The parameter set.
    pub fn params(&self) -> &ShipParams<W> {
        &self.params
    }

    /// The key set being built.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Takes the first components of one chunk, in the order of its segments, and expands the
    /// second ones from the public seed.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an unknown chunk or samples of another shape;
    /// [`Error::ParamsMismatch`] if the seed is not that of the key set.
    pub fn add_samples(
        &mut self,
        index: usize,
        public: &Seed,
        samples: Vec<Poly<W, Eval>>,
    ) -> Result<(), Error> {
        let params = self.params.clone();
        let part = params.key_parts().get(index).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "chunk {index} of a set of {} chunks; count them from 0",
                params.key_parts().len()
            ))
        })?;
        if key_id_of(&params, public) != self.key_id {
            return Err(Error::ParamsMismatch(format!(
                "the chunk's public seed gives key {}, and key {} is being built; send the chunks of one key",
                hex(&key_id_of(&params, public)),
                hex(&self.key_id)
            )));
        }
        let expected: usize = part.segments.iter().map(|s| s.count).sum();
        if samples.len() != expected {
            return Err(Error::InvalidArgument(format!(
                "chunk {index} has {expected} samples, {} were given; give it whole",
                samples.len()
            )));
        }
        let mut samples = samples.into_iter();
        for segment in &part.segments {
            let block =
                self.blocks.entry(segment.block).or_insert_with(|| empty_block(&params, segment.block));
            let basis = block.basis().clone();
            let chunk: Vec<_> = samples.by_ref().take(segment.count).collect();
            if chunk.iter().any(|b| !b.basis().same_as(&basis)) {
                return Err(Error::InvalidArgument(format!(
                    "chunk {index} holds samples of another modulus; give every chunk with its own index"
                )));
            }
            let code = segment.block.code();
            let second = par::map(segment.count, |i| expand_a(public, code, segment.first + i, &basis));
            for (i, (b, a)) in chunk.into_iter().zip(second).enumerate() {
                block.set(segment.first + i, &Pair { b, a });
            }
        }
        self.present[index] = true;
        Ok(())
    }

    /// Chunks not yet added.
    pub fn missing(&self) -> Vec<usize> {
        self.present.iter().enumerate().filter(|(_, p)| !**p).map(|(i, _)| i).collect()
    }

    /// The keys, once every chunk is in.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming how many chunks are absent and the first of them.
    pub fn finish(mut self) -> Result<ShipKeys<W>, Error> {
        let missing = self.missing();
        if let Some(first) = missing.first() {
            return Err(Error::MissingKey(format!(
                "{} of {} key chunks are absent, the first is {first} ({}); add them",
                missing.len(),
                self.present.len(),
                self.params.key_parts()[*first].label
            )));
        }
        let mut take = |block: BlockId| {
            self.blocks
                .remove(&block)
                .ok_or_else(|| Error::MissingKey(format!("key block {block:?} is absent; add its chunks")))
        };
        let rotations = (0..layout::rotation_count(self.params.slots()))
            .map(|index| take(BlockId::Rotation { index }))
            .collect::<Result<_, _>>()?;
        let common = CommonKeys {
            encapsulation: take(BlockId::Encapsulation)?,
            rotations,
            conjugation: take(BlockId::Conjugation)?,
            relinearization: take(BlockId::Relinearization)?,
        };
        let mut tracks = Vec::with_capacity(self.params.tracks());
        for track in 0..self.params.tracks() {
            let mut mux = Vec::new();
            for (step, &count) in self.params.spec().branches.iter().enumerate() {
                mux.push(
                    (0..count)
                        .map(|branch| take(BlockId::Mux { track, step, branch }))
                        .collect::<Result<_, _>>()?,
                );
            }
            tracks.push(Arc::new(TrackKeys { column: take(BlockId::Column { track })?, mux }));
        }
        Ok(ShipKeys { params: self.params, key_id: self.key_id, common, tracks })
    }
}
