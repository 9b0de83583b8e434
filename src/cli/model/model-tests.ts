// Tests of a model in one form, from whatever file they come: rules, grants, and questions with expected answers.

import type { CallContext } from '../../core/call-context.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import type { RuleSet } from '../../rules/rule-set.ts';
import type { GrantedTuple } from '../../shard/shard.ts';

export interface ModelFile {
  readonly ruleSet: RuleSet;
  readonly grants: readonly TestGrant[];
  readonly tests: readonly ModelTest[];
  /** What the reader should know about the file, as sentences. */
  readonly notes: readonly string[];
}

/** `file:line`, for messages. */
export interface Placed {
  readonly place: string;
}

export interface TestGrant extends Placed {
  readonly grant: GrantedTuple;
}

export interface ModelTest extends Placed {
  readonly name: string;
  /** Besides those of the file. */
  readonly grants: readonly TestGrant[];
  readonly questions: readonly Question[];
}

/** The answer of a check, or the type of the error that refuses it. */
export type Expected = boolean | ErrorCode;

export interface CheckQuestion extends Placed {
  readonly kind: 'check';
  readonly question: NamedTuple;
  readonly context: CallContext;
  readonly expected: Expected;
}

export interface ObjectsQuestion extends Placed {
  readonly kind: 'objects';
  readonly subject: string;
  readonly relation: string;
  readonly namespace: string | undefined;
  readonly context: CallContext;
  readonly expected: readonly string[];
}

export interface SubjectsQuestion extends Placed {
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
