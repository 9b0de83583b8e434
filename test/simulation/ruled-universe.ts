// What tenants with rules are about in a run: few users, groups, folders and documents, so that most changes of a grant
// change an answer, and a chain of folders that is longer than an evaluation follows.

import type { ContextGrant } from '../../src/core/call-context.ts';
import { EVERY_SUBJECT, isRelationName, type Relation, type Tuple } from '../../src/core/tuples.ts';
import { NO_RULES, type Rule, type RuleElement, type RuleSet } from '../../src/rules/rule-set.ts';
import type { SeededRandom } from './seeded-random.ts';

export const USERS = ['user:u1', 'user:u2', 'user:u3'];
export const GROUPS = ['group:g1', 'group:g2', 'group:g3'];
export const FOLDERS = ['folder:f1', 'folder:f2', 'folder:f3'];
export const DOCS = ['doc:d1', 'doc:d2', 'doc:d3', 'doc:d4'];
export const EVERYONE = 'user:*';
const APPROVER: string = 'approver';
/** A relation that some rule sets declare. */
export const OWN_RELATIONS: readonly Relation[] = [APPROVER].filter(isRelationName);
const PUBLISHED: string = 'published';
/** A state under some rule sets, and an own relation under others. */
export const CHANGING: readonly Relation[] = [PUBLISHED].filter(isRelationName);
const MEMBERS = GROUPS.map((group) => `${group}#member`);

/** Subjects whose absence from a listing is judged. */
export const SUBJECTS_LISTED: readonly string[] = [EVERY_SUBJECT, EVERYONE, ...USERS, ...MEMBERS, ...FOLDERS];

/** Folders in one another, more of them than a chain may have. */
const FAR_FOLDERS = 30;

export const FAR = {
  /** Nobody else is granted anything on these folders. */
  subject: 'user:far',
  object: `folder:l${FAR_FOLDERS}`,
  chain: Array.from(
    { length: FAR_FOLDERS },
    (_, index): Tuple => ({ subject: `folder:l${index}`, relation: 'parent', object: `folder:l${index + 1}` }),
  ),
} as const;

export const isFar = (subject: string): boolean => subject === FAR.subject;

export const textOfTuple = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

/** Its existence says that this version of the grants is the last one. No other version grants it. */
export const markGrant = (version: number): Tuple => ({
  subject: `mark:m${version}`,
  relation: 'viewer',
  object: `mark:m${version}`,
});

export const pairs = (subjects: readonly string[], relation: Tuple['relation'], objects: readonly string[]): Tuple[] =>
  subjects.flatMap((subject) =>
    objects.flatMap((object) => (subject.startsWith(object) ? [] : [{ subject, relation, object }])),
  );

/** All that is granted and revoked; some of it in circles. */
const GRANTS: readonly ContextGrant[] = [
  ...pairs(USERS, 'member', GROUPS),
  ...pairs(MEMBERS, 'member', GROUPS),
  ...pairs(MEMBERS, 'viewer', [...FOLDERS, ...DOCS]),
  ...pairs(USERS, 'viewer', FOLDERS),
  ...pairs([...USERS.slice(1), ...MEMBERS.slice(1)], 'editor', DOCS.slice(2)),
  ...pairs(FOLDERS, 'parent', [...FOLDERS, ...DOCS]),
  ...pairs([EVERYONE], 'viewer', ['folder:f1', 'doc:d1']),
  ...pairs([EVERYONE], 'member', ['group:g1']),
  { subject: FAR.subject, relation: 'viewer', object: 'folder:l0' },
  ...OWN_RELATIONS.flatMap((own) => pairs([...USERS.slice(0, 2), ...MEMBERS.slice(0, 1)], own, DOCS.slice(0, 2))),
  ...CHANGING.flatMap((each) => [
    ...pairs([EVERY_SUBJECT], each, [...DOCS.slice(0, 2), ...FOLDERS.slice(0, 2)]),
    ...pairs(USERS.slice(0, 1), each, DOCS.slice(0, 1)),
  ]),
];
const FEW_GRANTS = 18;
const MANY_GRANTS = 34;

const touches = (left: Tuple, right: Tuple): boolean =>
  left.object === right.object ||
  left.subject === right.subject ||
  right.subject.startsWith(left.object) ||
  left.subject.startsWith(right.object);

