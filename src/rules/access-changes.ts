// What a change of grants or rules does to access: who loses or gains which names on which objects, counted, with some
// of them in rows. Invariant: if nothing is said to be open, the counts are those of all changes.

import type { Relation } from '../core/tuples.ts';

/** Rows of each side: more than a person reads. */
export const ACCESS_ROWS_MAX = 50;
export const ROW_SUBJECTS_MAX = 10;
export const ROW_OBJECTS_MAX = 5;
/** Beyond so many, there is a row for each name instead. */
const EXACT_ROWS_MAX = 12;
/** More objects than this of one subject have a row of their own: to compare them takes too long for one step. */
const COMPARED_OBJECTS_MAX = 5000;

/** The stored grants that have all of these; a subject or an object is given. */
export interface RevokedGrants {
  readonly subject?: string;
  readonly relation?: Relation;
  readonly object?: string;
}

/** The same names on the same objects. */
export interface AccessRow {
  /** The first of them: single subjects, or one group to which something is granted. */
  readonly subjects: readonly string[];
  readonly subjectCount: number;
  readonly isGroup: boolean;
  /** Of a group: how many of the compared subjects are its members. */
  readonly members: number;
  readonly names: readonly string[];
  /** Those nearest to what changes. */
  readonly objects: readonly string[];
  readonly objectCount: number;
}

export interface AccessSide {
  /** Subjects that are no groups. */
  readonly subjects: number;
  /** On which they lose, or gain, some name. */
  readonly objects: number;
  /** Groups last: they stand for their members. */
  readonly rows: readonly AccessRow[];
  /** Rows that are left out. */
  readonly rowsLeft: number;
  /** Single subjects have a row for each name: they lose, or gain, it on some of its objects. Otherwise on all. */
  readonly byName: boolean;
}

/**
 * Why it is not known how many lose or gain access. `everyone`: each subject of a public namespace may, and they cannot
 * be listed. `undecided`: some of it hangs on conditions that only the context of a check decides, or on itself through
 * `but_not`. `bounds`: more would have to be compared than one call compares. `failed`: the comparison got no answer.
 */
export const OPEN_POINTS = ['everyone', 'undecided', 'bounds', 'failed'] as const;
export type OpenPoint = (typeof OPEN_POINTS)[number];

export interface AccessChanges {
  readonly lost: AccessSide;
  readonly gained: AccessSide;
  /** Subjects that were compared. */
  readonly compared: number;
  /** Empty: these are all changes. Otherwise the sides are a part of them. */
  readonly open: readonly OpenPoint[];
}

const NO_SIDE: AccessSide = Object.freeze({ subjects: 0, objects: 0, rows: [], rowsLeft: 0, byName: false });

/** Nothing that was found, for this reason, or nothing that could change. */
export const noChanges = (...open: readonly OpenPoint[]): AccessChanges => ({
  lost: NO_SIDE,
  gained: NO_SIDE,
  compared: 0,
  open,
});

/** Objects by name. */
export type ObjectsByName = ReadonlyMap<string, readonly string[]>;

/** What one subject loses and gains. */
export interface SubjectChanges {
  readonly subject: string;
  readonly isGroup: boolean;
  readonly lost: ObjectsByName;
  readonly gained: ObjectsByName;
  /** Those of the groups in question that it is in now. */
  readonly groups: readonly string[];
}

interface RowTally {
  readonly subjects: string[];
  subjectCount: number;
  readonly names: string[];
  readonly objects: readonly string[];
  readonly objectCount: number;
}

interface NameTally {
  readonly subjects: string[];
  subjectCount: number;
  readonly objects: Set<string>;
}

class SideTally {
  #subjects = 0;
  /** The objects of single subjects, with a number each. */
  readonly #objects = new Map<string, number>();
  /** As long as they are few. */
  readonly #rows = new Map<string, RowTally>();
  readonly #names = new Map<string, NameTally>();
  readonly #groups = new Map<string, readonly RowTally[]>();

