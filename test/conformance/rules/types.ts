// Types through both interfaces: what they do not allow is refused, with what they do.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { oneService } from '../support/one-service.ts';

const RULES = {
  types: [{ namespace: 'document', relation: 'viewer', subjects: ['user', 'team#member'] }],
  rules: [],
  groups: true,
};
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const EVERYONE = { ...TUPLE, subject: 'user:*' };

const fieldsOf = ({ json }: Answer) => json as Record<string, unknown>;

const service = await oneService();

describe('types', () => {
  const send = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    service.send({ method, path, key, ...(body === undefined ? {} : { body }) });
  const createTenant = async () => {
    const tenant = await service.createTenant();
    const written = await send(tenant.key, 'PUT', '/v1/rules', RULES);
    assert.equal(written.status, 200, written.text);
    assert.deepEqual(fieldsOf(await send(tenant.key, 'GET', '/v1/rules')).types, RULES.types);
    return tenant;
  };
  const operate = (method: string, path: string, body: unknown, headers = {}) =>
    call(service.consoleUrl, { method, path: `/operator/v1${path}`, body, headers, key: service.operatorToken });
  const assertRefused = (answer: Answer, place = 'subject'): void => {
    assertProblem(answer, 400, 'type-not-allowed', service.errorsBase);
    assert.equal(
      fieldsOf(answer).detail,
      `"${place}" is of the type "user:*", to which "viewer" is not granted on objects of "document"; allowed: "user", "team#member".`,
    );
  };

  it('refuse grants to other subjects, alone and in bulk, through both interfaces', async () => {
    const { key, tenantId } = await createTenant();
    for (const subject of ['user:ada', 'team:a#member']) {
      assert.equal((await send(key, 'POST', '/v1/grants', { ...TUPLE, subject })).status, 201);
    }
    for (const subject of ['team:a', 'team:a#admin', 'users:ada']) {
      const refused = await send(key, 'POST', '/v1/grants', { ...TUPLE, subject });
      assertProblem(refused, 400, 'type-not-allowed', service.errorsBase);
    }
    assertRefused(await send(key, 'POST', '/v1/grants', EVERYONE));
    const bulk = { grants: [{ ...TUPLE, subject: 'user:bob' }, EVERYONE] };
    assertRefused(await send(key, 'POST', '/v1/grants/bulk', bulk), 'grants[1].subject');
    assertRefused(await operate('POST', `/tenants/${tenantId}/grants`, EVERYONE));
    assertRefused(await operate('POST', `/tenants/${tenantId}/grants/bulk`, bulk), 'grants[1].subject');
    const { grants } = fieldsOf(await send(key, 'GET', '/v1/grants?object=document:plan'));
    assert.ok(Array.isArray(grants) && grants.length === 2);
    assert.equal((await send(key, 'POST', '/v1/grants', { ...EVERYONE, relation: 'editor' })).status, 201);
  });

  it('refuse lines of an import, and no others', async () => {
    const { tenantId } = await createTenant();
    const body = [TUPLE, EVERYONE, { ...TUPLE, subject: 'user:bob' }].map((line) => JSON.stringify(line)).join('\n');
    const imported = await operate('POST', `/tenants/${tenantId}/import`, body, {
      'content-type': 'application/x-ndjson',
    });
    const results = imported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);
    assert.deepEqual(
      results.map(({ result }) => result),
      ['created', 'refused', 'created'],
    );
    assert.equal(results[1]?.type, `${service.errorsBase}/type-not-allowed`);
    assert.match(results[1]?.detail ?? '', /allowed: "user", "team#member"\.$/);
  });

  it('are refused if they exclude stored grants, unless these are kept: then they count', async () => {
    const { key, tenantId } = await service.createTenant();
    for (const subject of ['user:ada', 'user:*', 'team:a']) {
      assert.equal((await send(key, 'POST', '/v1/grants', { ...TUPLE, subject })).status, 201);
    }
    const kept = { ...RULES, outside_types: 'keep' };
    for (const query of ['', '?dry_run=true']) {
      for (const refused of [
        await send(key, 'PUT', `/v1/rules${query}`, RULES),
        await operate('PUT', `/tenants/${tenantId}/rules${query}`, RULES),
      ]) {
        assertProblem(refused, 409, 'grants-outside-types', service.errorsBase);
        assert.match(
          String(fieldsOf(refused).detail),
          /^The types exclude 2 stored grants: team:a viewer .*, user:\* viewer /,
        );
      }
    }
    for (const wrong of ['drop', null, true]) {
      const refused = await send(key, 'PUT', '/v1/rules', { ...RULES, outside_types: wrong });
      assertProblem(refused, 400, 'invalid-request', service.errorsBase);
    }
    assert.equal(fieldsOf(await send(key, 'GET', '/v1/rules')).types, undefined);
    const outside = async (method: string, path: string): Promise<unknown> =>
      fieldsOf(await send(key, method, path, kept)).grants_outside_types;
    assert.equal(await outside('PUT', '/v1/rules?dry_run=true'), 2);
    const warningOf = (answer: Answer) => answer.headers['x-service-warning'];
    const written = await send(key, 'PUT', '/v1/rules', kept);
    assert.equal(fieldsOf(written).outside_types, undefined, 'it is no part of the rules');
    assert.equal(warningOf(written), 'grants-outside-types; grants=2; complete=true');
    assert.equal(fieldsOf(await send(key, 'POST', '/v1/check', { ...TUPLE, subject: 'team:a' })).authorized, true);
    const again = await operate('PUT', `/tenants/${tenantId}/rules`, RULES);
    assert.equal(warningOf(again), 'grants-outside-types; grants=2; complete=true');
    for (const subject of ['user:*', 'team:a']) {
      assertProblem(
        await send(key, 'POST', '/v1/grants', { ...TUPLE, subject }),
        400,
        'type-not-allowed',
        service.errorsBase,
      );
      assert.equal((await send(key, 'DELETE', '/v1/grants', { ...TUPLE, subject })).status, 204);
    }
    assert.equal(warningOf(await send(key, 'PUT', '/v1/rules', RULES)), undefined);
    assert.equal(await outside('PUT', '/v1/rules?dry_run=true'), 0);
  });

  it('know their namespaces, of which no warning is given', async () => {
    const { key } = await createTenant();
    const warningOf = async (subject: string) =>
      (await send(key, 'POST', '/v1/check', { ...TUPLE, subject })).headers['x-service-warning'];
    const expected = 'unknown-namespace; namespace=users';
    // The first answer of a tenant may go without a warning: its namespaces are read for the next ones.
    await waitFor('a warning', async () => (await warningOf('users:ada')) === expected);
    assert.equal(await warningOf('team:a#member'), undefined);
  });
});
