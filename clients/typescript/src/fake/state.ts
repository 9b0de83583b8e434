// The state of the fake: grants, namespaces, keys and rules of one tenant, and every change of them. Invariant: each
// change reaches each follower once, in order.

import type { Change, Grant, Key, Relation, RuleSet, Tuple } from '../generated/schemas.ts';
import { namespaceOf } from './values.ts';

/** Sorts as the service does: by UTF-8 bytes, which is the order of code points. */
export function compareTexts(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export interface FakeKey extends Key {
  readonly text: string;
}

export interface Actor {
  readonly keyId: string;
  readonly requestId: string;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const randomText = (length: number, alphabet: string): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => alphabet[byte % alphabet.length]).join('');

export const newId = (prefix: string): string => `${prefix}_${randomText(26, ALPHABET)}`;
const newKeyText = (): string => `gk1_${randomText(81, LETTERS)}`;

const keyOf = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;
const now = (): string => new Date().toISOString();

type NewChange = Pick<Change, 'action'> &
  Partial<Pick<Change, 'grant' | 'namespace' | 'rules' | 'former' | 'former_terms'>>;

export class FakeState {
  readonly keys = new Map<string, FakeKey>();
  readonly namespaces = new Map<string, string>();
  readonly changes: Change[] = [];
  /** By the Idempotency-Key, with the body that it came with. */
  readonly createdKeys = new Map<string, { readonly body: string; readonly keyId: string }>();
  rules: RuleSet = { rules: [], groups: false, public: [] };
  #seq = 0;
  readonly #grants = new Map<string, Grant>();
  readonly #followers = new Set<() => void>();

  /** Those that have not expired. */
  grants(): readonly Grant[] {
    return [...this.#grants.values()].filter((grant) => !hasExpired(grant));
  }

  grantOf(tuple: Tuple): Grant | undefined {
    const grant = this.#grants.get(keyOf(tuple));
    return grant === undefined || hasExpired(grant) ? undefined : grant;
  }

  /** One write: its changes have one position. */
  write(): void {
    this.#seq += 1;
  }

  put(tuple: Tuple, expiresAt: string | null | undefined, actor: Actor): { grant: Grant; created: boolean } {
    const existing = this.grantOf(tuple);
    if (existing !== undefined) {
      if (expiresAt === undefined || expiresAt === existing.expires_at) return { grant: existing, created: false };
      const grant = { ...existing, expires_at: expiresAt };
      this.#grants.set(keyOf(tuple), grant);
      this.#record({ action: 'grant.updated', grant, former_terms: { expires_at: existing.expires_at } }, actor);
      return { grant, created: false };
    }
    for (const name of [namespaceOf(tuple.subject), namespaceOf(tuple.object)]) this.createNamespace(name, actor);
    const { subject, object } = tuple;
    const relation: Relation = tuple.relation;
    const grant: Grant = {
      grant_id: newId('grt'),
      subject,
      relation,
      object,
      created_at: now(),
      expires_at: expiresAt ?? null,
    };
    this.#grants.set(keyOf(tuple), grant);
    this.#record({ action: 'grant.created', grant }, actor);
    return { grant, created: true };
  }

  remove(tuple: Tuple, actor: Actor): boolean {
    const grant = this.grantOf(tuple);
    this.#grants.delete(keyOf(tuple));
    if (grant === undefined) return false;
    this.#record({ action: 'grant.revoked', grant }, actor);
    return true;
  }

  createNamespace(name: string, actor: Actor): { createdAt: string; created: boolean } {
    const known = this.namespaces.get(name);
    if (known !== undefined) return { createdAt: known, created: false };
    const createdAt = now();
    this.namespaces.set(name, createdAt);
    this.#record({ action: 'namespace.created', namespace: { name } }, actor);
    return { createdAt, created: true };
  }

  createKey(name: string, scopes: Key['scopes'], expiresAt: string | null): FakeKey {
    const key: FakeKey = {
      key_id: newId('key'),
      name,
      scopes,
      created_at: now(),
      expires_at: expiresAt,
      last_used_at: null,
      text: newKeyText(),
    };
    this.keys.set(key.key_id, key);
    return key;
  }

  keyOfText(text: string): FakeKey | undefined {
    return [...this.keys.values()].find((key) => key.text === text && !hasExpired(key));
  }

  writeRules(rules: RuleSet, actor: Actor): void {
    const previous = this.rules;
    if (JSON.stringify(previous) === JSON.stringify(rules)) return;
    this.rules = rules;
    this.#record({ action: 'rules.updated', rules, former: previous }, actor);
  }

  /** Calls `onChange` after every change, until the returned function is called. */
  follow(onChange: () => void): () => void {
    this.#followers.add(onChange);
    return () => this.#followers.delete(onChange);
  }

  #record(change: NewChange, { keyId, requestId }: Actor): void {
    const index = this.changes.filter(({ seq }) => seq === this.#seq).length;
    this.changes.push({ seq: this.#seq, index, at: now(), actor: keyId, request_id: requestId, ...change });
    for (const onChange of this.#followers) onChange();
  }
}

const hasExpired = ({ expires_at: expiresAt }: { readonly expires_at: string | null }): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= Date.now();
