import { describe, expect, test } from 'vitest';
import { html } from '../src/html.js';
import { JOURNEY, stationIndex, STATIONS } from '../src/stages.js';
import { untouched, type State } from '../src/store.js';
import { gathered, planeAt, seenAt, unitOf } from '../src/views/shown-values.js';
import { brokenSentence } from '../src/views/breaking.js';
import { flame, keyGroups, keys, work } from '../src/views/cost.js';
import { controls, timeOf } from '../src/views/hero.js';
import { gauge, gaugeSentence } from '../src/views/gauge.js';
import { circle, circleSentence, lens, lensSentence } from '../src/views/lens.js';
import { precision, precisionSentence } from '../src/views/precision.js';
import { again, result, resultSentence } from '../src/views/result.js';
import { slot } from '../src/views/slot.js';
import { story } from '../src/views/story.js';
import { badge, strip } from '../src/views/strip.js';
import { tide, tideSentence } from '../src/views/tide.js';
import { tree, treeSentence } from '../src/views/tree.js';
import { latest, observe, quality, standingAt, underway, waterAt, type Place, type Voyage } from '../src/voyage.js';
import { slotValues } from '../src/input/source.js';
import type { StageEvent } from '../src/types.js';
import { ramp } from './fixtures/input.js';
import { emptyVoyage, events, preset, random, specimen } from './fixtures/model.js';

function voyageOf(name: string, place: Place): Voyage {
  const voyage = emptyVoyage(name, place, ramp);
  voyage.fresh = specimen(voyage.preset, 2, voyage.input, 1e-6, random(1));
  voyage.spent = specimen(voyage.preset, 1, voyage.input, 1e-6, random(2));
  for (const e of events(voyage)) observe(voyage, e);
  voyage.result = specimen(voyage.preset, 2, voyage.expected, 1e-3, random(3));
  voyage.state = 'done';
  return voyage;
}

function stateWith(voyage: Voyage | undefined, station = 0, part = 0): State {
  return {
    ...untouched(),
    library: 'ready',
    presets: [preset('toy10'), preset('ship13')],
    server: { state: 'absent' },
    pagePreset: 'toy10',
    serverPreset: 'ship13',
    input: ramp,
    voyages: voyage ? { [voyage.place]: voyage } : {},
    shown: voyage?.place ?? 'page',
    at: { station, part },
  };
}

function all(state: State, width = 900): Record<string, string> {
  const voyage = state.voyages[state.shown];
  return {
    tide: tide(state, voyage, width).text,
    precision: precision(state, voyage, width).text,
    lens: lens(state, voyage).text,
    circle: circle(state, voyage).text,
    tree: tree(state, voyage, width).text,
    result: result(state, voyage).text,
    again: again(state, voyage).text,
    flame: flame(state, width).text,
    work: work(state, width).text,
    keys: keys(state, width).text,
    gauge: gauge(state, voyage, width).text,
    story: story(state, voyage).text,
    strip: strip(state).text,
    badge: badge(state).text,
  };
}

