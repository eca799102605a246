//! C functions that several methods have: written once, and named after each method.

/// The functions that every secret key has, and those of the parts of its evaluation keys. They use the names that [`export_owner!`]
/// imports.
macro_rules! export_secret {
    ($method:literal, $params:ty) => {
        export! { $method:
            fn sets(out: Room<c_char>, capacity: usize, length: Place<usize>) {
                out.fill_text(capacity, &length, &sets::names::<$params>())
            }

            fn secret_new(set: Text, allow_insecure: Flag, seed: SeedBytes, out: Out<Secret<$params>>) {
                Secret::<$params>::generate(set, allow_insecure, seed).map(|secret| out.give(secret))
            }

            fn secret_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<Secret<$params>>) {
                Secret::<$params>::from_bytes(bytes.of(count)?, allow_insecure).map(|secret| out.give(secret))
            }

            fn secret_to_bytes(secret: In<Secret<$params>>, out: Room<u8>, capacity: usize, length: Place<usize>) {
                out.fill(capacity, &length, &secret.to_bytes())
            }

            fn secret_free(secret: Own<Secret<$params>>) -> Void {
                secret.free();
            }

            fn set(secret: In<Secret<$params>>, out: Room<c_char>, capacity: usize, length: Place<usize>) {
                out.fill_text(capacity, &length, secret.set.name)
            }

            fn slots(secret: In<Secret<$params>>, slots: Place<usize>) {
                slots.put($crate::method::Keyed::slots(&secret.set.params));
                Ok(())
            }

            fn key_id(secret: In<Secret<$params>>, out: Room<u8>) {
                out.put(&secret.key_id())
            }

            fn server_token(secret: In<Secret<$params>>, origin: Text, out: Room<u8>) {
                out.put(&secret.server_token(origin))
            }

            fn key_part_count(secret: In<Secret<$params>>, parts: Place<usize>) {
                parts.put(secret.key_parts());
                Ok(())
            }

            fn key_part(
                secret: In<Secret<$params>>,
                index: usize,
                out: Room<u8>,
                capacity: usize,
                length: Place<usize>,
            ) {
                out.check(capacity, &length, secret.key_part_len(index)?)?;
                out.fill(capacity, &length, &secret.key_part(index)?)
            }
        }
    };
}

/// What the owner of a secret key does with a set whose slots hold numbers: keys, numbers, sums, and the parts of evaluation keys.
macro_rules! export_owner {
    ($method:literal, $params:ty) => {
        use core::ffi::c_char;

        use $crate::{
            ckks::{Ciphertext, PublicKey},
            ffi::{Array, Flag, In, Out, Own, Place, Room, SeedBytes, Text, Void, export},
            secret::Secret,
            sets,
        };

        $crate::exports::export_secret!($method, $params);

        export! { $method:
            fn encrypt(
                secret: In<Secret<$params>>,
                values: Array<f64>,
                count: usize,
                mode: i32,
                level: i32,
                seed: SeedBytes,
                out: Out<Ciphertext<$params>>,
            ) {
                Ciphertext::<$params>::encrypt(secret, values.of(count)?, mode, level, seed).map(|x| out.give(x))
            }

            fn public_key_new(secret: In<Secret<$params>>, out: Out<PublicKey<$params>>) {
                PublicKey::<$params>::of(secret).map(|key| out.give(key))
            }

            fn public_key_from_bytes(bytes: Array<u8>, count: usize, allow_insecure: Flag, out: Out<PublicKey<$params>>) {
                PublicKey::<$params>::from_bytes(bytes.of(count)?, allow_insecure).map(|key| out.give(key))
            }

            fn public_key_to_bytes(key: In<PublicKey<$params>>, out: Room<u8>, capacity: usize, length: Place<usize>) {
                out.fill(capacity, &length, &key.to_bytes())
            }

            fn public_key_id(key: In<PublicKey<$params>>, out: Room<u8>) {
                out.put(&key.key_id())
            }

            fn encrypt_for(
                key: In<PublicKey<$params>>,
                values: Array<f64>,
                count: usize,
                mode: i32,
                level: i32,
                seed: SeedBytes,
                out: Out<Ciphertext<$params>>,
            ) {
                key.encrypt(values.of(count)?, mode, level, seed).map(|x| out.give(x))
            }

            fn public_key_free(key: Own<PublicKey<$params>>) -> Void {
                key.free();
            }

            fn decrypt(
                secret: In<Secret<$params>>,
                x: In<Ciphertext<$params>>,
                mode: i32,
                out: Room<f64>,
                capacity: usize,
                length: Place<usize>,
            ) {
                out.check(capacity, &length, x.numbers(mode)?)?;
                out.fill(capacity, &length, &x.decrypt(secret, mode)?)
            }

            fn level(x: In<Ciphertext<$params>>, level: Place<usize>) {
                level.put(x.level());
                Ok(())
            }

            fn add(x: In<Ciphertext<$params>>, y: In<Ciphertext<$params>>, out: Out<Ciphertext<$params>>) {
                x.add(y).map(|sum| out.give(sum))
            }

            fn subtract(x: In<Ciphertext<$params>>, y: In<Ciphertext<$params>>, out: Out<Ciphertext<$params>>) {
                x.subtract(y).map(|difference| out.give(difference))
            }

            fn exhaust(x: In<Ciphertext<$params>>, out: Out<Ciphertext<$params>>) {
                x.exhaust().map(|exhausted| out.give(exhausted))
            }

            fn ciphertext_from_bytes(bytes: Array<u8>, count: usize, out: Out<Ciphertext<$params>>) {
                Ciphertext::<$params>::from_bytes(bytes.of(count)?).map(|x| out.give(x))
            }

            fn ciphertext_to_bytes(x: In<Ciphertext<$params>>, out: Room<u8>, capacity: usize, length: Place<usize>) {
                out.check(capacity, &length, x.byte_len())?;
                out.fill(capacity, &length, &x.to_bytes()?)
            }

            fn ciphertext_free(x: Own<Ciphertext<$params>>) -> Void {
                x.free();
            }
        }
    };
}

/// What is computed with evaluation keys of such a set; used together with [`export_owner!`], whose imports it needs.
macro_rules! export_evaluator {
    ($method:literal, $params:ty) => {
        use $crate::{
            ffi::{PartReader, Progress, User},
            keys::Keys,
        };

        export! { $method:
            fn keys_new(secret: In<Secret<$params>>, progress: Progress, user: User, out: Out<Keys<$params>>) {
                Keys::<$params>::generate(secret, progress, user).map(|keys| out.give(keys))
            }

            fn keys_from_parts(set: Text, key_id: Array<u8>, read: PartReader, user: User, out: Out<Keys<$params>>) {
                Keys::<$params>::collect(set, key_id.exactly()?, read, user).map(|keys| out.give(keys))
            }

            fn keys_free(keys: Own<Keys<$params>>) -> Void {
                keys.free();
            }

            fn multiply(keys: In<Keys<$params>>, x: In<Ciphertext<$params>>, y: In<Ciphertext<$params>>, out: Out<Ciphertext<$params>>) {
                x.multiply(y, keys).map(|product| out.give(product))
            }

            fn bootstrap(
                keys: In<Keys<$params>>,
                x: In<Ciphertext<$params>>,
                mode: i32,
                progress: Progress,
                user: User,
                out: Out<Ciphertext<$params>>,
            ) {
                x.bootstrap(keys, mode, progress, user).map(|refreshed| out.give(refreshed))
            }
        }
    };
}

pub(crate) use {export_evaluator, export_owner, export_secret};
