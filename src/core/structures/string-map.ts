// A map by text, for texts that come with requests. V8 looks every text that a Map is asked for up in its table of all
// names first, and keeps it there, which costs more than the map itself: a look-up here takes half of the time among
// ten thousand texts, a quarter among some hundred thousand, most of which are in no cache of the processor.
//
// Open addressing with linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4) into a dense list
// of entries. The codes of texts depend on a secret of the process, so that nobody can choose texts that meet; the
// order of entries does not.

import { getRandomValues } from 'node:crypto';

const SLOTS_MIN = 8;
const [SEED = 0, FACTOR = 0] = getRandomValues(new Int32Array(2)).map((value) => value | 1);

/** Bound: as a method it would be looked up for each character, since texts have many internal forms. */
export const unitAt: (text: string, index: number) => number = Function.prototype.call.bind(
  String.prototype.charCodeAt,
);

function codeOf(text: string): number {
  const { length } = text;
  let code = SEED ^ length;
  for (let index = 0; index < length; index += 1) {
    code = Math.imul(code ^ unitAt(text, index), FACTOR);
    code ^= code >>> 15;
  }
  return code;
}

export class TextMap<Value> {
  /** Of each slot the code of a text and the number of its entry, counted from 1; 0: the slot is empty. */
  #slots = new Int32Array(2 * SLOTS_MIN);
  #mask = SLOTS_MIN - 1;
  /** Of each entry its text and its value. */
  #cells: (string | Value)[] = [];

  get size(): number {
    return this.#cells.length / 2;
  }

  get(text: string): Value | undefined {
    return this.#valueOf(text, codeOf(text));
  }

  /**
   * The values of several texts. Little of a large map is in the processor's caches: one step at a time for all of
   * them, what they need is fetched at once, and not one after the other.
   */
  getMany(texts: readonly string[]): (Value | undefined)[] {
    const codes = texts.map(codeOf);
    const entries = codes.map((code) => this.#slots[2 * (code & this.#mask) + 1] ?? 0);
    const candidates = entries.map((entry) => (entry === 0 ? undefined : this.#cells[2 * entry - 2]));
    return texts.map((text, index) => {
      if (candidates[index] === text) return this.#cells[2 * (entries[index] ?? 0) - 1] as Value;
      return this.#valueOf(text, codes[index] ?? 0);
    });
  }

  has(text: string): boolean {
    return this.#find(text, codeOf(text)) >= 0;
  }

  set(text: string, value: Value): void {
    const code = codeOf(text);
    const slot = this.#find(text, code);
    if (slot >= 0) {
      this.#cells[this.#cellOf(slot) + 1] = value;
      return;
    }
    // At most three of four slots are taken.
    if (4 * (this.size + 1) > 3 * (this.#mask + 1)) this.#resize(2 * (this.#mask + 1));
    this.#cells.push(text, value);
    this.#take(code, this.size);
  }

  /** Whether it was there. The last entry takes its place in the order. */
  delete(text: string): boolean {
    const slot = this.#find(text, codeOf(text));
    if (slot < 0) return false;
    const cell = this.#cellOf(slot);
    this.#free(slot);
    const value = this.#cells.pop() as Value;
    const lastText = this.#cells.pop() as string;
    if (cell < this.#cells.length) {
      this.#slots[2 * this.#slotOfEntry(codeOf(lastText), this.#cells.length / 2 + 1) + 1] = cell / 2 + 1;
      this.#cells[cell] = lastText;
      this.#cells[cell + 1] = value;
    }
    const slotCount = this.#mask + 1;
    if (slotCount > SLOTS_MIN && 8 * this.size < slotCount) this.#resize(slotCount / 2);
    return true;
  }

  clear(): void {
    this.#slots = new Int32Array(2 * SLOTS_MIN);
    this.#mask = SLOTS_MIN - 1;
    this.#cells = [];
  }

  /**
   * In the order in which they were added, as far as nothing was deleted. To be taken whole before anything is deleted,
   * since the entry that takes a deleted one's place might be left out.
   */
  *entries(): Generator<[string, Value]> {
    for (let cell = 0; cell < this.#cells.length; cell += 2) {
      yield [this.#cells[cell] as string, this.#cells[cell + 1] as Value];
    }
  }

  *keys(): Generator<string> {
    for (const [text] of this.entries()) yield text;
  }

  *values(): Generator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  #valueOf(text: string, code: number): Value | undefined {
    const slot = this.#find(text, code);
    return slot < 0 ? undefined : (this.#cells[this.#cellOf(slot) + 1] as Value);
  }

  /** Where the entry of a taken slot lies among the cells. */
  #cellOf(slot: number): number {
    return 2 * ((this.#slots[2 * slot + 1] ?? 0) - 1);
  }

  /** The slot of a text; −1: it has none. */
  #find(text: string, code: number): number {
    const slots = this.#slots;
    const mask = this.#mask;
    for (let slot = code & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[2 * slot + 1] ?? 0;
      if (entry === 0) return -1;
      if (slots[2 * slot] === code && this.#cells[2 * (entry - 1)] === text) return slot;
    }
  }

  #slotOfEntry(code: number, entry: number): number {
    let slot = code & this.#mask;
    while (this.#slots[2 * slot + 1] !== entry) slot = (slot + 1) & this.#mask;
    return slot;
  }

  #take(code: number, entry: number): void {
    let slot = code & this.#mask;
    while (this.#slots[2 * slot + 1] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[2 * slot] = code;
    this.#slots[2 * slot + 1] = entry;
  }

  /** Empties a slot and moves up what would not be found behind an empty one (algorithm 6.4R there). */
  #free(slot: number): void {
    const slots = this.#slots;
    const mask = this.#mask;
    let hole = slot;
    for (let next = (hole + 1) & mask; slots[2 * next + 1] !== 0; next = (next + 1) & mask) {
      const code = slots[2 * next] ?? 0;
      if (((next - (code & mask)) & mask) < ((next - hole) & mask)) continue;
      slots[2 * hole] = code;
      slots[2 * hole + 1] = slots[2 * next + 1] ?? 0;
      hole = next;
    }
    slots[2 * hole + 1] = 0;
  }

  #resize(slotCount: number): void {
    const former = this.#slots;
    this.#slots = new Int32Array(2 * slotCount);
    this.#mask = slotCount - 1;
    for (let cell = 0; cell < former.length; cell += 2) {
      const entry = former[cell + 1] ?? 0;
      if (entry !== 0) this.#take(former[cell] ?? 0, entry);
    }
  }
}
