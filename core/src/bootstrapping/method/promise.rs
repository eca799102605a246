//! What a set promises of the result of a bootstrap.

/// For which messages a promise of precision holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Messages {
    /// Every message with parts in \[-1, 1\].
    Any,
    /// Messages that are random with mean zero.
    ZeroMean,
    /// Bits, which each bootstrap cleans.
    Bits,
    /// Integers over their modulus, which each bootstrap cleans.
    Integers,
}

impl Messages {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Any, Self::ZeroMean, Self::Bits, Self::Integers];

    /// Whether each bootstrap cleans them, so that errors of several do not add up.
    pub fn cleaned(self) -> bool {
        matches!(self, Self::Bits | Self::Integers)
    }

    /// The kind in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Any => "every message with parts in [-1, 1]",
            Self::ZeroMean => "messages that are random with mean zero",
            Self::Bits => "every message of bits",
            Self::Integers => "every message of integers over their modulus, in [0, 1)",
        }
    }
}

/// What is promised of the result of one bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Promise {
    /// Numbers with an error.
    Precision {
        /// -log2 of the largest error over the slots.
        worst: f64,
        /// -log2 of the mean error over the slots, where that is promised too.
        mean: Option<f64>,
        /// For which messages.
        messages: Messages,
    },
    /// The message itself.
    Exact {
        /// log2 of the probability that it is another one.
        log_failure: f64,
    },
    /// The result of a gate or of a look-up.
    Gate {
        /// log2 of the probability that it is wrong.
        log_failure: f64,
    },
}

impl Promise {
    /// -log2 of the mean and of the largest error; the latter twice if the mean is not promised. `None` for results without an
    /// error.
    pub fn precision(self) -> Option<[f64; 2]> {
        match self {
            Self::Precision { worst, mean, .. } => Some([mean.unwrap_or(worst), worst]),
            Self::Exact { .. } | Self::Gate { .. } => None,
        }
    }

    /// Whether it holds for every message of its kind, not only for random ones.
    pub fn holds_for_every_message(self) -> bool {
        !matches!(self, Self::Precision { messages: Messages::ZeroMean, .. })
    }

    /// What is promised after `bootstraps` bootstraps in a row, with no computation between them. At worst errors and
    /// failure probabilities add up, which costs log2 of the number of bootstraps. A computation multiplies the errors
    /// before it by its slope. Bits and integers are cleaned by each bootstrap, so their errors do not add up.
    #[must_use]
    pub fn after(self, bootstraps: u32) -> Self {
        let lost = libm::log2(f64::from(bootstraps.max(1)));
        match self {
            Self::Precision { messages, .. } if messages.cleaned() => self,
            Self::Precision { worst, mean, messages } => {
                Self::Precision { worst: worst - lost, mean: mean.map(|mean| mean - lost), messages }
            }
            Self::Exact { log_failure } => Self::Exact { log_failure: log_failure + lost },
            Self::Gate { log_failure } => Self::Gate { log_failure: log_failure + lost },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_loses_the_logarithm_of_its_length() {
        let real = Promise::Precision { worst: 5.0, mean: Some(7.0), messages: Messages::Any };
        let Promise::Precision { worst, mean, .. } = real.after(8) else {
            panic!("precision stays precision")
        };
        assert!((worst - 2.0).abs() < 1e-12 && mean.is_some_and(|mean| (mean - 4.0).abs() < 1e-12));
        assert_eq!((real.after(1), real.after(0)), (real, real));
        let bits = Promise::Precision { worst: 4.0, mean: None, messages: Messages::Bits };
        assert_eq!(bits.after(1000), bits);
        let (gate, exact) = (Promise::Gate { log_failure: -128.0 }, Promise::Exact { log_failure: -64.0 });
        assert_eq!(gate.after(1 << 10), Promise::Gate { log_failure: -118.0 });
        assert_eq!(exact.after(4), Promise::Exact { log_failure: -62.0 });
        assert_eq!((bits.precision(), gate.precision()), (Some([4.0, 4.0]), None));
    }
}
