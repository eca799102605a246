/* SHIP: CKKS bootstrapping through roots of unity. Sets: ship13 (the default), ship13-bits, ship14, and toys. */
#ifndef REFLOAT_SHIP_H
#define REFLOAT_SHIP_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A secret key; a public key; evaluation keys, and what computes with them; an encrypted vector. */
typedef struct rf_ship_secret rf_ship_secret;
typedef struct rf_ship_public_key rf_ship_public_key;
typedef struct rf_ship_keys rf_ship_keys;
typedef struct rf_ship_ciphertext rf_ship_ciphertext;

/* Names of the sets that keys can be made for, one per line, the default first, toys last. */
rf_status rf_ship_sets(char *out, size_t capacity, size_t *length);

/* Makes a secret key of the named set. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_ship_secret_new(const char *set, bool allow_insecure, const uint8_t *seed, rf_ship_secret **out);

/* Reads and writes a secret key in wire form, for its owner's own storage. Sets of earlier versions can be read too. */
rf_status rf_ship_secret_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure, rf_ship_secret **out);
rf_status rf_ship_secret_to_bytes(const rf_ship_secret *secret, uint8_t *out, size_t capacity, size_t *length);

void rf_ship_secret_free(rf_ship_secret *secret);

/* Name of the set. */
rf_status rf_ship_set(const rf_ship_secret *secret, char *out, size_t capacity, size_t *length);

/* Slots of a ciphertext. */
rf_status rf_ship_slots(const rf_ship_secret *secret, size_t *slots);

/* Public identifier of everything made with this key, 16 bytes. */
rf_status rf_ship_key_id(const rf_ship_secret *secret, uint8_t *out);

/* The token of this key's evaluation keys on the server at an origin, 32 bytes. Whoever has it may use and delete the keys there, so keep
 * it secret. The origin is written as "https://example.org", without a slash at the end: another text gives another token. */
rf_status rf_ship_server_token(const rf_ship_secret *secret, const char *origin, uint8_t *out);

/* The parts in which evaluation keys are sent to a server: their number, and one of them in wire form. The same key and index always give
 * the same bytes, so an interrupted upload need not remember what was sent. */
rf_status rf_ship_key_part_count(const rf_ship_secret *secret, size_t *parts);
rf_status rf_ship_key_part(const rf_ship_secret *secret, size_t index, uint8_t *out, size_t capacity, size_t *length);

/* Makes the evaluation keys of a secret key. They are public. `progress` may be NULL; its stage is "keys". */
rf_status rf_ship_keys_new(const rf_ship_secret *secret, rf_progress progress, void *user, rf_ship_keys **out);

/* Reads evaluation keys part by part, in order: those of the named set with the key id `key_id`, 16 bytes. Each part is checked. */
rf_status rf_ship_keys_from_parts(const char *set, const uint8_t *key_id, rf_part_reader read, void *user,
                                  rf_ship_keys **out);

void rf_ship_keys_free(rf_ship_keys *keys);

/* Encrypts numbers in [-1, 1], one per slot, or two with RF_COMPLEX; the remaining slots are 0. `level` is RF_LEVEL_FRESH,
 * RF_LEVEL_EXHAUSTED, or a number from 0. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_ship_encrypt(const rf_ship_secret *secret, const double *values, size_t count, int32_t mode,
                          int32_t level, const uint8_t *seed, rf_ship_ciphertext **out);

/* The key with which others encrypt for the owner of the secret key; it decrypts nothing. Makes it, reads and writes its wire form, for any
 * set, and gives its identifier, which is that of the secret key. */
rf_status rf_ship_public_key_new(const rf_ship_secret *secret, rf_ship_public_key **out);
rf_status rf_ship_public_key_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure,
                                        rf_ship_public_key **out);
rf_status rf_ship_public_key_to_bytes(const rf_ship_public_key *key, uint8_t *out, size_t capacity, size_t *length);
rf_status rf_ship_public_key_id(const rf_ship_public_key *key, uint8_t *out);

/* Encrypts numbers as rf_ship_encrypt does. The ciphertext has a little more noise. */
rf_status rf_ship_encrypt_for(const rf_ship_public_key *key, const double *values, size_t count, int32_t mode,
                              int32_t level, const uint8_t *seed, rf_ship_ciphertext **out);

void rf_ship_public_key_free(rf_ship_public_key *key);

/* Decrypts every slot, for the owner of the key: one number per slot, or two with RF_COMPLEX. */
rf_status rf_ship_decrypt(const rf_ship_secret *secret, const rf_ship_ciphertext *x, int32_t mode, double *out,
                          size_t capacity, size_t *length);

/* Level of a ciphertext: how much of the modulus is left. */
rf_status rf_ship_level(const rf_ship_ciphertext *x, size_t *level);

/* x + y and x - y in every slot, at the lower of the two levels. */
rf_status rf_ship_add(const rf_ship_ciphertext *x, const rf_ship_ciphertext *y, rf_ship_ciphertext **out);
rf_status rf_ship_subtract(const rf_ship_ciphertext *x, const rf_ship_ciphertext *y, rf_ship_ciphertext **out);

/* x y in every slot; takes one level. */
rf_status rf_ship_multiply(const rf_ship_keys *keys, const rf_ship_ciphertext *x, const rf_ship_ciphertext *y,
                           rf_ship_ciphertext **out);

/* The same slots at the lowest level that can be bootstrapped, where all products have been spent. */
rf_status rf_ship_exhaust(const rf_ship_ciphertext *x, rf_ship_ciphertext **out);

/* Bootstraps: the same slots at the level of fresh ciphertexts. `progress` may be NULL. */
rf_status rf_ship_bootstrap(const rf_ship_keys *keys, const rf_ship_ciphertext *x, int32_t mode, rf_progress progress,
                            void *user, rf_ship_ciphertext **out);

/* Reads and writes a ciphertext in wire form, of any set and key: the form that the npm package, the server and the command line use. */
rf_status rf_ship_ciphertext_from_bytes(const uint8_t *bytes, size_t count, rf_ship_ciphertext **out);
rf_status rf_ship_ciphertext_to_bytes(const rf_ship_ciphertext *x, uint8_t *out, size_t capacity, size_t *length);

void rf_ship_ciphertext_free(rf_ship_ciphertext *x);

#ifdef __cplusplus
}
#endif

#endif
