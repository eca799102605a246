//! What every method of CKKS has here: its named sets, secret keys and ciphertexts. Each method lives in a module of its own
//! under the same names, so that one engine in TypeScript serves all.

use refloat::{bootstrapping::method::SlotMode, wire::CkksSet};

use crate::failure::{Failure, Result};

/// What the slots of a ciphertext hold, by name; the set's own mode without a name.
pub fn mode(name: Option<String>, params: &impl CkksSet) -> Result<SlotMode> {
    let Some(name) = name else { return Ok(params.mode()) };
    let modes = SlotMode::ALL.into_iter().filter(|mode| params.mode().takes(*mode));
    let names: Vec<&str> = modes.clone().map(SlotMode::name).collect();
    modes.into_iter().find(|mode| mode.name() == name).ok_or_else(|| {
        Failure::invalid(format!(
            "slots of this set hold {} values, not '{name}': choose another set",
            names.join(" or ")
        ))
    })
}

/// The method `encrypt` of a key with its set in the field `preset`. `$params` are its parameters, and `$encrypt` makes a ciphertext of the
/// key, numbers, what slots hold, a level and a seed.
macro_rules! encrypts {
    ($(#$doc:tt)* $key:ident, [$($params:tt)+], $encrypt:expr) => {
        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $key {
            $(#$doc)*
            pub fn encrypt(
                &self,
                values: &js_sys::Float64Array,
                mode: Option<String>,
                level: Option<u32>,
                seed: Option<js_sys::Uint8Array>,
            ) -> $crate::failure::Result<Ciphertext> {
                let params = self.$($params)+.clone();
                let mode = $crate::ckks::mode(mode, &params)?;
                let level = level.map_or(refloat::wire::CkksSet::output_level(&params), |level| level as usize);
                let ciphertext = refloat::scrub::scrubbed(|| {
                    let randomness = $crate::randomness::seed_for(self.preset.name, self.preset.secure(), seed)?;
                    let values = zeroize::Zeroizing::new(values.to_vec());
                    Ok::<_, $crate::failure::Failure>(($encrypt)(self, &values, mode, level, &randomness)?)
                })?;
                Ok(Ciphertext::new(self.preset, params, ciphertext))
            }
        }
    };
}

/// Sets, secret keys and ciphertexts of a method with parameters `$params`, keys `$secret` and sets `$preset` over words
/// `$word`; `$secure` is the set to take instead of a toy.
macro_rules! ckks_surface {
    ($preset:ty, $params:ty, $secret:ty, $word:ty, $secure:expr) => {
        pub(crate) type Sets = $crate::sets::Sets<$params>;

        thread_local! {
            static CHECKED: $crate::sets::Checked<$params> = const { $crate::sets::Checked::new(Vec::new()) };
        }

        impl $crate::sets::PageParams for $params {
            const SECURE: &'static str = $secure;

            fn kept() -> &'static std::thread::LocalKey<$crate::sets::Checked<Self>> {
                &CHECKED
            }
        }

        /// The sets whose keys this version reads, as the TypeScript type `GlueSet`.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub fn presets() -> $crate::failure::Result<wasm_bindgen::JsValue> {
            Sets::all_described()
        }

        /// A secret key. Wiped when it is freed, and with it any keys generated on the way.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct SecretKey {
            preset: &'static $preset,
            pub(crate) key: std::sync::Arc<$secret>,
        }

        $crate::secret_key::secret_key! {
            SecretKey,
            generate: |params, seed| std::sync::Arc::new(<$secret>::generate(params, seed)),
            read: |params, bytes| refloat::wire::secret_key_from_bytes(params, bytes).map(std::sync::Arc::new),
            write: |key: &std::sync::Arc<$secret>| refloat::wire::secret_key_to_bytes(key.as_ref())
        }

        $crate::ckks::encrypts! {
            /// Encrypts numbers, at the output level unless another level is given. A given seed is for insecure sets only.
            SecretKey, [key.params()], |secret: &SecretKey, values: &[f64], mode, level, randomness| {
                refloat::bootstrapping::method::NumberSecret::encrypt_numbers(
                    secret.key.as_ref(), values, mode, level, randomness,
                )
            }
        }

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl SecretKey {
            /// Decrypts, for the owner of the key, who is the caller.
            pub fn decrypt(
                &self,
                ciphertext: &Ciphertext,
                mode: Option<String>,
            ) -> $crate::failure::Result<js_sys::Float64Array> {
                use refloat::bootstrapping::method::NumberSecret;
                let mode = $crate::ckks::mode(mode, self.key.params())?;
                refloat::scrub::scrubbed(|| {
                    let values = self.key.decrypt_numbers(&ciphertext.inner, mode)?;
                    Ok(js_sys::Float64Array::from(values.reveal_to_key_owner().as_slice()))
                })
            }
        }

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl SecretKey {
            /// The key with which others encrypt for the owner of this one.
            #[wasm_bindgen(js_name = publicKey)]
            pub fn public_key(&self) -> $crate::failure::Result<PublicKey> {
                use refloat::bootstrapping::method::NumberSecret;
                let params = self.key.params();
                let level = refloat::wire::CkksSet::public_key_level(params);
                let inner = refloat::scrub::scrubbed(|| self.key.main_secret()?.public_key(level))?;
                Ok(PublicKey { preset: self.preset, params: params.clone(), inner })
            }
        }

        /// Encrypts for the owner of a secret key, and decrypts nothing.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct PublicKey {
            preset: &'static $preset,
            params: $params,
            inner: refloat::schemes::ckks::PublicKey<$word>,
        }

        $crate::accessors::identified!(PublicKey, inner);

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl PublicKey {
            /// Reads the wire form, for any set.
            #[wasm_bindgen(js_name = fromBytes)]
            pub fn from_bytes(bytes: &js_sys::Uint8Array, allow_insecure: bool) -> $crate::failure::Result<PublicKey> {
                let bytes = bytes.to_vec();
                let fingerprint = refloat::wire::frame::peek(&bytes)?.fingerprint;
                let (preset, params) = Sets::by_fingerprint(fingerprint)?;
                Sets::check_allowed(preset, allow_insecure)?;
                let inner = refloat::wire::public_key_from_bytes(&params, &bytes)?;
                Ok(PublicKey { preset, params, inner })
            }

            /// The wire form.
            #[wasm_bindgen(js_name = toBytes)]
            pub fn to_bytes(&self) -> js_sys::Uint8Array {
                let bytes = refloat::wire::public_key_to_bytes(&self.params, &self.inner);
                js_sys::Uint8Array::from(bytes.as_slice())
            }
        }

        $crate::ckks::encrypts! {
            /// Encrypts numbers as `SecretKey.encrypt` does.
            PublicKey, [params], |public: &PublicKey, values: &[f64], mode, level, randomness| {
                refloat::bootstrapping::method::NumberSet::encrypt_numbers_for(
                    &public.params, &public.inner, values, mode, level, randomness,
                )
            }
        }

        /// An encrypted vector.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct Ciphertext {
            preset: &'static $preset,
            pub(crate) params: $params,
            pub(crate) inner: refloat::schemes::ckks::Ciphertext<$word>,
        }

        $crate::accessors::identified!(Ciphertext, inner);
        $crate::accessors::leveled!(Ciphertext);

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl Ciphertext {
            /// Reads the wire form, for any set.
            #[wasm_bindgen(js_name = fromBytes)]
            pub fn from_bytes(bytes: &js_sys::Uint8Array) -> $crate::failure::Result<Ciphertext> {
                let bytes = bytes.to_vec();
                let fingerprint = refloat::wire::frame::peek(&bytes)?.fingerprint;
                let (preset, params) = Sets::by_fingerprint(fingerprint)?;
                let inner = refloat::wire::ciphertext_from_bytes(refloat::wire::CkksSet::ckks(&params), &bytes)?;
                Ok(Ciphertext::new(preset, params, inner))
            }

            /// The wire form.
            #[wasm_bindgen(js_name = toBytes)]
            pub fn to_bytes(&self) -> $crate::failure::Result<js_sys::Uint8Array> {
                let ckks = refloat::wire::CkksSet::ckks(&self.params);
                let bytes = refloat::wire::ciphertext_to_bytes(ckks, &self.inner)?;
                Ok(js_sys::Uint8Array::from(bytes.as_slice()))
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
                refloat::wire::ciphertext_len(refloat::wire::CkksSet::ckks(&self.params), level, components)
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
            #[cfg(feature = "ckks-bootstrap")]
            pub(crate) fn sibling(&self, inner: refloat::schemes::ckks::Ciphertext<$word>) -> Self {
                Self::new(self.preset, self.params.clone(), inner)
            }
        }
    };
}

pub(crate) use {ckks_surface, encrypts};
