// The grants of the tenants of a load test, and checks with known answers. Both follow from the number of grants alone,
// so neither k6 nor the seeding must store them. Imports nothing.

export interface Tuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

export interface Question {
  readonly tuple: Tuple;
  readonly authorized: boolean;
}

/** A subject views the documents from its own number on; its neighbours view most of them too. */
export const GRANTS_PER_SUBJECT = 10;
export const RELATION = 'viewer';
const OTHER_RELATION = 'editor';

/** Of fixed width, so that the numeric order is the order of the bytes. */
const padded = (number: number): string => String(number).padStart(9, '0');
const subjectAt = (number: number): string => `user:load-${padded(number)}`;
const objectAt = (number: number): string => `document:load-${padded(number)}`;

const tupleAt = (subject: number, index: number, relation = RELATION): Tuple => ({
  subject: subjectAt(subject),
  relation,
  object: objectAt(subject + index),
});

/** The grant with that number, from 0. */
export function grantAt(number: number): Tuple {
  return tupleAt(Math.floor(number / GRANTS_PER_SUBJECT), number % GRANTS_PER_SUBJECT);
}

/** A number from 0 to below `count`; `random` is from 0 to below 1. */
function pick(count: number, random: () => number): number {
  return Math.floor(random() * count);
}

const subjectsOf = (grants: number): number => Math.floor(grants / GRANTS_PER_SUBJECT);

/** About a grant that a tenant with this many grants (10 or more) has. */
export function positiveQuestion(grants: number, random: () => number): Question {
  const tuple = tupleAt(pick(subjectsOf(grants), random), pick(GRANTS_PER_SUBJECT, random));
  return { tuple, authorized: true };
}

/** About a grant that it does not have: half of them have the wrong object, the others the wrong relation. */
export function negativeQuestion(grants: number, random: () => number): Question {
  const subject = pick(subjectsOf(grants), random);
  const index = pick(GRANTS_PER_SUBJECT, random);
  const tuple = random() < 0.5 ? tupleAt(subject, index + GRANTS_PER_SUBJECT) : tupleAt(subject, index, OTHER_RELATION);
  return { tuple, authorized: false };
}

export function question(grants: number, random: () => number): Question {
  return random() < 0.5 ? positiveQuestion(grants, random) : negativeQuestion(grants, random);
}

export interface Listing {
  readonly subject: string;
  readonly relation: string;
  /** In the order of the response. */
  readonly objects: readonly string[];
}

export function listing(grants: number, random: () => number): Listing {
  const subject = pick(subjectsOf(grants), random);
  const objects = Array.from({ length: GRANTS_PER_SUBJECT }, (_, index) => objectAt(subject + index));
  return { subject: subjectAt(subject), relation: RELATION, objects };
}

/** A tuple that no grant of the set touches: one writer creates and revokes it repeatedly. */
export function writtenTuple(writer: number): Tuple {
  return {
    subject: `user:load-writer-${padded(writer)}`,
    relation: RELATION,
    object: `document:load-written-${padded(writer)}`,
  };
}