  /** The row of each set of objects, by what names the set. */
  #rowsOf(subject: string, changes: ObjectsByName, keyOf: (objects: readonly string[]) => string) {
    const rows = new Map<string, RowTally>();
    for (const [name, objects] of changes) {
      const key = objects.length > COMPARED_OBJECTS_MAX ? `${subject} ${name}` : keyOf(objects);
      const known = rows.get(key);
      if (known !== undefined) known.names.push(name);
      else {
        const some = objects.slice(0, ROW_OBJECTS_MAX);
        const row = { subjects: [subject], subjectCount: 1, names: [name], objects: some, objectCount: objects.length };
        rows.set(key, row);
      }
    }
    return rows;
  }

  *add(subject: string, changes: ObjectsByName): Generator<void> {
    if (changes.size === 0) return;
    this.#subjects += 1;
    for (const [name, objects] of changes) {
      const tally = this.#names.get(name) ?? { subjects: [], subjectCount: 0, objects: new Set() };
      this.#names.set(name, tally);
      addSubject(tally, subject);
      for (const [index, object] of objects.entries()) {
        tally.objects.add(object);
        if (!this.#objects.has(object)) this.#objects.set(object, this.#objects.size);
        if (index % COMPARED_OBJECTS_MAX === 0) yield;
      }
    }
    if (this.#rows.size > EXACT_ROWS_MAX) return;
    const keyOf = (objects: readonly string[]): string =>
      Uint32Array.from(objects, (object) => this.#objects.get(object) ?? 0)
        .sort()
        .join();
    for (const [key, row] of this.#rowsOf(subject, changes, keyOf)) {
      const same = `${row.names.join()} ${key}`;
      const known = this.#rows.get(same);
      if (known === undefined) this.#rows.set(same, row);
      else addSubject(known, subject);
    }
  }

  addGroup(group: string, changes: ObjectsByName): void {
    if (changes.size === 0 || this.#groups.size >= ACCESS_ROWS_MAX) return;
    this.#groups.set(group, [...this.#rowsOf(group, changes, (objects) => objects.join(' ')).values()]);
  }

  /** `members`: of each group. */
  side(members: ReadonlyMap<string, number>): AccessSide {
    const byName = this.#rows.size > EXACT_ROWS_MAX;
    const single: readonly RowTally[] = byName
      ? Array.from(this.#names, ([name, { objects, ...who }]) => ({
          ...who,
          names: [name],
          objects: [...objects.values().take(ROW_OBJECTS_MAX)],
          objectCount: objects.size,
        }))
      : [...this.#rows.values()];
    const groups = [...this.#groups.values()].flat();
    const all: readonly AccessRow[] = [
      ...single
        .toSorted((one, other) => other.subjectCount - one.subjectCount)
        .map((row) => ({ ...row, isGroup: false, members: 0 })),
      ...groups.map((row) => ({ ...row, isGroup: true, members: members.get(row.subjects[0] ?? '') ?? 0 })),
    ];
    const rows = all.slice(0, ACCESS_ROWS_MAX);
    const [subjects, objects] = [this.#subjects, this.#objects.size];
    return { subjects, objects, rows, rowsLeft: all.length - rows.length, byName };
  }
}

function addSubject(to: Pick<RowTally, 'subjects' | 'subjectCount'>, subject: string): void {
  to.subjectCount += 1;
  if (to.subjects.length < ROW_SUBJECTS_MAX) to.subjects.push(subject);
}

export class AccessTally {
  /** Objects that were added. */
  spent = 0;
  readonly #lost = new SideTally();
  readonly #gained = new SideTally();
  readonly #open = new Set<OpenPoint>();
  readonly #members = new Map<string, number>();
  #compared = 0;

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  open(point: OpenPoint): void {
    this.#open.add(point);
  }

  /** Ends where a step of the event loop may end. */
  *add({ subject, isGroup, lost, gained, groups }: SubjectChanges): Generator<void> {
    if (isGroup) {
      this.#lost.addGroup(subject, lost);
      this.#gained.addGroup(subject, gained);
      return;
    }
    this.#compared += 1;
    for (const objects of [...lost.values(), ...gained.values()]) this.spent += objects.length;
    yield* this.#lost.add(subject, lost);
    yield* this.#gained.add(subject, gained);
    for (const group of groups) this.#members.set(group, (this.#members.get(group) ?? 0) + 1);
  }

  get changes(): AccessChanges {
    return {
      lost: this.#lost.side(this.#members),
      gained: this.#gained.side(this.#members),
      compared: this.#compared,
      open: OPEN_POINTS.filter((point) => this.#open.has(point)),
    };
  }
}

// ---- in words and in the API ----

const numbered = (count: number, what: string): string =>
  `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;

/** `2 subjects lose access to 3 objects`. Never a part as the whole. */
export function accessHeadline(
  verb: 'lose' | 'gain',
  { subjects, objects }: Pick<AccessSide, 'subjects' | 'objects'>,
  isKnown: boolean,
): string {
  if (!isKnown) {
    return subjects > 0 ? `It is not known how many ${verb} access` : `It is not known who ${verb}s access`;
  }
  if (subjects === 0) return `Nobody ${verb}s access`;
  return `${numbered(subjects, 'subject')} ${subjects === 1 ? `${verb}s` : verb} access to ${numbered(objects, 'object')}`;
}

const sideRecord = ({ subjects, objects, rows, rowsLeft, byName }: AccessSide) => ({
  subjects,
  objects,
  rows: rows.map(({ subjects: some, subjectCount, names, objects: on, objectCount }) => ({
    subjects: some,
    subject_count: subjectCount,
    names,
    objects: on,
    object_count: objectCount,
  })),
  rows_left: rowsLeft,
  by_name: byName,
});

export const accessRecord = ({ lost, gained, open }: AccessChanges) => ({
  lost: sideRecord(lost),
  gained: sideRecord(gained),
  unknown_because: open,
});
