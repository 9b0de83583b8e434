// A running `grantd dev` for black-box tests: started on free ports with a data directory of its own, known by what any
// user of it knows: its dev.json, its HTTP interfaces and its signals.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { BARE_ENVIRONMENT } from './bare-environment.ts';
import { type Answer, type CallOptions, call } from './http-client.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const START_MS_MAX = 120_000;
const STOP_MS_MAX = 60_000;
const POLL_MS = 50;

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

interface DevFile {
  readonly base_url: string;
  readonly ops_url: string;
  readonly console_url: string;
  readonly operator_token: string;
  readonly tenant_id: string;
  readonly key: string;
}

function readDevFile(path: string): DevFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DevFile;
  } catch {
    return undefined;
  }
}

async function isReady(devFile: DevFile): Promise<boolean> {
  try {
    return (await call(devFile.ops_url, { method: 'GET', path: '/readyz' })).status === 200;
  } catch {
    return false;
  }
}

async function waitUntilReady(child: ChildProcess, path: string, output: () => string): Promise<DevFile> {
  const endMs = performance.now() + START_MS_MAX;
  for (;;) {
    const devFile = readDevFile(path);
    if (devFile !== undefined && (await isReady(devFile))) return devFile;
    if (child.exitCode !== null || performance.now() > endMs) {
      throw new Error(`grantd dev did not become ready:\n${output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function textOf(answer: Answer, name: string): string {
  assert.ok(typeof answer.json === 'object' && answer.json !== null, answer.text);
  const value = (answer.json as Record<string, unknown>)[name];
  assert.ok(typeof value === 'string', answer.text);
  return value;
}

const launch = (directory: string, settings: Readonly<Record<string, string>>, args: readonly string[]) =>
  spawn(process.execPath, [MAIN, 'dev', ...args], {
    env: {
      ...BARE_ENVIRONMENT,
      GRANTD_HTTP_ADDRESS: '127.0.0.1:0',
      GRANTD_OPS_ADDRESS: '127.0.0.1:0',
      GRANTD_CONSOLE_ADDRESS: '127.0.0.1:0',
      GRANTD_DATA_DIR: directory,
      GRANTD_LOG_LEVEL: 'warn',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** `args`: of `grantd dev`. */
export async function startHttpService(
  settings: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<HttpService> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const child = launch(directory, settings, args);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const exited = once(child, 'exit');
  const output = (): string => Buffer.concat(chunks).toString();

  const stop = async (): Promise<void> => {
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    child.kill('SIGTERM');
    const [code, signal] = await exited;
    clearTimeout(kill);
    rmSync(directory, { recursive: true, force: true });
    assert.deepEqual({ code, signal }, { code: 0, signal: null }, output());
  };

  try {
    const devFile = await waitUntilReady(child, join(directory, 'dev.json'), output);
    const asOperator = (method: string, path: string, body: unknown): Promise<Answer> =>
      call(devFile.console_url, { method, path: `/operator/v1${path}`, key: devFile.operator_token, body });
    const createKey: HttpService['createKey'] = async (tenantId, request) => {
      const created = await asOperator('POST', `/tenants/${tenantId}/keys`, request);
      assert.equal(created.status, 201, created.text);
      return { keyId: textOf(created, 'key_id'), key: textOf(created, 'key') };
    };
    return {
      baseUrl: devFile.base_url,
      errorsBase: `${devFile.base_url}/errors`,
      opsUrl: devFile.ops_url,
      consoleUrl: devFile.console_url,
      operatorToken: devFile.operator_token,
      tenantId: devFile.tenant_id,
      key: devFile.key,
      send: (options) => call(devFile.base_url, options),
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
      stop,
    };
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** A service for the tests around, which ends with them. */
export async function useHttpService(settings: Readonly<Record<string, string>> = {}): Promise<HttpService> {
  const service = await startHttpService(settings);
  after(() => service.stop());
  return service;
}
