/* Digests of the results of fixed seeds, for tests/tools/c.mjs, which compares them with tests/vectors/portable.json.
 *
 *     portable gate|ship|conventional|msb|link|bgv SET SECRET PART...     the secret key in hexadecimal, indices of parts of the keys
 *
 * A digest is the last 32 bytes of an object in wire form. Only toys take seeds; for other sets there are only the parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refloat.h"

enum { ROOM = 32 << 20, SECRET = 128 };

static uint8_t *room;
static uint8_t key_seed[RF_SEED_BYTES], encryption_seed[RF_SEED_BYTES];

static void check(rf_status status) {
    if (status == RF_OK) return;
    char message[512];
    rf_last_error(message, sizeof message);
    fprintf(stderr, "%s: %s\n", rf_status_name(status), message);
    exit(1);
}

static void hex(const char *name, const uint8_t *bytes, size_t length) {
    printf("%s ", name);
    for (size_t i = 0; i < length; i++) printf("%02x", bytes[i]);
    printf("\n");
}

static void digest(const char *name, size_t length) {
    hex(name, room + length - RF_DIGEST_BYTES, RF_DIGEST_BYTES);
}

static size_t unhex(const char *text, uint8_t *out, size_t capacity) {
    size_t length = 0;
    for (; text[0] && text[1] && length < capacity; text += 2) {
        char byte[3] = {text[0], text[1], 0};
        out[length++] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return length;
}

/* Reads, writes and identifies the secret key, and makes the parts of the evaluation keys. */
#define KEYS(M) \
    static rf_##M##_secret *M##_keys(const char *secret_hex, char **parts, int n) { \
        rf_##M##_secret *secret = NULL; \
        uint8_t bytes[SECRET], id[RF_KEY_ID_BYTES]; \
        size_t length = unhex(secret_hex, bytes, sizeof bytes); \
        check(rf_##M##_secret_from_bytes(bytes, length, true, &secret)); \
        check(rf_##M##_secret_to_bytes(secret, room, ROOM, &length)); \
        hex("secret", room, length); \
        check(rf_##M##_key_id(secret, id)); \
        hex("keyId", id, sizeof id); \
        for (int i = 0; i < n; i++) { \
            char name[40]; \
            snprintf(name, sizeof name, "part %s", parts[i]); \
            check(rf_##M##_key_part(secret, (size_t)atoi(parts[i]), room, ROOM, &length)); \
            digest(name, length); \
        } \
        return secret; \
    } \
    static void M##_hash(const char *name, const rf_##M##_ciphertext *x) { \
        size_t length = 0; \
        rf_##M##_ciphertext *again = NULL; \
        check(rf_##M##_ciphertext_to_bytes(x, room, ROOM, &length)); \
        digest(name, length); \
        check(rf_##M##_ciphertext_from_bytes(room, length, &again)); \
        rf_##M##_ciphertext_free(again); \
    }

KEYS(gate)
KEYS(ship)
KEYS(conventional)
KEYS(msb)
KEYS(link)
KEYS(bgv)

static void gates(const char *set, bool integers) {
    rf_gate_secret *secret = NULL;
    rf_gate_keys *keys = NULL;
    rf_gate_ciphertext *list = NULL, *part = NULL, *result = NULL;
    check(rf_gate_secret_new(set, true, key_seed, &secret));
    check(rf_gate_keys_new(secret, NULL, NULL, &keys));
    uint32_t values[5], table[64], messages = 16;
    if (integers) {
        for (uint32_t i = 0; i < 5; i++) values[i] = 13 * i % messages;
        for (uint32_t m = 0; m < messages; m++) table[m] = (m * m + 1) % messages;
        check(rf_gate_encrypt(secret, values, 5, messages, encryption_seed, &list));
        gate_hash("fresh", list);
        check(rf_gate_look_up(keys, list, table, messages, messages, &result));
        gate_hash("lookedUp", result);
    } else {
        char circuit[4096];
        size_t length = 0;
        for (int i = 0; i < 5; i++) values[i] = 0x16 >> i & 1;
        check(rf_gate_encrypt(secret, values, 5, RF_GATE_BITS, encryption_seed, &list));
        gate_hash("fresh", list);
        check(rf_gate_slice(list, 0, 2, &part));
        check(rf_gate_evaluate(keys, "nand", part, &result));
        gate_hash("nand", result);
        rf_gate_ciphertext_free(part);
        rf_gate_ciphertext_free(result);
        check(rf_gate_slice(list, 0, 4, &part));
        check(rf_gate_circuit("adder", 2, false, circuit, sizeof circuit, &length));
        check(rf_gate_run(keys, circuit, part, NULL, NULL, &result));
        gate_hash("sum", result);
    }
    rf_gate_ciphertext_free(result);
    rf_gate_ciphertext_free(part);
    rf_gate_ciphertext_free(list);
    rf_gate_keys_free(keys);
    rf_gate_secret_free(secret);
}

/* Encrypts a message, makes keys and bootstraps with a method of CKKS; the bootstrap's input is real for SHIP, complex for the other. */
#define NUMBERS(M, MODE) \
    static void M##_numbers(const char *set, bool bootstraps) { \
        rf_##M##_secret *secret = NULL; \
        rf_##M##_keys *keys = NULL; \
        rf_##M##_ciphertext *fresh = NULL, *complex = NULL, *exhausted = NULL, *once = NULL, *square = NULL, *twice = NULL; \
        size_t slots = 0; \
        check(rf_##M##_secret_new(set, true, key_seed, &secret)); \
        check(rf_##M##_slots(secret, &slots)); \
        double *values = malloc(2 * slots * sizeof *values); \
        if (!values) exit(1); \
        for (size_t i = 0; i < 2 * slots; i++) values[i] = ((double)(37 * i % 101) - 50) / 64; \
        size_t count = MODE == RF_COMPLEX ? 2 * slots : slots; \
        check(rf_##M##_encrypt(secret, values, slots, RF_REAL, RF_LEVEL_FRESH, encryption_seed, &fresh)); \
        M##_hash("fresh", fresh); \
        check(rf_##M##_encrypt(secret, values, 2 * slots, RF_COMPLEX, RF_LEVEL_FRESH, encryption_seed, &complex)); \
        M##_hash("complex", complex); \
        check(rf_##M##_encrypt(secret, values, count, MODE, RF_LEVEL_EXHAUSTED, encryption_seed, &exhausted)); \
        M##_hash("exhausted", exhausted); \
        if (bootstraps) { \
            check(rf_##M##_keys_new(secret, NULL, NULL, &keys)); \
            check(rf_##M##_bootstrap(keys, exhausted, MODE, NULL, NULL, &once)); \
            M##_hash("bootstrapped", once); \
            check(rf_##M##_multiply(keys, once, once, &square)); \
            M##_hash("squared", square); \
            if (MODE == RF_REAL) { \
                check(rf_##M##_bootstrap(keys, square, MODE, NULL, NULL, &twice)); \
                M##_hash("bootstrappedAgain", twice); \
            } \
        } \
        free(values); \
        rf_##M##_ciphertext_free(twice); \
        rf_##M##_ciphertext_free(square); \
        rf_##M##_ciphertext_free(once); \
        rf_##M##_ciphertext_free(exhausted); \
        rf_##M##_ciphertext_free(complex); \
        rf_##M##_ciphertext_free(fresh); \
        rf_##M##_keys_free(keys); \
        rf_##M##_secret_free(secret); \
    }

NUMBERS(ship, RF_REAL)
NUMBERS(conventional, RF_COMPLEX)

static void msb(const char *set) {
    rf_msb_secret *secret = NULL;
    rf_msb_ciphertext *x = NULL;
    size_t slots = 0;
    check(rf_msb_secret_new(set, true, key_seed, &secret));
    check(rf_msb_slots(secret, &slots));
    double *values = malloc(slots * sizeof *values);
    if (!values) exit(1);
    for (size_t i = 0; i < slots; i++) values[i] = (double)(37 * i % 64) / 64;
    check(rf_msb_encrypt(secret, values, slots, RF_REAL, RF_LEVEL_EXHAUSTED, encryption_seed, &x));
    msb_hash("fresh", x);
    free(values);
    rf_msb_ciphertext_free(x);
    rf_msb_secret_free(secret);
}

/* Not called `link`, which is a function of POSIX. */
static void linked(const char *set) {
    rf_link_secret *secret = NULL;
    rf_link_ciphertext *x = NULL;
    double values[5];
    for (size_t i = 0; i < 5; i++) values[i] = (double)(37 * i % 16) / 16;
    check(rf_link_secret_new(set, true, key_seed, &secret));
    check(rf_link_encrypt(secret, values, 5, RF_REAL, RF_LEVEL_FRESH, encryption_seed, &x));
    link_hash("fresh", x);
    rf_link_ciphertext_free(x);
    rf_link_secret_free(secret);
}

static void bgv(const char *set) {
    rf_bgv_secret *secret = NULL;
    rf_bgv_ciphertext *x = NULL;
    size_t slots = 0, degree = 0;
    uint64_t modulus = 0;
    check(rf_bgv_secret_new(set, true, key_seed, &secret));
    check(rf_bgv_slots(secret, &slots));
    check(rf_bgv_slot_degree(secret, &degree));
    check(rf_bgv_modulus(secret, &modulus));
    const size_t count = slots * degree;
    uint32_t *values = malloc(count * sizeof *values);
    if (!values) exit(1);
    for (uint64_t i = 0; i < count; i++) values[i] = (uint32_t)(37 * i * i % modulus);
    check(rf_bgv_encrypt(secret, values, count, RF_LEVEL_FRESH, encryption_seed, &x));
    bgv_hash("fresh", x);
    free(values);
    rf_bgv_ciphertext_free(x);
    rf_bgv_secret_free(secret);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    const char *method = argv[1], *set = argv[2];
    bool toy = strncmp(set, "toy", 3) == 0;
    memset(key_seed, 7, sizeof key_seed);
    memset(encryption_seed, 9, sizeof encryption_seed);
    room = malloc(ROOM);
    if (!room) return 1;
    if (strcmp(method, "gate") == 0) {
        rf_gate_secret_free(gate_keys(argv[3], argv + 4, argc - 4));
        if (toy) gates(set, strcmp(set, "toy-fbs") == 0);
    } else if (strcmp(method, "ship") == 0) {
        rf_ship_secret_free(ship_keys(argv[3], argv + 4, argc - 4));
        if (toy) ship_numbers(set, strcmp(set, "toy10") == 0);
    } else if (strcmp(method, "msb") == 0) {
        rf_msb_secret_free(msb_keys(argv[3], argv + 4, argc - 4));
        if (toy) msb(set);
    } else if (strcmp(method, "link") == 0) {
        rf_link_secret_free(link_keys(argv[3], argv + 4, argc - 4));
        if (toy) linked(set);
    } else if (strcmp(method, "bgv") == 0) {
        rf_bgv_secret_free(bgv_keys(argv[3], argv + 4, argc - 4));
        if (toy) bgv(set);
    } else {
        rf_conventional_secret_free(conventional_keys(argv[3], argv + 4, argc - 4));
        if (toy) conventional_numbers(set, true);
    }
    free(room);
    return 0;
}
