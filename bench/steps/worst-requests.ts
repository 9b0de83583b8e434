// For each operation of the public API, its worst valid requests: the largest bodies, the most items, the deepest and
// the widest questions. What they ask about is there: `GRANTS` and `RULES`.

import { manyConditions, manyGates, manyNames } from '../isolation/large-rules.ts';

export interface WorstRequest {
  /** The id in the OpenAPI document. */
  readonly operation: string;
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

const BULK = 100;
const PARENTS = 199;
const CHAIN = 23;
const WIDE = 10_000;
const CONTEXT_BYTES = 31_000;
const CONTEXT_MEMBERS = 2600;
const PAGE = 1000;
/** Of a body of rules, less those of its other members. */
const VALUES_MAX = 9800;
/** Code points of the longest id; each takes four bytes. */
const LONG_ID = '\u{1F511}'.repeat(250);

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

export const RULES = {
  groups: true,
  conditions: [
    { name: 'big', parameters: { big: 'string' }, expression: 'big != ""' },
    { name: 'looped', parameters: { l: 'list<int>' }, expression: 'l.exists(x, l.exists(y, x + y < 0))' },
    { name: 'pattern', parameters: { s: 'string', p: 'string' }, expression: 's.matches(p)' },
  ],
  rules: [
    { namespace: 'doc', name: 'audited', any_of: [{ all_of: ['all of viewer from parent'] }] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'can_read from parent'] },
  ],
};

interface RuleBody {
  readonly any_of: readonly unknown[];
}

interface Line {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly condition?: { readonly name: string };
}

const big = { name: 'big' };

export const GRANTS: readonly Line[] = [
  ...times(CHAIN, (at) => ({
    subject: at === 0 ? 'user:u' : `team:g${at - 1}#member`,
    relation: 'member',
    object: `team:g${at}`,
    condition: big,
  })),
  ...times(PARENTS, (at) => ({ subject: `folder:f${at}`, relation: 'parent', object: 'doc:d', condition: big })),
  ...times(PARENTS, (at) => ({
    subject: `team:g${CHAIN - 1}#member`,
    relation: 'viewer',
    object: `folder:f${at}`,
    condition: big,
  })),
  ...times(WIDE, (at) => ({ subject: 'user:wide', relation: 'viewer', object: `doc:w${at}` })),
  ...times(WIDE, (at) => ({ subject: `user:w${at}`, relation: 'viewer', object: 'doc:wide' })),
  ...times(PAGE, (at) => ({
    subject: 'user:l',
    relation: 'viewer',
    object: `doc:l${at}`,
    condition: { name: 'looped' },
  })),
  ...times(BULK, (at) => ({
    subject: 'user:p',
    relation: 'viewer',
    object: `doc:p${at}`,
    condition: { name: 'pattern' },
  })),
];

const manyMembers = Object.fromEntries(times(CONTEXT_MEMBERS, (at) => [`m${at}`, at]));
const largeContext = { big: 'b'.repeat(CONTEXT_BYTES) };
const check = (subject: string, relation: string, object: string) => ({ subject, relation, object });
const evaluation = (index: number) => ({
  subject: { type: 'user', id: `w${index}` },
  action: { name: 'can_read' },
  resource: { type: 'doc', id: 'wide' },
});
const longGrant = (index: number) => check(`user:${LONG_ID}${index}`, 'viewer', `doc:${LONG_ID}${index}`);
const longText = 'a'.repeat(8000);

const post = (operation: string, name: string, path: string, body: unknown): WorstRequest => ({
  operation,
  name,
  method: 'POST',
  path,
  body,
});
const get = (operation: string, name: string, path: string): WorstRequest => ({ operation, name, method: 'GET', path });
const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce((sum, each) => sum + valuesIn(each), 0)
    : 1;

/** The rules with as many elements each as a body may have values for. */
function fitting(rules: readonly RuleBody[]): readonly RuleBody[] {
  return rules.map((rule) => {
    let values = valuesIn({ ...rule, any_of: [] });
    const elements = rule.any_of.filter((element) => {
      values += valuesIn(element);
      return values <= VALUES_MAX / rules.length;
    });
    return { ...rule, any_of: elements.length === 0 ? ['viewer'] : elements };
  });
}

const dryRules = (name: string, body: { readonly rules: readonly RuleBody[] }): WorstRequest => ({
  operation: 'writeRules',
  name,
  method: 'PUT',
  path: '/v1/rules?dry_run=true',
  body: { ...RULES, ...body, conditions: RULES.conditions, rules: fitting(body.rules) },
});
/** The conditions of the stored grants stay. */
function dryConditions(): WorstRequest {
  const { conditions } = manyConditions(1);
  return {
    ...dryRules('the largest, of conditions', { rules: [] }),
    body: { ...RULES, conditions: [...RULES.conditions, ...conditions.slice(1)] },
  };
}
const CHECK = '/v1/check';

