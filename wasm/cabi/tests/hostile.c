/* Calls every function of the headers wrongly. hostile.mjs writes the calls and makes the objects for them; this file provides the memory
 * they use, which ends where a page ends, and the checks after each call. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef __EMSCRIPTEN__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "refloat.h"

/* Items of room that is always enough; bytes that are watched before the room and in it; their filling; and more zeros than a set has
 * slots. */
enum { AMPLE = 4 << 20, BEFORE = 64, WATCHED = 4096, FILL = 0xa5, ZEROS = 1 << 12 };

/* A length that no call returns. */
#define UNTOUCHED 0xabcdefu

static uint8_t *room_end, *watched;
static size_t watched_bytes, length, needed, calls, wrong;
static const char *endless;
static const double *numbers, *not_a_number, *infinite, *too_large, *huge, *zeros;
static const uint32_t *bits, *sevens, *large;
static uint64_t integer;
static const int32_t *weights, *least;
static const uint8_t *seed;
static char spoiled[256];

/* Memory that ends at a page boundary, followed by a page that nobody may read or write. Emscripten has no such pages. */
static uint8_t *end_of(size_t bytes) {
#ifdef __EMSCRIPTEN__
    uint8_t *memory = malloc(bytes ? bytes : 1);
    if (!memory) exit(1);
    return memory + bytes;
#else
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    uint8_t *memory = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + whole, page, PROT_NONE) != 0) exit(1);
    return memory + whole;
#endif
}

/* A copy that ends at such a boundary. */
static void *at_the_end(const void *data, size_t bytes) {
    return memcpy(end_of(bytes) - bytes, data, bytes);
}

/* Like `at_the_end`, but the copy lasts only until the next call. */
static uint8_t *tail(const uint8_t *data, size_t bytes) {
    return memcpy(room_end - bytes, data, bytes);
}

/* Room for a result: exactly `items` items. */
static void *room_for(size_t items, size_t size) {
    watched = room_end - items * size;
    watched_bytes = items * size < WATCHED ? items * size : WATCHED;
    memset(watched - BEFORE, FILL, BEFORE + watched_bytes);
    return watched;
}

/* Whether a call has left untouched what it must. */
static bool intact(rf_status status) {
    if (!watched) return true;
    for (uint8_t *at = watched - BEFORE; at < watched; at++) {
        if (*at != FILL) return false;
    }
    for (size_t i = 0; i < watched_bytes && status != RF_OK; i++) {
        if (watched[i] != FILL) return false;
    }
    return true;
}

static void must(rf_status status) {
    char message[512];
    if (status == RF_OK) return;
    rf_last_error(message, sizeof message);
    printf("the fixture failed: %s: %s\n", rf_status_name(status), message);
    exit(1);
}

static void refused(rf_status status) {
    calls++;
    if (status == RF_BAD_BYTES || status == RF_PARAMS_MISMATCH || status == RF_INVALID_ARGUMENT) return;
    wrong++;
    printf("damaged bytes gave %s\n", rf_status_name(status));
}

static bool never(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user, (void)stage, (void)done, (void)total;
    return false;
}

static bool always(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    if (strlen(stage) == 0 || done > total) wrong++;
    return true;
}

static bool no_part(void *user, size_t index, const uint8_t **bytes, size_t *count) {
    (void)user, (void)index, (void)bytes, (void)count;
    return false;
}

static bool null_part(void *user, size_t index, const uint8_t **bytes, size_t *count) {
    (void)user, (void)index;
    *bytes = NULL;
    *count = 5;
    return true;
}

static bool bad_part(void *user, size_t index, const uint8_t **bytes, size_t *count) {
    (void)user, (void)index;
    *count = 100;
    *bytes = memset(room_end - *count, 7, *count);
    return true;
}

static rf_gate_ciphertext *integers_0, *integers_1, *three;

/* Called before each call: nothing is watched, and the last message is replaced. */
static void prepare(void) {
    watched = NULL;
    length = UNTOUCHED;
    rf_digest(NULL, 12345, room_end - RF_DIGEST_BYTES);
}

/* The code of a call. `expect` checks it, whether there is an object if the call should give one, and names the call in errors. */
static rf_status found;
static void expect(rf_status wanted, bool given, const char *call);

