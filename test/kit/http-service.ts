// A running `grantd dev` for black-box tests: started on free ports with a data directory of its own, known by what any
// user of it knows: its dev.json, its HTTP interfaces and its signals.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { readDevFacts, startDev } from './dev-process.ts';
import { type Answer, type CallOptions, call } from './http-client.ts';

export interface HttpService {
  readonly baseUrl: string;
  readonly errorsBase: string;
  readonly opsUrl: string;
  readonly consoleUrl: string;
  readonly operatorToken: string;
  /** Of the demo tenant (plan `scale`), with all scopes. */
  readonly tenantId: string;
  readonly key: string;
  /** A request to the public interface. */
  send(options: CallOptions): Promise<Answer>;
  /** A new tenant and a key of it with all scopes. */
  createTenant(plan?: string): Promise<{ readonly tenantId: string; readonly key: string }>;
  createKey(tenantId: string, request: Readonly<Record<string, unknown>>): Promise<{ keyId: string; key: string }>;
  setState(tenantId: string, state: 'active' | 'suspended'): Promise<void>;
  /** What it has written so far. */
  output(): string;
  stop(): Promise<void>;
}

function textOf(answer: Answer, name: string): string {
  assert.ok(typeof answer.json === 'object' && answer.json !== null, answer.text);
  const value = (answer.json as Record<string, unknown>)[name];
  assert.ok(typeof value === 'string', answer.text);
  return value;
}

/** `args`: of `grantd dev`. */
export async function startHttpService(
  settings: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<HttpService> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const environment = { GRANTD_LOG_LEVEL: 'warn', ...settings };
  const process_ = await startDev(directory, { args, environment });
  const facts = readDevFacts(directory);
  const output = (): string => process_.stdout + process_.stderr;
  const asOperator = (method: string, path: string, body: unknown): Promise<Answer> =>
    call(facts.console_url, { method, path: `/operator/v1${path}`, key: facts.operator_token, body });
  const createKey: HttpService['createKey'] = async (tenantId, request) => {
    const created = await asOperator('POST', `/tenants/${tenantId}/keys`, request);
    assert.equal(created.status, 201, created.text);
    return { keyId: textOf(created, 'key_id'), key: textOf(created, 'key') };
  };
  return {
    baseUrl: facts.base_url,
    errorsBase: `${facts.base_url}/errors`,
    opsUrl: facts.ops_url,
    consoleUrl: facts.console_url,
    operatorToken: facts.operator_token,
    tenantId: facts.tenant_id,
    key: facts.key,
    send: (options) => call(facts.base_url, options),
    async createTenant(plan = 'unlimited') {
      const created = await asOperator('POST', '/tenants', { name: 'conformance', plan });
      assert.equal(created.status, 201, created.text);
      const tenantId = textOf(created, 'tenant_id');
      const { key } = await createKey(tenantId, { scopes: ['check:read', 'grant:write', 'admin'] });
      return { tenantId, key };
    },
    createKey,
    async setState(tenantId, state) {
      const changed = await asOperator('PATCH', `/tenants/${tenantId}`, { state });
      assert.equal(changed.status, 200, changed.text);
    },
    output,
    async stop() {
      const { code, signal } = await process_.stop();
      rmSync(directory, { recursive: true, force: true });
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, output());
    },
  };
}

/** A service for the tests around, which ends with them. */
export async function useHttpService(settings: Readonly<Record<string, string>> = {}): Promise<HttpService> {
  const service = await startHttpService(settings);
  after(() => service.stop());
  return service;
}
