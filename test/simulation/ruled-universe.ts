// What tenants with rules are about in a run: few users, groups, folders and documents, so that most changes of a grant
// change an answer, and a chain of folders that is longer than an evaluation follows.

import type { Tuple } from '../../src/core/tuples.ts';
import { NO_RULES, type Rule, type RuleElement, type RuleSet } from '../../src/rules/rule-set.ts';
import type { SeededRandom } from './seeded-random.ts';

export const USERS = ['user:u1', 'user:u2', 'user:u3'];
export const GROUPS = ['group:g1', 'group:g2', 'group:g3'];
export const FOLDERS = ['folder:f1', 'folder:f2', 'folder:f3'];
export const DOCS = ['doc:d1', 'doc:d2', 'doc:d3', 'doc:d4'];
export const EVERYONE = 'user:*';
const MEMBERS = GROUPS.map((group) => `${group}#member`);

/** Subjects whose absence from a listing is judged. */
export const SUBJECTS_LISTED: readonly string[] = [EVERYONE, ...USERS, ...MEMBERS, ...FOLDERS];

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

const pairs = (subjects: readonly string[], relation: Tuple['relation'], objects: readonly string[]): Tuple[] =>
  subjects.flatMap((subject) =>
    objects.flatMap((object) => (subject.startsWith(object) ? [] : [{ subject, relation, object }])),
  );

/** All that is granted and revoked; some of it in circles. */
const GRANTS: readonly Tuple[] = [
  ...pairs(USERS, 'member', GROUPS),
  ...pairs(MEMBERS, 'member', GROUPS),
  ...pairs(MEMBERS, 'viewer', [...FOLDERS, ...DOCS]),
  ...pairs(USERS, 'viewer', FOLDERS),
  ...pairs([...USERS.slice(1), ...MEMBERS.slice(1)], 'editor', DOCS.slice(2)),
  ...pairs(FOLDERS, 'parent', [...FOLDERS, ...DOCS]),
  ...pairs([EVERYONE], 'viewer', ['folder:f1', 'doc:d1']),
  ...pairs([EVERYONE], 'member', ['group:g1']),
  { subject: FAR.subject, relation: 'viewer', object: 'folder:l0' },
];
const FEW_GRANTS = 18;
const MANY_GRANTS = 34;

const touches = (left: Tuple, right: Tuple): boolean =>
  left.object === right.object ||
  left.subject === right.subject ||
  right.subject.startsWith(left.object) ||
  left.subject.startsWith(right.object);

export interface GrantsChange {
  readonly grants: readonly Tuple[];
  readonly revocations: readonly Tuple[];
}

/** Mostly a link of a chain goes as the next one comes: nobody may see both. */
export function drawGrants(random: SeededRandom, present: ReadonlyMap<string, Tuple>): GrantsChange {
  const absent = GRANTS.filter((tuple) => !present.has(textOfTuple(tuple)));
  const some = (tuples: readonly Tuple[], most = 3): Tuple[] => [
    ...new Set(Array.from({ length: random.whole(1, most) }, () => random.pick(tuples))),
  ];
  if (present.size < FEW_GRANTS) return { grants: some(absent, 2 * FEW_GRANTS), revocations: [] };
  const gone = some([...present.values()]);
  if (present.size > MANY_GRANTS || random.chance(0.15)) return { grants: [], revocations: gone };
  const next = absent.filter((tuple) => gone.some((each) => touches(each, tuple)));
  const grants = some(next.length > 0 && random.chance(0.8) ? next : absent);
  return { grants, revocations: random.chance(0.8) ? gone : [] };
}

const element = (name: string, from?: string): RuleElement => ({ name, from });

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
  add('doc', 'can_read', random.chance(0.8) ? [element('viewer'), element('owner')] : []);
  add('folder', 'can_read', random.chance(0.6) ? [element('viewer'), element('can_read', 'parent')] : []);
  return { ...NO_RULES, rules, groups: random.chance(0.8), public: random.chance(0.6) ? ['user'] : [] };
}