describe('words', () => {
  const voyage = voyageOf('toy10', 'page');
  const curve: Voyage = { ...voyage, drawn: 'curve' };
  const numbers: Voyage = { ...curve, used: 3 };

  test('are those of what was put in', () => {
    const broken = (of: Voyage): string => brokenSentence({ what: 'sum', doublings: 3, where: 0, keyBits: 0, guess: 'right', outcome: 'wrong', reach: 10, voyage: of });
    expect(broken(voyage)).toMatch(/^You expected the picture as it was; a picture that is wrong came.*black and white/);
    expect(broken(curve)).toMatch(/^You expected the curve as it was; a curve that is wrong came/);
    expect(broken(numbers)).toMatch(/^You expected the numbers as they were; numbers that are wrong came/);
    expect(resultSentence(voyage)).toMatch(/No pixel is off by more than \d+\.\d of 255 grey levels/);
    for (const of of [curve, numbers]) {
      const state = stateWith(of);
      for (const view of [slot(state, of), result(state, of), again(state, of)]) expect(view.text.replace(/<[^>]*>/g, '')).not.toMatch(/pixel|black|grey|dark|picture/i);
      expect(broken(of)).not.toMatch(/picture|black|dark/);
    }
  });

  test('name both figures of a set’s security, and how a part of the slots stands for all', () => {
    const two = { ...preset('ship13'), securityStatement: '128-bit; 2^117 by a criterion' };
    expect(controls({ ...stateWith(undefined), presets: [two], pagePreset: 'ship13' }).text).toContain('The second figure is for another kind of attack');
    expect(controls(stateWith(undefined)).text).not.toContain('second figure');
    const full = voyageOf('ship13', 'page');
    expect(lensSentence(stateWith(full, 7), full)).toContain('1,024 of 4,096 slots, each of which stands for 4;');
    expect(circleSentence(stateWith(full, 7), full)).toMatch(/^1,024 of 4,096 slots/);
    expect(lensSentence(stateWith(voyage, 7), voyage)).toContain(' 512 slots; ');
  });
});

