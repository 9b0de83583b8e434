// What the service does not know it refuses, wherever it stands: for every operation with a body, as both descriptions
// have it, a member too many, a member given twice and a name with one letter changed, at each level. Nothing changes.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, call } from '../kit/http-client.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { asRecord, bodiesIn, type Described, type Json, mutationsOf, sampleOf } from './support/mutated-bodies.ts';

const OPERATOR_PREFIX = '/operator/v1';
const AUTHZEN_PREFIX = '/access/v1/';
/** One of a tenant that stands throughout. */
const TUPLES = ['viewer', 'editor', 'owner'].map((relation) => ({ subject: 'user:ann', relation, object: 'doc:1' }));
/** It keeps the sample of a rule set from being written, which lacks its condition. */
const CONDITIONED = { subject: 'user:zed', relation: 'viewer', object: 'doc:9', condition: { name: 'viewer' } };
/** They declare the condition of the sample bodies. */
const RULES = { conditions: [{ name: 'viewer', parameters: {}, expression: 'true' }], rules: [] };

let service: HttpService;
let tenantId: string;
let key: string;
let keyId: string;

before(async () => {
  service = await startHttpService();
  ({ tenantId, key } = await service.createTenant('scale'));
  ({ keyId } = await service.createKey(tenantId, { name: 'other', scopes: ['check:read'] }));
  const ruled = await service.send({ method: 'PUT', path: '/v1/rules', key, body: RULES });
  assert.equal(ruled.status, 200, ruled.text);
  const written = await service.send({
    method: 'POST',
    path: '/v1/grants/bulk',
    key,
    body: { grants: [...TUPLES, CONDITIONED] },
  });
  assert.equal(written.status, 200, written.text);
});
after(() => service.stop());

const operator = (method: string, path: string, body?: string, type = 'application/json'): Promise<Answer> =>
  call(service.consoleUrl, {
    method,
    path: OPERATOR_PREFIX + path,
    key: service.operatorToken,
    ...(body === undefined ? {} : { body, headers: { 'content-type': type } }),
  });

/** All that a request could have changed. */
async function stateNow(): Promise<string> {
  const paths = ['', '/export', '/keys', '/namespaces', '/rules'].map((path) => `/tenants/${tenantId}${path}`);
  const answers = await Promise.all([...paths, '/tenants?limit=1000'].map((path) => operator('GET', path)));
  // Using a key is no change.
  return answers.map(({ status, text }) => `${status} ${text.replaceAll(/"last_used_at":[^,}]*/g, '')}`).join('\n');
}

const fill = (path: string): string => path.replace('{tenantId}', tenantId).replace('{key_id}', keyId);

function send({ method, path }: Described, body: string): Promise<Answer> {
  if (path.startsWith('/v1/') || path.startsWith(AUTHZEN_PREFIX)) {
    return service.send({ method, path: fill(path), key, body });
  }
  return operator(method, fill(path).slice(OPERATOR_PREFIX.length), body);
}

async function describedNow(): Promise<readonly Described[]> {
  const tenants = await service.send({ method: 'GET', path: '/openapi.json', key });
  const operators = await operator('GET', '/openapi.json');
  return [tenants, operators].flatMap(({ json }) => bodiesIn(asRecord(json)));
}

/** What it says, if it is about a member that is one too many. */
function refusalOf(answer: Answer): string {
  const { type, detail } = asRecord(answer.json);
  assert.equal(answer.status, 400, answer.text);
  assert.match(String(type), /\/invalid-request$/);
  return String(detail);
}

describe('a body with a member too many', () => {
  it('is refused with its name and place by every operation, and changes nothing', async () => {
    const described = await describedNow();
    const before = await stateNow();
    let refused = 0;
    for (const each of described) {
      const ignores = each.path.startsWith(AUTHZEN_PREFIX);
      for (const { kind, name, place, text } of mutationsOf(sampleOf(each))) {
        const where = `${each.method} ${each.path} ${text}`;
        const answer = await send(each, text);
        if (kind === 'repeated') {
          assert.match(
            refusalOf(answer),
            new RegExp(`^The body gives "${name}" twice .* at line 1, column \\d+\\.$`),
            where,
          );
        } else if (ignores) continue;
        else assert.ok(refusalOf(answer).includes(`"${place}" is unknown; `), `${where}: ${answer.text}`);
        refused += 1;
      }
    }
    assert.equal(await stateNow(), before);
    assert.ok(described.length >= 25 && refused >= 250, `${described.length} operations, ${refused} refusals`);
  });

  it('is accepted without that member, so that it was the reason', async () => {
    for (const each of await describedNow()) {
      const answer = await send(each, JSON.stringify(sampleOf(each)));
      assert.ok(
        ![400, 404, 405].includes(answer.status),
        `${each.method} ${each.path}: ${answer.status} ${answer.text}`,
      );
    }
  });
});

describe('a line of an import with a member too many', () => {
  const LINE: Json = { subject: 'user:bob', relation: 'viewer', object: 'doc:2', expires_at: null };

  it('is refused with its name, and the others are written', async () => {
    const mutations = mutationsOf(LINE);
    const lines = [
      ...mutations.map(({ text }) => text),
      JSON.stringify({ ...LINE, condition: { name: 'office-hours' } }),
    ];
    const body = `${[...lines, JSON.stringify({ ...LINE, object: 'doc:3' })].join('\n')}\n`;
    const answer = await operator('POST', `/tenants/${tenantId}/import`, body, 'application/x-ndjson');
    const results = answer.text
      .trim()
      .split('\n')
      .map((line) => asRecord(JSON.parse(line)));
    assert.equal(results.length, lines.length + 1);
    for (const [index, { kind, name }] of mutations.entries()) {
      const { result, detail } = results[index] ?? {};
      assert.equal(result, 'refused', `${lines[index]}`);
      assert.ok(
        String(detail).includes(kind === 'repeated' ? `The line gives "${name}" twice` : `"${name}" is unknown; `),
        `${lines[index]}: ${detail}`,
      );
    }
    assert.deepEqual([results.at(-2)?.result, results.at(-1)?.result], ['refused', 'created']);
    const exported = await operator('GET', `/tenants/${tenantId}/export`);
    assert.ok(!exported.text.includes('doc:2"') && exported.text.includes('doc:3"'));
  });

  it('takes what an export has written', async () => {
    const { text } = await operator('GET', `/tenants/${tenantId}/export`);
    const answer = await operator('POST', `/tenants/${tenantId}/import`, text, 'application/x-ndjson');
    const refused = answer.text.split('\n').filter((line) => line.includes('refused'));
    // Rules are no grant: a call of their own sets them.
    assert.equal(refused.length, text.includes('{"rules":') ? 1 : 0);
    assert.ok(refused.every((line) => line.includes('\\"rules\\" is unknown')));
  });
});
