/* BGV: exact arithmetic modulo powers of a prime in slots, with bootstrapping.
 * Sets: bgv15 (the default), bgv16-gf4, whose slots have four integers each, bgv16-786433 with a larger modulus, and toys. These functions
 * are for the owner of a secret key: keys, encryption, decryption, sums, and the parts of evaluation keys for a server, which multiplies
 * and bootstraps. */
#ifndef REFLOAT_BGV_H
#define REFLOAT_BGV_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A secret key; a public key; an encrypted vector of integers. */
typedef struct rf_bgv_secret rf_bgv_secret;
typedef struct rf_bgv_public_key rf_bgv_public_key;
typedef struct rf_bgv_ciphertext rf_bgv_ciphertext;

/* Names of the sets that keys can be made for, one per line, the default first, toys last. */
rf_status rf_bgv_sets(char *out, size_t capacity, size_t *length);

/* Makes a secret key of the named set. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_bgv_secret_new(const char *set, bool allow_insecure, const uint8_t *seed, rf_bgv_secret **out);

/* Reads and writes a secret key in wire form, for its owner's own storage. Sets of earlier versions can be read too. */
rf_status rf_bgv_secret_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure, rf_bgv_secret **out);
rf_status rf_bgv_secret_to_bytes(const rf_bgv_secret *secret, uint8_t *out, size_t capacity, size_t *length);

void rf_bgv_secret_free(rf_bgv_secret *secret);

/* Name of the set. */
rf_status rf_bgv_set(const rf_bgv_secret *secret, char *out, size_t capacity, size_t *length);

/* Slots of a ciphertext. */
rf_status rf_bgv_slots(const rf_bgv_secret *secret, size_t *slots);

/* Public identifier of everything made with this key, 16 bytes. */
rf_status rf_bgv_key_id(const rf_bgv_secret *secret, uint8_t *out);

/* The token of this key's evaluation keys on the server at an origin, 32 bytes. Whoever has it may use and delete the keys there, so keep
 * it secret. The origin is written as "https://example.org", without a slash at the end: another text gives another token. */
rf_status rf_bgv_server_token(const rf_bgv_secret *secret, const char *origin, uint8_t *out);

/* The parts in which evaluation keys are sent: their number, and one of them in wire form. The same key and index always give the same
 * bytes, so an interrupted upload need not remember what was sent. */
rf_status rf_bgv_key_part_count(const rf_bgv_secret *secret, size_t *parts);
rf_status rf_bgv_key_part(const rf_bgv_secret *secret, size_t index, uint8_t *out, size_t capacity, size_t *length);

/* Modulus of the integers, such as 65537. */
rf_status rf_bgv_modulus(const rf_bgv_secret *secret, uint64_t *modulus);

/* Integers in a slot: 1, or more if a slot is an element of a Galois ring, given by that number of coordinates in a normal basis. */
rf_status rf_bgv_slot_degree(const rf_bgv_secret *secret, size_t *integers);

/* Encrypts integers below the modulus, rf_bgv_slot_degree of them for each slot, those of a slot next to each other; missing ones are 0.
 * `level` is RF_LEVEL_FRESH, RF_LEVEL_EXHAUSTED, or a number from 0. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_bgv_encrypt(const rf_bgv_secret *secret, const uint32_t *values, size_t count, int32_t level,
                         const uint8_t *seed, rf_bgv_ciphertext **out);

/* The key with which others encrypt for the owner of the secret key; it decrypts nothing. Makes it, reads and writes its wire form, for any
 * set, and gives its identifier, which is that of the secret key. */
rf_status rf_bgv_public_key_new(const rf_bgv_secret *secret, rf_bgv_public_key **out);
rf_status rf_bgv_public_key_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure,
                                       rf_bgv_public_key **out);
rf_status rf_bgv_public_key_to_bytes(const rf_bgv_public_key *key, uint8_t *out, size_t capacity, size_t *length);
rf_status rf_bgv_public_key_id(const rf_bgv_public_key *key, uint8_t *out);

/* Encrypts integers as rf_bgv_encrypt does. The ciphertext has a little more noise. */
rf_status rf_bgv_encrypt_for(const rf_bgv_public_key *key, const uint32_t *values, size_t count, int32_t level,
                             const uint8_t *seed, rf_bgv_ciphertext **out);

void rf_bgv_public_key_free(rf_bgv_public_key *key);

/* Decrypts every integer of every slot, for the owner of the key: `capacity` is at least the number of slots times
 * rf_bgv_slot_degree. */
rf_status rf_bgv_decrypt(const rf_bgv_secret *secret, const rf_bgv_ciphertext *x, uint32_t *out, size_t capacity,
                         size_t *length);

/* Level of a ciphertext: how much of the modulus is left. */
rf_status rf_bgv_level(const rf_bgv_ciphertext *x, size_t *level);

/* Bits by which the estimated noise of a ciphertext may grow before the integers are lost. */
rf_status rf_bgv_capacity(const rf_bgv_ciphertext *x, double *bits);

/* x + y and x - y in every slot, at the lower of the two levels. If x and y result from different products, one of them is first brought to
 * the factor of the other, which costs it a level. */
rf_status rf_bgv_add(const rf_bgv_ciphertext *x, const rf_bgv_ciphertext *y, rf_bgv_ciphertext **out);
rf_status rf_bgv_subtract(const rf_bgv_ciphertext *x, const rf_bgv_ciphertext *y, rf_bgv_ciphertext **out);

/* Reads and writes a ciphertext in wire form, of any set and key: the form that the npm package, the server and the command line use. */
rf_status rf_bgv_ciphertext_from_bytes(const uint8_t *bytes, size_t count, rf_bgv_ciphertext **out);
rf_status rf_bgv_ciphertext_to_bytes(const rf_bgv_ciphertext *x, uint8_t *out, size_t capacity, size_t *length);

void rf_bgv_ciphertext_free(rf_bgv_ciphertext *x);

#ifdef __cplusplus
}
#endif

#endif
