import { cameBack } from './page.mjs';
import { slowStages } from './slow.mjs';

/**
 * The phases of every page with a run, to be cancelled in: the address, what to prepare before it is opened (`prepare`) and what to do there
 * before the run (`ready`), the button that begins, and for each phase a place in the page and the words there while it lasts. Making keys
 * comes first, because keys are made once.
 */
const stages = (list, numbers) => numbers.map((i) => [`${list} li:nth-child(${i}) small`, 'under way']);
const progress = (...words) => words.map((said) => ['.progress-label', said]);

/** The stages on the first page, and those of a toy set that are not over before a frame is drawn. */
const LONG = ['Rotate blindly', 'Multiply along a tree', 'Take the sine'];
const STAGES = ['Slots to coefficients', 'Switch to a sparse key', 'Write phases', ...LONG];

export const PAGES = {
  index: {
    button: '[data-act=refloat]',
    phases: progress('track', ...LONG),
  },
  again: {
    path: 'index.html',
    button: '[data-act=again]',
    ready: async (page) => {
      await page.click('[data-act=refloat]:enabled', { timeout: 60_000 });
      await cameBack(page);
    },
    phases: progress(...LONG),
  },
  full: {
    path: 'index.html#where=page&set=ship13',
    button: '[data-act=refloat]',
    // A run that is to be cancelled late takes many seconds until then.
    slow: true,
    phases: progress('Drawing a secret key', ...STAGES),
  },
  server: {
    path: 'index.html',
    served: true,
    button: '[data-act=refloat]',
    // The server is done with a toy set in no time, so its stages are held up.
    slow: true,
    prepare: slowStages,
    ready: async (page) => {
      await page.locator('input[value=server]:enabled').waitFor({ timeout: 60_000 });
      await page.check('input[value=server]');
      await page.selectOption('[data-input=set-server]', 'toy10');
    },
    phases: progress('track', 'it unpacks the keys', ...STAGES),
  },
  breaking: { path: 'index.html', button: '[data-act=break]', phases: [['.running', 'track'], ['.running', 'Breaking it']] },
  gates: { button: '[data-act=add]', phases: [['.gates-action .hint', 'making keys'], ['.gates-circuit', 'lit', 'innerHTML']] },
  look: { path: 'gates.html', button: '[data-act=look]', phases: [['#gates-adder .gates-action .hint', 'making keys'], ['#gates-close figcaption', 'after rounding']] },
  builder: { path: 'gates.html', button: '[data-act=evaluate]', phases: [['#gates-builder .buttons .hint', 'making keys'], ['#gates-builder .buttons .hint', 'evaluating']] },
  draw: { path: 'gates.html?set=toy-bool', button: '[data-act=lookup]', phases: [['#gates-draw', 'making keys'], ['#gates-draw', 'looking up']] },
  comb: { button: '[data-act=run]', phases: [['#conv-controls', 'Making keys'], ...stages('#conv-stages', [2, 3, 4, 5])] },
  digits: {
    button: '[data-act=run]',
    phases: [['#digits-controls', 'Making keys'], ['#digits-controls', 'Digit 1 of'], ['#digits-controls', 'Digit 3 of']],
  },
  exact: { button: '[data-act=run]', phases: [['#exact-controls', 'Making keys'], ...stages('#exact-stages', [2, 3, 4, 5])] },
  patients: {
    path: 'patients.html?set=toy-conventional10-50bit',
    button: '[data-act=run]',
    phases: [['#patients-controls', 'Making evaluation keys'], ['#patients-controls', 'This tab is at step'], ['#patients-controls', 'after 1 bootstrap']],
  },
  triage: {
    served: true,
    button: '[data-act=run]',
    phases: [['#triage-controls', 'Making and sending'], ['#triage-controls', 'At work'], ['#triage-controls', 'Compared']],
  },
};

/**
 * Begins, presses “Cancel” from inside the page when a phase is reached, and waits until the first button can be pressed again.
 * Returns the milliseconds between the two, or nothing if the phase never came. The press comes `late` milliseconds into the phase.
 */
export function cancelAt(page, button, [where, words, property = 'textContent'], late = 0) {
  return page.evaluate(
    ([button, where, words, property, late]) =>
      new Promise((resolve) => {
        const again = () => document.querySelector(`${button}:enabled`);
        let pressed;
        let began = false;
        const look = () => {
          if (pressed === undefined) {
            const cancel = document.querySelector('[data-act=cancel]');
            if (began && !cancel) {
              observer.disconnect();
              resolve(undefined);
            }
            began ||= cancel !== null;
            if (!cancel || ![...document.querySelectorAll(where)].some((place) => place[property].includes(words))) return;
            pressed = NaN;
            setTimeout(() => {
              pressed = performance.now();
              document.querySelector('[data-act=cancel]')?.click();
              look();
            }, late);
          } else if (pressed > 0 && again()) {
            observer.disconnect();
            resolve(performance.now() - pressed);
          }
        };
        const observer = new MutationObserver(look);
        observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
        again().click();
        look();
      }),
    [button, where, words, property, late],
  );
}
