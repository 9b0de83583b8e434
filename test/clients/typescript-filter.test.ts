// Filters of the TypeScript client: for query builders, over errors of several libraries, and on a real Postgres.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type FilterOptions, Grantd, GrantdError, MirrorError } from '../../clients/typescript/src/exports.ts';
import { missingPostgres } from '../../tools/engines/postgres.ts';
import { startContractService } from './support/contract.ts';
import { runFilters } from './support/filter-run.ts';

const SETS = {
  subjects: ['user:ada', 'user:"\\{,}'],
  held: ['folder:1#can_read'],
  perhaps: [],
  own: 'user:ada#self',
  tenant_id: 'ten_a',
  revision: 'r1',
  at: { seq: 7, time: '2026-01-15T09:30:00.000Z' },
  through: 5,
};

/** A client for which the service has only sets, and the bodies that it has sent. */
function clientOf(bodies: unknown[] = []) {
  const fetchSets: typeof fetch = async (_, init = {}) => {
    bodies.push(JSON.parse(String(init.body)));
    return Response.json(SETS);
  };
  return new Grantd({ url: 'http://grantd.test', key: 'gk1_a', fetch: fetchSets });
}

const found = (...ids: readonly string[]) => ids.map((id) => ({ object: `document:${id}`, sure: true }));
const filtered = (query: FilterOptions['query'], options: Omit<FilterOptions, 'query'> = {}) =>
  clientOf().filter('user:ada', 'document.can_read', { query, ...options });
const few = (options?: Omit<FilterOptions, 'query'>) => filtered(async () => found('1', '"2"'), options);
const many = (options?: Omit<FilterOptions, 'query'>) => filtered(async () => [{ object: null, sure: null }], options);
const inQuery = (type: string, number: number) => `(SELECT CAST(CAST($${number} AS text) AS ${type}))`;

const failed = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('it succeeds'),
    (error: unknown) => error,
  );

