// Writes the calls that hostile.c makes: every function of the headers, called wrongly. NULL for each pointer, objects of every other type
// and of other keys, arrays that end where memory ends, room that is short by one, lengths that no memory has, numbers out of range,
// damaged bytes. New functions are called too; an unknown argument is an error in this file.

/** Arguments that may be NULL. */
const OPTIONAL = new Set(['seed', 'progress', 'user']);

/** Values of arguments by name, where the type does not determine them. `M` is the method. */
const VALUES = {
  kind: '"adder"',
  gate: '"nand"',
  circuit: String.raw`"input a b\noutput c\nc = AND a b\n"`,
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
  capacity: 'AMPLE',
};

/** Wrong values, by the end of a function's name: the expected code, and the arguments that differ from the valid ones. */
const WRONG = [
  [/^rf_(ship|conventional|link)_encrypt(_for)?$/, [['RF_INVALID_ARGUMENT', { values: 'too_large' }]]],
  [/^rf_(ship|conventional|link|digit_link|msb)_encrypt(_for)?$/, [
    ...['not_a_number', 'infinite', 'huge'].map((values) => ['RF_INVALID_ARGUMENT', { values }]),
    ['RF_INVALID_ARGUMENT', { values: 'zeros', count: 'ZEROS' }],
    ['RF_INVALID_ARGUMENT', { values: 'numbers', count: '1', mode: 'RF_COMPLEX' }],
    ['RF_LEVEL_MISMATCH', { level: 'INT32_MAX' }],
    ['RF_OK', { mode: 'RF_COMPLEX' }],
  ]],
  [/^rf_bgv_encrypt(_for)?$/, [
    ['RF_INVALID_ARGUMENT', { values: 'large' }],
    ['RF_INVALID_ARGUMENT', { values: '(const uint32_t *)(const void *)zeros', count: 'ZEROS' }],
    ['RF_LEVEL_MISMATCH', { level: 'INT32_MAX' }],
    ['RF_OK', { level: 'RF_LEVEL_EXHAUSTED' }],
    ['RF_OK', { values: 'NULL', count: '0' }],
  ]],
  [/^rf_gate_encrypt$/, [
    ['RF_INVALID_ARGUMENT', { values: 'sevens' }],
    ...['1', '65', 'UINT32_MAX'].map((messages) => ['RF_INVALID_ARGUMENT', { messages }]),
    ['RF_INVALID_ARGUMENT', { values: 'sevens', messages: '7' }],
    ['RF_INVALID_ARGUMENT', { values: 'NULL', count: '0' }],
    ['RF_OK', { messages: '4' }],
  ]],
  [/^rf_gate_look_up$/, [
    ['RF_INVALID_ARGUMENT', { count: '1' }],
    ['RF_INVALID_ARGUMENT', { table: 'NULL', count: '0' }],
    ['RF_INVALID_ARGUMENT', { table: 'sevens' }],
    ['RF_INVALID_ARGUMENT', { messages: '1' }],
    ['RF_INVALID_ARGUMENT', { messages: 'UINT32_MAX' }],
  ]],
  [/^rf_gate_weighted_sum$/, [
    ['RF_LIMIT', { weights: 'least' }],
    ['RF_INVALID_ARGUMENT', { weights: 'NULL', count: '0' }],
  ]],
  [/^rf_gate_evaluate$/, [
    ['RF_INVALID_ARGUMENT', { gate: '"x"' }],
    ['RF_INVALID_ARGUMENT', { x: 'three' }],
  ]],
  [/^rf_gate_run$/, [
    ['RF_INVALID_ARGUMENT', { circuit: '"there is no circuit here"' }],
    ['RF_INVALID_ARGUMENT', { circuit: '""' }],
    ['RF_INVALID_ARGUMENT', { x: 'three' }],
  ]],
  // A set of an earlier version, and one over wider words.
  [/^rf_gate_secret_new$/, ['"bool-128-2026a"', '"fbs16-50"'].map((set) => ['RF_INVALID_ARGUMENT', { set }])],
  [/^rf_gate_keys_from_parts$/, [['RF_INVALID_ARGUMENT', { set: '"fbs16-50"' }]]],
  [/_secret_new$/, [['RF_INVALID_ARGUMENT', { set: '"nothing"' }], ['RF_OK', { seed: 'seed' }]]],
  [/_keys_from_parts$/, [['RF_INVALID_ARGUMENT', { set: '"nothing"' }]]],
  [/_encrypt(_for)?$/, [['RF_OK', { seed: 'seed' }]]],
];

