/* DM/CGGI: gates, look-ups and circuits on encrypted bits and small integers; every gate but NOT bootstraps.
 * Sets: bool-128 (the default), others for integers, and toys. */
#ifndef REFLOAT_GATES_H
#define REFLOAT_GATES_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A secret key; evaluation keys, and what computes with them; a list of encrypted bits or integers of one key. */
typedef struct rf_gate_secret rf_gate_secret;
typedef struct rf_gate_keys rf_gate_keys;
typedef struct rf_gate_ciphertext rf_gate_ciphertext;

/* Value of `messages` for bits rather than integers below a number. */
#define RF_GATE_BITS 0u

/* Names of the sets that keys can be made for, one per line, the default first, toys last. */
rf_status rf_gate_sets(char *out, size_t capacity, size_t *length);

/* Makes a secret key of the named set. `seed` is NULL or, for toys, 32 bytes. */
rf_status rf_gate_secret_new(const char *set, bool allow_insecure, const uint8_t *seed, rf_gate_secret **out);

/* Reads and writes a secret key in wire form, for its owner's own storage. Sets of earlier versions can be read too. */
rf_status rf_gate_secret_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure, rf_gate_secret **out);
rf_status rf_gate_secret_to_bytes(const rf_gate_secret *secret, uint8_t *out, size_t capacity, size_t *length);

void rf_gate_secret_free(rf_gate_secret *secret);

/* Name of the set. */
rf_status rf_gate_set(const rf_gate_secret *secret, char *out, size_t capacity, size_t *length);

/* Slots of a ciphertext: 1, as every item of a list is a ciphertext. */
rf_status rf_gate_slots(const rf_gate_secret *secret, size_t *slots);

/* Public identifier of everything made with this key, 16 bytes. */
rf_status rf_gate_key_id(const rf_gate_secret *secret, uint8_t *out);

/* The token of this key's evaluation keys on the server at an origin, 32 bytes. Whoever has it may use and delete the keys there, so keep
 * it secret. The origin is written as "https://example.org", without a slash at the end: another text gives another token. */
rf_status rf_gate_server_token(const rf_gate_secret *secret, const char *origin, uint8_t *out);

/* The parts in which evaluation keys are sent to a server: their number, and one of them in wire form. The same key and index always give
 * the same bytes, so an interrupted upload need not remember what was sent. */
rf_status rf_gate_key_part_count(const rf_gate_secret *secret, size_t *parts);
rf_status rf_gate_key_part(const rf_gate_secret *secret, size_t index, uint8_t *out, size_t capacity, size_t *length);

/* Makes the evaluation keys of a secret key. They are public. `progress` may be NULL; its stage is "keys". */
rf_status rf_gate_keys_new(const rf_gate_secret *secret, rf_progress progress, void *user, rf_gate_keys **out);

/* Reads evaluation keys part by part, in order: those of the named set with the key id `key_id`, 16 bytes. Each part is checked. */
rf_status rf_gate_keys_from_parts(const char *set, const uint8_t *key_id, rf_part_reader read, void *user,
                                  rf_gate_keys **out);

void rf_gate_keys_free(rf_gate_keys *keys);

/* Encrypts bits, 0 or 1, if `messages` is RF_GATE_BITS, otherwise integers below `messages`, which is from 2 to 64. `seed` is NULL or, for
 * toys, 32 bytes. */
rf_status rf_gate_encrypt(const rf_gate_secret *secret, const uint32_t *values, size_t count, uint32_t messages,
                          const uint8_t *seed, rf_gate_ciphertext **out);

/* Decrypts every item, for the owner of the key. */
rf_status rf_gate_decrypt(const rf_gate_secret *secret, const rf_gate_ciphertext *x, uint32_t *out, size_t capacity,
                          size_t *length);

/* Number of items; a copy of the items from `start` to before `end`, at least one; the items of x followed by those of y. */
rf_status rf_gate_length(const rf_gate_ciphertext *x, size_t *length);
rf_status rf_gate_slice(const rf_gate_ciphertext *x, size_t start, size_t end, rf_gate_ciphertext **out);
rf_status rf_gate_join(const rf_gate_ciphertext *x, const rf_gate_ciphertext *y, rf_gate_ciphertext **out);

/* Applies a gate to each position of its operands, which follow one another in x: "nand" of a0 a1 b0 b1 gives two bits. Gates are not, and,
 * nand, or, nor, xor, xnor, andny (not a, b), andyn, orny, oryn, mux, maj3, xor3, and3, or3, nand3 and nor3. */
rf_status rf_gate_evaluate(const rf_gate_keys *keys, const char *gate, const rf_gate_ciphertext *x,
                           rf_gate_ciphertext **out);

/* table[m] for each item m, as a bit or an integer below `messages`. The table has an entry for each value that an item can have. */
rf_status rf_gate_look_up(const rf_gate_keys *keys, const rf_gate_ciphertext *x, const uint32_t *table, size_t count,
                          uint32_t messages, rf_gate_ciphertext **out);

/* constant + the sum of weights times integers, for each position of the terms, which follow one another in x. It does not bootstrap. The
 * sum must stay in the range of the integers; it is encrypted, so this cannot be checked. */
rf_status rf_gate_weighted_sum(const rf_gate_keys *keys, const rf_gate_ciphertext *x, const int32_t *weights,
                               size_t count, uint32_t constant, rf_gate_ciphertext **out);

/* The text of a circuit: "adder" (in: two numbers of `width` bits, lowest bit first; out: their sum and the carry) or "comparator" (less,
 * equal, greater). With `prefix` a tree, which is less deep and has more gates, otherwise bit by bit. */
rf_status rf_gate_circuit(const char *kind, size_t width, bool prefix, char *out, size_t capacity, size_t *length);

/* Evaluates a circuit, given as text, on one bit for each input. `progress` may be NULL; its parts are gates. */
rf_status rf_gate_run(const rf_gate_keys *keys, const char *circuit, const rf_gate_ciphertext *x, rf_progress progress,
                      void *user, rf_gate_ciphertext **out);

/* Reads and writes a list in wire form, of any set and key: the form that the npm package, the server and the command line use. */
rf_status rf_gate_ciphertext_from_bytes(const uint8_t *bytes, size_t count, rf_gate_ciphertext **out);
rf_status rf_gate_ciphertext_to_bytes(const rf_gate_ciphertext *x, uint8_t *out, size_t capacity, size_t *length);

void rf_gate_ciphertext_free(rf_gate_ciphertext *x);

#ifdef __cplusplus
}
#endif

#endif
