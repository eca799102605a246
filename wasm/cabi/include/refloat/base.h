/* What all methods share: errors, seeds, progress, digests.
 *
 * Results.   Functions give a code, RF_OK or what went wrong. Results go where the last arguments point, and nothing is
 *            written there if the code is not RF_OK, except the length if it is RF_BUFFER.
 * Ownership. An object that comes back through a pointer is the caller's, and is freed by the function of its type whose
 *            name ends with _free, once. Passing NULL, or an object of another type, to it does nothing. Arguments are lent
 *            for the call.
 * Pointers.  A pointer that is not NULL points to what its type says; NULL, an object of another type, text that is not
 *            UTF-8 and numbers out of range are RF_INVALID_ARGUMENT, and never a crash. Strings end with a NUL.
 * Arrays.    A pointer, and the number of items in the next argument. With no items, the pointer may be NULL.
 * Room.      Results of variable length take `out`, its capacity in items and `length`, which gets the length of the result
 *            whether it fits or not. If it does not, the code is RF_BUFFER and nothing is written to `out`, which may be
 *            NULL if the capacity is 0: that asks for the length. The length of a text includes its NUL.
 * Booleans.  Any byte other than 0 is true, for callers that are not compiled from C.
 * Threads.   Objects never change: any number of calls may use one at the same time, but none while it is freed. Long calls
 *            use all processors; RAYON_NUM_THREADS in the environment, before the first call, says how many. Calls need a
 *            stack of 1 MiB. The library keeps its threads: do not unload it, and do not call it in a child after fork. A
 *            program that Emscripten makes has one thread, and cannot be linked with -pthread.
 * Memory.    If there is none left the process ends, as it does wherever Rust allocates. Secret keys are wiped when they are
 *            freed, and calls that handle them wipe what they leave on the stack of the calling thread. What is decrypted,
 *            and what a secret key is written into, is the caller's to wipe.
 * Security.  Decryptions are for the owner of the secret key: one that is given to others can tell them the key. Named sets
 *            that protect nothing, toys, are refused unless `allow_insecure` is true. The randomness is the system's; a seed
 *            of the caller's is for toys alone, where results are to be the same every time. */
#ifndef REFLOAT_BASE_H
#define REFLOAT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A code. Those up to and including RF_ENTROPY have the same names in Rust, HTTP and TypeScript. */
typedef int32_t rf_status;

#define RF_OK 0
#define RF_INVALID_ARGUMENT 1    /* an argument is outside its documented range */
#define RF_PARAMS_MISMATCH 2     /* two objects belong to different sets or keys */
#define RF_LEVEL_MISMATCH 3      /* a ciphertext is not at a level that the operation takes */
#define RF_SCALE_MISMATCH 4      /* two ciphertexts have different scales */
#define RF_INSECURE 5            /* a toy, and allow_insecure is false */
#define RF_BAD_BYTES 6           /* bytes are damaged, or are no such object */
#define RF_MISSING_KEY 7         /* an evaluation key is absent */
#define RF_LIMIT 8               /* a stated limit would be exceeded */
#define RF_ABORTED 9             /* the caller's function asked to stop */
#define RF_PLAINTEXT_MISMATCH 10 /* two ciphertexts hold plaintexts of different kinds */
#define RF_ENTROPY 64            /* the system gives no randomness */
#define RF_BUFFER 65             /* the room for a result is too small */
#define RF_INTERNAL 66           /* a bug of refloat; in WebAssembly it stops the program, without a message, instead */

/* What slots of CKKS hold: real numbers; complex ones, real and imaginary part in turn; bits. */
#define RF_REAL 0
#define RF_COMPLEX 1
#define RF_BITS 2

/* Levels by name: that of fresh and of bootstrapped ciphertexts, and the lowest level that can be bootstrapped. */
#define RF_LEVEL_FRESH (-1)
#define RF_LEVEL_EXHAUSTED (-2)

/* Lengths in bytes of a key id, of a seed, and of a digest or a token. */
#define RF_KEY_ID_BYTES 16
#define RF_SEED_BYTES 32
#define RF_DIGEST_BYTES 32

/* Major version << 16 | minor version of these functions. A minor version adds functions; a major one changes some. */
#define RF_ABI_VERSION 0x10000u

/* Called for each stage of a long call, on the calling thread: `done` of `total` parts are finished, 0 of 0 when a stage begins. `stage` is
 * valid until the function returns. Returning false cancels: the call ends with RF_ABORTED at the end of the part. The function must not
 * throw, leave by longjmp, or free an object of the call. */
typedef bool (*rf_progress)(void *user, const char *stage, uint64_t done, uint64_t total);

/* Called for part `index` of evaluation keys: sets where its bytes are. They must stay there until the next call of this function or the
 * end of the call that uses it. Returning false cancels: the call ends with RF_ABORTED. The function must not throw or leave by longjmp. */
typedef bool (*rf_part_reader)(void *user, size_t index, const uint8_t **bytes, size_t *length);

/* RF_ABI_VERSION of the library, to compare with that of the header. */
uint32_t rf_abi_version(void);

/* The version of the library, such as "0.1.0". */
const char *rf_version(void);

/* The name of a code without RF_, such as "BAD_BYTES"; "UNKNOWN" if there is no such code. */
const char *rf_status_name(rf_status status);

/* The message of the calling thread's last failure, for people: what is wrong, and how to repair it. Writes as much as fits, with a NUL,
 * and returns the bytes that the whole message needs with its NUL: 1 if nothing has failed. `out` may be NULL. */
size_t rf_last_error(char *out, size_t capacity);

/* 32 bytes of the system's randomness. */
rf_status rf_seed(uint8_t *seed);

/* BLAKE3 of some bytes, 32 bytes: the digest that uploads to a server are checked with. */
rf_status rf_digest(const uint8_t *bytes, size_t count, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif
