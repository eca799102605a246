//! What secret keys of all methods have here under the same names.

/// The methods of `$name`, a secret key with the fields `preset` and `key`, that do not depend on what it encrypts. Named sets are `Sets`
/// where the macro is used; `generate` makes a key, `read` reads its wire form and `write` writes it.
macro_rules! secret_key {
    ($name:ident, generate: $generate:expr, read: $read:expr, write: $write:expr) => {
        $crate::accessors::identified!($name, key);

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $name {
            /// Makes a key from the platform's randomness. A given seed is for insecure sets only.
            pub fn generate(
                preset: &str,
                allow_insecure: bool,
                seed: Option<js_sys::Uint8Array>,
            ) -> $crate::failure::Result<$name> {
                let (preset, params) = Sets::allowed(preset, allow_insecure)?;
                refloat::scrub::scrubbed(|| {
                    let seed = $crate::randomness::seed_for(preset.name, preset.secure(), seed)?;
                    Ok($name { preset, key: ($generate)(&params, &seed) })
                })
            }

            /// Reads what `exportSecret` wrote.
            #[wasm_bindgen(js_name = importSecret)]
            pub fn import_secret(
                bytes: &js_sys::Uint8Array,
                allow_insecure: bool,
            ) -> $crate::failure::Result<$name> {
                refloat::scrub::scrubbed(|| {
                    let bytes = zeroize::Zeroizing::new(bytes.to_vec());
                    let fingerprint = refloat::wire::frame::peek(&bytes)?.fingerprint;
                    let (preset, params) = Sets::by_fingerprint(fingerprint)?;
                    Sets::check_allowed(preset, allow_insecure)?;
                    Ok($name { preset, key: ($read)(&params, &bytes)? })
                })
            }

            /// The key itself in wire form.
            #[wasm_bindgen(js_name = exportSecret)]
            pub fn export_secret(&self) -> js_sys::Uint8Array {
                refloat::scrub::scrubbed(|| {
                    let bytes = zeroize::Zeroizing::new(($write)(&self.key));
                    js_sys::Uint8Array::from(bytes.as_slice())
                })
            }

            /// The token of this key's evaluation keys on the server at an origin, 32 bytes.
            #[wasm_bindgen(js_name = serverToken)]
            pub fn server_token(&self, origin: &str) -> js_sys::Uint8Array {
                refloat::scrub::scrubbed(|| {
                    let bytes = zeroize::Zeroizing::new(($write)(&self.key));
                    js_sys::Uint8Array::from(refloat::wire::server_token(&bytes, origin).as_slice())
                })
            }

            /// One part of the evaluation keys in wire form.
            #[wasm_bindgen(js_name = keyPart)]
            pub fn key_part(&self, index: usize) -> $crate::failure::Result<js_sys::Uint8Array> {
                refloat::scrub::scrubbed(|| {
                    Ok(js_sys::Uint8Array::from(self.key.key_part(index)?.as_slice()))
                })
            }
        }
    };
}

pub(crate) use secret_key;
