/* Adds two bytes that are encrypted bit by bit: the party that adds has only the evaluation keys, and learns nothing.
 *
 *     adder [--allow-insecure] [a b [set]]
 *
 * The numbers are from 0 to 255; the set is bool-128 unless one is named. Sets that protect nothing are refused unless the
 * flag is given: a program whose data is to be protected has no such flag.
 *
 * The same file runs natively and, compiled by Emscripten, in Node and in a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refloat.h"

enum { WIDTH = 8 };

/* Ends the program with the library's own words if something fails. */
static void check(rf_status status) {
    if (status == RF_OK) return;
    char message[512];
    rf_last_error(message, sizeof message);
    fprintf(stderr, "%s: %s\n", rf_status_name(status), message);
    exit(1);
}

/* Called after every few gates; false would cancel. */
static bool report(void *user, const char *stage, uint64_t done, uint64_t total) {
    uint64_t *gates = user;
    (void)stage;
    (void)done;
    *gates = total;
    return true;
}

/* A number from 0 to 255; ends the program if the text is something else. */
static unsigned byte_of(const char *text) {
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0 || value > 255) {
        fprintf(stderr, "%s is not a number from 0 to 255\n", text);
        exit(1);
    }
    return (unsigned)value;
}

int main(int argc, char **argv) {
    bool allow_insecure = argc > 1 && strcmp(argv[1], "--allow-insecure") == 0;
    char **words = argv + (allow_insecure ? 2 : 1);
    int count = argc - (allow_insecure ? 2 : 1);
    unsigned a = count > 1 ? byte_of(words[0]) : 173;
    unsigned b = count > 1 ? byte_of(words[1]) : 102;
    const char *set = count > 2 ? words[2] : "bool-128";

    /* The owner of the data makes keys, and encrypts: the bits of a, lowest first, then those of b. */
    rf_gate_secret *secret = NULL;
    rf_gate_keys *keys = NULL;
    check(rf_gate_secret_new(set, allow_insecure, NULL, &secret));
    check(rf_gate_keys_new(secret, NULL, NULL, &keys));
    uint32_t bits[2 * WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        bits[i] = a >> i & 1;
        bits[WIDTH + i] = b >> i & 1;
    }
    rf_gate_ciphertext *inputs = NULL;
    check(rf_gate_encrypt(secret, bits, 2 * WIDTH, RF_GATE_BITS, NULL, &inputs));

    /* Somebody else adds. */
    char circuit[4096];
    size_t length = 0;
    uint64_t gates = 0;
    rf_gate_ciphertext *outputs = NULL;
    check(rf_gate_circuit("adder", WIDTH, false, circuit, sizeof circuit, &length));
    check(rf_gate_run(keys, circuit, inputs, report, &gates, &outputs));

    /* The owner decrypts: eight bits of the sum, and the carry. */
    uint32_t sum[WIDTH + 1];
    check(rf_gate_decrypt(secret, outputs, sum, WIDTH + 1, &length));
    unsigned total = 0;
    for (size_t i = 0; i < length; i++) total |= sum[i] << i;
    printf("%u + %u = %u, encrypted with %s, %llu gates\n", a, b, total, set, (unsigned long long)gates);

    rf_gate_ciphertext_free(outputs);
    rf_gate_ciphertext_free(inputs);
    rf_gate_keys_free(keys);
    rf_gate_secret_free(secret);
    return total == a + b ? 0 : 1;
}
