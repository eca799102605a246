//! What every method of CKKS has here for arithmetic in the page: operations on ciphertexts, and the keys that some of them need.

/// Known numbers: one for every slot, or one per slot.
pub fn known(
    slots: &[refloat::schemes::ckks::Complex],
    everywhere: bool,
) -> refloat::circuits::arithmetic::Known<'_> {
    use refloat::circuits::arithmetic::Known;
    match (everywhere, slots) {
        (true, &[number]) => Known::Everywhere(number),
        _ => Known::Slots(slots),
    }
}

/// `ArithmeticKeys` and the operations of a method; its sets, keys and ciphertexts, over words `$word`, are those of the parent module.
macro_rules! ckks_arithmetic {
    ($word:ty) => {
        use js_sys::{Float64Array, Int32Array, Uint8Array};
        use refloat::{
            bootstrapping::method::{NumberSecret, slots_of_known},
            circuits::{
                arithmetic::{Arithmetic, ArithmeticKeys as Keys, KeyList, Known},
                program::Target,
            },
            scrub::scrubbed,
            wire::CkksSet,
        };
        use wasm_bindgen::prelude::wasm_bindgen;

        use super::{Ciphertext, SecretKey, Sets};
        use crate::{
            ckks::mode as slot_mode,
            ckks_arithmetic::known,
            failure::{Result, key_id},
            rotations::steps,
        };

        /// Public keys for products, rotations and conjugation.
        #[wasm_bindgen]
        pub struct ArithmeticKeys(pub(crate) Keys<$word>);

        $crate::accessors::listed!(ArithmeticKeys);

        #[wasm_bindgen]
        impl ArithmeticKeys {
            /// Begins keys for a key set. Without `rotations` there will be one for each power of two.
            pub fn begin(
                preset: &str,
                id: &Uint8Array,
                rotations: Option<Int32Array>,
                conjugation: bool,
            ) -> Result<ArithmeticKeys> {
                let (_, params) = Sets::named(preset)?;
                let (context, target) = (CkksSet::ckks(&params), params.target()?);
                let list = KeyList::new(context, &target, steps(rotations).as_deref(), conjugation)?;
                Ok(ArithmeticKeys(Keys::new(context, target, key_id(id)?, list)))
            }

            /// Makes one key from the secret key.
            #[wasm_bindgen(js_name = addFromSecret)]
            pub fn add_from_secret(&mut self, secret: &SecretKey, index: usize) -> Result<()> {
                scrubbed(|| Ok(self.0.make(index, &secret.key.main_secret()?)?))
            }

            /// Products of the slots of two ciphertexts; takes one level.
            pub fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext> {
                operation(x, |on| on.multiply(&x.inner, &y.inner, &self.0))
            }

            /// Slots moved to the left by `steps` places, cyclically.
            pub fn rotate(&self, x: &Ciphertext, steps: i32) -> Result<Ciphertext> {
                operation(x, |on| on.rotate(&x.inner, steps.into(), &self.0))
            }

            /// Complex conjugates of the slots.
            pub fn conjugate(&self, x: &Ciphertext) -> Result<Ciphertext> {
                operation(x, |on| on.conjugate(&x.inner, &self.0))
            }
        }

        /// Sums of the slots of two ciphertexts.
        #[wasm_bindgen]
        pub fn add(x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext> {
            operation(x, |on| on.add(&x.inner, &y.inner))
        }

        /// Differences of the slots of two ciphertexts.
        #[wasm_bindgen]
        pub fn subtract(x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext> {
            operation(x, |on| on.subtract(&x.inner, &y.inner))
        }

        /// Negatives of the slots.
        #[wasm_bindgen]
        pub fn negate(x: &Ciphertext) -> Result<Ciphertext> {
            operation(x, |on| Ok(on.negate(&x.inner)))
        }

        /// Slots plus known numbers: one for every slot, or one per slot in a given mode.
        #[wasm_bindgen(js_name = addPlain)]
        pub fn add_plain(
            x: &Ciphertext,
            values: &Float64Array,
            mode: Option<String>,
            everywhere: bool,
        ) -> Result<Ciphertext> {
            with_known(x, values, mode, everywhere, |on, known| on.add_known(&x.inner, known))
        }

        /// Slots times known numbers, as [`add_plain`] takes them.
        #[wasm_bindgen(js_name = multiplyPlain)]
        pub fn multiply_plain(
            x: &Ciphertext,
            values: &Float64Array,
            mode: Option<String>,
            everywhere: bool,
        ) -> Result<Ciphertext> {
            with_known(x, values, mode, everywhere, |on, known| on.multiply_known(&x.inner, known))
        }

        /// The same message at a lower level.
        #[wasm_bindgen(js_name = dropToLevel)]
        pub fn drop_to_level(x: &Ciphertext, level: u32) -> Result<Ciphertext> {
            operation(x, |on| on.drop_to_level(&x.inner, level as usize))
        }

        /// The result of an operation on slots and known numbers.
        fn with_known(
            x: &Ciphertext,
            values: &Float64Array,
            mode: Option<String>,
            everywhere: bool,
            compute: impl FnOnce(&Arithmetic<'_, $word>, Known<'_>) -> Computed,
        ) -> Result<Ciphertext> {
            let slots = slots_of_known(&values.to_vec(), slot_mode(mode, &x.params)?)?;
            operation(x, |on| compute(on, known(&slots, everywhere)))
        }

        type Computed = core::result::Result<refloat::schemes::ckks::Ciphertext<$word>, refloat::Error>;

        fn operation(
            x: &Ciphertext,
            compute: impl FnOnce(&Arithmetic<'_, $word>) -> Computed,
        ) -> Result<Ciphertext> {
            let target: Target = x.params.target()?;
            let arithmetic = Arithmetic::new(CkksSet::ckks(&x.params), &target);
            Ok(x.sibling(compute(&arithmetic)?))
        }
    };
}

pub(crate) use ckks_arithmetic;
