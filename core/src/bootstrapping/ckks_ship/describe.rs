//! The description of a SHIP set.

use super::{Diagonals, ShipParams, ShipPreset, ShipSpec};
use crate::{
    arith::Word,
    bootstrapping::{
        method::{ParamSet, Part, Scheme, SetInfo, SlotMode, Stage},
        wire_sizes::ciphertext_bytes,
    },
    error::Error,
};

impl<W: Word> ParamSet for ShipParams<W> {
    type Spec = ShipSpec;

    fn checked(spec: &ShipSpec) -> Result<Self, Error> {
        Self::new(spec)
    }

    fn info(&self, preset: &ShipPreset) -> SetInfo {
        let key_parts = Part::list(self.key_parts().iter().map(|part| (part.label.clone(), part.bytes)));
        SetInfo {
            mode: self.mode(),
            gain_bits: (self.mode() != SlotMode::Bits).then(|| preset.gain_bits()),
            security_bits: self.security().bits,
            security_statement: self.security().statement.clone(),
            log_n: self.log_n(),
            slots: self.slots(),
            log_qp: self.log_qp(),
            log_q0p: self.log_q0_p(),
            max_level: self.max_level(),
            input_level: self.input_level(),
            output_level: self.output_level(),
            stages: self.stages().iter().map(Stage::from).collect(),
            tracks: self.tracks(),
            tree_levels: self.tree_levels(),
            ciphertext_bytes: ciphertext_bytes(self.ckks().rlwe()),
            expanded_key_bytes: self.expanded_key_bytes() + Diagonals::for_params(self).memory_bytes(self),
            ..SetInfo::of(preset, Scheme::Ckks, key_parts)
        }
    }
}
