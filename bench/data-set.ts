// The measured grants, identical in every run: ten per subject, objects shared by many subjects, and checks of every
// subject with known right answers.

import { type BuiltInRelation, type BuiltInTuple, RELATIONS } from '../src/core/tuples.ts';

export const GRANTS_PER_SUBJECT = 10;
/** Objects per grant: about twenty subjects have a grant on each object. */
const OBJECTS_PER_GRANT = 0.5;
/** Coprime to every number of objects here, so that the objects of one subject are all different. */
const OBJECT_STRIDE = 99_991;

export interface Question {
  readonly tuple: BuiltInTuple;
  readonly authorized: boolean;
}

/** The relations of a subject's ten grants: most are for reading only. */
const RELATIONS_OF_TEN: readonly BuiltInRelation[] = [
  ...Array<BuiltInRelation>(6).fill('viewer'),
  ...Array<BuiltInRelation>(3).fill('editor'),
  'owner',
];

const relationAt = (index: number): BuiltInRelation => RELATIONS_OF_TEN[index % RELATIONS_OF_TEN.length] ?? 'viewer';
const padded = (number: number): string => String(number).padStart(9, '0');

export class DataSet {
  readonly grants: number;
  readonly subjects: number;
  readonly #objects: number;

  /** `grants`: a multiple of 1,000. */
  constructor(grants: number) {
    this.grants = grants;
    this.subjects = grants / GRANTS_PER_SUBJECT;
    this.#objects = grants * OBJECTS_PER_GRANT;
  }

  /** Indexes below GRANTS_PER_SUBJECT are grants; higher ones (up to the number of objects) are not granted. */
  #tuple(subject: number, index: number): BuiltInTuple {
    const object = (subject * 31 + index * OBJECT_STRIDE) % this.#objects;
    return {
      subject: `user:u-${padded(subject)}`,
      relation: relationAt(index),
      object: `document:d-${padded(object)}`,
    };
  }

  grant(number: number): BuiltInTuple {
    return this.#tuple(Math.floor(number / GRANTS_PER_SUBJECT), number % GRANTS_PER_SUBJECT);
  }

  /** The question with that number: every other one is authorized. Consecutive ones are about distant subjects. */
  question(number: number): Question {
    return this.questionOn((number * 7919) % this.subjects, number);
  }

  /** One of the questions about a subject. Half of the denied ones have the wrong object, half the wrong relation. */
  questionOn(subject: number, number: number): Question {
    const index = (number >> 1) % GRANTS_PER_SUBJECT;
    if (number % 2 === 0) return { tuple: this.#tuple(subject, index), authorized: true };
    if (number % 4 === 1) return { tuple: this.#tuple(subject, index + GRANTS_PER_SUBJECT), authorized: false };
    const tuple = this.#tuple(subject, index);
    const relation = RELATIONS[(RELATIONS.indexOf(tuple.relation) + 1) % RELATIONS.length] ?? 'viewer';
    return { tuple: { ...tuple, relation }, authorized: false };
  }

  /** A question about each subject once, so that every page is read. */
  questionAbout(subject: number): Question {
    return { tuple: this.#tuple(subject, subject % GRANTS_PER_SUBJECT), authorized: true };
  }

  /** A grant outside the set: even numbers belong to subjects that have grants, odd ones to new subjects. */
  newGrant(number: number): BuiltInTuple {
    const subject = number % 2 === 0 ? (number * 7919) % this.subjects : this.subjects + Math.floor(number / 20);
    return {
      subject: `user:u-${padded(subject)}`,
      relation: relationAt(number),
      object: `document:n-${padded(number)}`,
    };
  }
}
