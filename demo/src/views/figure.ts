import { html, type Html, type Part } from '../html.js';
import type { State } from '../store.js';

/** A table behind a figure. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** A figure: heading, drawing or table, and a sentence made from the data. */
export interface FigureParts {
  readonly id: string;
  readonly title: string;
  readonly drawing: Part;
  /** What the data say, in words; nothing if the drawing says it itself. */
  readonly caption?: Part;
  readonly table: Table;
  /** Controls beside the heading. */
  readonly tools?: Part;
}

/** Wraps a drawing with its caption and the switch to its table. */
export function figure(state: Pick<State, 'tables'>, parts: FigureParts): Html {
  const asTable = state.tables.has(parts.id);
  return html`<figure class="figure" id="figure-${parts.id}" aria-labelledby="title-${parts.id}">
    <header class="figure-head">
      <h3 id="title-${parts.id}">${parts.title}</h3>
      <div class="figure-tools">
        ${parts.tools}
        <button type="button" class="quiet" data-act="table:${parts.id}" aria-pressed="${asTable ? 'true' : 'false'}">
          Table<span class="visually-hidden"> instead of the drawing: ${parts.title}</span>
        </button>
      </div>
    </header>
    <div class="figure-body" data-key="${asTable ? 'table' : 'drawing'}">${asTable ? table(parts.title, parts.table) : parts.drawing}</div>
    ${parts.caption && html`<figcaption>${parts.caption}</figcaption>`}
  </figure>`;
}

function table(title: string, data: Table): Html {
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label="Table: ${title}"><table>
    <caption class="visually-hidden">${title}</caption>
    <thead><tr>${data.columns.map((c) => html`<th scope="col">${c}</th>`)}</tr></thead>
    <tbody>${data.rows.map(
      (row) => html`<tr>${row.map((cell, i) => (i === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`))}</tr>`,
    )}</tbody>
  </table></div>`;
}