/** What there is to grant, and which of it only under rules that declare it. */
export interface Universe {
  readonly grants: readonly ContextGrant[];
  isDeclared(grant: ContextGrant, ruleSet: RuleSet): boolean;
  /** Whether the types of the rules allow it. */
  isAllowed(grant: ContextGrant, ruleSet: RuleSet): boolean;
}

export interface RuledGrant extends ContextGrant {
  /** By the time of the slot. Absent: never. */
  readonly expiresAtMs?: number;
}

export interface GrantsChange {
  readonly grants: readonly ContextGrant[];
  readonly revocations: readonly Tuple[];
}

const isOwn = ({ relation }: Tuple): boolean => OWN_RELATIONS.includes(relation) || CHANGING.includes(relation);

/** The subject of a state, and of nothing else, is `*`. */
export const isDeclaredIn = ({ subject, relation }: Tuple, { relations, states }: RuleSet): boolean =>
  (subject === EVERY_SUBJECT ? states : relations).includes(relation);

/** Unions alone. */
export const UNIONS: Universe = {
  grants: GRANTS,
  isDeclared: (grant, ruleSet) => !isOwn(grant) || isDeclaredIn(grant, ruleSet),
  isAllowed: () => true,
};

/** Mostly a link of a chain goes as the next one comes: nobody may see both. */
export function drawGrants(
  random: SeededRandom,
  { grants: all, isDeclared, isAllowed }: Universe,
  present: ReadonlyMap<string, ContextGrant>,
  ruleSet: RuleSet,
): GrantsChange {
  const mayGrant = (grant: ContextGrant): boolean =>
    (isDeclared(grant, ruleSet) && isAllowed(grant, ruleSet)) || random.chance(0.02);
  const absent = all.filter((tuple) => !present.has(textOfTuple(tuple)) && mayGrant(tuple));
  const own = [...present.values()].filter((grant) => !isDeclared(grant, NO_RULES));
  if (own.length > 0 && random.chance(0.15)) return { grants: [], revocations: own };
  const some = (tuples: readonly ContextGrant[], most = 3): ContextGrant[] => [
    ...new Set(Array.from({ length: random.whole(1, most) }, () => random.pick(tuples))),
  ];
  if (present.size < FEW_GRANTS) return { grants: some(absent, 2 * FEW_GRANTS), revocations: [] };
  const gone = some([...present.values()]);
  if (present.size > MANY_GRANTS || random.chance(0.15)) return { grants: [], revocations: gone };
  const next = absent.filter((tuple) => gone.some((each) => touches(each, tuple)));
  const grants = some(next.length > 0 && random.chance(0.8) ? next : absent);
  return { grants, revocations: random.chance(0.8) ? gone : [] };
}

export const element = (name: string, from?: string): RuleElement => ({ name, from });

/** Defined in one version of the rules alone. */
export const markOf = (version: number): string => `v${version}`;

export function drawRules(random: SeededRandom, version: number): RuleSet {
  const inherited = [element('viewer', 'parent')];
  const rules: Rule[] = [{ namespace: 'mark', name: markOf(version), anyOf: [element('viewer')] }];
  const add = (namespace: string, name: string, anyOf: readonly RuleElement[]): void => {
    if (anyOf.length > 0) rules.push({ namespace, name, anyOf });
  };
  add('doc', 'viewer', [...(random.chance(0.7) ? [element('editor')] : []), ...(random.chance(0.8) ? inherited : [])]);
  add('folder', 'viewer', random.chance(0.8) ? inherited : []);
  const kind = random.fork(`states ${version}`).weighted({ states: 6, relations: 2, none: 1 });
  const relations = [...(random.chance(0.7) ? OWN_RELATIONS : []), ...(kind === 'relations' ? CHANGING : [])];
  const states = kind === 'states' ? CHANGING : [];
  const own = [...relations, ...states].map((relation) => element(relation));
  const published = states.map((state) => element(state));
  add('doc', 'can_read', random.chance(0.8) ? [element('viewer'), element('owner'), ...own] : []);
  add('folder', 'can_read', random.chance(0.6) ? [element('viewer'), element('can_read', 'parent'), ...published] : []);
  return {
    ...NO_RULES,
    relations,
    states,
    rules,
    groups: random.chance(0.8),
    public: random.chance(0.6) ? ['user'] : [],
  };
}
