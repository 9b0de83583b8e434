// The versions of the rules through the public interface and the operator's: who changed them and when, the rules of
// each, and the way back to one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

const EMPTY = { rules: [], groups: false, public: [] };
const rulesOf = (...names: readonly string[]) => ({
  ...EMPTY,
  rules: names.map((name) => ({ namespace: 'document', name, any_of: ['owner'] })),
});
const FIRST = rulesOf('can_read');
const SECOND = rulesOf('can_read', 'can_edit');

const service = await oneService();

interface Version {
  readonly version: number;
  readonly revision: string;
  readonly at: string;
  readonly actor: string;
  readonly request_id: string;
  readonly added: number;
  readonly removed: number;
}

describe('versions of rules', () => {
  const send = (
    key: string | undefined,
    path: string,
    options: { method?: string; body?: unknown; etag?: string } = {},
  ) =>
    service.send({
      method: options.method ?? 'GET',
      path: `/v1/rules${path}`,
      ...(key === undefined ? {} : { key }),
      body: options.body,
      headers: options.etag === undefined ? {} : { 'if-match': options.etag },
    });
  const put = async (key: string, body: unknown, etag?: string): Promise<Answer> => {
    const answer = await send(key, '', { method: 'PUT', body, ...(etag === undefined ? {} : { etag }) });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const list = async (key: string): Promise<readonly Version[]> => {
    const answer = await send(key, '/versions');
    assert.equal(answer.status, 200, answer.text);
    return (answer.json as { versions: readonly Version[] }).versions;
  };
  const operate = (path: string) =>
    call(service.consoleUrl, { method: 'GET', path: `/operator/v1${path}`, key: service.operatorToken });

  it('has none where no rules were ever set', async () => {
    const { key } = await service.createTenant();
    assert.deepEqual(await list(key), []);
    assertProblem(await send(key, '/versions/1'), 404, 'rules-version-not-found', service.errorsBase);
  });

  it('has one for each change, the newest first, once the change is answered', async () => {
    const { key } = await service.createTenant();
    const revisions: string[] = [];
    for (const [index, ruleSet] of [FIRST, FIRST, SECOND, EMPTY].entries()) {
      const { headers } = await put(key, ruleSet);
      const [newest] = await list(key);
      assert.equal(`"${newest?.revision}"`, headers.etag);
      if (index !== 1) revisions.push(newest?.revision ?? '');
      if (index !== 1) assert.equal(newest?.request_id, headers['x-service-request-id']);
    }
    const versions = await list(key);
    assert.deepEqual(
      versions.map(({ version, revision, added, removed }) => [version, revision, added, removed]),
      [
        [3, revisions[2], 0, 2],
        [2, revisions[1], 1, 0],
        [1, revisions[0], 1, 0],
      ],
    );
    assert.ok(versions.every(({ actor, at }) => actor.startsWith('key_') && !Number.isNaN(Date.parse(at))));
  });

  it('reads the rules of each, with their revision, and takes them as the rules again', async () => {
    const { key } = await service.createTenant();
    await put(key, FIRST);
    const { etag } = (await put(key, SECOND)).headers;
    const first = await send(key, '/versions/1');
    assert.deepEqual([first.status, first.json], [200, FIRST]);
    assert.equal(first.headers.etag, `"${(await list(key)).at(-1)?.revision}"`);
    const preview = await send(key, '?dry_run=true', { method: 'PUT', body: first.json });
    assert.match(preview.text, /"changed":true/);
    const stale = await send(key, '', { method: 'PUT', body: first.json, etag: String(first.headers.etag) });
    assertProblem(stale, 412, 'precondition-failed', service.errorsBase);
    await put(key, first.json, String(etag));
    assert.deepEqual((await send(key, '')).json, FIRST);
    assert.deepEqual(
      (await list(key)).map(({ version, revision }) => [version, `"${revision}"`]),
      [
        [3, first.headers.etag],
        [2, etag],
        [1, first.headers.etag],
      ],
    );
    assert.deepEqual((await send(key, '/versions/3')).json, FIRST);
  });

  it('refuses to go back where grants need what that version lacks', async () => {
    const { key } = await service.createTenant();
    await put(key, FIRST);
    await put(key, { ...FIRST, relations: ['reviewer'] });
    const body = { subject: 'user:ann', relation: 'reviewer', object: 'document:1' };
    assert.equal((await service.send({ method: 'POST', path: '/v1/grants', key, body })).status, 201);
    const first = await send(key, '/versions/1');
    const refused = await send(key, '', { method: 'PUT', body: first.json });
    assertProblem(refused, 409, 'relation-in-use', service.errorsBase);
    assert.equal((await list(key)).length, 2);
  });

  it('refuses a version that is none, or not there', async () => {
    const { key } = await service.createTenant();
    await put(key, FIRST);
    for (const version of [
      '0',
      '2',
      '-1',
      '01',
      '1.0',
      '1e0',
      'one',
      '999999999',
      '4294967297',
      '1%20',
      '%00',
      '"1"',
    ]) {
      const answer = await send(key, `/versions/${version}`);
      assertProblem(answer, 404, 'rules-version-not-found', service.errorsBase);
    }
    for (const path of ['/versions/', '/versions/1/', '/versions/1/2', '/version']) {
      assert.equal((await send(key, path)).status, 404, path);
    }
    for (const query of ['?limit=1', '?cursor=x']) {
      assertProblem(await send(key, `/versions${query}`), 400, 'invalid-request', service.errorsBase);
    }
    for (const path of ['/versions', '/versions/1']) {
      assertProblem(
        await send(key, path, { method: 'PUT', body: FIRST }),
        405,
        'method-not-allowed',
        service.errorsBase,
      );
    }
  });

  it('needs a key with the scope admin', async () => {
    const { tenantId, key } = await service.createTenant();
    await put(key, FIRST);
    const { key: reader } = await service.createKey(tenantId, { scopes: ['check:read', 'grant:write'] });
    for (const path of ['/versions', '/versions/1']) {
      assertProblem(await send(reader, path), 403, 'insufficient-scope', service.errorsBase);
      assertProblem(await send(undefined, path), 401, 'unauthorized', service.errorsBase);
    }
  });

  it('shows a tenant its own versions only', async () => {
    const [one, two] = [await service.createTenant(), await service.createTenant()];
    await put(one.key, FIRST);
    await put(one.key, SECOND);
    await put(two.key, rulesOf('can_drop'));
    assert.deepEqual((await send(two.key, '/versions/1')).json, rulesOf('can_drop'));
    assertProblem(await send(two.key, '/versions/2'), 404, 'rules-version-not-found', service.errorsBase);
    assert.equal((await list(two.key)).length, 1);
  });

  it('has the same versions for the operator', async () => {
    const { tenantId, key } = await service.createTenant();
    await put(key, FIRST);
    const path = `/tenants/${tenantId}/rules/versions`;
    assert.deepEqual((await operate(path)).json, { versions: await list(key) });
    const [read, theirs] = [await operate(`${path}/1`), await send(key, '/versions/1')];
    assert.deepEqual([read.status, read.json, read.headers.etag], [200, FIRST, theirs.headers.etag]);
    for (const version of ['0', '2', 'x']) {
      assertProblem(await operate(`${path}/${version}`), 404, 'rules-version-not-found', service.errorsBase);
    }
    assert.equal((await operate(`${path}?limit=1`)).status, 400);
    assert.equal((await operate('/tenants/ten_00000000000000000000000000/rules/versions')).status, 404);
  });
});
