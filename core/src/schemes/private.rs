//! A decryption, which only the owner of the key may see.

use zeroize::Zeroize;

/// What a decryption returns: for the owner of the secret key, and nobody else.
///
/// A CKKS decryption carries the ciphertext's noise; one decryption given to another party can reveal the key (Li, Micciancio, ePrint
/// 2020/1533). A BGV decryption is exact, but still the private plaintext of its owner. So this type cannot be printed, compared or
/// serialised, and is wiped when dropped. The owner takes the value out by name.
pub struct Private<T: Zeroize>(T);

impl<T: Zeroize> Private<T> {
    /// Wraps a decryption.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for the owner of the secret key. A CKKS decryption goes to nobody else as it is: it has to be flooded with noise first,
    /// as `decrypt_for_release` does, of [keys of CKKS alone](crate::schemes::ckks::CkksSecretKey::decrypt_for_release) and of
    /// [keys of every method](crate::bootstrapping::method::NumberSecret::decrypt_for_release).
    pub fn reveal_to_key_owner(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> Drop for Private<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
