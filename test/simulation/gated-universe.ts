// What a tenant with gates and conditions is about in a run: as in ruled-universe.ts, with own relations and states in
// `all_of` and `but_not`, groups that tie a name to its own exclusion, conditions that need what a call brings along,
// types that allow a part of it, and grants that expire.

import type { CallContext, ContextGrant } from '../../src/core/call-context.ts';
import { conditionContextOf, conditionNameOf, contextIn } from '../../src/core/grant-terms.ts';
import { EVERY_SUBJECT, isRelationName, type Relation } from '../../src/core/tuples.ts';
import type { NamedTuple } from '../../src/rules/questions.ts';
import {
  type Condition,
  NO_RULES,
  type Rule,
  type RuleElement,
  type RuleSet,
  type SubjectType,
  type TypeRestriction,
} from '../../src/rules/rule-set.ts';
import type { NaiveGrant, Truth } from '../kit/naive-rules.ts';
import {
  CHANGING,
  DOCS,
  drawRules,
  EVERYONE,
  element,
  FOLDERS,
  GROUPS,
  isDeclaredIn,
  pairs,
  textOfTuple,
  UNIONS,
  type Universe,
  USERS,
} from './ruled-universe.ts';
import type { SeededRandom } from './seeded-random.ts';

export const GATED_NAMES = [
  'viewer',
  'can_read',
  'can_review',
  'can_open',
  'in_all',
  'approver',
  'blocked',
  'published',
  'archived',
];
const WORDS: readonly string[] = ['approver', 'blocked'];
const OWN: readonly Relation[] = WORDS.filter(isRelationName);
const ARCHIVED: string = 'archived';
const STATES: readonly Relation[] = [ARCHIVED].filter(isRelationName);
/** All that only rules declare. */
const DECLARED: readonly string[] = [...OWN, ...CHANGING, ...STATES];

const CONDITIONS: readonly Condition[] = [
  { name: 'small', parameters: { n: 'int' }, expression: 'n < 3' },
  { name: 'both', parameters: { n: 'int', m: 'int' }, expression: 'n < 3 && m < 3' },
];
const STORED = ['small', 'small {"n":1}', 'small {"n":7}', 'both', 'both {"m":1}'];
const CONTEXTS = ['{"n":1}', '{"n":1}', '{"n":5}', '{"m":1,"n":1}', '{"m":5}', '{}'];

const relationsOf = (...names: readonly string[]): readonly Relation[] => OWN.filter((each) => names.includes(each));

/** Every third grant has a condition. */
const conditioned = (grants: readonly ContextGrant[]): ContextGrant[] =>
  grants.map((grant, index) => {
    const condition = index % 3 === 1 ? STORED[((index - 1) / 3) % STORED.length] : undefined;
    return condition === undefined ? grant : { ...grant, condition };
  });

const GATED_GRANTS: readonly ContextGrant[] = [
  ...UNIONS.grants.filter(({ relation, subject }) => !WORDS.includes(relation) && !USERS.includes(subject)),
  ...conditioned([
    ...UNIONS.grants.filter(({ relation, subject }) => !WORDS.includes(relation) && USERS.includes(subject)),
    ...relationsOf('approver').flatMap((own) => pairs([...USERS, EVERYONE], own, [...DOCS.slice(0, 3), 'folder:f1'])),
    ...relationsOf('blocked').flatMap((own) => pairs(USERS, own, [...DOCS.slice(0, 2), ...FOLDERS.slice(0, 2)])),
    ...STATES.flatMap((state) => pairs([EVERY_SUBJECT], state, [...DOCS.slice(0, 3), ...FOLDERS.slice(0, 2)])),
  ]),
  ...relationsOf('blocked').flatMap((own) => [
    ...pairs(
      GROUPS.slice(0, 1).map((group) => `${group}#member`),
      own,
      ['doc:d1', 'folder:f1'],
    ),
    // Circles through `but_not`, where the other one is granted, too.
    { subject: 'folder:f1#can_read', relation: own, object: 'doc:d1' },
    { subject: 'doc:d1#can_read', relation: own, object: 'folder:f1' },
  ]),
];

const isPart = (grant: ContextGrant, { namespace, of, name, condition }: SubjectType): boolean => {
  const [entity = '', group] = grant.subject.split('#');
  const kind = group !== undefined ? 'group' : entity.endsWith(':*') ? 'everyone' : 'single';
  const carried = grant.condition === undefined ? undefined : conditionNameOf(grant.condition);
  return entity.startsWith(`${namespace}:`) && kind === of && group === name && carried === condition;
};

export const GATES: Universe = {
  grants: GATED_GRANTS,
  isAllowed: (grant, { types }) =>
    types
      .filter(({ namespace, relation }) => grant.object.startsWith(`${namespace}:`) && grant.relation === relation)
      .every(({ subjects }) => subjects.some((each) => isPart(grant, each))),
  isDeclared: (grant, ruleSet) => {
    const { relation, condition } = grant;
    return (
      (!DECLARED.includes(relation) || isDeclaredIn(grant, ruleSet)) &&
      (condition === undefined || ruleSet.conditions.some(({ name }) => name === conditionNameOf(condition)))
    );
  },
};

