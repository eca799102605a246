/* Modular reduction in CKKS: integers and real numbers modulo a number, digit by digit.
 * Sets: msb16 (the default) and toys. These functions are for the owner of a secret key: keys, encryption, decryption, sums, and the parts
 * of evaluation keys for a server, which reduces, multiplies and bootstraps. */
#ifndef REFLOAT_MSB_H
#define REFLOAT_MSB_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A secret key; a public key; an encrypted vector. */
typedef struct rf_msb_secret rf_msb_secret;
typedef struct rf_msb_public_key rf_msb_public_key;
typedef struct rf_msb_ciphertext rf_msb_ciphertext;

/* Names of the sets that keys can be made for, one per line, the default first, toys last. */
rf_status rf_msb_sets(char *out, size_t capacity, size_t *length);

/* Makes a secret key of the named set. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_msb_secret_new(const char *set, bool allow_insecure, const uint8_t *seed, rf_msb_secret **out);

/* Reads and writes a secret key in wire form, for its owner's own storage. Sets of earlier versions can be read too. */
rf_status rf_msb_secret_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure, rf_msb_secret **out);
rf_status rf_msb_secret_to_bytes(const rf_msb_secret *secret, uint8_t *out, size_t capacity, size_t *length);

void rf_msb_secret_free(rf_msb_secret *secret);

/* Name of the set. */
rf_status rf_msb_set(const rf_msb_secret *secret, char *out, size_t capacity, size_t *length);

/* Slots of a ciphertext. */
rf_status rf_msb_slots(const rf_msb_secret *secret, size_t *slots);

/* Public identifier of everything made with this key, 16 bytes. */
rf_status rf_msb_key_id(const rf_msb_secret *secret, uint8_t *out);

/* The token of this key's evaluation keys on the server at an origin, 32 bytes. Whoever has it may use and delete the keys there, so keep
 * it secret. The origin is written as "https://example.org", without a slash at the end: another text gives another token. */
rf_status rf_msb_server_token(const rf_msb_secret *secret, const char *origin, uint8_t *out);

/* The parts in which evaluation keys are sent: their number, and one of them in wire form. The same key and index always give the same
 * bytes, so an interrupted upload need not remember what was sent. */
rf_status rf_msb_key_part_count(const rf_msb_secret *secret, size_t *parts);
rf_status rf_msb_key_part(const rf_msb_secret *secret, size_t index, uint8_t *out, size_t capacity, size_t *length);

/* Encrypts numbers of at most 2^20 in size, one per slot, or two with RF_COMPLEX; the remaining slots are 0. Reduced modulo 1 they become
 * their fractions; to reduce integers modulo n, encrypt them divided by n. `level` is RF_LEVEL_FRESH, RF_LEVEL_EXHAUSTED, or a number from
 * 0. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_msb_encrypt(const rf_msb_secret *secret, const double *values, size_t count, int32_t mode,
                         int32_t level, const uint8_t *seed, rf_msb_ciphertext **out);

/* The key with which others encrypt for the owner of the secret key; it decrypts nothing. Makes it, reads and writes its wire form, for any
 * set, and gives its identifier, which is that of the secret key. */
rf_status rf_msb_public_key_new(const rf_msb_secret *secret, rf_msb_public_key **out);
rf_status rf_msb_public_key_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure,
                                       rf_msb_public_key **out);
rf_status rf_msb_public_key_to_bytes(const rf_msb_public_key *key, uint8_t *out, size_t capacity, size_t *length);
rf_status rf_msb_public_key_id(const rf_msb_public_key *key, uint8_t *out);

/* Encrypts numbers as rf_msb_encrypt does. The ciphertext has a little more noise. */
rf_status rf_msb_encrypt_for(const rf_msb_public_key *key, const double *values, size_t count, int32_t mode,
                             int32_t level, const uint8_t *seed, rf_msb_ciphertext **out);

void rf_msb_public_key_free(rf_msb_public_key *key);

/* Decrypts every slot, for the owner of the key: one number per slot, or two with RF_COMPLEX. */
rf_status rf_msb_decrypt(const rf_msb_secret *secret, const rf_msb_ciphertext *x, int32_t mode, double *out,
                         size_t capacity, size_t *length);

/* Level of a ciphertext: how much of the modulus is left. */
rf_status rf_msb_level(const rf_msb_ciphertext *x, size_t *level);

/* x + y and x - y in every slot, at the lower of the two levels. */
rf_status rf_msb_add(const rf_msb_ciphertext *x, const rf_msb_ciphertext *y, rf_msb_ciphertext **out);
rf_status rf_msb_subtract(const rf_msb_ciphertext *x, const rf_msb_ciphertext *y, rf_msb_ciphertext **out);

/* The same slots at the lowest level that can be bootstrapped, where all products have been spent. */
rf_status rf_msb_exhaust(const rf_msb_ciphertext *x, rf_msb_ciphertext **out);

/* Reads and writes a ciphertext in wire form, of any set and key: the form that the npm package, the server and the command line use. */
rf_status rf_msb_ciphertext_from_bytes(const uint8_t *bytes, size_t count, rf_msb_ciphertext **out);
rf_status rf_msb_ciphertext_to_bytes(const rf_msb_ciphertext *x, uint8_t *out, size_t capacity, size_t *length);

void rf_msb_ciphertext_free(rf_msb_ciphertext *x);

#ifdef __cplusplus
}
#endif

#endif
