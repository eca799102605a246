// The tables of core/BENCHMARKS.md. Each stands between two comments, and below it is a list of the commands that measured it, each
// with its machine. Tables measured by `refloat` can be measured again: the JSON that the commands print becomes cells.
import { Stop } from './log.mjs';

/**
 * A table of the file.
 * @typedef {{ id: string, header: string[], rows: string[][], runs: { command: string, where: string }[], from: number, to: number }} Table
 */

const BEGIN = /^<!-- table ([\w-]+) -->$/;
const END = '<!-- end of table -->';
const RUN = /^- `([^`]+)`: (.+)$/;

const cellsOf = (line) => line.slice(1, -1).split('|').map((cell) => cell.trim());
const lineOf = (cells) => `| ${cells.join(' | ')} |`;

/**
 * The tables of a text, with the numbers of their first and last lines.
 * @param {string} text
 * @returns {Table[]}
 */
export function tablesOf(text) {
  const tables = [];
  let table;
  text.split('\n').forEach((line, number) => {
    const begin = BEGIN.exec(line);
    if (begin) {
      if (table) throw new Stop(`line ${number + 1}: table ${table.id} has no end`);
      table = { id: begin[1], header: undefined, rows: [], runs: [], from: number };
    } else if (line === END) {
      if (!table?.header) throw new Stop(`line ${number + 1}: the end of no table`);
      tables.push({ ...table, to: number });
      table = undefined;
    } else if (line.startsWith('|')) {
      if (!table) throw new Stop(`line ${number + 1}: a table outside of <!-- table ID --> and ${END}`);
      if (!table.header) table.header = cellsOf(line);
      else if (!/^\|( -+ \|)+$/.test(line)) table.rows.push(cellsOf(line));
    } else if (table) {
      const run = RUN.exec(line);
      if (run) table.runs.push({ command: run[1], where: run[2] });
      else if (line) throw new Stop(`line ${number + 1}: neither a row nor "- \`COMMAND\`: MACHINE": ${line}`);
    }
  });
  if (table) throw new Stop(`table ${table.id} has no end`);
  return tables;
}

const write = (table) => [
  `<!-- table ${table.id} -->`,
  '',
  lineOf(table.header),
  lineOf(table.header.map(() => '---')),
  ...table.rows.map(lineOf),
  '',
  ...table.runs.map(({ command, where }) => `- \`${command}\`: ${where}`),
  '',
  END,
];

/**
 * The text with one table replaced.
 * @param {string} text
 * @param {string} id
 * @param {(table: Table) => Table} change
 */
export function withTable(text, id, change) {
  const table = tablesOf(text).find((one) => one.id === id);
  if (!table) throw new Stop(`there is no table ${id}`);
  const lines = text.split('\n');
  lines.splice(table.from, table.to - table.from + 1, ...write(change(table)));
  return lines.join('\n');
}

