// The names of the grants that attacks need in the store in advance: filling and asking use the same.

import type { Tuple } from '../../src/core/tuples.ts';

export const LARGE_GRANTS_PER_SUBJECT = 10_000;
export const LONG_SUBJECTS = 8;
export const LONG_GRANTS_PER_SUBJECT = 9990;
export const WIDE_GRANTS = 1000;
export const GROUP_MEMBERS = 10_000;

const RELATION = 'viewer';
/** As deep as an evaluation goes, with the grant at either end. */
const NEST_LEVELS = 24;
const GRID_LEVELS = 24;
/** Folders per level of the grid. Each lies in every folder of the level above. */
const GRID_WIDTH = 3;
/** The maximum number of code points in an external id. */
const EXTERNAL_ID_MAX = 256;
const NUMBER_DIGITS = 6;
/** Two UTF-16 units and four bytes. */
const WIDEST = '\u{1F510}';

const padded = (number: number): string => String(number).padStart(NUMBER_DIGITS, '0');
const LONG_PREFIX = 'p'.repeat(EXTERNAL_ID_MAX - NUMBER_DIGITS);
const WIDE_PREFIX = WIDEST.repeat(EXTERNAL_ID_MAX - NUMBER_DIGITS);

/** One of many subjects with as many grants as a page holds, with the names that take the most bytes: 10 MB each. */
export const largeTuple = (subject: number, number: number): Tuple => ({
  subject: `user:large-${padded(subject)}`,
  relation: RELATION,
  object: `document:${WIDE_PREFIX}${padded(number)}`,
});

/** Nearly as many grants as fit a page, whose objects differ only in their last letters. */
export const longTuple = (subject: number, number: number): Tuple => ({
  subject: `user:long-${padded(subject)}`,
  relation: RELATION,
  object: `document:${LONG_PREFIX}${padded(number)}`,
});

/** One subject with the objects that take the most bytes in a listing. */
export const wideTuple = (number: number): Tuple => ({
  subject: 'user:wide',
  relation: RELATION,
  object: `document:${WIDE_PREFIX}${padded(number)}`,
});

export const listingPath = (subject: string): string =>
  `/v1/objects?subject=${encodeURIComponent(subject)}&relation=${RELATION}&limit=1000`;

/** Each relation passes on all three, so every step multiplies the paths by nine. */
export const GRAPH_RULES = {
  rules: ['document', 'folder'].flatMap((namespace) =>
    ['viewer', 'editor', 'owner'].map((name) => ({
      namespace,
      name,
      any_of: ['viewer', 'editor', 'owner'].map((each) => `${each} from parent`).concat(name),
    })),
  ),
  groups: true,
};
export const NEST_OBJECT = 'document:nest';
export const GRID_OBJECT = 'document:grid';
/** At the far end of the grid. */
export const GRID_SUBJECT = 'user:grid';

/** A member of the innermost group of the nest. */
export const memberTuple = (number: number): Tuple => ({
  subject: `user:member-${padded(number)}`,
  relation: 'member',
  object: 'group:nest-0',
});

/** A wide group in a deep nest that views a document, and a grid of folders with more paths than can be walked. */
export function* graphTuples(): Generator<Tuple> {
  for (let number = 0; number < GROUP_MEMBERS; number += 1) yield memberTuple(number);
  for (let level = 1; level < NEST_LEVELS; level += 1) {
    yield { subject: `group:nest-${level - 1}#member`, relation: 'member', object: `group:nest-${level}` };
  }
  yield { subject: `group:nest-${NEST_LEVELS - 1}#member`, relation: RELATION, object: NEST_OBJECT };
  const folder = (level: number, index: number): string => `folder:grid-${level}-${index}`;
  for (let index = 0; index < GRID_WIDTH; index += 1) {
    yield { subject: folder(0, index), relation: 'parent', object: GRID_OBJECT };
    yield { subject: GRID_SUBJECT, relation: RELATION, object: folder(GRID_LEVELS - 1, index) };
    for (let level = 1; level < GRID_LEVELS; level += 1) {
      for (let child = 0; child < GRID_WIDTH; child += 1) {
        yield { subject: folder(level, index), relation: 'parent', object: folder(level - 1, child) };
      }
    }
  }
}

export const subjectsPath = (object: string): string =>
  `/v1/subjects?object=${encodeURIComponent(object)}&relation=${RELATION}&limit=1000`;