describe('every view', () => {
  const cases: [string, State][] = [
    ['no voyage', stateWith(undefined)],
    ...(['page', 'server'] as const).flatMap((place) => JOURNEY.map((name, i): [string, State] => [`${place}, ${name}`, stateWith(voyageOf(place === 'page' ? 'toy10' : 'ship13', place), i, name === 'blind_rotate' ? 3 : name === 'product_tree' ? 2 : 0)])),
  ];
  test.each(cases)('draws without broken numbers: %s', (_name, state) => {
    for (const width of [300, 720, 1180]) {
      for (const [view, markup] of Object.entries(all(state, width))) expect(markup, `${view} at ${width}`).not.toMatch(/NaN|undefined|Infinity|\[object/);
    }
  });

  test('can be a table, with a row per station where it is over stations', () => {
    const state = { ...stateWith(voyageOf('toy10', 'page')), tables: new Set(['tide', 'precision', 'lens', 'circle', 'tree', 'result', 'flame', 'work', 'keys']) };
    const views = all(state);
    for (const name of state.tables) expect(views[name], name).toContain('<table>');
    for (const name of ['tide', 'precision']) expect(views[name]?.match(/<th scope="row">/g)).toHaveLength(JOURNEY.length);
  });

  test('says aground of the boat exactly where it is drawn so', () => {
    for (const place of ['page', 'server'] as const) {
      const voyage = voyageOf(place === 'page' ? 'toy10' : 'ship13', place);
      for (const i of [0, 1, 8]) {
        const state = stateWith(voyage, i);
        expect(isAground(state), `${place}, ${i}`).toBe(i === 1);
        expect(gaugeSentence(state, voyage).text).toMatch(i === 1 ? /aground/ : /^Afloat/);
      }
    }
    expect(isAground(stateWith(undefined))).toBe(true);
  });

  test('tells every station as a step of its story, with its own figures, and marks the one that is shown', () => {
    const told = story(stateWith(voyageOf('toy10', 'page'), stationIndex('blind_rotate'), 3), voyageOf('toy10', 'page')).text;
    const steps = told.split('data-scroll-step').slice(1);
    expect(steps.map((step) => /<h3[^>]*>([^<]*)/.exec(step)?.[1])).toEqual(JOURNEY.map((name) => STATIONS[name].title));
    expect(steps.map((step) => step.startsWith(' aria-current="step"'))).toEqual(JOURNEY.map((name) => name === 'blind_rotate'));
    const [exhausted, rotated, tree] = (['exhaust', 'blind_rotate', 'product_tree'] as const).map((name) => steps[stationIndex(name)] ?? '');
    expect(exhausted).toMatch(/<dt>Level<\/dt><dd>1</);
    expect(rotated).toMatch(/<dt>Tracks<\/dt><dd>3<span> of 15/);
    expect(tree).toMatch(/<dt>Products<\/dt><dd>4<span> of 4/);
  });

  test('tells of stations that a run has not come to that nothing is done there', () => {
    const running = (until: (event: StageEvent) => boolean, seen: (event: StageEvent) => boolean = () => true): string[] => {
      const { fresh, spent } = voyageOf('toy10', 'page');
      const voyage = { ...emptyVoyage('toy10', 'page', ramp), fresh, spent } as Voyage;
      for (const event of events(voyage)) {
        if (seen(event)) observe(voyage, event);
        if (until(event)) break;
      }
      const told = story(stateWith(voyage), voyage).text.split('data-scroll-step').slice(1);
      return (['blind_rotate', 'product_tree'] as const).map((name) => /<dt>(?:Tracks|Products)<\/dt><dd>(\d+)/.exec(told[stationIndex(name)] ?? '')?.[1] ?? '');
    };
    expect(running(({ kind, stage }) => kind === 'exit' && stage === 'encapsulate')).toEqual(['0', '0']);
    expect(running((event) => event.kind === 'progress' && event.stage === 'blind_rotate' && event.done === 7)).toEqual(['7', '0']);
    // A server that only reports the ends of stages.
    expect(running(({ kind, stage }) => kind === 'exit' && stage === 'blind_rotate', ({ kind }) => kind !== 'progress')).toEqual(['15', '0']);
  });

  test('escapes what comes from outside', () => {
    const voyage = { ...voyageOf('toy10', 'page'), label: '<img src=x onerror=alert(1)>', recorded: '"<b>"' };
    const state = stateWith(voyage);
    for (const markup of Object.values(all(state))) expect(markup).not.toContain('<img');
    expect(html`${'<script>'}`.text).toBe('&lt;script&gt;');
  });
});

describe('sentences', () => {
  test('state the figures of the ciphertext', () => {
    const voyage = voyageOf('toy10', 'page');
    expect(tideSentence(voyage, 0)).toContain('level 2 of 6 (1 level for products, 1 for the first stage of a bootstrapping), a modulus');
    expect(tideSentence(voyage, 1)).toContain('level 1 of 6 (no level for products, 1 for the first stage of a bootstrapping), a modulus');
    expect(tideSentence(voyage, stationIndex('slots_to_coeffs'))).toBe('After “Slots to coefficients”: level 0 of 6, a modulus of 27.0 bits, 6.0 of them above the scale.');
    expect(treeSentence(stateWith(voyage, stationIndex('blind_rotate'), 7), voyage)).toBe('7 of 15 tracks have been rotated blindly; 8 tracks are left.');
    expect(treeSentence(stateWith(voyage, stationIndex('product_tree'), 4), voyage)).toContain('one ciphertext is left');
  });

  test('tell how much memory a run in this page took', () => {
    const voyage = { ...voyageOf('ship13', 'page'), memory: { bytes: 192e6, instances: 2 } };
    const markup = all({ ...stateWith(voyage), tables: new Set(['result']) })['result'];
    expect(markup).toContain('Memory, 2 wasm instances');
    expect(markup).toContain('192 MB');
  });

  test('say that nobody can look into a run on the server', () => {
    const state = stateWith(voyageOf('ship13', 'server'), stationIndex('product_tree'), 2);
    expect(all(state)['precision']).toContain('nobody can look inside');
    expect(all(state)['lens']).toContain('happened on the server');
    expect(all(state)['lens']).not.toContain('shown.lens');
  });

  test('say when the result is below the promise', () => {
    const voyage = voyageOf('toy10', 'page');
    voyage.result = { ...specimen(voyage.preset, 2, voyage.expected, 1e-3, random(3)), quality: quality(Float64Array.of(0), Float64Array.of(2 ** -8)) };
    expect(all(stateWith(voyage))['result']).toContain('8.00 bits, below the promised 10.5');
  });
});

describe('while a stage is under way', () => {
  /** Every moment of a run, as a page that follows it sees it: after each event. */
  function* course(place: Place): Generator<Voyage> {
    const voyage = emptyVoyage(place === 'page' ? 'toy10' : 'ship13', place, ramp);
    voyage.fresh = specimen(voyage.preset, 2, voyage.input, 1e-6, random(1));
    voyage.spent = specimen(voyage.preset, 1, voyage.input, 1e-6, random(2));
    for (const event of events(voyage)) {
      observe(voyage, event);
      yield voyage;
    }
  }

  test.each(['page', 'server'] as const)('the page shows that stage with the water of its beginning: %s', (place) => {
    const seen = new Set<string>();
    for (const voyage of course(place)) {
      const at = latest(voyage);
      const name = JOURNEY[at.station] ?? 'decrypt';
      const state = { ...stateWith(voyage), at };
      const { figure, text } = gaugeSentence(state, voyage);
      const before = waterAt(voyage, JOURNEY[at.station - 1] ?? 'encrypt');
      const shown = standingAt(voyage, name);
      for (const [view, markup] of Object.entries(all(state))) expect(markup, `${view} in ${name}`).not.toMatch(/NaN|undefined|Infinity|No ciphertext yet|has not been reached/);
      expect(isAground(state)).toBe((shown?.water.logQ ?? NaN) <= (voyage.spent?.logQ ?? NaN));
      expect(figure).toBe(`${Math.round(shown?.water.logQ ?? Number.NaN)} bits`);
      if (!underway(voyage)) continue;
      seen.add(name);
      expect(shown?.water, name).toEqual(before);
      for (const sentence of [text, tideSentence(voyage, at.station), all(state)['story']]) expect(sentence, name).toContain(`“${STATIONS[name].title}” is under way`);
      expect(all(state)['tide']).toContain('water-underway');
      expect(all(state)['strip']).toMatch(new RegExp(`id="station-${name}" class="underway"`));
      if (place === 'page') expect(precisionSentence(voyage, at.station), name).toContain('is under way');
    }
    expect([...seen]).toEqual(JOURNEY.slice(2, -1));
  });

  test('the low gauge of a phone has the boat afloat and aground where the high one has', () => {
    const drawn = new Set<boolean>();
    for (const voyage of course('server')) {
      const state = { ...stateWith(voyage), at: latest(voyage) };
      const low = gauge(state, voyage, 358).text;
      expect(Number(/viewBox="0 0 358 (\d+)"/.exec(low)?.[1])).toBeLessThan(130);
      expect(low.includes('heeled')).toBe(isAground(state));
      drawn.add(isAground(state));
    }
    expect(drawn.size).toBe(2);
  });

  test('a station that lies ahead leaves the boat where the ciphertext is', () => {
    for (const voyage of course('page')) {
      const state = { ...stateWith(voyage), at: { station: JOURNEY.length - 1, part: 0 } };
      expect(isAground(state)).toBe(isAground({ ...state, at: latest(voyage) }));
      expect(tideSentence(voyage, JOURNEY.length - 1)).toBe('“Decrypt” has not been reached.');
    }
  });

  test('a cancelled voyage says where it ended', () => {
    for (const voyage of course('page')) {
      if (underway(voyage)?.station !== 'blind_rotate' || underway(voyage)?.done !== 3) continue;
      voyage.state = 'cancelled';
      const state = { ...stateWith(voyage), at: latest(voyage) };
      expect(gaugeSentence(state, voyage).text).toBe('Cancelled in “Rotate blindly” after 3 of 15 tracks.');
      expect(all({ ...state, tables: new Set(['tide']) })['tide']).toContain('broken off');
      return;
    }
    expect.unreachable();
  });

  test('tracks that are done are measured so far, and the tree says that others follow', () => {
    for (const voyage of course('page')) {
      if (underway(voyage)?.station !== 'blind_rotate' || (tracksSeen(voyage) ?? 0) !== 3) continue;
      const state = { ...stateWith(voyage), at: latest(voyage) };
      expect(precisionSentence(voyage, state.at.station)).toMatch(/3 of 15 tracks done\. So far the worst slot/);
      expect(treeSentence(state, voyage)).toBe('3 of 15 tracks have been rotated blindly; the others are under way or wait.');
      return;
    }
    expect.unreachable();
  });
});

/** Is the boat of the first screen aground? */
function isAground(state: State): boolean {
  return gauge(state, state.voyages[state.shown], 900).text.includes('heeled');
}

function tracksSeen(voyage: Voyage): number | undefined {
  return voyage.marks.find((m) => m.stage === 'blind_rotate')?.views.length;
}

describe('the time an upload takes', () => {
  const busy = { what: 'upload', label: 'track 8', startedAt: 0, done: 10, total: 100, bytes: 60e6, totalBytes: 160e6, first: { bytes: 40e6, at: 1000 }, movedAt: 11_000 } as const;

  test('is that of what was sent now, and not of what the server had', () => {
    expect(timeOf(busy, 11_000)).toEqual({ left: 50_000 });
    expect(timeOf(busy, 13_000)).toEqual({ left: 48_000 });
  });

  test('is not promised when nothing moves, before anything has moved, or where it is no upload', () => {
    expect(timeOf(busy, 16_000)).toEqual({ stalled: 5000 });
    expect(timeOf({ ...busy, bytes: 41e6 }, 11_000)).toBeUndefined();
    expect(timeOf({ ...busy, what: 'keys' }, 11_000)).toBeUndefined();
    expect(timeOf({ ...busy, paused: true }, 90_000)).toBeUndefined();
  });

  test('gives way to what is known of the server', () => {
    const markup = (more: object): string => controls({ ...stateWith(undefined), busy: { ...busy, startedAt: performance.now(), movedAt: performance.now(), first: { bytes: 40e6, at: performance.now() - 10_000 }, ...more } }).text;
    expect(markup({})).toMatch(/about \d+ s left/);
    const lost = markup({ retrying: { attempt: 2, attempts: 4, answered: false } });
    expect(lost).toContain('The server does not answer: trying again, 2 of 4.');
    expect(lost).not.toMatch(/left/);
    expect(markup({ movedAt: performance.now() - 60_000 })).toMatch(/Nothing has arrived at the server for 60 s/);
    // Everything is sent and nothing more will arrive: the server is at work.
    const sent = markup({ bytes: 160e6, movedAt: performance.now() - 60_000 });
    expect(sent).toContain('All 160 MB of evaluation keys are sent; the server checks them.');
    expect(sent).not.toMatch(/left|Nothing has arrived/);
    expect(markup({ what: 'bootstrap', label: 'It unpacks the keys.', done: undefined, total: undefined, totalBytes: undefined, startedAt: performance.now() - 12_000 })).toMatch(/12 s so far.*It unpacks the keys\./s);
  });
});

describe('badges', () => {
  test('call a toy insecure, with the full-size figures beside it', () => {
    const markup = badge(stateWith(voyageOf('toy10', 'page'))).text;
    expect(markup).toContain('insecure');
    expect(markup).toContain('ship13, 128-bit security');
  });

  test('do not call ship13 insecure', () => {
    expect(badge(stateWith(voyageOf('ship13', 'server'))).text).not.toContain('insecure');
  });
});

describe('the choice of a place', () => {
  const radio = (server: State['server']): string => controls({ ...stateWith(undefined), server }).text.match(/<input type="radio" name="place" value="server"[^>]*>/)?.[0] ?? '';

  test('offers the server when it has a set this page knows', () => {
    expect(radio({ state: 'present', url: '/', presets: [preset('ship13')] })).not.toContain('disabled');
    expect(radio({ state: 'present', url: '/', presets: [] })).toContain('disabled');
    expect(radio({ state: 'absent' })).toContain('disabled');
    expect(controls({ ...stateWith(undefined), server: { state: 'present', url: '/', presets: [] } }).text).toContain('another version');
  });

  test('has a card for the page at full size, with sets of its own', () => {
    const card = (pagePreset: string): string => {
      const state: State = { ...stateWith(undefined), presets: ['toy10', 'toy11', 'ship13', 'ship13-bits'].map(preset), pagePreset };
      return controls({ ...state, about: { version: '0', backend: 'simd128', threads: 2 } }).text;
    };
    expect(card('toy10')).toMatch(/value="page"[^>]* checked/);
    expect(card('toy10')).toMatch(/<option value="toy11"/);
    expect(card('toy10')).not.toMatch(/<option value="ship13/);
    expect(card('ship13-bits')).toMatch(/value="page-full"[^>]* checked/);
    expect(card('ship13-bits')).toContain('4,096 bits. Makes');
    expect(card('ship13-bits')).toContain('on 2 cores');
    expect(card('ship13-bits')).toMatch(/<option value="ship13-bits" selected/);
    expect(card('ship13-bits')).not.toMatch(/<option value="toy/);
  });

  test('does not start with numbers that are none', () => {
    const button = (state: State): boolean => /data-act="refloat" disabled/.test(controls(state).text);
    expect([button(stateWith(undefined)), button({ ...stateWith(undefined), unreadable: true })]).toEqual([false, true]);
  });

  test('warns with the bytes before large keys are made', () => {
    const state: State = { ...stateWith(undefined), server: { state: 'present', url: '/', presets: [preset('ship13')] }, place: 'server', confirming: true };
    expect(controls(state).text).toMatch(/Make and send 1\.4\d GB of evaluation keys\?/);
  });
});

describe('the stations', () => {
  test('are a listbox with one option in the tab order', () => {
    const markup = strip(stateWith(voyageOf('toy10', 'page'), 4)).text;
    expect(markup.match(/role="option"/g)).toHaveLength(JOURNEY.length);
    expect(markup.match(/tabindex="0"/g)).toHaveLength(1);
    expect(markup).toMatch(/aria-selected="true" tabindex="0" data-act="station:4"/);
  });

  test('all have their texts', () => {
    for (const name of JOURNEY) expect(STATIONS[name].body.length).toBeGreaterThan(60);
  });
});

describe('what is drawn on canvases', () => {
  test('at the root is the message, read off the real axis', () => {
    const voyage = voyageOf('toy10', 'page');
    const seen = seenAt(voyage, { station: stationIndex('product_tree'), part: 4 });
    const worst = Math.max(...(seen?.values ?? []).map((x, i) => Math.abs(x - (voyage.input[i] ?? 0))));
    expect(worst).toBeLessThan(0.02);
  });

  test('under the sparse key is the message, scaled back from phases', () => {
    const voyage = voyageOf('toy10', 'page');
    const seen = seenAt(voyage, { station: stationIndex('encapsulate'), part: 0 });
    expect(seen?.values).toHaveLength(512);
    expect(Math.max(...(seen?.values ?? []).map((x, i) => Math.abs(x - (voyage.input[i] ?? 0))))).toBeLessThan(0.01);
  });

  test('of a track lies on the unit circle, all around', () => {
    const plane = planeAt(voyageOf('toy10', 'page'), { station: stationIndex('blind_rotate'), part: 2 });
    expect(plane?.radius).toBeCloseTo(1, 3);
    expect(gathered(plane?.points ?? new Float64Array()).spread).toBeGreaterThan(5.5);
  });

  test('lies inside the drawing at every station, and far points too', () => {
    const voyage = voyageOf('toy10', 'page');
    const half = 0.5;
    for (let station = 0; station < JOURNEY.length; station++) {
      for (const part of [1, 2, 3, 4]) {
        const plane = planeAt(voyage, { station, part });
        if (!plane) continue;
        const far = Math.max(...plane.points.map((x) => Math.abs(x))) / plane.radius;
        expect(far * unitOf(plane), `${JOURNEY[station]} ${part}`).toBeLessThan(half);
      }
    }
    const sine = planeAt(voyage, { station: stationIndex('conjugate'), part: 0 });
    expect([sine?.radius, sine?.angles]).toEqual([1, false]);
    expect(5 * unitOf({ points: Float64Array.of(0, 5, 1, 0), radius: 1, angles: false })).toBeLessThan(half);
  });

  test('knows an arc across the cut of the angle', () => {
    const turn = (d: number): number[] => [Math.cos((d * Math.PI) / 180), Math.sin((d * Math.PI) / 180)];
    const { spread, middle } = gathered(Float64Array.from([170, 180, 190].flatMap(turn)));
    expect((spread * 180) / Math.PI).toBeCloseTo(20, 6);
    expect(Math.abs(Math.cos(middle) + 1)).toBeLessThan(1e-6);
  });
});

describe('bits', () => {
  const bits: Voyage = voyageOf('ship13-bits', 'page');

  test('are what light and dark become', () => {
    expect([...new Set(bits.input)].sort()).toEqual([0, 1]);
    // As many ones as the picture is light, and more where it is lighter.
    const ones = (from: number, to: number): number => bits.input.slice(from, to).reduce((sum, x) => sum + x, 0);
    expect(Math.abs(ones(0, 4096) - 2048)).toBeLessThan(100);
    expect(ones(0, 1024)).toBeLessThan(ones(3072, 4096) / 3);
    expect(slotValues(ramp, preset('toy10'), { width: 32, height: 16 }).some((x) => x < 0)).toBe(true);
  });

  test('are read off at every station where they can be seen', () => {
    for (const [station, part] of [['encrypt', 0], ['slots_to_coeffs', 0], ['encapsulate', 0], ['product_tree', 5], ['conjugate', 0], ['decrypt', 0]] as const) {
      const seen = seenAt(bits, { station: stationIndex(station), part });
      expect(seen?.bits, station).toBe(true);
      const worst = Math.max(...(seen?.values ?? [Number.NaN]).map((x, i) => Math.abs(x - (bits.expected[seen?.indices?.[i] ?? i] ?? 0))));
      expect(worst, station).toBeLessThan(0.2);
    }
    expect(seenAt(bits, { station: stationIndex('blind_rotate'), part: 2 })?.bits).toBe(false);
  });

  test('are counted when they are back', () => {
    expect(all(stateWith(bits))['result']).toContain('All 4,096 bits came back right.');
    const wrong = { ...bits, result: specimen(bits.preset, 2, bits.expected.map((x, i) => (i < 3 ? 1 - x : x)), 1e-3, random(4)) };
    expect(all(stateWith(wrong))['result']).toContain('3 of 4,096 bits came back wrong.');
  });
});

describe('key areas', () => {
  test('fit the width, also of two large sets', () => {
    const sets = { presets: [preset('ship13'), preset('ship13-bits')], pagePreset: 'ship13-bits', serverPreset: 'ship13' };
    for (const width of [300, 474, 900]) {
      const markup = keys({ ...stateWith(undefined), ...sets }, width).text;
      const right = [...markup.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)].map(([, x, w]) => Number(x) + Number(w));
      expect(Math.max(...right)).toBeLessThanOrEqual(width + 1);
    }
  });

  test('count every byte once', () => {
    for (const name of ['toy10', 'ship13']) {
      const p = preset(name);
      expect(keyGroups(p).reduce((sum, g) => sum + g.bytes, 0)).toBeCloseTo(p.keyBytes, 3);
    }
  });
});
