//! How messages lie on the circle of phases.

use alloc::format;

use crate::error::Error;

/// What a ciphertext holds, and where its messages lie, in turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A bit: -1/8 for 0, 1/8 for 1.
    Bit,
    /// m < t at m / 2t: the upper half of the circle is padding, which any look-up needs.
    Padded {
        /// t, 2 to 64.
        messages: u32,
    },
    /// m < t at m / t: the whole circle.
    Cyclic {
        /// t, 2 to 64, or a power of two up to 2^15.
        messages: u32,
    },
}

impl Encoding {
    /// Largest number of messages that one look-up takes.
    pub const MAX_MESSAGES: u32 = 64;

    /// Largest number of residues, a power of two: an integer of 15 bits.
    pub const MAX_RESIDUES: u32 = 1 << 15;

    /// Number of messages: 2 for a bit.
    pub fn messages(self) -> u32 {
        match self {
            Self::Bit => 2,
            Self::Padded { messages } | Self::Cyclic { messages } => messages,
        }
    }

    /// Checks the number of messages.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for fewer than 2 or more than 64, except for residues modulo a power of two up to 2^15.
    pub fn check(self) -> Result<(), Error> {
        let messages = self.messages();
        let large = matches!(self, Self::Cyclic { .. })
            && messages.is_power_of_two()
            && messages <= Self::MAX_RESIDUES;
        if (2..=Self::MAX_MESSAGES).contains(&messages) || (large && messages >= 2) {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "an encoding of {messages} messages; take 2 to {}, or residues modulo a power of two up to {}",
            Self::MAX_MESSAGES,
            Self::MAX_RESIDUES
        )))
    }

    /// The phase of message `m` as a fraction of the turn.
    pub fn turns(self, m: u32) -> (i64, u64) {
        match self {
            Self::Bit => (2 * i64::from(m) - 1, 8),
            Self::Padded { messages } => (m.into(), 2 * u64::from(messages)),
            Self::Cyclic { messages } => (m.into(), messages.into()),
        }
    }

    /// Half the distance of two neighbouring messages, in turns: what noise must not exceed.
    pub fn margin(self) -> f64 {
        match self {
            Self::Bit => 0.125,
            Self::Padded { messages } => 0.25 / f64::from(messages),
            Self::Cyclic { messages } => 0.5 / f64::from(messages),
        }
    }

    /// Name for messages: "a bit", "an integer below 8", "a residue modulo 8".
    pub fn describe(self) -> alloc::string::String {
        match self {
            Self::Bit => "a bit".into(),
            Self::Padded { messages } => format!("an integer below {messages}"),
            Self::Cyclic { messages } => format!("a residue modulo {messages}"),
        }
    }
}

impl Encoding {
    /// Refuses a message the encoding does not have.
    pub(crate) fn check_message(self, message: u32) -> Result<(), Error> {
        if message < self.messages() {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "message {message} for {}; take one from 0 to {}",
            self.describe(),
            self.messages() - 1
        )))
    }
}
