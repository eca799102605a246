//! What keys and ciphertexts of every scheme tell about themselves.

/// The accessors of set and key for a `$name` that has its set in `preset` and wraps the rest in `$inner`.
macro_rules! identified {
    ($name:ident, $inner:ident) => {
        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $name {
            /// Name of the parameter set.
            pub fn preset(&self) -> String {
                self.preset.name.into()
            }

            /// Public identifier of this key, or of the key that decrypts.
            #[wasm_bindgen(js_name = keyId)]
            pub fn key_id(&self) -> js_sys::Uint8Array {
                js_sys::Uint8Array::from(self.$inner.key_id().as_slice())
            }
        }
    };
}

/// The accessors of level and modulus for a `$name` that has its ciphertext in `inner`.
#[cfg(any(feature = "ckks", feature = "integers"))]
macro_rules! leveled {
    ($name:ident) => {
        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $name {
            /// Its level.
            pub fn level(&self) -> usize {
                self.inner.level()
            }

            /// log2 of its modulus.
            #[wasm_bindgen(js_name = logQ)]
            pub fn log_q(&self) -> f64 {
                self.inner.log_q()
            }
        }
    };
}

/// What a `$name` that wraps keys of a list tells about the list.
#[cfg(any(feature = "ckks-bootstrap", feature = "integers"))]
macro_rules! listed {
    ($name:ident) => {
        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $name {
            /// What each key is for, one per line, in the order in which they are made.
            pub fn labels(&self) -> $crate::failure::Result<String> {
                Ok(self.0.list().labels()?.join("\n"))
            }

            /// Bytes that each key takes in memory.
            #[wasm_bindgen(js_name = keyBytes)]
            pub fn key_bytes(&self) -> f64 {
                self.0.list().key_bytes() as f64
            }
        }
    };
}

pub(crate) use identified;
#[cfg(any(feature = "ckks", feature = "integers"))]
pub(crate) use leveled;
#[cfg(any(feature = "ckks-bootstrap", feature = "integers"))]
pub(crate) use listed;
