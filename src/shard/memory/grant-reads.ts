// The grants that an answer rests on: what its evaluation has read of the pages, present grants and absent ones alike.
// Each read is a number, and a change of a grant is the numbers of all reads that it could change. Invariant: if a
// change alters the result of a read, the number of the read is among those of the change. So an answer is that of the
// present state as long as no change since it was given has one of its numbers. Two reads may have the same number:
// then an answer is dropped for nothing.
//
// This is complete because an evaluation learns about grants from the reads of `PageGraph` alone. Rules, which are the
// other thing that an answer rests on, drop all answers; the time and the call do not matter to what is kept.

import { hashWith } from '../../core/structures/string-map.ts';
import { GROUP_MARK } from './grant-page.ts';

/** Known to everyone: a tenant whose strings collide only drops answers of its own. */
const [SEED, FACTOR, SECOND_FACTOR] = [0x811c9dc5, 0x85ebca6b, 0x9e3779b1];
const GROUPS = 1;
const ANY_RELATION = 2;
const RELATIONS = 3;

const hashOf = (text: string): number => hashWith(SEED, FACTOR, text);

function mixed(left: number, right: number): number {
  const hash = Math.imul(left ^ Math.imul(right, SECOND_FACTOR), FACTOR);
  return hash ^ (hash >>> 15);
}

/** All groups of an object count as one: a search from a subject asks for each of them. */
const hashOfSubject = (subject: string): number => {
  const mark = subject.lastIndexOf(GROUP_MARK);
  return hashOf(mark < 0 ? subject : subject.slice(0, mark + 1));
};

const tupleRead = (subjectHash: number, objectHash: number): number => mixed(subjectHash, objectHash);
const groupsRead = (objectHash: number): number => mixed(objectHash, GROUPS);
const subjectsRead = (objectHash: number, relation: number): number => mixed(objectHash, RELATIONS + 2 * relation);
const objectsRead = (subjectHash: number, relation: number | undefined): number =>
  mixed(subjectHash, relation === undefined ? ANY_RELATION : RELATIONS + 1 + 2 * relation);

/** The numbers of the reads whose results a change of the grant may alter. */
export function readsChangedBy(subject: string, relation: number, object: string): readonly number[] {
  const [subjectHash, objectHash] = [hashOfSubject(subject), hashOf(object)];
  const changed = [
    tupleRead(subjectHash, objectHash),
    subjectsRead(objectHash, relation),
    objectsRead(subjectHash, undefined),
    objectsRead(subjectHash, relation),
  ];
  if (subject.includes(GROUP_MARK)) changed.push(groupsRead(objectHash));
  return changed;
}

/** Records the reads of one evaluation. */
export class GrantReads {
  readonly #countMax: number;
  readonly #numbers: number[] = [];
  /** A search reads the same subject, and the same object, in a row. */
  #subject = '';
  #subjectHash = hashOfSubject('');
  #object = '';
  #objectHash = hashOf('');
  #isComplete = true;

  /** `countMax`: if there are more, they are not complete. */
  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Numbers, some of them several times. Undefined: there were too many. */
  get numbers(): readonly number[] | undefined {
    return this.#isComplete ? this.#numbers : undefined;
  }

  /** Whether the object has a grant to the subject, of any relation. */
  tuple(subject: string, object: string): void {
    if (!this.#isComplete) return;
    this.#add(tupleRead(this.#hashOfSubject(subject), this.#hashOfObject(object)));
  }

  /** The subjects of the form `ns:id#name` with grants on the object. */
  groups(object: string): void {
    if (!this.#isComplete) return;
    this.#add(groupsRead(this.#hashOfObject(object)));
  }

  subjects(object: string, relations: readonly number[]): void {
    if (!this.#isComplete) return;
    const hash = this.#hashOfObject(object);
    for (const relation of relations) this.#add(subjectsRead(hash, relation));
  }

  /** `relations`: undefined for all. */
  objects(subject: string, relations: readonly number[] | undefined): void {
    if (!this.#isComplete) return;
    const hash = this.#hashOfSubject(subject);
    if (relations === undefined) this.#add(objectsRead(hash, undefined));
    else for (const relation of relations) this.#add(objectsRead(hash, relation));
  }

  #hashOfSubject(subject: string): number {
    if (subject !== this.#subject) {
      this.#subject = subject;
      this.#subjectHash = hashOfSubject(subject);
    }
    return this.#subjectHash;
  }

  #hashOfObject(object: string): number {
    if (object !== this.#object) {
      this.#object = object;
      this.#objectHash = hashOf(object);
    }
    return this.#objectHash;
  }

  #add(number: number): void {
    const numbers = this.#numbers;
    if (numbers.length > 0 && numbers[numbers.length - 1] === number) return;
    if (numbers.length < this.#countMax) numbers.push(number);
    else this.#isComplete = false;
  }
}

const PLACES_MIN = 1024;
const NUMBER_BYTES = 4;
const NOTHING_CHANGED = new Int32Array(1);

/**
 * When grants have last changed, by the numbers of reads: a table in which several numbers share a place. The larger,
 * the fewer answers a change drops for nothing; it grows with what answers rest on.
 */
export class ChangedReads {
  readonly #placesMax: number;
  #changed = NOTHING_CHANGED;

  /** A power of two of places takes at most these bytes. */
  constructor(bytesMax: number) {
    this.#placesMax = bytesMax / NUMBER_BYTES;
  }

  get bytes(): number {
    return NUMBER_BYTES * this.#changed.length;
  }

  /** These have changed at `now`, which never decreases. To be called once `fit` was. */
  change(numbers: readonly number[], now: number): void {
    const changed = this.#changed;
    const mask = changed.length - 1;
    for (const number of numbers) changed[number & mask] = now;
  }

  /** Whether none of `count` numbers from `start` on has changed after `since`. */
  areUnchanged(numbers: Int32Array, start: number, count: number, since: number): boolean {
    const changed = this.#changed;
    const mask = changed.length - 1;
    for (let index = start; index < start + count; index += 1) {
      if ((changed[(numbers[index] ?? 0) & mask] ?? 0) > since) return false;
    }
    return true;
  }

  /** Answers rest on so many numbers. */
  fit(count: number): void {
    const before = this.#changed;
    let places = Math.max(PLACES_MIN, before.length);
    while (places < count && 2 * places <= this.#placesMax) places *= 2;
    if (places === before.length) return;
    // What shared a place has changed when that did.
    this.#changed = Int32Array.from({ length: places }, (_, place) => before[place & (before.length - 1)] ?? 0);
  }
}
