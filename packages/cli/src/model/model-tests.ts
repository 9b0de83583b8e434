// Tests of a model in one form, from whatever file they come: rules, grants, and questions with expected answers.

import type { CallContext } from '../../../../src/core/call-context.ts';
import { type ErrorCode, GrantdError } from '../../../../src/core/errors.ts';
import { parseTerms, TERM_MEMBERS } from '../../../../src/core/grant-attributes.ts';
import { demandMembers, isJsonObject } from '../../../../src/core/json-members.ts';
import { parseTuple, TUPLE_MEMBERS } from '../../../../src/core/tuples.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import type { GrantedTuple } from '../../../../src/shard/shard.ts';
import { grantInText } from '../context-options.ts';
import type { Cursor } from '../yaml-file.ts';

export interface ModelFile {
  readonly ruleSet: RuleSet;
  readonly grants: readonly TestGrant[];
  readonly tests: readonly ModelTest[];
  /** What the reader should know about the file, as sentences. */
  readonly notes: readonly string[];
}

/** `file:line`, for messages. */
export interface FilePlace {
  readonly place: string;
}

export interface TestGrant extends FilePlace {
  readonly grant: GrantedTuple;
}

export interface ModelTest extends FilePlace {
  readonly name: string;
  /** Besides those of the file. */
  readonly grants: readonly TestGrant[];
  readonly questions: readonly Question[];
}

/** The answer of a check, or the type of the error that refuses it. */
export type ExpectedAnswer = boolean | ErrorCode;

export interface CheckQuestion extends FilePlace {
  readonly kind: 'check';
  readonly question: NamedTuple;
  readonly context: CallContext;
  readonly expected: ExpectedAnswer;
}

export interface ObjectsQuestion extends FilePlace {
  readonly kind: 'objects';
  readonly subject: string;
  readonly relation: string;
  readonly namespace: string | undefined;
  readonly context: CallContext;
  readonly expected: readonly string[];
}

export interface SubjectsQuestion extends FilePlace {
  readonly kind: 'subjects';
  readonly object: string;
  readonly relation: string;
  readonly namespace: string | undefined;
  /** Only groups of this name; '': none. Undefined: whatever is listed. */
  readonly group?: string;
  /** Groups that are listed but not expected make no difference. */
  readonly moreGroups?: true;
  readonly context: CallContext;
  readonly expected: readonly string[];
  /** Undefined: not compared. */
  readonly excluded: readonly string[] | undefined;
}

export type Question = CheckQuestion | ObjectsQuestion | SubjectsQuestion;

// ---- parts ----

const GRANT = [...TUPLE_MEMBERS, ...TERM_MEMBERS];

/** Passes on what the parsers of core refuse, with the place in the file. */
export function within<Value>(cursor: Cursor, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw error instanceof GrantdError ? cursor.failure(`is wrong: ${error.message}`) : error;
  }
}

/** A grant as text, `subject relation object`, which may stand in place of the object in lists of grants. */
export const grantFields = (value: unknown): unknown => (typeof value === 'string' ? grantInText(value) : value);

/** Throws a GrantdError that says what is wrong. `nowMs`: the wall clock. */
export function parseGrant(value: unknown, nowMs: number): GrantedTuple {
  const fields = grantFields(value);
  if (!isJsonObject(fields)) {
    throw new GrantdError(
      'invalid-request',
      'A grant must be an object with subject, relation and object, or these three as a text.',
    );
  }
  demandMembers(fields, GRANT);
  return { ...parseTuple(fields.subject, fields.relation, fields.object), ...parseTerms(fields, nowMs) };
}