/** A part of what the relation is granted to. */
const restriction = (relation: string, ...subjects: readonly SubjectType[]): TypeRestriction => ({
  namespace: 'doc',
  relation,
  subjects,
});
const SINGLE: SubjectType = { namespace: 'user', of: 'single' };
const MEMBERS: SubjectType = { namespace: 'group', of: 'group', name: 'member' };

function drawTypes(random: SeededRandom, { relations, conditions }: Pick<RuleSet, 'relations' | 'conditions'>) {
  const guarded = conditions.slice(0, 1).map(({ name }): SubjectType => ({ ...SINGLE, condition: name }));
  const types = [
    restriction('viewer', MEMBERS),
    ...(relations.length === 0
      ? []
      : [restriction('approver', SINGLE, ...guarded), restriction('blocked', SINGLE, ...guarded, MEMBERS)]),
  ];
  return types.filter(() => random.chance(0.25));
}

export function drawGatedRules(random: SeededRandom, version: number): RuleSet {
  const unions = drawRules(random, version);
  const own = (name: string): RuleElement => element(name);
  const relations = random.chance(0.9) ? OWN : [];
  const conditions = random.chance(0.9) ? CONDITIONS : [];
  const states = [...unions.states, ...(random.chance(0.8) ? STATES : [])];
  const archived = states.length > unions.states.length ? STATES.map(own) : [];
  const published = [...unions.states, ...unions.relations].filter((each) => CHANGING.includes(each)).map(own);
  const guarded: RuleElement = {
    operator: random.chance(0.7) ? 'all_of' : 'any_of',
    elements: [own('viewer'), own('approver'), ...(random.chance(0.3) ? published : [])],
    butNot: [...(random.chance(0.7) ? [own('blocked')] : []), ...archived],
  };
  const open: RuleElement = { operator: 'any_of', elements: [own('viewer')], butNot: [own('blocked'), ...archived] };
  const ungated = unions.rules.filter(({ name }) => name !== 'can_read');
  const rules: readonly Rule[] = [
    ...ungated,
    { namespace: 'doc', name: 'can_read', anyOf: [guarded, ...(random.chance(0.4) ? [own('owner')] : [])] },
    { namespace: 'folder', name: 'can_read', anyOf: [open] },
    {
      namespace: 'doc',
      name: 'can_review',
      anyOf: [{ operator: 'any_of', elements: [own('viewer')], butNot: [own('can_read')] }],
    },
    ...(published.length === 0
      ? []
      : ['doc', 'folder'].map((namespace): Rule => {
          const inherited = namespace === 'doc' ? [element('can_open', 'parent')] : [];
          const elements = [...published, ...inherited];
          return { namespace, name: 'can_open', anyOf: [{ operator: 'any_of', elements, butNot: [own('blocked')] }] };
        })),
    { namespace: 'doc', name: 'in_all', anyOf: [{ name: 'can_read', from: 'parent', all: true }] },
  ];
  return {
    ...NO_RULES,
    relations: [...relations, ...unions.relations.filter((each) => CHANGING.includes(each))],
    states,
    conditions,
    types: drawTypes(random, { relations, conditions }),
    rules: relations.length > 0 ? rules : ungated,
    groups: unions.groups,
    public: unions.public,
  };
}

/** Values for the parameters of conditions, and grants that count for one call, mostly about what it asks. */
export function drawCall(random: SeededRandom, { subject, object }: Partial<NamedTuple>): CallContext {
  const context = random.pick(CONTEXTS);
  const count = random.chance(0.3) ? random.whole(1, 2) : 0;
  const near = GATED_GRANTS.filter((grant) => grant.subject === subject || grant.object === object);
  const grants = Array.from({ length: count }, () =>
    random.pick(near.length > 0 && random.chance(0.7) ? near : GATED_GRANTS),
  );
  const distinct = [...new Map(grants.map((grant) => [textOfTuple(grant), grant])).values()];
  return {
    ...(context === '{}' ? {} : { context }),
    ...(distinct.length === 0 ? {} : { contextGrants: distinct }),
  };
}

/** The value of the condition in a call. Both expressions demand that each parameter is less than 3. */
function truthOf(condition: string | undefined, context: string | undefined): Truth {
  if (condition === undefined) return true;
  const values = { ...contextIn(context ?? '{}'), ...contextIn(conditionContextOf(condition)) };
  const parameters = CONDITIONS.find(({ name }) => name === conditionNameOf(condition))?.parameters ?? {};
  const truths = Object.keys(parameters).map((name): Truth => {
    const value = values[name];
    return typeof value === 'number' ? value < 3 : 'undefined';
  });
  if (truths.includes(false)) return false;
  return truths.includes('undefined') ? 'undefined' : true;
}

/** Different for different calls. */
export const keyOfCall = ({ context = '', contextGrants = [] }: CallContext): string =>
  JSON.stringify([context, contextGrants]);

/** The grants as a call sees them. */
export const grantsIn = (grants: Iterable<ContextGrant>, { context, contextGrants = [] }: CallContext): NaiveGrant[] =>
  [...grants, ...contextGrants].map(({ condition, ...grant }) => ({
    ...grant,
    condition: truthOf(condition, context),
  }));
