// Bodies made from an OpenAPI description, whole ones with every member, and what is wrong with one member of them.

import assert from 'node:assert/strict';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonMembers = { readonly [name: string]: Json };

export const asRecord = (value: unknown): Readonly<Record<string, unknown>> => {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value));
  return Object.fromEntries(Object.entries(value));
};

/** An operation with a body of JSON. */
export interface Described {
  readonly method: string;
  readonly path: string;
  readonly schema: unknown;
  readonly document: Readonly<Record<string, unknown>>;
}

export function bodiesIn(document: Readonly<Record<string, unknown>>): Described[] {
  return Object.entries(asRecord(document.paths)).flatMap(([path, operations]) =>
    Object.entries(asRecord(operations)).flatMap(([method, operation]): Described[] => {
      const { requestBody } = asRecord(operation);
      const content = requestBody === undefined ? undefined : asRecord(requestBody).content;
      const media = content === undefined ? undefined : asRecord(content)['application/json'];
      if (media === undefined) return [];
      return [{ method: method.toUpperCase(), path, schema: asRecord(media).schema, document }];
    }),
  );
}

/** Its members are names that the client chooses. */
const OPEN = 'parameters';
/** By the name of the member. */
const SAMPLES: Readonly<Record<string, Json>> = {
  name: 'viewer',
  subject: 'user:alice',
  relation: 'viewer',
  object: 'document:readme',
  namespace: 'document',
  expires_at: '2100-01-01T00:00:00.000Z',
  explain: true,
  exists: false,
  scopes: ['check:read'],
  any_of: ['editor'],
  groups: true,
  public: ['user'],
  but_not: ['guest'],
  relations: ['approver'],
  states: ['archived'],
  expression: 'true',
  subjects: ['user', 'user with viewer'],
  [OPEN]: { zone: 'string' },
  plan: 'scale',
  readers: 0,
  state: 'active',
  grace_seconds: 5,
  hash: 'a'.repeat(64),
  type: 'user',
  id: 'alice',
  evaluations_semantic: 'execute_all',
  limit: 10,
  via: 'direct',
  include: 'self',
  outside_types: 'keep',
  deep: ['folder'],
  perhaps: true,
};
/** Left out: each would contradict another member, or needs a value that only the service can make. */
const CONTRADICTING: Readonly<Record<string, readonly string[]>> = {
  '/grants/revoke': ['subject'],
  '/rules': ['all_of'],
  '/sets': ['context_grants'],
};
const OPAQUE = ['token', 'properties', 'context', 'cursor'];

export function resolved(schema: unknown, document: Described['document']): Readonly<Record<string, unknown>> {
  const { $ref: ref, anyOf, ...rest } = asRecord(schema);
  if (typeof ref === 'string') {
    const found = ref
      .slice('#/'.length)
      .split('/')
      .reduce<unknown>((node, name) => asRecord(node)[name], document);
    return resolved(found, document);
  }
  // `null` is the alternative that says nothing.
  const options: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  const option = options.find((each) => asRecord(each).type !== 'null');
  return option === undefined ? rest : resolved(option, document);
}

function sample(schema: unknown, name: string, of: Pick<Described, 'document' | 'path'>): Json {
  const { document, path } = of;
  const { properties, items } = resolved(schema, document);
  if (properties !== undefined) {
    const left = Object.entries(CONTRADICTING).find(([end]) => path.endsWith(end))?.[1] ?? [];
    const members = Object.entries(asRecord(properties)).filter(
      ([each]) => !OPAQUE.includes(each) && !left.includes(each),
    );
    return Object.fromEntries(members.map(([each, part]) => [each, sample(part, each, of)]));
  }
  const known = SAMPLES[name];
  if (known !== undefined) return known;
  if (items === undefined) throw new Error(`There is no sample for "${name}" of ${path}.`);
  const { properties: inner } = resolved(items, document);
  if (inner === undefined && name === 'evaluations') return [{ action: { name: 'viewer' } }];
  return [sample(items, name, of)];
}

/** A body with every member. */
export function sampleOf(described: Described): Json {
  const body = sample(described.schema, '', described);
  // A tuple that is granted and revoked in one call contradicts itself.
  if (described.path.endsWith('/grants/bulk')) {
    const { revocations, ...rest } = asRecord(body) as JsonMembers;
    const [tuple] = revocations as readonly JsonMembers[];
    return { ...rest, revocations: [{ ...tuple, object: 'document:other' }] };
  }
  return body;
}

export interface Mutation {
  readonly kind: 'unknown' | 'repeated' | 'misspelled';
  readonly name: string;
  /** With its path: `grants[0].expiresAt`. */
  readonly place: string;
  readonly text: string;
}

/** Each object with its path, outermost first. */
function* objectsIn(value: Json, path: string): Generator<{ readonly path: string; readonly members: JsonMembers }> {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* objectsIn(each, `${path}[${index}]`);
  } else if (typeof value === 'object' && value !== null) {
    const members = value as JsonMembers;
    yield { path, members };
    for (const [name, each] of Object.entries(members)) {
      if (name !== OPEN) yield* objectsIn(each, path === '' ? name : `${path}.${name}`);
    }
  }
}

/** The text of `body`, in which the object that is `at` has these members instead, in this order. */
function textWith(body: Json, at: JsonMembers, members: readonly (readonly [string, Json])[]): string {
  if (Array.isArray(body)) return `[${body.map((each: Json) => textWith(each, at, members)).join(',')}]`;
  if (typeof body !== 'object' || body === null) return JSON.stringify(body);
  const shown = body === at ? members : Object.entries(body as JsonMembers);
  return `{${shown.map(([name, each]) => `${JSON.stringify(name)}:${textWith(each, at, members)}`).join(',')}}`;
}

const misspell = (name: string): string => `${name.slice(0, -1)}${name.endsWith('x') ? 'y' : 'x'}`;

export function mutationsOf(body: Json): Mutation[] {
  const mutations: Mutation[] = [];
  for (const { path, members } of objectsIn(body, '')) {
    const entries = Object.entries(members);
    const add = (kind: Mutation['kind'], name: string, changed: readonly (readonly [string, Json])[]): void => {
      mutations.push({
        kind,
        name,
        place: path === '' ? name : `${path}.${name}`,
        text: textWith(body, members, changed),
      });
    };
    add('unknown', 'zz', [...entries, ['zz', 1]]);
    for (const [name, value] of entries) {
      add('repeated', name, [...entries, [name, value]]);
      const wrong = misspell(name);
      add(
        'misspelled',
        wrong,
        entries.map(([each, other]) => [each === name ? wrong : each, other] as const),
      );
    }
  }
  return mutations;
}
