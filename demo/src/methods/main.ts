// The style sheets that all pages share come with the shell, before those of this one.
import { Shell } from '../shell.js';
import '../styles/conventional.css';
import '../styles/choices.css';
import '../styles/digits.css';
import '../styles/triage.css';
import '../styles/methods.css';
import recordedUrl from '../recorded/methods.json?url';
import { crossingChart, surveyChart } from './charts.js';
import type { Recorded } from './data.js';
import { kindOf, lastPlace, STEPS, type State } from './state.js';
import { controls, rules, sources, verdict } from './views.js';

/** Comparisons shown at first: all pairs of sixteen numbers. */
const FIRST = 120;

const state: State = {
  busy: undefined,
  paused: false,
  problem: undefined,
  recorded: undefined,
  kind: 0,
  place: Math.round(Math.log2(FIRST) * STEPS),
  tables: new Set(),
};

const shell = new Shell(state, {
  'methods-controls': () => controls(state),
  'methods-verdict': () => verdict(state),
  'methods-crossing': (width) => crossingChart(state, width),
  'methods-rules': () => rules(state),
  'methods-survey': (width) => surveyChart(state, width),
  'methods-sources': () => sources(state),
});

shell.listen({
  acts: {
    kind: (which) => {
      state.kind = Number(which);
      const kind = kindOf(state);
      if (kind) state.place = Math.min(state.place, lastPlace(kind));
    },
  },
  inputs: {
    place: (value) => {
      state.place = Number(value);
    },
  },
});

fetch(recordedUrl)
  .then(async (response) => {
    state.recorded = (await response.json()) as Recorded;
    shell.draw();
  })
  .catch(shell.failed);
