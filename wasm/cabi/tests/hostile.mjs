// Writes a C program that calls every function of the headers wrongly, in every way there is: NULL for each pointer, objects
// of every other type and of other keys, room that is short by one, lengths that no memory has, damaged bytes. A function that
// is added is called as well, and one with an argument that is not known here fails to be.

/** What may be NULL. */
const OPTIONAL = new Set(['seed', 'progress', 'user']);

/** Values of arguments by name, where the type does not say enough. `M` is the method. */
const VALUES = {
  kind: '"adder"',
  gate: '"nand"',
  circuit: 'circuit',
  origin: '"https://example.org"',
  set: 'M_set',
  key_id: 'M_id',
  read: 'give_M_part',
  user: 'NULL',
  progress: 'NULL',
  seed: 'NULL',
  allow_insecure: 'true',
  mode: 'RF_REAL',
  level: 'RF_LEVEL_FRESH',
  messages: 'RF_GATE_BITS',
  index: '0',
  start: '0',
  end: '1',
  width: '2',
  prefix: 'false',
  constant: '0',
  capacity: 'ROOM',
};

/** The place of a method's name in code. */
const METHOD = /(?<![A-Z])M(?=[_(])/g;

/** Every function of a header: its result, its name and its arguments. */
export function functionsOf(header) {
  const code = header.replace(/\/\*[^]*?\*\//g, '').replace(/^#.*$/gm, '').replace(/typedef[^;]*;/g, '');
  return [...code.matchAll(/([\w ]+[ *])(rf_\w+)\(([^)]*)\);/g)].map(([, result, name, list]) => ({
    name,
    result: result.trim(),
    args: list.trim() === 'void' ? [] : list.split(',').map(argument),
  }));
}

function argument(text) {
  const [, type, name] = /^\s*(.*?[ *])(\w+)\s*$/s.exec(text);
  return { type: type.replace(/\s+/g, ' ').trim(), name };
}

/** The program; `headers` are the texts of the headers of methods and of base.h, by name. */
export function hostileProgram(headers) {
  const all = Object.values(headers).flatMap(functionsOf);
  const methods = [...new Set(all.map(({ name }) => /^rf_(\w+?)_secret_new$/.exec(name)?.[1]).filter(Boolean))];
  const objects = methods.flatMap((method) => ['secret', 'keys', 'ciphertext'].map((kind) => `rf_${method}_${kind}`));
  const body = all.flatMap((f) => callsOf(f, objects, methods));
  return PROGRAM.replace('FIXTURES', methods.map(fixture).join('\n'))
    .replace('MAKE', methods.map((method) => `    make_${method}();`).join('\n'))
    .replace('CALLS', body.map((line) => `    ${line}`).join('\n'))
    .replace('DAMAGE', methods.map((method) => `    damage_${method}();`).join('\n'))
    .replace('RELEASE', objects.map((object) => `    ${object}_free(${object}_made);\n    ${object}_made = NULL;`).join('\n'))
    .replace('MADE', objects.map((object) => `${object}_made`).join(' || '))
    .replace('FREE', methods.map((method) => `    free_${method}();`).join('\n'));
}

function callsOf({ name, result, args }, objects, methods) {
  const method = methods.find((each) => name.startsWith(`rf_${each}_`));
  // Weighted sums are of integers, everything else of bits.
  const object = (type, number) => (name === 'rf_gate_weighted_sum' && type === 'rf_gate_ciphertext' ? `integers_${number}` : `${type}_${number}`);
  const value = (each, i) => {
    const own = /^const (rf_\w+) \*$/.exec(each.type)?.[1];
    return own ? object(own, 0) : valid(each, method, args, i);
  };
  const call = (changes = {}) => `${name}(${args.map((each, i) => changes[i] ?? value(each, i)).join(', ')})`;
  if (result === 'void') {
    const others = objects.filter((object) => args[0].type !== `${object} *`);
    return [`${name}(NULL); calls++;`, ...others.map((object) => `${name}((void *)${object}_0); calls++;`)];
  }
  if (result !== 'rf_status') return [];
  const lines = [];
  const expect = (code, changes) => lines.push(`expect(${code}, ${call(changes)}, __LINE__, ${JSON.stringify(call(changes))});`);
  expect('RF_OK');
  args.forEach(({ type, name: arg }, i) => {
    const pointer = type.includes('*') || type.startsWith('rf_p');
    const optional = OPTIONAL.has(arg) && type !== 'uint8_t *';
    if (pointer) expect(optional ? 'RF_OK' : 'RF_INVALID_ARGUMENT', { [i]: 'NULL' });
    const own = /^const (rf_\w+) \*$/.exec(type)?.[1];
    if (own) {
      for (const other of objects) if (other !== own) expect('RF_INVALID_ARGUMENT', { [i]: `(const void *)${other}_0` });
      if (args.filter((each) => /^const rf_\w+ \*$/.test(each.type)).length > 1) expect('RF_PARAMS_MISMATCH', { [i]: object(own, 1) });
    }
    if (arg === 'count') expect('RF_INVALID_ARGUMENT', { [i]: 'SIZE_MAX' });
    if (arg === 'capacity') {
      expect('RF_BUFFER', { [i]: '0' });
      expect('RF_BUFFER', { [i]: '0', [i - 1]: 'NULL' });
      expect('RF_BUFFER', { [i]: 'length - 1' });
      expect('RF_OK', { [i]: 'length' });
    }
    if (type === 'const char *') expect('RF_INVALID_ARGUMENT', { [i]: '"\\xff"' });
    if (type === 'const char *' && arg !== 'origin' && arg !== 'circuit') {
      expect('RF_INVALID_ARGUMENT', { [i]: '""' });
      expect('RF_INVALID_ARGUMENT', { [i]: 'endless' });
    }
    if (/^const (double|u?int32_t) \*$/.test(type)) expect('RF_INVALID_ARGUMENT', { [i]: '(const void *)((const char *)numbers + 1)' });
    if (arg === 'mode') for (const wrong of ['RF_BITS', '3', '-1', 'INT32_MIN']) expect('RF_INVALID_ARGUMENT', { [i]: wrong });
    if (arg === 'level' && type === 'int32_t') for (const wrong of ['-3', 'INT32_MIN']) expect('RF_INVALID_ARGUMENT', { [i]: wrong });
    if (arg === 'index' || arg === 'start') expect('RF_INVALID_ARGUMENT', { [i]: 'SIZE_MAX' });
    if (arg === 'end') expect('RF_INVALID_ARGUMENT', { [i]: '0' }), expect('RF_INVALID_ARGUMENT', { [i]: 'SIZE_MAX' });
    if (arg === 'width') expect('RF_INVALID_ARGUMENT', { [i]: '0' }), expect('RF_INVALID_ARGUMENT', { [i]: 'SIZE_MAX' });
    if (arg === 'allow_insecure') expect('RF_INSECURE', { [i]: 'false' });
    if (type === 'rf_progress') expect('RF_ABORTED', { [i]: 'never' }), expect('RF_OK', { [i]: 'always' });
    if (type === 'rf_part_reader') {
      expect('RF_ABORTED', { [i]: 'no_part' });
      expect('RF_INVALID_ARGUMENT', { [i]: 'null_part' });
      expect('RF_BAD_BYTES', { [i]: 'bad_part' });
    }
  });
  return lines;
}

function valid({ type, name }, method, args, i) {
  const made = /^(rf_\w+) \*\*$/.exec(type)?.[1];
  if (made) return `&${made}_made`;
  if (type === 'const uint8_t *' && name === 'bytes') return method ? `${method}_${/secret/.test(args[3]?.type ?? '') ? 'secret' : 'ciphertext'}_bytes` : 'room';
  if (name === 'count') {
    const of = args[i - 1].name;
    if (of === 'bytes') return method ? `${method}_${/secret/.test(args[3]?.type ?? '') ? 'secret' : 'ciphertext'}_count` : '100';
    return of === 'weights' ? '1' : '2';
  }
  if (name === 'values' && type === 'const double *') return 'numbers';
  if (name === 'values' || name === 'table') return 'bits';
  if (name === 'weights') return 'weights';
  if (type === 'size_t *') return '&length';
  if (/^(uint8_t|char|double|uint32_t) \*$/.test(type)) return '(void *)room';
  if (!(name in VALUES)) throw new Error(`what is a valid ${type} ${name}? Add it to this file`);
  return VALUES[name].replace(METHOD, method);
}

/** Objects 0 and 1 of a method, of two keys; the wire forms of the first; a reader of its parts; damaged bytes. */
function fixture(method) {
  const gate = method === 'gate';
  const set = { gate: 'toy-bool', ship: 'toy10', conventional: 'toy-conventional10-sparse' }[method];
  if (!set) throw new Error(`which toy has ${method}? Add it to this file`);
  const encrypt = gate
    ? `rf_gate_encrypt(rf_gate_secret_0, bits, 2, RF_GATE_BITS, NULL, &rf_gate_ciphertext_0)`
    : `rf_${method}_encrypt(rf_${method}_secret_0, numbers, 2, RF_REAL, RF_LEVEL_FRESH, NULL, &rf_${method}_ciphertext_0)`;
  const text = `
static rf_M_secret *rf_M_secret_0, *rf_M_secret_1, *rf_M_secret_made;
static rf_M_keys *rf_M_keys_0, *rf_M_keys_1, *rf_M_keys_made;
static rf_M_ciphertext *rf_M_ciphertext_0, *rf_M_ciphertext_1, *rf_M_ciphertext_made;
static const char *M_set = "SET";
static uint8_t M_id[RF_KEY_ID_BYTES], M_secret_bytes[128], *M_ciphertext_bytes;
static size_t M_secret_count, M_ciphertext_count;

static bool give_M_part(void *user, size_t index, const uint8_t **bytes, size_t *length) {
    (void)user;
    *bytes = room;
    return rf_M_key_part(rf_M_secret_0, index, room, ROOM, length) == RF_OK;
}

static void make_M(void) {
    must(rf_M_secret_new(M_set, true, NULL, &rf_M_secret_1));
    must(rf_M_keys_new(rf_M_secret_1, NULL, NULL, &rf_M_keys_1));
    ENCRYPT_1
    must(rf_M_secret_new(M_set, true, NULL, &rf_M_secret_0));
    must(rf_M_keys_new(rf_M_secret_0, NULL, NULL, &rf_M_keys_0));
    ENCRYPT_0
    must(rf_M_key_id(rf_M_secret_0, M_id));
    must(rf_M_secret_to_bytes(rf_M_secret_0, M_secret_bytes, sizeof M_secret_bytes, &M_secret_count));
    must(rf_M_ciphertext_to_bytes(rf_M_ciphertext_0, room, ROOM, &M_ciphertext_count));
    M_ciphertext_bytes = malloc(M_ciphertext_count);
    if (!M_ciphertext_bytes) exit(1);
    memcpy(M_ciphertext_bytes, room, M_ciphertext_count);
}

/* Bytes that are cut, too long, of another kind, or wrong in one place: refused, whatever the code. */
static void damage_M(void) {
    for (size_t i = 0; i < 64; i++) {
        size_t cut = M_ciphertext_count * i / 64, at = M_ciphertext_count * i / 64 + i % 7;
        refused(rf_M_ciphertext_from_bytes(M_ciphertext_bytes, cut, &rf_M_ciphertext_made));
        refused(rf_M_secret_from_bytes(M_secret_bytes, M_secret_count * i / 64, true, &rf_M_secret_made));
        M_ciphertext_bytes[at] ^= 0x10;
        refused(rf_M_ciphertext_from_bytes(M_ciphertext_bytes, M_ciphertext_count, &rf_M_ciphertext_made));
        M_ciphertext_bytes[at] ^= 0x10;
        M_secret_bytes[2 * i] ^= 0x10;
        refused(rf_M_secret_from_bytes(M_secret_bytes, M_secret_count, true, &rf_M_secret_made));
        M_secret_bytes[2 * i] ^= 0x10;
    }
    refused(rf_M_ciphertext_from_bytes(M_secret_bytes, M_secret_count, &rf_M_ciphertext_made));
    refused(rf_M_secret_from_bytes(M_ciphertext_bytes, M_ciphertext_count, true, &rf_M_secret_made));
}

static void free_M(void) {
    rf_M_ciphertext_free(rf_M_ciphertext_0);
    rf_M_ciphertext_free(rf_M_ciphertext_1);
    rf_M_keys_free(rf_M_keys_0);
    rf_M_keys_free(rf_M_keys_1);
    rf_M_secret_free(rf_M_secret_0);
    rf_M_secret_free(rf_M_secret_1);
    free(M_ciphertext_bytes);
}`;
  return text
    .replace('ENCRYPT_0', `must(${encrypt});`)
    .replace('ENCRYPT_1', `must(${encrypt.replaceAll('_0', '_1')});`)
    .replaceAll('SET', set)
    .replace(METHOD, method);
}

const PROGRAM = `/* generated by wasm/cabi/tests/hostile.mjs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refloat.h"

enum { ROOM = 4 << 20 };

static uint8_t *room;
static char *endless;
static const char circuit[] = "input a b\\noutput c\\nc = AND a b\\n";
static size_t length, calls, wrong;
static const double numbers[4] = {0.5, -0.25, 1, 0};
static const uint32_t bits[4] = {1, 0, 1, 0};
static const int32_t weights[1] = {1};

static void must(rf_status status) {
    char message[512];
    if (status == RF_OK) return;
    rf_last_error(message, sizeof message);
    printf("the fixture failed: %s: %s\\n", rf_status_name(status), message);
    exit(1);
}

static void refused(rf_status status) {
    calls++;
    if (status == RF_BAD_BYTES || status == RF_PARAMS_MISMATCH || status == RF_INVALID_ARGUMENT) return;
    wrong++;
    printf("damaged bytes gave %s\\n", rf_status_name(status));
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
    memset(room, 7, 100);
    *bytes = room;
    *count = 100;
    return true;
}

FIXTURES

static rf_gate_ciphertext *integers_0, *integers_1;

/* Frees what a call has made; one that failed must have made nothing. */
static void release(rf_status status) {
    if (status != RF_OK && (MADE)) {
        wrong++;
        printf("a call that failed gave an object\\n");
    }
RELEASE
}

static void expect(rf_status wanted, rf_status found, int line, const char *call) {
    char message[512];
    release(found);
    calls++;
    if (wanted == found && (found == RF_OK || rf_last_error(message, sizeof message) > 10)) return;
    wrong++;
    rf_last_error(message, sizeof message);
    printf("%d: %s gave %s (%s), not %s\\n", line, call, rf_status_name(found), message, rf_status_name(wanted));
}

int main(void) {
    room = calloc(ROOM, 1);
    endless = malloc(1 << 20);
    if (!room || !endless) return 1;
    memset(endless, 'x', (1 << 20) - 1);
    endless[(1 << 20) - 1] = 0;
MAKE
    must(rf_gate_encrypt(rf_gate_secret_0, bits, 2, 4, NULL, &integers_0));
    must(rf_gate_encrypt(rf_gate_secret_1, bits, 2, 4, NULL, &integers_1));
CALLS
DAMAGE
    rf_gate_ciphertext_free(integers_0);
    rf_gate_ciphertext_free(integers_1);
FREE
    free(room);
    free(endless);
    printf("%zu calls, %zu wrong\\n", calls, wrong);
    return wrong ? 1 : 0;
}
`;
