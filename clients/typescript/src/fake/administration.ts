// The operations of the fake on API keys and rules.

import type { Key, KeyRequest, RuleSet, RulesVersion, Scope } from '../generated/schemas.ts';
import type { KnownOf } from '../members.ts';
import { type FakeOperation, type FakeRequest, ok } from './operation.ts';
import { pageOf } from './pages.ts';
import { invalidRequest, Refusal } from './problem.ts';
import type { FakeKey, FakeState } from './state.ts';
import { expiryIn, knownFieldsIn, limitIn, ruleSetIn } from './values.ts';

const KEY: KnownOf<KeyRequest> = { name: true, scopes: true, expires_at: true };
const SCOPES: readonly unknown[] = ['check:read', 'grant:write', 'admin'] satisfies readonly Scope[];

function withoutText({ text: _, ...key }: FakeKey): Key {
  return key;
}

function createKey({ state, body, headers }: FakeRequest) {
  const { name = '', scopes, expires_at: expiresAt } = knownFieldsIn(body, KEY);
  const areScopes = Array.isArray(scopes) && scopes.length > 0 && scopes.every((each) => SCOPES.includes(each));
  if (typeof name !== 'string' || !areScopes) throw invalidRequest('"scopes" must be a list of scopes.');
  const expiry = expiryIn(expiresAt) ?? null;
  const idempotencyKey = headers.get('idempotency-key');
  const text = JSON.stringify([name, scopes, expiry]);
  const earlier = idempotencyKey === null ? undefined : state.createdKeys.get(idempotencyKey);
  if (earlier !== undefined && earlier.body !== text) {
    throw new Refusal(422, 'idempotency-key-reused', 'An earlier request with this Idempotency-Key had another body.');
  }
  if (earlier !== undefined) {
    throw new Refusal(409, 'already-created', `The key ${earlier.keyId} exists.`, { key_id: earlier.keyId });
  }
  const created = state.createKey(name, scopes, expiry);
  if (idempotencyKey !== null) state.createdKeys.set(idempotencyKey, { body: text, keyId: created.key_id });
  const { last_used_at: _, text: key, ...shown } = created;
  return { status: 201, body: { ...shown, key } };
}

function listKeys({ state, query }: FakeRequest) {
  const { items, next } = pageOf(
    [...state.keys.values()].map(withoutText),
    (key) => key.key_id,
    'keys',
    query.get('cursor'),
    limitIn(query),
  );
  return ok({ keys: items, next_cursor: next });
}

function revokeKey({ state, id }: FakeRequest) {
  if (state.keys.delete(id)) return { status: 204 };
  throw new Refusal(404, 'key-not-found', 'There is no such key.');
}

/** 32 hexadecimal digits that differ where rules differ (FNV-1a, four times with other starts). */
export function revisionOf(rules: RuleSet): string {
  const text = JSON.stringify([rules.rules, rules.groups, rules.public]);
  return [0, 1, 2, 3]
    .map((start) => {
      let hash = 0x811c9dc5 ^ start;
      for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
      return (hash >>> 0).toString(16).padStart(8, '0');
    })
    .join('');
}

const etagOf = (rules: RuleSet): string => `"${revisionOf(rules)}"`;

function readRules({ state, headers }: FakeRequest) {
  const etag = etagOf(state.rules);
  return headers.get('if-none-match') === etag ? { status: 304, headers: { etag } } : ok(state.rules, { etag });
}

function writeRules({ state, query, headers, body, actor }: FakeRequest) {
  const rules = ruleSetIn(body);
  const condition = headers.get('if-match');
  if (condition !== null && condition !== etagOf(state.rules)) {
    throw new Refusal(412, 'precondition-failed', 'The rules have another revision.');
  }
  if (query.get('dry_run') === 'true') {
    const [revision, current] = [revisionOf(rules), revisionOf(state.rules)];
    return ok({
      rule_set: rules,
      revision,
      current_revision: current,
      changed: revision !== current,
      group_subjects: 0,
      public_grants: 0,
      grants_not_followed: 0,
      grants_outside_types: 0,
      ungranted: [],
      // The fake does not look at the grants.
      complete: false,
      scanned_grants: 0,
      scanned_grants_max: 0,
    });
  }
  state.write();
  state.writeRules(rules, actor);
  return ok(rules, { etag: etagOf(rules) });
}

/** Each change of the rules is a version. */
const versionsOf = (state: FakeState): readonly (RulesVersion & { readonly rules: RuleSet })[] =>
  state.changes
    .flatMap(({ rules, former, at, actor, request_id }) =>
      rules && former ? [{ rules, former, at, actor, request_id }] : [],
    )
    .map(({ rules, former, ...by }, index) => {
      const [lines, before] = [linesOf(rules), linesOf(former)];
      const [added, removed] = [countLacking(lines, before), countLacking(before, lines)];
      return { version: index + 1, revision: revisionOf(rules), ...by, added, removed, rules };
    });

const linesOf = ({ rules, groups, public: open }: RuleSet): readonly string[] => [
  ...rules.map((rule) => JSON.stringify(rule)),
  `groups: ${groups}`,
  ...open,
];

/** How many of the lines the others lack. */
const countLacking = (lines: readonly string[], others: readonly string[]): number =>
  lines.filter((line) => !others.includes(line)).length;

function listRulesVersions({ state }: FakeRequest) {
  const versions = versionsOf(state).map(({ rules: _, ...version }) => version);
  return ok({ versions: versions.reverse() });
}

function readRulesVersion({ state, id }: FakeRequest) {
  const found = versionsOf(state).find(({ version }) => String(version) === id);
  if (found !== undefined) return ok(found.rules, { etag: etagOf(found.rules) });
  throw new Refusal(404, 'rules-version-not-found', 'The rules have no such version.');
}

const administer = (answer: FakeOperation['answer']): FakeOperation => ({ scope: 'admin', answer });

export const ADMINISTRATION: Readonly<Record<string, FakeOperation>> = {
  'GET /v1/keys': administer(listKeys),
  'POST /v1/keys': administer(createKey),
  'DELETE /v1/keys/': administer(revokeKey),
  'GET /v1/rules': administer(readRules),
  'PUT /v1/rules': administer(writeRules),
  'GET /v1/rules/versions': administer(listRulesVersions),
  'GET /v1/rules/versions/': administer(readRulesVersion),
};
