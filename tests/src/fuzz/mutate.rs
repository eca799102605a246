//! Inputs that are nearly valid.

/// Makes inputs from valid ones: bits flipped, bytes and lengths replaced, pieces cut, repeated and exchanged. The same seed gives
/// the same inputs.
pub struct Mutator {
    state: u64,
}

/// Lengths and counts that something may be allocated for.
const LENGTHS: [u64; 8] = [0, 1, 0xff, 0xffff, 1 << 20, 1 << 31, u32::MAX as u64, u64::MAX];

/// Bytes within which most edits fall: metadata stand there, and residues behind.
const FRONT: usize = 128;

impl Mutator {
    /// Begins a sequence of inputs.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next input: one of the corpus, changed once to four times, mostly once.
    ///
    /// # Panics
    /// If the corpus is empty.
    pub fn next_input(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.below(corpus.len())].clone();
        let edits = if self.below(2) > 0 { 1 } else { 1 + self.below(4) };
        for _ in 0..edits {
            let other = &corpus[self.below(corpus.len())];
            self.edit(&mut bytes, other);
        }
        bytes
    }

    fn edit(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.place(bytes.len());
        match self.below(8) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            2 if at < bytes.len() => bytes[at] = self.word() as u8,
            3 => {
                let length = LENGTHS[self.below(LENGTHS.len())].to_le_bytes();
                let width = [2, 4, 8][self.below(3)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&length[..width]);
            }
            4 => bytes.truncate(at),
            5 => drop(bytes.drain(at..at + self.piece(bytes.len() - at))),
            6 => {
                let piece = bytes[at..at + self.piece(bytes.len() - at)].to_vec();
                let to = self.place(bytes.len());
                drop(bytes.splice(to..to, piece));
            }
            _ => {
                let from = self.place(other.len());
                let piece = &other[from..from + self.piece(other.len() - from)];
                let end = bytes.len().min(at + piece.len());
                drop(bytes.splice(at..end, piece.iter().copied()));
            }
        }
    }

    /// A place in `len` bytes, or behind them: two of three times near the front.
    fn place(&mut self, len: usize) -> usize {
        let reach = if self.below(3) > 0 { len.min(FRONT) } else { len };
        self.below(reach + 1)
    }

    /// The length of a piece of at most `len` bytes: a short one half of the time.
    fn piece(&mut self, len: usize) -> usize {
        let reach = if self.below(2) > 0 { len.min(16) } else { len };
        self.below(reach + 1)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    /// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