/** Sizes in bytes of the items of result buffers. */
const SIZES = { 'uint8_t *': 1, 'char *': 1, 'uint32_t *': 4, 'double *': 8 };

/** Matches the placeholder for a method's name in code. */
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

/** The text of hostile-calls.h, given the texts of the methods' headers and base.h by name, and the library's version. */
export function hostileCalls(headers, version) {
  const all = Object.values(headers).flatMap(functionsOf);
  const objects = Object.values(headers).flatMap((header) => [...header.matchAll(/typedef struct (rf_\w+) /g)].map(([, name]) => name));
  const methods = all.map(({ name }) => /^rf_(\w+?)_secret_new$/.exec(name)?.[1]).filter(Boolean);
  const texts = new Texts();
  // One C function for each: compilers take minutes over a single one with all calls.
  const calls = all.map((f) => ({ name: f.name.replace(/^rf/, 'call'), lines: callsOf(f, objects, methods, texts) }));
  const body = (name, lines) => `static void ${name}(void) {\n${lines.map((line) => `    ${line}\n`).join('')}}\n`;
  const made = objects.map((object) => `${object}_made`);
  return [
    '/* generated by wasm/cabi/tests/hostile.mjs */',
    `#define VERSION ${JSON.stringify(version)}`,
    texts.declared(),
    ...methods.map((method) => fixture(method, objects)),
    `static bool any_made(void) {\n    return ${made.join(' || ')};\n}\n`,
    body('free_made', made.flatMap((object) => [`${object.replace(/made$/, 'free')}(${object});`, `${object} = NULL;`])),
    body('make_all', [...texts.made(), ...methods.map((method) => `make_${method}();`)]),
    ...calls.map(({ name, lines }) => body(name, lines)),
    body('call_all', calls.map(({ name }) => `${name}();`)),
    body('damage_all', [...methods.map((method) => `damage_${method}();`), ...confusions(methods)]),
    body('free_all', methods.map((method) => `free_${method}();`)),
  ].join('\n');
}

/** Passes to each method what every other method has written. */
function confusions(methods) {
  const given = (other) => `${other}_secret_bytes, ${other}_secret_count, ${other}_ciphertext_bytes, ${other}_ciphertext_count`;
  return methods.flatMap((method) => methods.filter((other) => other !== method).map((other) => `confuse_${method}(${given(other)});`));
}

/** The texts that are arguments, each in a variable of the program, whose bytes end where memory ends. */
class Texts {
  #names = new Map();

