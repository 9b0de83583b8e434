// A client of the AuthZEN interface, and a tenant with some records in folders, as tests of it share them.

import assert from 'node:assert/strict';
import { type Answer, assertProblem } from '../../kit/http-client.ts';
import type { HttpService } from '../../kit/http-service.ts';

export type Json = Readonly<Record<string, unknown>>;

export const RULES = {
  rules: [
    { namespace: 'record', name: 'read', any_of: ['viewer', 'write', 'read from parent'] },
    { namespace: 'record', name: 'write', any_of: ['editor'] },
    { namespace: 'folder', name: 'read', any_of: ['viewer'] },
  ],
  groups: true,
  public: ['user'],
};
export const GRANTS = [
  'user:alice editor record:1',
  'user:alice viewer record:2',
  'user:bob viewer record:1',
  'user:a:b viewer record:1',
  'group:eng#member viewer record:3',
  'user:carol member group:eng',
  'user:* viewer record:4',
  'folder:f parent record:5',
  'user:dave viewer folder:f',
];

export const ALICE = { type: 'user', id: 'alice' };
export const READ = { name: 'read' };
export const RECORD = { type: 'record', id: '1' };
export const REQUEST = { subject: ALICE, action: READ, resource: RECORD };
export const SUBJECTS = { subject: { type: 'user' }, action: READ, resource: RECORD };
export const RESOURCES = { subject: ALICE, action: READ, resource: { type: 'record' } };
export const ACTIONS = { subject: ALICE, resource: RECORD };
/** A request of each, by what comes after `/access/v1/`. */
export const ENDPOINTS: Readonly<Record<string, Json>> = {
  evaluation: REQUEST,
  evaluations: REQUEST,
  'search/subject': SUBJECTS,
  'search/resource': RESOURCES,
  'search/action': ACTIONS,
};

export const user = (id: string) => ({ type: 'user', id });
export const record = (id: string) => ({ type: 'record', id });

export function tupleOf(text: string) {
  const [subject, relation, object] = text.split(' ');
  return { subject, relation, object };
}

/** A result as an identifier, or as the name of an action. */
const textOf = ({ type, id, name }: Json): unknown => name ?? `${type}:${id}`;

export class AccessClient {
  readonly key: string;
  readonly #service: HttpService;

  constructor(service: HttpService, key: string) {
    this.#service = service;
    this.key = key;
  }

  /** `rules`: undefined: the tenant has none. */
  static async create(service: HttpService, rules: object | undefined, grants: readonly string[], plan?: string) {
    const { tenantId, key } = await service.createTenant(plan);
    const client = new AccessClient(service, key);
    if (rules !== undefined) await client.succeed('PUT', '/v1/rules', rules);
    for (let start = 0; start < grants.length; start += 100) {
      await client.succeed('POST', '/v1/grants/bulk', { grants: grants.slice(start, start + 100).map(tupleOf) });
    }
    return Object.assign(client, { tenantId });
  }

  async succeed(method: string, path: string, body: unknown): Promise<void> {
    const { status, text } = await this.#service.send({ method, path, key: this.key, body });
    assert.ok(status < 300, text);
  }

  post(endpoint: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#service.send({ method: 'POST', path: `/access/v1/${endpoint}`, key: this.key, body, headers });
  }

  /** Returns the detail of the problem. */
  async refuses(endpoint: string, body: unknown, code: string, status = 400): Promise<string> {
    return assertProblem(await this.post(endpoint, body), status, code, this.#service.errorsBase);
  }

  async ask(endpoint: string, body: unknown): Promise<Json> {
    const answer = await this.post(endpoint, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Json;
  }

  async decide(change: Json): Promise<unknown> {
    return (await this.ask('evaluation', { ...REQUEST, ...change })).decision;
  }

  async decideAll(body: Json): Promise<readonly unknown[]> {
    const { evaluations } = await this.ask('evaluations', body);
    return (evaluations as readonly Json[]).map(({ decision }) => decision);
  }

  /** One page, as texts, and where the next one begins. */
  async page(
    kind: 'subject' | 'resource' | 'action',
    body: Json,
  ): Promise<{ found: readonly unknown[]; token: string }> {
    const { page, results } = await this.ask(`search/${kind}`, body);
    const { next_token: token, count } = page as { next_token: string; count: number };
    const found = (results as readonly Json[]).map(textOf);
    assert.equal(count, found.length);
    return { found, token };
  }

  /** All pages. */
  async find(kind: 'subject' | 'resource' | 'action', body: Json, limit?: number): Promise<readonly unknown[]> {
    const all: unknown[] = [];
    for (let token: string | undefined; token !== ''; ) {
      const page = { ...(limit === undefined ? {} : { limit }), ...(token === undefined ? {} : { token }) };
      const next = await this.page(kind, { ...body, page });
      assert.ok(limit === undefined || next.found.length <= limit);
      all.push(...next.found);
      ({ token } = next);
    }
    return all;
  }
}
