// The parameters of an operation, or the fields of a body, as a list: those within another field are folded under it.

import type { Field } from '../openapi/reference.ts';
import { inline } from './frame.ts';
import { html, type Markup } from './markup.ts';

export const typeAnchor = (name: string): string => `type-${name}`;

/** `array of Grant`, with a link to each type that it names. */
function typeMarkup({ type, refers }: Pick<Field, 'type' | 'refers'>): Markup {
  const words = type.split(/(?<= )|(?= )/);
  return words.map((word) => (refers.includes(word) ? html`<a href=${`#${typeAnchor(word)}`}>${word}</a>` : word));
}

interface FieldNode {
  readonly field: Field;
  readonly within: FieldNode[];
}

/** `checks[].subject` is within `checks`. */
function treeOf(fields: readonly Field[]): readonly FieldNode[] {
  const roots: FieldNode[] = [];
  const byName = new Map<string, FieldNode>();
  for (const field of fields) {
    const node = { field, within: [] };
    byName.set(field.name, node);
    const parent = byName.get(field.name.replace(/(?:\[\])*\.[^.]+$/, ''));
    (parent === undefined || parent === node ? roots : parent.within).push(node);
  }
  return roots;
}

function fieldMarkup({ field, within }: FieldNode): Markup {
  const { name, place, required, description, example } = field;
  const data = place === undefined ? {} : { 'data-parameter': name, 'data-place': place, 'data-example': example };
  return html`<li ...${data}>
    <p class="field"><code>${name}</code> <span class="soft">${typeMarkup(field)}</span>
      ${place === undefined || place === 'query' ? undefined : html` <span class="soft">in ${place}</span>`}
      ${required ? html` <span class="required">required</span>` : undefined}</p>
    ${description === '' ? undefined : html`<p>${inline(description)}</p>`}
    ${
      within.length === 0
        ? undefined
        : html`<details><summary>Fields of <code>${name}</code></summary><ul class="fields">${within.map(fieldMarkup)}</ul></details>`
    }
  </li>`;
}

export const fieldList = (fields: readonly Field[]): Markup =>
  fields.length === 0 ? undefined : html`<ul class="fields">${treeOf(fields).map(fieldMarkup)}</ul>`;