export const WORST_REQUESTS: readonly WorstRequest[] = [
  post('check', 'explained through 199 parents and 23 groups, context of 31 KB', CHECK, {
    ...check('user:u', 'audited', 'doc:d'),
    explain: true,
    context: largeContext,
  }),
  post('check', 'context of 2,600 members', CHECK, { ...check('user:u', 'audited', 'doc:d'), context: manyMembers }),
  post('check', 'a denial through groups, with 100 context grants', CHECK, {
    ...check('user:x', 'can_read', 'doc:d'),
    context: largeContext,
    context_grants: times(BULK, (at) => ({ ...check(`team:c${at}#member`, 'viewer', 'doc:d'), condition: big })),
  }),
  post('check', 'a pattern of the context on a long text', CHECK, {
    ...check('user:p', 'viewer', 'doc:p0'),
    context: { s: longText, p: '(a?){40}a{40}!' },
  }),
  post('checkBulk', '100 checks of the longest names', '/v1/check/bulk', { checks: times(BULK, longGrant) }),
  post('checkBulk', '100 checks through gates, context of 2,600 members', '/v1/check/bulk', {
    checks: times(BULK, (at) => check(`user:w${at}`, 'audited', 'doc:d')),
    context: { ...manyMembers, big: 'b' },
  }),
  post('checkBulk', '100 checks with patterns', '/v1/check/bulk', {
    checks: times(BULK, (at) => check('user:p', 'viewer', `doc:p${at}`)),
    context: { s: longText, p: '(a|b|c)*d' },
  }),
  post('createGrant', 'longest names', '/v1/grants', longGrant(0)),
  { operation: 'revokeGrant', name: 'longest names', method: 'DELETE', path: '/v1/grants', body: longGrant(1) },
  post('writeBulk', '100 grants of the longest names', '/v1/grants/bulk', { grants: times(BULK, longGrant) }),
  post('revokeGrants', 'dry run over 10,000 grants', '/v1/grants/revoke?dry_run=true', { subject: 'user:wide' }),
  get('listGrants', 'a page of 1,000', `/v1/grants?subject=user:wide&limit=${PAGE}`),
  get('listGrants', 'a snapshot of which nothing is wanted', `/v1/grants?on=doc:parent&limit=${PAGE}`),
  get('listObjects', 'a page of 1,000', `/v1/objects?subject=user:wide&relation=can_read&limit=${PAGE}`),
  post('listObjectsInContext', 'conditions in loops', '/v1/objects', {
    subject: 'user:l',
    relation: 'viewer',
    context: { l: times(60, (at) => at) },
    limit: PAGE,
  }),
  get('listSubjects', 'a page of 1,000', `/v1/subjects?object=doc:wide&relation=can_read&limit=${PAGE}`),
  post('listSubjectsInContext', 'through gates', '/v1/subjects', {
    object: 'doc:d',
    relation: 'audited',
    context: largeContext,
    limit: PAGE,
  }),
  post('readSets', 'a subject with 10,000 objects', '/v1/sets', {
    subject: 'user:wide',
    join: { namespace: 'doc', name: 'can_read' },
  }),
  get('listNamespaces', 'all', '/v1/namespaces'),
  post('createNamespace', 'one', '/v1/namespaces', { name: 'another' }),
  get('listKeys', 'a page of 1,000', `/v1/keys?limit=${PAGE}`),
  post('createKey', 'longest name', '/v1/keys', { name: 'n'.repeat(200), scopes: ['check:read'] }),
  { operation: 'revokeKey', name: 'unknown', method: 'DELETE', path: `/v1/keys/key_${'0'.repeat(26)}` },
  get('readRules', 'the rules', '/v1/rules'),
  get('readJoin', 'of the rules', '/v1/join?namespace=doc&name=can_read'),
  dryRules('the largest, of gates', manyGates([])),
  dryRules('the largest, of names', manyNames()),
  dryConditions(),
  get('listRulesVersions', 'all', '/v1/rules/versions'),
  get('readRulesVersion', 'the first', '/v1/rules/versions/1'),
  get('listChanges', 'a page of 1,000', `/v1/changes?since=2020-01-01T00:00:00Z&limit=${PAGE}`),
  post('evaluate', 'context of 2,600 members', '/access/v1/evaluation', { ...evaluation(0), context: manyMembers }),
  post('evaluateMany', '100, default context of 2,600 members', '/access/v1/evaluations', {
    evaluations: times(BULK, evaluation),
    context: manyMembers,
  }),
  post('evaluateMany', '100, each with a context of 10 KB', '/access/v1/evaluations', {
    evaluations: times(BULK, (at) => ({ ...evaluation(at), context: { at, big: 'b'.repeat(10_000) } })),
  }),
  post('evaluateMany', '100, each with a context of 25 members', '/access/v1/evaluations', {
    evaluations: times(BULK, (at) => ({
      ...evaluation(at),
      context: Object.fromEntries(times(25, (member) => [`m${member}`, at])),
    })),
  }),
  post('searchSubjects', 'a page', '/access/v1/search/subject', {
    subject: { type: 'user' },
    action: { name: 'can_read' },
    resource: { type: 'doc', id: 'wide' },
    page: { limit: PAGE },
  }),
  post('searchResources', 'a page', '/access/v1/search/resource', {
    subject: { type: 'user', id: 'wide' },
    action: { name: 'can_read' },
    resource: { type: 'doc' },
    page: { limit: PAGE },
  }),
  post('searchActions', 'all', '/access/v1/search/action', {
    subject: { type: 'user', id: 'u' },
    resource: { type: 'doc', id: 'd' },
    context: largeContext,
  }),
  get('readOpenapi', 'the document', '/openapi.json'),
];