/* hostile.mjs writes VERSION, make_all, call_all, damage_all and free_all, and for an object that a call made any_made and free_made. */
#include "hostile-calls.h"

static void expect(rf_status wanted, bool given, const char *call) {
    char message[512] = "";
    const char *why = NULL;
    rf_last_error(message, sizeof message);
    calls++;
    if (found != wanted) why = "gave another code";
    else if (found == RF_OK && !given) why = "gave no object";
    else if (found != RF_OK && any_made()) why = "failed, and gave an object";
    else if (found != RF_OK && (strlen(message) < 10 || strcmp(message, spoiled) == 0)) why = "left no message";
    else if (!intact(found)) why = "wrote where it must not";
    else if (found == RF_BUFFER ? length != needed : found != RF_OK && length != UNTOUCHED) why = "gave a wrong length";
    if (found == RF_OK && length != UNTOUCHED) needed = length;
    free_made();
    if (!why) return;
    wrong++;
    printf("%s %s: %s (%s), wanted %s\n", call, why, rf_status_name(found), message, rf_status_name(wanted));
}

/* The functions that return no code. */
static void others(void) {
    char text[64];
    memset(text, FILL, sizeof text);
    size_t whole = rf_last_error(NULL, 0);
    bool right = rf_abi_version() == RF_ABI_VERSION && strcmp(rf_version(), VERSION) == 0;
    right = right && rf_last_error(text, 5) == whole && whole > 5 && strlen(text) == 4 && (uint8_t)text[5] == FILL;
    right = right && rf_last_error(text, 0) == whole && strlen(text) == 4;
    right = right && strcmp(rf_status_name(RF_BUFFER), "BUFFER") == 0 && strcmp(rf_status_name(-7), "UNKNOWN") == 0;
    calls += 6;
    if (right) return;
    wrong++;
    printf("version %x, %s; a message of %zu bytes: %s\n", (unsigned)rf_abi_version(), rf_version(), whole, text);
}

#define ARRAY(T, ...) at_the_end((const T[]){__VA_ARGS__}, sizeof((const T[]){__VA_ARGS__}))

int main(void) {
    room_end = end_of(8 * (size_t)AMPLE + BEFORE);
    char *long_text = malloc(1 << 20);
    double *nothing = calloc(ZEROS, sizeof *nothing);
    if (!long_text || !nothing) return 1;
    memset(long_text, 'x', (1 << 20) - 1);
    long_text[(1 << 20) - 1] = 0;
    endless = long_text;
    zeros = nothing;
    numbers = ARRAY(double, 0.5, -0.25);
    not_a_number = ARRAY(double, 0, NAN);
    infinite = ARRAY(double, INFINITY, 0);
    too_large = ARRAY(double, 0, 2);
    huge = ARRAY(double, 1e300, 0);
    bits = ARRAY(uint32_t, 1, 0);
    sevens = ARRAY(uint32_t, 7, 7);
    large = ARRAY(uint32_t, 0, UINT32_MAX);
    weights = ARRAY(int32_t, 1);
    least = ARRAY(int32_t, INT32_MIN);
    seed = memset(end_of(RF_SEED_BYTES) - RF_SEED_BYTES, 3, RF_SEED_BYTES);
    prepare();
    rf_last_error(spoiled, sizeof spoiled);
    make_all();
    must(rf_gate_encrypt(rf_gate_secret_0, bits, 2, 4, NULL, &integers_0));
    must(rf_gate_encrypt(rf_gate_secret_1, bits, 2, 4, NULL, &integers_1));
    must(rf_gate_slice(rf_gate_ciphertext_0, 0, 1, &rf_gate_ciphertext_made));
    must(rf_gate_join(rf_gate_ciphertext_0, rf_gate_ciphertext_made, &three));
    rf_gate_ciphertext_free(rf_gate_ciphertext_made);
    rf_gate_ciphertext_made = NULL;
    others();
    call_all();
    damage_all();
    rf_gate_ciphertext_free(integers_0);
    rf_gate_ciphertext_free(integers_1);
    rf_gate_ciphertext_free(three);
    free_all();
    free(long_text);
    free(nothing);
    printf("%zu calls, %zu wrong\n", calls, wrong);
    return wrong ? 1 : 0;
}
