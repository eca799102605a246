/* Sets for modular reduction that are linked to gates: numbers are read digit by digit, and compared by digits or by gates.
 * Sets: msb16+fbs16-50 (the default) and a toy. These functions are for the owner of a secret key: keys, encryption, decryption, sums, and
 * the parts of evaluation keys for a server, which reduces, compares, ranks, multiplies and bootstraps. */
#ifndef REFLOAT_DIGIT_LINK_H
#define REFLOAT_DIGIT_LINK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A secret key; a public key; an encrypted vector. */
typedef struct rf_digit_link_secret rf_digit_link_secret;
typedef struct rf_digit_link_public_key rf_digit_link_public_key;
typedef struct rf_digit_link_ciphertext rf_digit_link_ciphertext;

/* Names of the sets that keys can be made for, one per line, the default first, toys last. */
rf_status rf_digit_link_sets(char *out, size_t capacity, size_t *length);

/* Makes a secret key of the named set. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_digit_link_secret_new(const char *set, bool allow_insecure, const uint8_t *seed, rf_digit_link_secret **out);

/* Reads and writes a secret key in wire form, for its owner's own storage. Sets of earlier versions can be read too. */
rf_status rf_digit_link_secret_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure, rf_digit_link_secret **out);
rf_status rf_digit_link_secret_to_bytes(const rf_digit_link_secret *secret, uint8_t *out, size_t capacity, size_t *length);

void rf_digit_link_secret_free(rf_digit_link_secret *secret);

/* Name of the set. */
rf_status rf_digit_link_set(const rf_digit_link_secret *secret, char *out, size_t capacity, size_t *length);

/* Slots of a ciphertext. */
rf_status rf_digit_link_slots(const rf_digit_link_secret *secret, size_t *slots);

/* Public identifier of everything made with this key, 16 bytes. */
rf_status rf_digit_link_key_id(const rf_digit_link_secret *secret, uint8_t *out);

/* The token of this key's evaluation keys on the server at an origin, 32 bytes. Whoever has it may use and delete the keys there, so keep
 * it secret. The origin is written as "https://example.org", without a slash at the end: another text gives another token. */
rf_status rf_digit_link_server_token(const rf_digit_link_secret *secret, const char *origin, uint8_t *out);

/* The parts in which evaluation keys are sent: their number, and one of them in wire form. The same key and index always give the same
 * bytes, so an interrupted upload need not remember what was sent. */
rf_status rf_digit_link_key_part_count(const rf_digit_link_secret *secret, size_t *parts);
rf_status rf_digit_link_key_part(const rf_digit_link_secret *secret, size_t index, uint8_t *out, size_t capacity, size_t *length);

/* Encrypts numbers of at most 2^20 in size, one per slot, or two with RF_COMPLEX; the remaining slots are 0. Reduced modulo 1 they become
 * their fractions; to reduce integers modulo n, encrypt them divided by n. `level` is RF_LEVEL_FRESH, RF_LEVEL_EXHAUSTED, or a number from
 * 0. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_digit_link_encrypt(const rf_digit_link_secret *secret, const double *values, size_t count, int32_t mode,
                         int32_t level, const uint8_t *seed, rf_digit_link_ciphertext **out);

/* The key with which others encrypt for the owner of the secret key; it decrypts nothing. Makes it, reads and writes its wire form, for any
 * set, and gives its identifier, which is that of the secret key. */
rf_status rf_digit_link_public_key_new(const rf_digit_link_secret *secret, rf_digit_link_public_key **out);
rf_status rf_digit_link_public_key_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure,
                                              rf_digit_link_public_key **out);
rf_status rf_digit_link_public_key_to_bytes(const rf_digit_link_public_key *key, uint8_t *out, size_t capacity,
                                            size_t *length);
rf_status rf_digit_link_public_key_id(const rf_digit_link_public_key *key, uint8_t *out);

/* Encrypts numbers as rf_digit_link_encrypt does. The ciphertext has a little more noise. */
rf_status rf_digit_link_encrypt_for(const rf_digit_link_public_key *key, const double *values, size_t count,
                                    int32_t mode, int32_t level, const uint8_t *seed, rf_digit_link_ciphertext **out);

void rf_digit_link_public_key_free(rf_digit_link_public_key *key);

/* Decrypts every slot, for the owner of the key: one number per slot, or two with RF_COMPLEX. */
rf_status rf_digit_link_decrypt(const rf_digit_link_secret *secret, const rf_digit_link_ciphertext *x, int32_t mode, double *out,
                         size_t capacity, size_t *length);

/* Level of a ciphertext: how much of the modulus is left. */
rf_status rf_digit_link_level(const rf_digit_link_ciphertext *x, size_t *level);

/* x + y and x - y in every slot, at the lower of the two levels. */
rf_status rf_digit_link_add(const rf_digit_link_ciphertext *x, const rf_digit_link_ciphertext *y, rf_digit_link_ciphertext **out);
rf_status rf_digit_link_subtract(const rf_digit_link_ciphertext *x, const rf_digit_link_ciphertext *y, rf_digit_link_ciphertext **out);

/* The same slots at the lowest level that can be bootstrapped, where all products have been spent. */
rf_status rf_digit_link_exhaust(const rf_digit_link_ciphertext *x, rf_digit_link_ciphertext **out);

/* Reads and writes a ciphertext in wire form, of any set and key: the form that the npm package, the server and the command line use. */
rf_status rf_digit_link_ciphertext_from_bytes(const uint8_t *bytes, size_t count, rf_digit_link_ciphertext **out);
rf_status rf_digit_link_ciphertext_to_bytes(const rf_digit_link_ciphertext *x, uint8_t *out, size_t capacity, size_t *length);

void rf_digit_link_ciphertext_free(rf_digit_link_ciphertext *x);

#ifdef __cplusplus
}
#endif

#endif