describe('a filter', () => {
  it('is a list of ids, or a question for each row, and nothing that is not of the moment of its sets', async () => {
    const objects = await few({ id: 'd.id', idType: 'bigint', firstParameter: 3 });
    assert.equal(objects.sql, '(d.id) = ANY(CAST($3 AS bigint[]))');
    assert.deepEqual(objects.params, ['{"1","\\"2\\""}']);
    const { form, at, revision } = objects;
    assert.deepEqual({ form, at, revision }, { form: 'objects', at: SETS.at, revision: 'r1' });
    const rows = await many({ schema: 'a"b', firstParameter: 2, candidates: true });
    const types = ['text[]', 'text[]', 'text[]', 'text', 'text', 'bigint', 'bigint', 'bigint', 'text'];
    const args = types.map((type, index) => inQuery(type, index + 2)).join(', ');
    assert.equal(rows.sql, `"a""b"."document.can_read"('document:' || (id), ${args}) IS NOT FALSE`);
    assert.deepEqual(rows.params, [
      ...['{"user:ada","user:\\"\\\\{,}"}', '{"folder:1#can_read"}', '{}', 'user:ada', 'self'],
      ...['7', '1768469400000', '5', 'ten_a:r1'],
    ]);
    assert.equal(rows.form, 'rows');
  });

  it('passes nothing if there is nothing, and what may hold only if it is asked for', async () => {
    const none = await filtered(async () => []);
    assert.deepEqual([none.sql, none.params], ['(id) = ANY(CAST($1 AS text[]))', ['{}']]);
    const unsure = async () => [...found('1'), { object: 'document:2', sure: null }];
    assert.deepEqual((await filtered(unsure)).params, ['{"1"}']);
    assert.deepEqual((await filtered(unsure, { candidates: true })).params, ['{"1","2"}']);
  });

  it('asks for the sets of its join, and the database for what it may wait and list', async () => {
    const bodies: unknown[] = [];
    const queries: (readonly [string, readonly unknown[]])[] = [];
    const query = async (...asked: [string, unknown[]]) => {
      queries.push(asked);
      return [];
    };
    const contextGrants = [{ subject: 'user:ada', relation: 'member', object: 'team:1' }];
    const options = {
      deep: ['folder'],
      context: { hour: 9 },
      contextGrants,
      candidates: true,
      objectsMax: 5,
      waitMs: 0,
    };
    await clientOf(bodies).filter('user:ada', 'document.can_read', { query, ...options });
    const join = { namespace: 'document', name: 'can_read', deep: ['folder'] };
    const context = { context: { hour: 9 }, context_grants: contextGrants };
    assert.deepEqual(bodies, [{ subject: 'user:ada', join, perhaps: true, ...context }]);
    const [[sql, params] = ['', []]] = queries;
    assert.match(
      sql,
      /^SELECT object, sure FROM "grantd"\."document\.can_read\+folder:objects"\(\(SELECT CAST\(CAST\(\$1 /,
    );
    assert.deepEqual(params.slice(-2), ['5', '0']);
    assert.equal(params.length, 11);
  });

  // As these document their tags: Kysely and Drizzle get the texts as they are, and Prisma.sql checks their number.
  it('serves the tags of query builders', async () => {
    const kysely = (fragments: TemplateStringsArray, ...parameters: unknown[]) => ({ fragments, parameters });
    const prisma = (strings: readonly string[], ...values: unknown[]) => {
      assert.equal(strings.length - 1, values.length);
      return strings.reduce((sql, text, index) => `${sql}$${index}${text}`);
    };
    const objects = await few({ firstParameter: 9 });
    const { fragments, parameters } = objects.as(kysely);
    assert.deepEqual([...fragments], ['(id) = ANY(CAST(', ' AS text[]))']);
    assert.deepEqual(fragments.raw, [...fragments]);
    assert.deepEqual(parameters, objects.params);
    const rows = await many();
    assert.equal(rows.as(prisma), rows.sql);
  });

  it('is none if the mirror has no answer, whatever wraps the error of the database', async () => {
    const wrapped = (code: string) => [
      Object.assign(new Error('pg, postgres.js'), { code }),
      new Error('Drizzle', { cause: Object.assign(new Error('failed'), { code }) }),
      Object.assign(new Error('Prisma'), { code: 'P2010', meta: { code } }),
      Object.assign(new Error('an adapter'), { meta: { driverAdapterError: { cause: { originalCode: code } } } }),
    ];
    for (const [code, reason] of [
      ['GR001', 'behind'],
      ['GR004', 'not-ready'],
    ] as const) {
      for (const cause of wrapped(code)) {
        const error = await failed(filtered(() => Promise.reject(cause)));
        assert.ok(error instanceof MirrorError && error instanceof GrantdError, String(error));
        const { type, retryable } = error;
        assert.deepEqual([error.reason, type, retryable, error.cause], [reason, `mirror-${reason}`, true, cause]);
      }
    }
    const other = new Error('relation "documents" does not exist');
    assert.equal(await failed(filtered(() => Promise.reject(other))), other);
  });

  it('asks again with newer sets, but not in a transaction that has ended with the first error', async () => {
    for (const [last, reason] of [
      ['GR003', 'other-rules'],
      ['25P02', 'stale'],
    ]) {
      const codes = ['GR002', last, last];
      const bodies: unknown[] = [];
      const query = () => Promise.reject(Object.assign(new Error('failed'), { code: codes[bodies.length - 1] }));
      const error = await failed(clientOf(bodies).filter('user:ada', 'document.can_read', { query }));
      assert.ok(error instanceof MirrorError && error.reason === reason, String(error));
      assert.equal(bodies.length, last === '25P02' ? 2 : 3);
    }
  });

  it('is refused for what is not the result of the query, and for what is no name, SQL or count', async () => {
    const rows = [undefined, { rows: [] }, [null], [['document:1', true]], found('1').map(({ sure }) => ({ sure }))];
    const wrong = [
      ...rows.map((result) => filtered(async () => result as never)),
      filtered(async () => [{ object: 'documents:1', sure: true }]),
      filtered(async () => [{ object: 'document:1', sure: 't' }]),
      ...[{ firstParameter: 0 }, { firstParameter: Number.NaN }, { objectsMax: 0.5 }, { id: 'a\0' }].map(few),
      few({ deep: ["a'"] }),
      few({ deep: 'folder' } as never),
      clientOf().filter('user:ada', undefined as never, { query: async () => [] }),
      few({ context_grants: [] } as never),
      clientOf().filter('user:ada', 'can_read', { query: async () => [] }),
      clientOf().filter('user:ada', "docu'ment.can_read", { query: async () => [] }),
      clientOf().filter('user:ada', `document.${'a'.repeat(60)}`, { query: async () => [] }),
      clientOf().filter('user:ada', 'document.can_read', {} as never),
    ];
    for (const [index, work] of wrong.entries()) {
      const error = await failed(work);
      assert.ok(error instanceof GrantdError && error.type === 'invalid-request', `${index}: ${error}`);
    }
  });
});

const missing = await missingPostgres('filters of the TypeScript client');
it('filters of the client pass exactly what the service lists', { skip: missing ?? false }, async () => {
  const service = await startContractService();
  try {
    await runFilters({
      service,
      command: [process.execPath, join(import.meta.dirname, 'support', 'filter-runner.ts')],
    });
  } finally {
    await service.stop();
  }
});