  /** A value, or, for a text, the variable that holds it. */
  of(value) {
    if (!value.startsWith('"')) return value;
    if (!this.#names.has(value)) this.#names.set(value, `text_${this.#names.size}`);
    return this.#names.get(value);
  }

  declared() {
    return [...this.#names.values()].map((name) => `static const char *${name};`).join('\n');
  }

  made() {
    return [...this.#names].map(([value, name]) => `${name} = at_the_end(${value}, sizeof ${value});`);
  }
}

function callsOf({ name, result, args }, objects, methods, texts) {
  const method = methods.find((each) => name.startsWith(`rf_${each}_`));
  // Weighted sums take integers, everything else takes bits.
  const object = (type, number) => (name === 'rf_gate_weighted_sum' && type === 'rf_gate_ciphertext' ? `integers_${number}` : `${type}_${number}`);
  const made = args.map(({ type }) => /^(rf_\w+) \*\*$/.exec(type)?.[1]).find(Boolean);
  const value = (each, i, changes) => {
    if (i in changes) return texts.of(changes[i]);
    const own = /^const (rf_\w+) \*$/.exec(each.type)?.[1];
    if (own) return object(own, 0);
    if (each.type in SIZES) {
      const fixed = name.endsWith('_key_id') ? 'RF_KEY_ID_BYTES' : 'RF_DIGEST_BYTES';
      const items = args[i + 1]?.name === 'capacity' ? (changes[i + 1] ?? VALUES.capacity) : fixed;
      return `room_for(${items}, ${SIZES[each.type]})`;
    }
    return texts.of(valid(each, method, args, i));
  };
  const call = (changes = {}) => `${name}(${args.map((each, i) => value(each, i, changes)).join(', ')})`;
  if (result === 'void') {
    const others = objects.filter((other) => args[0].type !== `${other} *`);
    return [`${name}(NULL); calls++;`, ...others.map((other) => `${name}((void *)${other}_0); calls++;`)];
  }
  if (result !== 'rf_status') return [];
  const lines = [];
  const expect = (code, changes) => {
    const text = call(changes);
    lines.push(`prepare(); found = ${text}; expect(${code}, ${made ? `${made}_made != NULL` : 'true'}, ${JSON.stringify(text)});`);
  };
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
      expect('RF_BUFFER', { [i]: 'needed - 1' });
      expect('RF_OK', { [i]: 'needed' });
    }
    if (type === 'const char *') expect('RF_INVALID_ARGUMENT', { [i]: String.raw`"\xff"` });
    if (type === 'const char *' && arg !== 'origin' && arg !== 'circuit') {
      expect('RF_INVALID_ARGUMENT', { [i]: '""' });
      expect('RF_INVALID_ARGUMENT', { [i]: 'endless' });
    }
    if (/^const (double|u?int32_t) \*$/.test(type)) expect('RF_INVALID_ARGUMENT', { [i]: '(const void *)((const char *)numbers + 1)' });
    if (/^(double|uint32_t) \*$/.test(type)) expect('RF_INVALID_ARGUMENT', { [i]: '(void *)((char *)room_for(AMPLE, 8) + 1)' });
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
      lines.push(`refused(${call({ [i]: `give_last_${method}_part` })});`);
    }
  });
  for (const [, wrong] of WRONG.filter(([functions]) => functions.test(name))) {
    for (const [code, changes] of wrong) expect(code, Object.fromEntries(args.flatMap((each, i) => (each.name in changes ? [[i, changes[each.name]]] : []))));
  }
  return lines;
}

function valid({ type, name }, method, args, i) {
  const made = /^(rf_\w+) \*\*$/.exec(type)?.[1];
  if (made) return `&${made}_made`;
  const object = /secret|public_key/.exec(args[3]?.type ?? '')?.[0] ?? 'ciphertext';
  if (type === 'const uint8_t *' && name === 'bytes') return method ? `${method}_${object}_bytes` : 'seed';
  if (name === 'count') {
    const of = args[i - 1].name;
    if (of === 'bytes') return method ? `${method}_${object}_count` : 'RF_SEED_BYTES';
    return of === 'weights' ? '1' : '2';
  }
  if (name === 'values' && type === 'const double *') return 'numbers';
  if (name === 'values' || name === 'table') return 'bits';
  if (name === 'weights') return 'weights';
  if (type === 'size_t *') return '&length';
  if (type === 'uint64_t *') return '&integer';
  if (!(name in VALUES)) throw new Error(`what is a valid ${type} ${name}? Add it to this file`);
  return VALUES[name].replace(METHOD, method);
}

/** The toy of each method. */
const TOYS = { bgv: 'toy-bgv10', conventional: 'toy-conventional10-sparse', digit_link: 'toy-msb-link', gate: 'toy-bool', link: 'toy-link', msb: 'toy-msb10', ship: 'toy10' };

/** What is encrypted, and how, if it is not numbers. */
const MESSAGES = { bgv: 'bits, 2, RF_LEVEL_FRESH', gate: 'bits, 2, RF_GATE_BITS' };

