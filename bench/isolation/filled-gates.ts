// The tenant of the attacks on gates and conditions: a nest of groups in which every level is a gate, grants whose
// conditions take as many steps as one evaluation may, and grants whose conditions have patterns that take a
// backtracking engine forever.

import { type Grant, isRelationName, type Relation } from '../../src/core/tuples.ts';
import { GROUP_MEMBERS, memberTuple } from './filled-grants.ts';

export type FilledGrant = Pick<Grant, 'subject' | 'relation' | 'object' | 'condition'>;

/** As deep as an evaluation goes, with the grant at either end. */
const NEST_LEVELS = 24;
/** Every so many-th member of the group is banned. */
const BANNED_STRIDE = 10;

/** An expression over `l` that takes nearly all steps of an evaluation for a list of `NESTED_LENGTH` numbers. */
const NESTED = '!l.all(x, l.all(y, l.all(z, x + y + z >= 0)))';
export const NESTED_LENGTH = 13;
/** Grants of one subject with the condition, and of one document. */
export const NESTED_GRANTS = 100;

/** `text`: as long as the steps of an evaluation allow; a backtracking engine tries exponentially many ways. */
export const PATTERNS = [
  { pattern: '^(a+)+$', text: `${'a'.repeat(5500)}!` },
  { pattern: '^(a|aa)+$', text: `${'a'.repeat(4500)}!` },
  { pattern: '^(a*)*b$', text: 'a'.repeat(4800) },
  { pattern: '(x+x+)+y', text: 'x'.repeat(5000) },
  { pattern: '^([a-z]+.)+[A-Z]$', text: 'az'.repeat(2300) },
  { pattern: '(.*)(.*)(.*)(.*)[^!]$', text: `${'0'.repeat(2900)}!` },
] as const;
/** Each stores another number, so that no result is that of another. */
export const GRANTS_PER_PATTERN = 16;

export const CONDITIONAL_SUBJECT = 'user:conditional';
export const CONDITIONAL_OBJECT = 'document:conditional';
export const GATED_OBJECT = 'document:gated';

const CONDITIONS = [
  { name: 'nested', expression: NESTED },
  ...PATTERNS.map(({ pattern }, index) => ({
    name: `pattern-${index}`,
    expression: `s.matches(${JSON.stringify(pattern)})`,
  })),
  { name: 'any-pattern', expression: 's.matches(p)' },
].map((each) => ({ ...each, parameters: { l: 'list<int>', s: 'string', p: 'string', number: 'int' } }));

export const GATE_RULES = {
  relations: ['approved', 'banned'],
  conditions: CONDITIONS,
  rules: [
    { namespace: 'group', name: 'trusted', any_of: [{ all_of: ['member', 'approved'], but_not: ['banned'] }] },
    { namespace: 'document', name: 'can_read', any_of: [{ all_of: ['viewer', 'approved'], but_not: ['banned'] }] },
  ],
  groups: true,
};

function relation(name: string): Relation {
  if (!isRelationName(name)) throw new Error(`${name} is no name of a relation.`);
  return name;
}

const gated = (level: number): string => `group:gated-${level}`;
export const patternObject = (pattern: number, number: number): string => `document:pattern-${pattern}-${number}`;
export const nestedObject = (number: number): string => `document:nested-${number}`;
/** A member of the innermost group. */
export const gatedMember = (number: number): { readonly subject: string; readonly authorized: boolean } => ({
  subject: memberTuple(number).subject,
  authorized: number % BANNED_STRIDE !== 0,
});

function* nestTuples(): Generator<FilledGrant> {
  for (let number = 0; number < GROUP_MEMBERS; number += 1) {
    const { subject, authorized } = gatedMember(number);
    yield { subject, relation: 'member', object: gated(0) };
    if (!authorized) yield { subject, relation: 'member', object: 'group:outcasts' };
  }
  for (let level = 0; level <= NEST_LEVELS; level += 1) {
    const object = level === NEST_LEVELS ? GATED_OBJECT : gated(level);
    const of = level === NEST_LEVELS ? 'viewer' : 'member';
    if (level > 0) yield { subject: `${gated(level - 1)}#trusted`, relation: of, object };
    yield { subject: `${gated(0)}#member`, relation: relation('approved'), object };
    yield { subject: 'group:outcasts#member', relation: relation('banned'), object };
  }
}

/** Every grant, those of a subject one after another where there are many. */
export function* gateTuples(): Generator<FilledGrant> {
  yield* nestTuples();
  const subject = CONDITIONAL_SUBJECT;
  for (let number = 0; number < NESTED_GRANTS; number += 1) {
    const condition = `nested {"number":${number}}`;
    yield { subject, relation: 'viewer', object: nestedObject(number), condition };
    yield { subject, relation: 'member', object: `group:conditional-${number}` };
    yield { subject: `group:conditional-${number}#member`, relation: 'viewer', object: CONDITIONAL_OBJECT, condition };
  }
  for (const pattern of [...PATTERNS.keys(), PATTERNS.length]) {
    const name = pattern === PATTERNS.length ? 'any-pattern' : `pattern-${pattern}`;
    for (let number = 0; number < GRANTS_PER_PATTERN; number += 1) {
      const condition = `${name} {"number":${number}}`;
      yield { subject, relation: 'viewer', object: patternObject(pattern, number), condition };
    }
  }
}
