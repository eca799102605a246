/* Tests whether calls that handle secret keys leave them on the stack: looks below main for the seed that a key is derived from. */
#include <stdio.h>
#include <string.h>

#include "refloat.h"

enum { DEPTH = 200 << 10, ROOM = 8 << 20, PIECE = 16 };

static uint8_t seed[RF_SEED_BYTES], bytes[256], room[ROOM];
static size_t looks, wrong;

/* Looks through the frames of functions that have returned. */
__attribute__((noinline)) static bool is_left(void) {
    volatile uint8_t frames[DEPTH];
    volatile uint8_t *start = frames;
    /* Their contents are undefined; this makes the compiler assume that somebody has written them. */
    __asm__ volatile("" : "+r"(start) : : "memory");
    for (size_t i = 0; i + PIECE <= DEPTH; i++) {
        size_t same = 0;
        while (same < PIECE && start[i + same] == seed[same]) same++;
        if (same == PIECE) return true;
    }
    return false;
}

/* Leaves the seed on the stack; unless that is found, the test proves nothing. */
__attribute__((noinline)) static void leave(void) {
    volatile uint8_t frame[8 << 10];
    for (size_t i = 0; i < sizeof frame; i++) frame[i] = seed[i % RF_SEED_BYTES];
}

/* Overwrites what is left. */
__attribute__((noinline)) static void clear(void) {
    uint8_t frames[DEPTH];
    memset(frames, 0, sizeof frames);
    __asm__ volatile("" : : "r"(frames) : "memory");
}

static void look(rf_status status, const char *call) {
    looks++;
    bool left = is_left();
    if (status == RF_OK && !left) return;
    wrong++;
    printf("%s gave %s and left %s\n", call, rf_status_name(status), left ? "the key" : "nothing");
    memset(room, 0, sizeof room);
}

#define LOOK(call) look(call, #call)

#define SECRET(M, set) \
    static rf_##M##_secret *M##_secret(void) { \
        rf_##M##_secret *made = NULL, *read = NULL; \
        size_t length = 0; \
        LOOK(rf_##M##_secret_new(set, true, seed, &made)); \
        LOOK(rf_##M##_secret_to_bytes(made, bytes, sizeof bytes, &length)); \
        LOOK(rf_##M##_secret_from_bytes(bytes, length, true, &read)); \
        LOOK(rf_##M##_server_token(made, "https://example.org", room)); \
        LOOK(rf_##M##_key_part(made, 0, room, ROOM, &length)); \
        rf_##M##_secret_free(read); \
        looks++; \
        if (is_left()) wrong++; \
        return made; \
    }

SECRET(bgv, "toy-bgv10")
SECRET(conventional, "toy-conventional10-sparse")
SECRET(digit_link, "toy-msb-link")
SECRET(gate, "toy-bool")
SECRET(link, "toy-link")
SECRET(msb, "toy-msb10")
SECRET(ship, "toy10")

int main(void) {
    for (size_t i = 0; i < sizeof seed; i++) seed[i] = (uint8_t)(0x91 + 37 * i);
    leave();
    if (!is_left()) {
        printf("what is left on the stack is not seen\n");
        return 1;
    }
    clear();

    rf_conventional_secret_free(conventional_secret());
    rf_ship_secret *ship = ship_secret();
    rf_gate_secret *gate = gate_secret();
    rf_bgv_secret *bgv = bgv_secret();
    rf_msb_secret *msb = msb_secret();
    rf_link_secret *linked = link_secret();
    rf_digit_link_secret *both = digit_link_secret();

    const double values[2] = {0.5, -0.25};
    rf_ship_ciphertext *x = NULL;
    size_t length = 0;
    LOOK(rf_ship_encrypt(ship, values, 2, RF_REAL, RF_LEVEL_FRESH, seed, &x));
    LOOK(rf_ship_decrypt(ship, x, RF_REAL, (double *)(void *)room, ROOM / sizeof(double), &length));
    const uint32_t bits[2] = {1, 0};
    rf_gate_ciphertext *y = NULL;
    rf_gate_keys *keys = NULL;
    LOOK(rf_gate_encrypt(gate, bits, 2, RF_GATE_BITS, seed, &y));
    LOOK(rf_gate_keys_new(gate, NULL, NULL, &keys));
    rf_bgv_ciphertext *integers = NULL;
    LOOK(rf_bgv_encrypt(bgv, bits, 2, RF_LEVEL_FRESH, seed, &integers));
    LOOK(rf_bgv_decrypt(bgv, integers, (uint32_t *)(void *)room, ROOM / sizeof(uint32_t), &length));
    rf_msb_ciphertext *reals = NULL;
    LOOK(rf_msb_encrypt(msb, values, 2, RF_REAL, RF_LEVEL_FRESH, seed, &reals));
    LOOK(rf_msb_decrypt(msb, reals, RF_REAL, (double *)(void *)room, ROOM / sizeof(double), &length));
    rf_link_ciphertext *scores = NULL;
    LOOK(rf_link_encrypt(linked, values, 2, RF_REAL, RF_LEVEL_FRESH, seed, &scores));
    LOOK(rf_link_decrypt(linked, scores, RF_REAL, (double *)(void *)room, ROOM / sizeof(double), &length));
    rf_digit_link_ciphertext *numbers = NULL;
    LOOK(rf_digit_link_encrypt(both, values, 2, RF_REAL, RF_LEVEL_FRESH, seed, &numbers));
    LOOK(rf_digit_link_decrypt(both, numbers, RF_REAL, (double *)(void *)room, ROOM / sizeof(double), &length));
    rf_digit_link_ciphertext_free(numbers);
    rf_link_ciphertext_free(scores);
    rf_msb_ciphertext_free(reals);
    rf_bgv_ciphertext_free(integers);
    rf_gate_keys_free(keys);
    rf_gate_ciphertext_free(y);
    rf_ship_ciphertext_free(x);
    rf_digit_link_secret_free(both);
    rf_link_secret_free(linked);
    rf_msb_secret_free(msb);
    rf_bgv_secret_free(bgv);
    rf_gate_secret_free(gate);
    rf_ship_secret_free(ship);
    printf("%zu looks, %zu wrong\n", looks, wrong);
    return wrong ? 1 : 0;
}