/** The key of each row: its first cells, without marks and remarks. An empty cell stands for the one above. */
export function keysOf(table, cells = 1) {
  const above = [];
  return table.rows.map((row) => {
    for (let i = 0; i < cells; i++) above[i] = row[i] || above[i];
    return above.slice(0, cells).map((cell) => cell.replace(/`|\s*\(.*?\)/g, '')).join(', ');
  });
}

/**
 * The table with the figures of a run, by row and column title. Other cells stay as they are.
 * @param {Table} table
 * @param {string} command
 * @param {object} answer what the command printed
 * @param {Date} date
 * @returns {Table}
 */
export function refreshed(table, command, answer, date) {
  const reader = READERS[table.id];
  const [keys, rows] = [keysOf(table, reader.key), table.rows.map((row) => [...row])];
  let changed = 0;
  for (const [key, cells] of reader.read(answer)) {
    const row = rows[keys.indexOf(key)];
    if (!row) continue;
    changed += 1;
    // Figures that were not measured stay as they were.
    for (const [title, text] of Object.entries(cells).filter(([, cell]) => cell !== undefined)) {
      const column = table.header.indexOf(title);
      if (column < 0) throw new Stop(`table ${table.id} has no column "${title}"`);
      row[column] = text;
    }
  }
  if (changed === 0) throw new Stop(`table ${table.id}: ${command} printed none of its rows`);
  const where = machineOf(answer.machine, date);
  return { ...table, rows, runs: table.runs.map((run) => (run.command === command ? { command, where } : run)) };
}

/** A machine in the words of the file. */
export function machineOf({ cpu, threads, backend, load }, date) {
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }).format(date);
  const busy = load === null ? 'load unknown' : `load average ${load.toFixed(1)} before it`;
  return `${cpu}, ${threads} threads, backend ${backend}, ${busy}, ${day}`;
}

const digits = (value, count) => value?.toFixed(count);

/** Three digits of a time from 0.1 s on. */
const seconds = (value) => value === undefined ? undefined : `${value.toFixed(value < 0.1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0)} s`;
const gigabytes = (value) => (value / 1e9).toFixed(1);

/** Rows grouped by their value under a name. */
function by(rows, name) {
  const groups = new Map();
  for (const row of rows) groups.set(row[name], [...(groups.get(row[name]) ?? []), row]);
  return groups;
}

/** Rows that the machine had the memory for. */
const measured = (rows) => rows.filter((row) => row.seconds !== null);

/** The measured value of a metric on a number of threads. */
const pick = (rows, metric, threads = null) => rows.find((row) => row.metric === metric && row.threads === threads)?.measured ?? undefined;

/** The two shapes in which SHIP is measured: `bench`, and the rows of `reproduce ship`. */
function* ship({ params, measurements, rows }) {
  if (measurements) {
    const on = (threads) => measurements.find((one) => one.threads === threads && one.ciphertexts === 1);
    const { worst, rms } = measurements[0].precision;
    yield [params, shipCells(on(1)?.seconds, on(2)?.seconds, worst, rms)];
    return;
  }
  for (const [name, own] of by(rows, 'params')) {
    const bits = (metric) => own.find((row) => row.metric === metric)?.measured;
    yield [name, shipCells(pick(own, 'seconds', 1), pick(own, 'seconds', 2), bits('precision, worst slot') ?? undefined, bits('precision, rms'))];
  }
}

const shipCells = (one, two, worst, rms) => ({
  '1 thread': seconds(one),
  '2 threads': seconds(two),
  'worst slot / rms, one key': worst === undefined ? undefined : `${digits(worst, 2)} / ${digits(rms, 2)} bits`,
});

/** `bench` of a conventional set, `reproduce ckks-openfhe`, and the first row of `reproduce seal-bootstrapping`. */
function* conventional({ suite, params, slots, measurements, rows }) {
  const cell = (time, mean, worst, left) => ({ ours: `${time}; ${digits(mean, 1)} / ${digits(worst, 1)} bits, ${left} levels left` });
  if (measurements) {
    const [one, two] = [1, 2].map((threads) => measurements.find((run) => run.threads === threads));
    const { precision, levelsLeft } = one;
    const time = two ? `${seconds(one.seconds)}, on two threads ${seconds(two.seconds)}` : seconds(one.seconds);
    yield [`${params}, 2^${Math.log2(slots)}`, cell(time, precision.mean, precision.worst, levelsLeft)];
  } else if (suite === 'ckks-openfhe') {
    for (const row of measured(rows)) {
      const key = `${row.params}${row.rounds === 2 ? ' in two rounds' : ''}, 2^${Math.log2(row.slots)}`;
      yield [key, cell(seconds(row.seconds), row.meanBits, row.worstBits, row.levelsLeft)];
    }
  } else {
    for (const row of measured(rows).filter(({ logSlots }) => logSlots === 10)) {
      const mean = `${row.integerBits} + ${digits(row.fractionBits, 1)}`;
      yield [`${row.params}, 2^10`, { ours: `${seconds(row.seconds)}; ${mean} / ${digits(row.worstFractionBits, 1)} bits, ${row.levels} levels left` }];
    }
  }
}

function* seal({ rows }) {
  for (const row of measured(rows).filter(({ logSlots }) => logSlots === 10)) {
    const bits = (value) => `${row.integerBits}+${digits(value, 2)}`;
    yield [row.params, { 'ours, mean / worst': `${bits(row.fractionBits)} / ${bits(row.worstFractionBits)}`, 'levels left': String(row.levels), ours: digits(row.seconds, 2) }];
  }
}

function* sealSlots({ rows }) {
  for (const row of measured(rows).filter(({ logSlots }) => logSlots > 10)) {
    const bits = `${digits(row.publishedFractionBits, 2)}; ${digits(row.fractionBits, 2)} / ${digits(row.worstFractionBits, 2)}`;
    yield [row.params, { [`2^${row.logSlots}`]: `${bits}; ${digits(row.seconds, 1)} s` }];
  }
}

/** Like `bgv`, with the remaining bits per second on one thread. */
function* bgvWithRate({ rows }) {
  for (const [key, cells] of bgv({ rows })) {
    const own = rows.filter((row) => key === row.params || key === `${row.params}-thin`);
    yield [key, { ...cells, 'bits/s': digits(pick(own, 'capacity remaining') / pick(own, 'seconds', 1), 1) }];
  }
}

/** A published set of BGV in the columns of both tables; thin bootstraps have rows of their own. */
function* bgv({ rows }) {
  for (const [name, own] of by(rows, 'params')) {
    const of = (metric, threads) => pick(own, metric, threads);
    const maps = ['slots_to_coeffs', 'coeffs_to_slots', 'unpack'].reduce((sum, stage) => sum + (of(stage, 1) ?? 0), 0);
    const [memory, wire] = ['memory', 'wire'].map((where) => gigabytes(of(`evaluation keys, ${where}`)));
    const thin = of('integers in a slot') === 1;
    yield [
      name.endsWith('-thin') || !thin ? name : `${name}-thin`,
      {
        'seconds, one thread': seconds(of('seconds', 1)),
        'two threads': seconds(of('seconds', 2)),
        'linear maps': seconds(maps),
        removal: seconds(of('digit_removal', 1)),
        'bits left': digits(of('capacity remaining'), 0),
        'keys, memory and wire': `${memory}, ${wire} GB`,
      },
    ];
  }
}

/** A set of BGV of ours, with the stages on one thread. */
function* bgvOwn({ rows }) {
  for (const [name, own] of by(rows, 'params')) {
    const one = (stage) => seconds(pick(own, stage, 1)) ?? '-';
    const [memory, wire] = ['memory', 'wire'].map((where) => gigabytes(pick(own, `evaluation keys, ${where}`)));
    yield [
      name,
      {
        '1 thread': one('seconds'),
        '2 threads': seconds(pick(own, 'seconds', 2)),
        'slots to coefficients': one('slots_to_coeffs'),
        raise: one('mod_raise'),
        'coefficients to slots': one('coeffs_to_slots'),
        unpacking: one('unpack'),
        'digit removal': one('digit_removal'),
        'products left': digits(pick(own, 'products between bootstraps'), 0),
        'keys, memory and wire': `${memory}, ${wire} GB`,
      },
    ];
  }
}

function* modular({ rows }) {
  for (const row of measured(rows)) {
    const time = row.seconds >= 10 ? digits(row.seconds, 1) : digits(row.seconds, 2);
    yield [`${row.row}, ${row.digits}`, { s: time, bits: `${digits(row.meanBits, 1)}, ${digits(row.worstBits, 1)}` }];
  }
}

const DEVIATIONS = {
  'slots to gates, deviation': ['slots to gates, deviation of 512 phases', ' turns'],
  'signs, deviation': ['signs of close numbers, deviation', ' turns'],
  'gates to slots, 64 bits, noise of gates': ['gates to slots, noise of gates in 64 bits', ''],
  'gates to slots, 1024 bits, noise of gates': ['the same in 1024 bits', ''],
};

function* switchingNoise({ rows }) {
  for (const { metric, model, measured: found } of rows.filter((row) => DEVIATIONS[row.metric])) {
    const [key, unit] = DEVIATIONS[metric];
    yield [key, { model: `2^${digits(model, 2)}${unit}`, measured: `2^${digits(found, 2)}${unit}` }];
  }
}

function* switchingTimes({ rows }) {
  for (const { metric, threads, measured: time, unit } of rows) {
    if (threads === null) continue;
    const text = unit === 'ms' ? `${digits(time, 1)} ms` : seconds(time);
    if (threads === 1) yield [metric, { '1 thread': text }];
    if (threads === 2) yield [metric, { '2 threads': text }];
  }
}

function* demystifying({ rows }) {
  for (const { method, params, measured: own } of rows.filter((row) => row.measured)) {
    const bits = Number.isInteger(own.bits) ? own.bits : digits(own.bits, 1);
    const time = own.seconds < 0.1 ? `${digits(own.seconds, 4)} s` : seconds(own.seconds);
    yield [method, { ours: `\`${params}\``, 'slots, bits': `${own.slots}, ${bits}`, time }];
  }
}

/** How to read the output for each table: `key` is the number of cells in a row's key, and `read` yields rows of cells. */
export const READERS = {
  ship: { key: 1, read: ship },
  conventional: { key: 1, read: conventional },
  seal: { key: 1, read: seal },
  'seal-slots': { key: 1, read: sealSlots },
  bgv: { key: 1, read: bgvOwn },
  'bgv-published': { key: 1, read: bgvWithRate },
  'bgv-published-others': { key: 1, read: bgv },
  'modular-reduction': { key: 2, read: modular },
  'switching-noise': { key: 1, read: switchingNoise },
  'switching-times': { key: 1, read: switchingTimes },
  demystifying: { key: 1, read: demystifying },
};

/** Whether this program can run a command and read its output. */
export const isRun = (table, command) => command.startsWith('refloat ') && READERS[table.id] !== undefined;
