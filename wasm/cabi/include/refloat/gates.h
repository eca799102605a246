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

/* For `messages`: bits, and not integers below a number. */
#define RF_GATE_BITS 0u

/* Names of the sets that keys are made of, one a line, the default first, toys last. */
rf_status rf_gate_sets(char *out, size_t capacity, size_t *length);

/* Makes a secret key of the named set. `seed` is NULL, or for toys 32 bytes. */
rf_status rf_gate_secret_new(const char *set, bool allow_insecure, const uint8_t *seed, rf_gate_secret **out);

/* Reads a secret key in wire form, of a set of today or of an earlier version, and writes it: for its owner's own storage. */
rf_status rf_gate_secret_from_bytes(const uint8_t *bytes, size_t count, bool allow_insecure, rf_gate_secret **out);
rf_status rf_gate_secret_to_bytes(const rf_gate_secret *secret, uint8_t *out, size_t capacity, size_t *length);

void rf_gate_secret_free(rf_gate_secret *secret);

/* Name of the set. */
rf_status rf_gate_set(const rf_gate_secret *secret, char *out, size_t capacity, size_t *length);

/* Slots of a ciphertext: 1, as lists have an item for each ciphertext. */
rf_status rf_gate_slots(const rf_gate_secret *secret, size_t *slots);

/* Public identifier of everything made with this key, 16 bytes. */
rf_status rf_gate_key_id(const rf_gate_secret *secret, uint8_t *out);

/* The token of this key's evaluation keys at the server of an origin, 32 bytes. Whoever has it may use and delete them there:
 * keep it secret. The origin is "https://example.org", without a slash at its end: another text gives another token. */
rf_status rf_gate_server_token(const rf_gate_secret *secret, const char *origin, uint8_t *out);

/* The parts in which evaluation keys travel to a server: how many there are, and one of them in wire form. The same key and
 * index give the same bytes, so that an interrupted upload needs no memory of what was sent. */
rf_status rf_gate_key_part_count(const rf_gate_secret *secret, size_t *parts);
rf_status rf_gate_key_part(const rf_gate_secret *secret, size_t index, uint8_t *out, size_t capacity, size_t *length);

/* Makes the evaluation keys of a secret key. They are public. `progress` may be NULL; its stage is "keys". */
rf_status rf_gate_keys_new(const rf_gate_secret *secret, rf_progress progress, void *user, rf_gate_keys **out);

/* Takes evaluation keys part by part, in order: those of the named set with a key id of 16 bytes. Each is checked. */
rf_status rf_gate_keys_from_parts(const char *set, const uint8_t *key_id, rf_part_reader read, void *user,
                                  rf_gate_keys **out);

void rf_gate_keys_free(rf_gate_keys *keys);

/* Encrypts bits, 0 or 1, if `messages` is RF_GATE_BITS, otherwise integers below it, 2 to 64. `seed` is NULL, or for toys
 * 32 bytes. */
rf_status rf_gate_encrypt(const rf_gate_secret *secret, const uint32_t *values, size_t count, uint32_t messages,
                          const uint8_t *seed, rf_gate_ciphertext **out);

/* Decrypts every item, for the owner of the key. */
rf_status rf_gate_decrypt(const rf_gate_secret *secret, const rf_gate_ciphertext *x, uint32_t *out, size_t capacity,
                          size_t *length);

/* Number of items; a copy of those from `start` to before `end`, one at least; those of x and then those of y. */
rf_status rf_gate_length(const rf_gate_ciphertext *x, size_t *length);
rf_status rf_gate_slice(const rf_gate_ciphertext *x, size_t start, size_t end, rf_gate_ciphertext **out);
rf_status rf_gate_join(const rf_gate_ciphertext *x, const rf_gate_ciphertext *y, rf_gate_ciphertext **out);

/* A gate for each place of its operands, which follow one another in x: "nand" of a0 a1 b0 b1 gives two bits. Gates are not,
 * and, nand, or, nor, xor, xnor, andny (not a, b), andyn, orny, oryn, mux, maj3, xor3, and3, or3, nand3 and nor3. */
rf_status rf_gate_evaluate(const rf_gate_keys *keys, const char *gate, const rf_gate_ciphertext *x,
                           rf_gate_ciphertext **out);

/* table[m] for each item m, as a bit or an integer below `messages`. The table has an entry for each value of an item. */
rf_status rf_gate_look_up(const rf_gate_keys *keys, const rf_gate_ciphertext *x, const uint32_t *table, size_t count,
                          uint32_t messages, rf_gate_ciphertext **out);

/* constant + the sum of weights times integers, for each place of the terms, which follow one another in x. No bootstrap:
 * the sum must stay in the range of the integers, which cannot be checked: it is encrypted. */
rf_status rf_gate_weighted_sum(const rf_gate_keys *keys, const rf_gate_ciphertext *x, const int32_t *weights,
                               size_t count, uint32_t constant, rf_gate_ciphertext **out);

/* The text of a circuit: "adder" (two numbers of `width` bits in, lowest bit first; their sum and the carry out) or
 * "comparator" (less, equal, greater), by a prefix tree, which is less deep and has more gates, or bit by bit. */
rf_status rf_gate_circuit(const char *kind, size_t width, bool prefix, char *out, size_t capacity, size_t *length);

/* Evaluates a circuit, given as text, on one bit for each input. `progress` may be NULL; its parts are gates. */
rf_status rf_gate_run(const rf_gate_keys *keys, const char *circuit, const rf_gate_ciphertext *x, rf_progress progress,
                      void *user, rf_gate_ciphertext **out);

/* Reads a list in wire form, of whichever set and key, and writes it: the form that npm, the server and the command line
 * have. */
rf_status rf_gate_ciphertext_from_bytes(const uint8_t *bytes, size_t count, rf_gate_ciphertext **out);
rf_status rf_gate_ciphertext_to_bytes(const rf_gate_ciphertext *x, uint8_t *out, size_t capacity, size_t *length);

void rf_gate_ciphertext_free(rf_gate_ciphertext *x);

#ifdef __cplusplus
}
#endif

#endif
