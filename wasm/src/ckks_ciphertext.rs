//! Ciphertexts of CKKS as both bootstrapping methods have them here.

/// `Ciphertext`, an encrypted vector of a set `$preset` with parameters `$params` over words `$word`. Named sets are those
/// of the module `presets` where the macro is used.
macro_rules! ckks_ciphertext {
    ($preset:ty, $params:ty, $word:ty) => {
        /// An encrypted vector.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct Ciphertext {
            preset: &'static $preset,
            pub(crate) params: $params,
            pub(crate) inner: refloat::schemes::ckks::Ciphertext<$word>,
        }

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl Ciphertext {
            /// Reads the wire form, of whichever set it is.
            #[wasm_bindgen(js_name = fromBytes)]
            pub fn from_bytes(bytes: &js_sys::Uint8Array) -> $crate::failure::Result<Ciphertext> {
                let bytes = bytes.to_vec();
                let fingerprint = refloat::wire::frame::peek(&bytes)?.fingerprint;
                let (preset, params) = presets::Sets::by_fingerprint(fingerprint)?;
                let inner = refloat::wire::ciphertext_from_bytes(params.ckks(), &bytes)?;
                Ok(Ciphertext::new(preset, params, inner))
            }

            /// The wire form.
            #[wasm_bindgen(js_name = toBytes)]
            pub fn to_bytes(&self) -> $crate::failure::Result<js_sys::Uint8Array> {
                let bytes = refloat::wire::ciphertext_to_bytes(self.params.ckks(), &self.inner)?;
                Ok(js_sys::Uint8Array::from(bytes.as_slice()))
            }

            /// Name of the parameter set.
            pub fn preset(&self) -> String {
                self.preset.name.into()
            }

            /// Id of the key it is encrypted under.
            #[wasm_bindgen(js_name = keyId)]
            pub fn key_id(&self) -> js_sys::Uint8Array {
                js_sys::Uint8Array::from(self.inner.key_id().as_slice())
            }

            /// Its level.
            pub fn level(&self) -> usize {
                self.inner.level()
            }

            /// log2 of its modulus.
            #[wasm_bindgen(js_name = logQ)]
            pub fn log_q(&self) -> f64 {
                self.inner.log_q()
            }

            /// log2 of its scale.
            #[wasm_bindgen(js_name = logScale)]
            pub fn log_scale(&self) -> f64 {
                self.inner.log_scale()
            }

            /// Bytes of its wire form.
            #[wasm_bindgen(js_name = byteLength)]
            pub fn byte_length(&self) -> usize {
                let (level, components) = (self.inner.level(), self.inner.components());
                refloat::wire::ciphertext_len(self.params.ckks(), level, components)
            }
        }

        impl Ciphertext {
            /// Wraps a ciphertext of a set.
            pub(crate) fn new(
                preset: &'static $preset,
                params: $params,
                inner: refloat::schemes::ckks::Ciphertext<$word>,
            ) -> Self {
                Self { preset, params, inner }
            }

            /// A result of the same set.
            #[cfg(any(feature = "full", feature = "conventional"))]
            pub(crate) fn sibling(&self, inner: refloat::schemes::ckks::Ciphertext<$word>) -> Self {
                Self::new(self.preset, self.params.clone(), inner)
            }
        }
    };
}

pub(crate) use ckks_ciphertext;
