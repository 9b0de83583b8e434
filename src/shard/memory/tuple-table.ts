// The tuples of one entity. Most entities have a handful, which are one text; more are several texts in order, so that
// a change copies a few kilobytes at most, and nothing is ever sorted.

import { compareUtf8 } from '../../core/tuples.ts';
import {
  bytesOfText,
  copyOf,
  counterpartAt,
  countIn,
  divided,
  indexOfText,
  nextAfter,
  placeFrom,
  placeOf,
  relationAt,
  tupleText,
  valueAt,
  withoutTuple,
  withTuple,
} from './tuple-text.ts';

/** Beyond this length a text is divided: some twenty common tuples, the most that a search reads one after another. */
const TEXT_LENGTH_MAX = 1024;
/** Estimated bytes: of a text without its characters, and of its place in a list; of the list itself. */
const TEXT_BYTES = 28;
const LIST_BYTES = 100;

/** A text, or several; without tuples: ''. Change it through the functions here, and keep what they return. */
export type Tuples = string | TupleList;

export const NO_TUPLES = '';

const bytesIn = (text: string): number => (text === '' ? 0 : TEXT_BYTES + bytesOfText(text));

/** Ascending texts, two at least. */
class TupleList {
  readonly texts: string[];
  size = 0;
  bytes = LIST_BYTES;

  constructor(texts: string[]) {
    this.texts = texts;
    for (const text of texts) this.#count(text, 1);
  }

  #count(text: string, sign: 1 | -1): void {
    this.size += sign * countIn(text);
    this.bytes += sign * bytesIn(text);
  }

  replace(index: number, ...added: readonly string[]): void {
    for (const text of this.texts.splice(index, 1, ...added)) this.#count(text, -1);
    for (const text of added) this.#count(text, 1);
  }
}

/** The text that has the tuple, if any has. */
export const textOf = (tuples: Tuples, relation: number, counterpart: string): string =>
  typeof tuples === 'string' ? tuples : (tuples.texts[indexOfText(tuples.texts, relation, counterpart)] ?? '');

/** The value of a tuple; undefined: it is missing. */
export function valueIn(tuples: Tuples, relation: number, counterpart: string): string | null | undefined {
  const text = textOf(tuples, relation, counterpart);
  const place = placeOf(text, relation, counterpart);
  return place < 0 ? undefined : valueAt(text, place);
}

export const sizeOf = (tuples: Tuples): number => (typeof tuples === 'string' ? countIn(tuples) : tuples.size);

/** Estimated. */
export const bytesOf = (tuples: Tuples): number => (typeof tuples === 'string' ? bytesIn(tuples) : tuples.bytes);

/** The tuples with this value of the tuple. */
export function setTuple(tuples: Tuples, relation: number, counterpart: string, value: string | null): Tuples {
  const texts = typeof tuples === 'string' ? [tuples] : tuples.texts;
  const index = typeof tuples === 'string' ? 0 : indexOfText(texts, relation, counterpart);
  const text = withTuple(texts[index] ?? '', relation, counterpart, value);
  if (text.length <= TEXT_LENGTH_MAX || nextAfter(text, 0) === text.length) {
    if (typeof tuples === 'string') return text;
    tuples.replace(index, text);
    return tuples;
  }
  // Tuples that are read from the store come in order: they fill each text.
  const isLast = index === texts.length - 1 && nextAfter(text, placeOf(text, relation, counterpart)) === text.length;
  const parts = divided(text, isLast ? text.length : text.length / 2);
  if (typeof tuples === 'string') return new TupleList(parts);
  tuples.replace(index, ...parts);
  return tuples;
}

export interface TupleRow {
  readonly relation: number;
  readonly counterpart: string;
  readonly value: string;
}

/** The tuples with these, of which each is new. Sorts the list. Costs one copy if they come after all others. */
export function addTuples(tuples: Tuples, rows: TupleRow[]): Tuples {
  rows.sort((left, right) => left.relation - right.relation || compareUtf8(left.counterpart, right.counterpart));
  const texts = typeof tuples === 'string' ? [tuples] : tuples.texts;
  let text = texts.at(-1) ?? '';
  const [first] = rows;
  if (first === undefined) return tuples;
  if (placeFrom(text, first.relation, first.counterpart) < text.length) {
    return rows.reduce((all, { relation, counterpart, value }) => setTuple(all, relation, counterpart, value), tuples);
  }
  const added: string[] = [];
  for (const { relation, counterpart, value } of rows) {
    text += tupleText(relation, counterpart, value);
    if (text.length <= TEXT_LENGTH_MAX) continue;
    added.push(copyOf(text));
    text = '';
  }
  if (text !== '') added.push(copyOf(text));
  if (typeof tuples === 'string') return added.length > 1 ? new TupleList(added) : (added[0] ?? NO_TUPLES);
  tuples.replace(texts.length - 1, ...added);
  return tuples;
}

/** The tuples without this one. */
export function deleteTuple(tuples: Tuples, relation: number, counterpart: string): Tuples {
  if (typeof tuples === 'string') return withoutTuple(tuples, relation, counterpart);
  const index = indexOfText(tuples.texts, relation, counterpart);
  const text = withoutTuple(tuples.texts[index] ?? '', relation, counterpart);
  tuples.replace(index, ...(text === '' ? [] : [text]));
  return tuples.texts.length === 1 ? (tuples.texts[0] ?? '') : tuples;
}

/** Visits the tuples from this one on, ascending, as places in texts, until `visit` returns false. */
export function visitFrom(
  tuples: Tuples,
  relation: number,
  counterpart: string,
  visit: (text: string, place: number) => boolean,
): void {
  const texts = typeof tuples === 'string' ? [tuples] : tuples.texts;
  let index = typeof tuples === 'string' ? 0 : indexOfText(texts, relation, counterpart);
  let place = placeFrom(texts[index] ?? '', relation, counterpart);
  for (; index < texts.length; index += 1) {
    const text = texts[index] ?? '';
    for (; place < text.length; place = nextAfter(text, place)) if (!visit(text, place)) return;
    place = 0;
  }
}

/** The numbers of the relations, ascending. */
export function relationsIn(tuples: Tuples): readonly number[] {
  const relations: number[] = [];
  for (let last = 0; ; ) {
    const [before] = [last];
    visitFrom(tuples, before + 1, '', (text, place) => {
      last = relationAt(text, place);
      return false;
    });
    if (last === before) return relations;
    relations.push(last);
  }
}

/** The counterparts of one relation, ascending by bytes; slices of the texts: copy what is kept. */
export function counterpartsIn(tuples: Tuples, relation: number): string[] {
  const found: string[] = [];
  visitFrom(tuples, relation, '', (text, place) => {
    if (relationAt(text, place) !== relation) return false;
    found.push(counterpartAt(text, place));
    return true;
  });
  return found;
}