/** Objects 0 and 1 of a method, of two keys; the wire forms of the first; damaged bytes; readers of the parts of keys. */
function fixture(method, objects) {
  const set = TOYS[method];
  if (!set) throw new Error(`which toy has ${method}? Add it to this file`);
  const message = MESSAGES[method] ?? 'numbers, 2, RF_REAL, RF_LEVEL_FRESH';
  const encrypt = `rf_M_encrypt(rf_M_secret_0, ${message}, NULL, &rf_M_ciphertext_0)`;
  const [computes, publishes] = ['keys', 'public_key'].map((object) => objects.includes(`rf_${method}_${object}`));
  return (FIXTURE + (computes ? KEYS : '') + (publishes ? PUBLIC_KEYS : ''))
    .replace('ENCRYPT_0', `must(${encrypt});`)
    .replace('ENCRYPT_1', `must(${encrypt.replaceAll('_0', '_1')});`)
    .replace('/* DECLARE */', (computes ? DECLARED.replaceAll('K', 'keys') : '') + (publishes ? `${DECLARED.replaceAll('K', 'public_keys')}static void damage_M_public_keys(void);` : ''))
    .replace('/* MAKE_KEYS */', (computes ? 'make_M_keys(); ' : '') + (publishes ? 'make_M_public_keys();' : ''))
    .replace('/* DAMAGE_KEYS */', publishes ? 'damage_M_public_keys();' : '')
    .replace('/* FREE_KEYS */', (computes ? 'free_M_keys(); ' : '') + (publishes ? 'free_M_public_keys();' : ''))
    .replaceAll('SET', set)
    .replace(METHOD, method);
}

/** Functions for keys, used before they are defined. */
const DECLARED = 'static void make_M_K(void), free_M_K(void); ';

const FIXTURE = `
static rf_M_secret *rf_M_secret_0, *rf_M_secret_1, *rf_M_secret_made;
static rf_M_ciphertext *rf_M_ciphertext_0, *rf_M_ciphertext_1, *rf_M_ciphertext_made;
static const char *M_set;
static uint8_t *M_id, *M_secret_bytes, *M_ciphertext_bytes;
static size_t M_secret_count, M_ciphertext_count;
/* DECLARE */

static void make_M(void) {
    uint8_t bytes[128];
    M_set = at_the_end("SET", sizeof "SET");
    must(rf_M_secret_new(M_set, true, NULL, &rf_M_secret_1));
    must(rf_M_secret_new(M_set, true, NULL, &rf_M_secret_0));
    must(rf_M_key_id(rf_M_secret_0, bytes));
    M_id = at_the_end(bytes, RF_KEY_ID_BYTES);
    must(rf_M_secret_to_bytes(rf_M_secret_0, bytes, sizeof bytes, &M_secret_count));
    M_secret_bytes = at_the_end(bytes, M_secret_count);
    ENCRYPT_1
    ENCRYPT_0
    uint8_t *room = room_for(AMPLE, 1);
    must(rf_M_ciphertext_to_bytes(rf_M_ciphertext_0, room, AMPLE, &M_ciphertext_count));
    M_ciphertext_bytes = at_the_end(room, M_ciphertext_count);
    /* MAKE_KEYS */
}

/* Bytes that are cut, wrong in one place, or of another kind: refused, whatever the code. */
static void damage_M(void) {
    for (size_t i = 0; i < 64; i++) {
        size_t cut = M_secret_count * i / 64, at = M_secret_count * i / 64;
        refused(rf_M_secret_from_bytes(tail(M_secret_bytes, cut), cut, true, &rf_M_secret_made));
        M_secret_bytes[at] ^= 0x10;
        refused(rf_M_secret_from_bytes(M_secret_bytes, M_secret_count, true, &rf_M_secret_made));
        M_secret_bytes[at] ^= 0x10;
        cut = M_ciphertext_count * i / 64, at = M_ciphertext_count * i / 64 + i % 7;
        refused(rf_M_ciphertext_from_bytes(tail(M_ciphertext_bytes, cut), cut, &rf_M_ciphertext_made));
        M_ciphertext_bytes[at] ^= 0x10;
        refused(rf_M_ciphertext_from_bytes(M_ciphertext_bytes, M_ciphertext_count, &rf_M_ciphertext_made));
        M_ciphertext_bytes[at] ^= 0x10;
    }
    refused(rf_M_ciphertext_from_bytes(M_secret_bytes, M_secret_count, &rf_M_ciphertext_made));
    refused(rf_M_secret_from_bytes(M_ciphertext_bytes, M_ciphertext_count, true, &rf_M_secret_made));
    /* DAMAGE_KEYS */
}

/* The wire forms of another method, which are whole. */
static void confuse_M(const uint8_t *secret, size_t secret_count, const uint8_t *ciphertext, size_t ciphertext_count) {
    refused(rf_M_secret_from_bytes(secret, secret_count, true, &rf_M_secret_made));
    refused(rf_M_ciphertext_from_bytes(ciphertext, ciphertext_count, &rf_M_ciphertext_made));
}

static void free_M(void) {
    /* FREE_KEYS */
    rf_M_ciphertext_free(rf_M_ciphertext_0);
    rf_M_ciphertext_free(rf_M_ciphertext_1);
    rf_M_secret_free(rf_M_secret_0);
    rf_M_secret_free(rf_M_secret_1);
}
`;

