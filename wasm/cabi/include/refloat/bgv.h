/* BGV: exact arithmetic modulo powers of a prime in slots, with bootstrapping.
 * Sets: bgv15 (the default), bgv16-gf4, whose slots have four integers each, bgv16-786433 with a larger modulus, and toys. Here is
 * what the owner of a secret key does: keys, encryption, decryption, sums, and the parts of evaluation keys for a server, which
 * multiplies and bootstraps. */
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

/* Names of the sets that keys are made of, one a line, the default first, toys last. */
rf_status rf_bgv_sets(char *out, size_t capacity, size_t *length);

/* Makes a secret key of the named set. `seed` is NULL, or for toys 32 bytes. */
rf_status rf_bgv_secret_new(const char *set, bool allow_insecure, const uint8_t *seed, rf_bgv_secret **out);

/* Reads a secret key in wire form, of a set of today or of an earlier version, and writes it: for its owner's own storage. */
rf_status rf_bgv_secret_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure, rf_bgv_secret **out);
rf_status rf_bgv_secret_to_bytes(const rf_bgv_secret *secret, uint8_t *out, size_t capacity, size_t *length);

void rf_bgv_secret_free(rf_bgv_secret *secret);

/* Name of the set. */
rf_status rf_bgv_set(const rf_bgv_secret *secret, char *out, size_t capacity, size_t *length);

/* Slots of a ciphertext. */
rf_status rf_bgv_slots(const rf_bgv_secret *secret, size_t *slots);

/* Public identifier of everything made with this key, 16 bytes. */
rf_status rf_bgv_key_id(const rf_bgv_secret *secret, uint8_t *out);

/* The token of this key's evaluation keys at the server of an origin, 32 bytes. Whoever has it may use and delete them there:
 * keep it secret. The origin is "https://example.org", without a slash at its end: another text gives another token. */
rf_status rf_bgv_server_token(const rf_bgv_secret *secret, const char *origin, uint8_t *out);

/* The parts in which evaluation keys travel: how many there are, and one of them in wire form. The same key and index give the
 * same bytes, so that an interrupted upload needs no memory of what was sent. */
rf_status rf_bgv_key_part_count(const rf_bgv_secret *secret, size_t *parts);
rf_status rf_bgv_key_part(const rf_bgv_secret *secret, size_t index, uint8_t *out, size_t capacity, size_t *length);

/* What integers are computed modulo, such as 65537. */
rf_status rf_bgv_modulus(const rf_bgv_secret *secret, uint64_t *modulus);

/* Integers in a slot: 1, or more where a slot is an element of a Galois ring, given by so many coordinates in a normal basis. */
rf_status rf_bgv_slot_degree(const rf_bgv_secret *secret, size_t *integers);

/* Encrypts integers below the modulus, as many of each slot as it has, next to each other; those left over are 0. `level` is
 * RF_LEVEL_FRESH, RF_LEVEL_EXHAUSTED, or a number from 0. `seed` is NULL, or for toys 32 bytes. */
rf_status rf_bgv_encrypt(const rf_bgv_secret *secret, const uint32_t *values, size_t count, int32_t level,
                         const uint8_t *seed, rf_bgv_ciphertext **out);

/* The key with which others encrypt for the owner of the secret key, and decrypt nothing. Its wire form is read, of whichever
 * set, and written; its identifier is that of the secret key. */
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

/* Its level: what is left of its modulus. */
rf_status rf_bgv_level(const rf_bgv_ciphertext *x, size_t *level);

/* Bits that its noise may grow by, as it is estimated, before the integers are lost. */
rf_status rf_bgv_capacity(const rf_bgv_ciphertext *x, double *bits);

/* x + y and x - y in every slot, at the lower of their levels. Of two that have come from different products one is brought to
 * the factor of the other first, which takes a level of it. */
rf_status rf_bgv_add(const rf_bgv_ciphertext *x, const rf_bgv_ciphertext *y, rf_bgv_ciphertext **out);
rf_status rf_bgv_subtract(const rf_bgv_ciphertext *x, const rf_bgv_ciphertext *y, rf_bgv_ciphertext **out);

/* Reads a ciphertext in wire form, of whichever set and key, and writes it: the form that npm, the server and the command
 * line have. */
rf_status rf_bgv_ciphertext_from_bytes(const uint8_t *bytes, size_t count, rf_bgv_ciphertext **out);
rf_status rf_bgv_ciphertext_to_bytes(const rf_bgv_ciphertext *x, uint8_t *out, size_t capacity, size_t *length);

void rf_bgv_ciphertext_free(rf_bgv_ciphertext *x);

#ifdef __cplusplus
}
#endif

#endif
