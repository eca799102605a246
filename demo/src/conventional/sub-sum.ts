import { count, decimal, scientific } from '../format.js';
import { html, type Html } from '../html.js';
import { figure } from '../views/figure.js';
import { drawing, label, n } from '../views/svg.js';
import { gapOf, viewOf, type State } from './state.js';

/** For sets with few slots: all coefficients of the ring before and after the sum over rotations; nothing for sets without that stage. */
export function subSum(state: State, width: number): Html {
  const gap = gapOf(state);
  if (gap === 1) return html``;
  const views = [viewOf(state, 'mod_raise'), viewOf(state, 'sub_sum')] as const;
  const heights = views.map((view) => view?.data.reduce((most, x) => Math.max(most, Math.abs(x)), 0) ?? 0);
  const most = Math.max(1, ...heights.map(Math.ceil));
  const [lane, left] = [130, 34];
  const many = 2 ** (state.preset?.logN ?? 0);
  const own = (index: number): boolean => index % gap === 0;
  const panels = views.map((view, panel) => {
    const middle = 26 + panel * (lane + 34) + lane / 2;
    const y = (x: number): number => middle - (x / most) * (lane / 2);
    // The message's coefficients are drawn over the others.
    const order = Array.from(view?.indices.keys() ?? []).sort((a, b) => Number(own(view?.indices[a] ?? 0)) - Number(own(view?.indices[b] ?? 0)));
    return html`${label(left, middle - lane / 2 - 10, ['Raised', 'Summed over rotations'][panel], 'axis', 'start')}
      ${[-most, 0, most].map((tick) => html`<line class="grid" x1="${left}" x2="${n(width)}" y1="${n(y(tick))}" y2="${n(y(tick))}"/>${label(left - 8, y(tick) + 4, decimal(tick, 0), 'tick', 'end')}`)}
      ${order.map((i) => {
        const index = view?.indices[i] ?? 0;
        return html`<circle class="${own(index) ? 'conv-own' : 'conv-between'}" cx="${n(left + 4 + (index / many) * (width - left - 8))}" cy="${n(y(view?.data[i] ?? 0))}" r="${own(index) ? 2.4 : 1.6}"/>`;
      })}`;
  });
  const sentence = subSumSentence(state, gap);
  return figure(state, {
    id: 'sub-sum',
    title: 'Between the message’s coefficients',
    drawing: drawing(width, 2 * (lane + 34), sentence, 'conv-sub-sum', html`${panels}`),
    caption: html`${sentence} <span class="unit">Horizontal: which of the ${count(many)} coefficients. Vertical: x = m/q₀ + I. Orange: the message’s.</span>`,
    table: {
      columns: ['Stage', 'Coefficients between', 'Farthest of them from 0'],
      rows: views.map((view, i) => [['Raised', 'Summed over rotations'][i] ?? '', view ? many - many / gap : '–', view ? scientific(farthest(view, gap)) : '–']),
    },
  });
}

/** The largest coefficient that is not one of the message's. */
function farthest(view: { readonly data: Float64Array; readonly indices: Uint32Array }, gap: number): number {
  return view.data.reduce((most, x, i) => ((view.indices[i] ?? 0) % gap === 0 ? most : Math.max(most, Math.abs(x))), 0);
}

function subSumSentence(state: State, gap: number): string {
  const [raised, summed] = [viewOf(state, 'mod_raise'), viewOf(state, 'sub_sum')];
  if (!raised) return `This set has few slots: every ${gap}th coefficient is the message’s.`;
  const before = `Raising the modulus put multiples of q₀ into every coefficient, up to ${decimal(farthest(raised, gap), 0)} of them between the message’s.`;
  if (!summed) return before;
  const rest = farthest(summed, gap);
  return `${before} The sum over rotations by ${count(state.preset?.slots ?? 0)} slots and their doubles leaves ${rest > 0 ? `at most ${scientific(rest)}` : 'nothing'} there, and the message’s as they were.`;
}