const KEYS = `
static rf_M_keys *rf_M_keys_0, *rf_M_keys_1, *rf_M_keys_made;

static bool give_M_part(void *user, size_t index, const uint8_t **bytes, size_t *count) {
    size_t needed_here = 0;
    (void)user;
    if (rf_M_key_part(rf_M_secret_0, index, NULL, 0, &needed_here) != RF_BUFFER) return false;
    uint8_t *part = room_end - needed_here;
    *bytes = part;
    return rf_M_key_part(rf_M_secret_0, index, part, needed_here, count) == RF_OK;
}

/* The last part, whichever is asked for. */
static bool give_last_M_part(void *user, size_t index, const uint8_t **bytes, size_t *count) {
    size_t parts = 0;
    (void)index;
    return rf_M_key_part_count(rf_M_secret_0, &parts) == RF_OK && give_M_part(user, parts - 1, bytes, count);
}

static void make_M_keys(void) {
    must(rf_M_keys_new(rf_M_secret_1, NULL, NULL, &rf_M_keys_1));
    must(rf_M_keys_new(rf_M_secret_0, NULL, NULL, &rf_M_keys_0));
}

static void free_M_keys(void) {
    rf_M_keys_free(rf_M_keys_0);
    rf_M_keys_free(rf_M_keys_1);
}
`;

const PUBLIC_KEYS = `
static rf_M_public_key *rf_M_public_key_0, *rf_M_public_key_1, *rf_M_public_key_made;
static uint8_t *M_public_key_bytes;
static size_t M_public_key_count;

static void make_M_public_keys(void) {
    must(rf_M_public_key_new(rf_M_secret_1, &rf_M_public_key_1));
    must(rf_M_public_key_new(rf_M_secret_0, &rf_M_public_key_0));
    uint8_t *room = room_for(AMPLE, 1);
    must(rf_M_public_key_to_bytes(rf_M_public_key_0, room, AMPLE, &M_public_key_count));
    M_public_key_bytes = at_the_end(room, M_public_key_count);
}

static void damage_M_public_keys(void) {
    for (size_t i = 0; i < 64; i++) {
        size_t cut = M_public_key_count * i / 64, at = M_public_key_count * i / 64 + i % 7;
        refused(rf_M_public_key_from_bytes(tail(M_public_key_bytes, cut), cut, true, &rf_M_public_key_made));
        M_public_key_bytes[at] ^= 0x10;
        refused(rf_M_public_key_from_bytes(M_public_key_bytes, M_public_key_count, true, &rf_M_public_key_made));
        M_public_key_bytes[at] ^= 0x10;
    }
    refused(rf_M_public_key_from_bytes(M_secret_bytes, M_secret_count, true, &rf_M_public_key_made));
    refused(rf_M_public_key_from_bytes(M_ciphertext_bytes, M_ciphertext_count, true, &rf_M_public_key_made));
    refused(rf_M_secret_from_bytes(M_public_key_bytes, M_public_key_count, true, &rf_M_secret_made));
    refused(rf_M_ciphertext_from_bytes(M_public_key_bytes, M_public_key_count, &rf_M_ciphertext_made));
}

static void free_M_public_keys(void) {
    rf_M_public_key_free(rf_M_public_key_0);
    rf_M_public_key_free(rf_M_public_key_1);
}
`;
