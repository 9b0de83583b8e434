// The package @grantd/cli as an application developer has it: installed from its tarball, without a registry, in an
// empty folder, with an API key and nothing else; and its MCP server, as the SDK's own client sees it.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { reportMissing } from '../../tools/engines/engine-script.ts';
import { installNpmProgram, NODE_20, NODE_22, oldestNode } from '../../tools/engines/npm-program.ts';
import { type DevFacts, type DevProcess, readDevFacts, startDev } from '../kit/dev-process.ts';
import { shellBlocks } from '../kit/shell-blocks.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
/** Compressed: an `npx` of it is a download of seconds everywhere. */
const TARBALL_BYTES_MAX = 1024 * 1024;

/** Of the file that looks at the Node: it has nothing of the program in it. */
const START_BYTES_MAX = 2048;

const directory = mkdtempSync(join(tmpdir(), 'grantd-package-'));
const work = join(directory, 'app');
const home = join(directory, 'home');
let service: DevProcess;
let facts: DevFacts;
let path: string;

before(async () => {
  for (const each of [work, home]) mkdirSync(each);
  service = await startDev(join(directory, 'data'));
  facts = readDevFacts(join(directory, 'data'));
  await run(process.execPath, [join(ROOT, 'packages', 'cli', 'build.ts'), join(directory, 'built')]);
  const { stdout } = await run('npm', ['pack', join(directory, 'built'), '--json', '--pack-destination', directory]);
  const [{ filename }] = JSON.parse(stdout);
  assert.ok(statSync(join(directory, filename)).size < TARBALL_BYTES_MAX);
  writeFileSync(join(work, 'package.json'), '{"private": true}\n');
  const offline = {
    PATH: process.env.PATH,
    HOME: home,
    npm_config_registry: 'http://127.0.0.1:1',
    npm_config_audit: 'false',
  };
  await run('npm', ['install', `../${filename}`], { cwd: work, env: offline });
  const node = await oldestNode(NODE_22, 'the command line');
  path = `${dirname(node)}:${process.env.PATH}`;
});
after(async () => {
  await service?.stop();
  rmSync(directory, { recursive: true });
});

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const keyed = (): Record<string, string> => ({ GRANTD_URL: facts.base_url, GRANTD_KEY: facts.key });

function grantd(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = keyed(),
  stdin = '',
): Promise<Run> {
  return new Promise((resolve) => {
    const options = { cwd: work, env: { PATH: path, HOME: home, ...environment }, timeout: 120_000 };
    const child = execFile(
      join(work, 'node_modules', '.bin', 'grantd'),
      [...args],
      options,
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
    child.stdin?.end(stdin);
  });
}

const words = (command: string): readonly string[] => command.split(' ');

describe('the package', () => {
  it('is installed alone', () => {
    assert.deepEqual(readdirSync(join(work, 'node_modules')).toSorted(), ['.bin', '.package-lock.json', '@grantd']);
    const text = readFileSync(join(work, 'node_modules', '@grantd', 'cli', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['commander', '@modelcontextprotocol/server', 'zod'])
      assert.match(text, new RegExp(`^${name} `, 'm'));
    assert.doesNotMatch(text, /^(?:cassandra-driver|@grpc\/grpc-js|express|@kubernetes\/client-node) /m);
  });

  it('says in two lines which Node it needs, and loads nothing on an older one', async (t: TestContext) => {
    const file = join(work, 'node_modules', '@grantd', 'cli', 'dist', 'grantd.js');
    const old = await installNpmProgram(NODE_20).catch((error: unknown) => {
      t.skip(reportMissing('the command line on a Node that is too old', String(error)));
    });
    if (old === undefined) return;
    for (const args of [['--version'], ['mcp'], ['check', 'user:ann', 'viewer', 'doc:a']]) {
      const { code, stdout, stderr } = (await run(old, [file, ...args]).catch((error: Run) => error)) as Run;
      assert.deepEqual([code, stdout], [1, ''], args.join(' '));
      assert.match(
        stderr,
        /^grantd: This is Node 20\.\d+\.\d+, and the command line needs Node 22 or later\.\n {2}Install .*\n$/,
      );
    }
    assert.ok(statSync(file).size < START_BYTES_MAX);
  });

  it('does with an API key what the API allows', async () => {
    const expected = [
      ['grants add user:ann viewer doc:a', 0, /grant_id +grt_/],
      ['check user:ann viewer doc:a --explain', 0, /^authorized true\n.*user:ann viewer doc:a/],
      ['check user:bob viewer doc:a', 3, /^authorized false\n/],
      ['objects user:ann viewer', 0, /doc:a/],
      ['subjects viewer doc:a', 0, /user:ann/],
      ['grants list user:ann', 0, /viewer +doc:a +grt_/],
      ['namespaces create folder', 0, /name +folder/],
      ['namespaces list', 0, /folder/],
      ['rules set rules.json', 0, /The rules are set/],
      ['rules show', 0, / can_read = /],
      ['rules diff rules.json', 0, /^$/],
      ['rules history', 0, /^VERSION/],
      ['rules rollback 1 --yes', 0, /The rules are set|already/],
      ['rules types --language typescript', 0, /doc/],
      ['changes --action grant.created', 0, /grant\.created +user:ann viewer doc:a/],
      ['keys create --scope check:read --name web', 0, /gk1_/],
      ['keys list', 0, /web/],
      ['grants revoke user:ann viewer doc:a', 0, /^Revoked/],
    ] as const;
    writeFileSync(
      join(work, 'rules.json'),
      '{"rules": [{"namespace": "doc", "name": "can_read", "any_of": ["viewer"]}], "groups": false, "public": []}',
    );
    for (const [command, code, output] of expected) {
      const ended = await grantd(words(command));
      assert.equal(ended.code, code, `${command}: ${ended.stderr}`);
      assert.match(ended.stdout, output, command);
    }
    const lines = await grantd(words('check -f - --output csv'), keyed(), 'user:ann\tviewer\tdoc:a\n');
    assert.deepEqual([lines.code, lines.stdout.split('\n')[1]], [3, '1,user:ann,viewer,doc:a,false,,']);
  });

  it('does what its README shows', async () => {
    writeFileSync(join(work, 'key.txt'), `${facts.key}\n`, { mode: 0o600 });
    const blocks = shellBlocks('packages/cli/README.md');
    assert.equal(blocks.length, 2);
    const script = blocks.join('\n').replaceAll('http://127.0.0.1:8080', facts.base_url);
    const { stdout } = await run('bash', ['-euc', script], { cwd: work, env: { PATH: path, HOME: home } });
    assert.match(stdout, /^authorized true$/m);
    assert.match(stdout, /^document:plan$/m);
    assert.equal((await grantd(words('context remove dev'), {})).code, 0);
  });

  it('says what an API key cannot do, and where to go', async () => {
    for (const [command, code, message] of [
      ['tenants list', 2, /^grantd: Only the operator's API has this, and the environment names an API key\. Set /],
      ['export', 2, /Only the operator's API/],
      ['subjects', 2, /Only the operator's API lists every subject/],
      ['check user:ann viewer doc:a --tenant ten_01k8x0000000000000000000zz', 2, /belongs to one tenant/],
      ['model test model.yaml', 2, /model\.yaml|no shard/],
    ] as const) {
      const ended = await grantd(words(command));
      assert.deepEqual([ended.code, ended.stdout], [code, ''], command);
      assert.match(ended.stderr, message);
    }
    const narrow = await grantd(words('keys create --scope check:read --json'));
    const key = { ...keyed(), GRANTD_KEY: JSON.parse(narrow.stdout).key };
    const refused = await grantd(words('grants add user:ann viewer doc:a'), key);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /insufficient-scope\n {2}request req_.*\n {2}The API key may not do this.*context show/,
    );
    const nothing = await grantd(words('check user:ann viewer doc:a'), {});
    assert.match(nothing.stderr, /^grantd: There is no \.grantd\/dev\.json\. .*GRANTD_URL and GRANTD_KEY/);
  });

  it('keeps the service and the key in a file of its user', async () => {
    const add = words(`context add local --url ${facts.base_url} --key-stdin`);
    assert.equal((await grantd(add, {}, facts.key)).code, 0);
    assert.equal(statSync(join(home, '.config', 'grantd', 'contexts.json')).mode & 0o777, 0o600);
    assert.equal((await grantd(words('namespaces list'), {})).code, 0);
    const operator = words(`context add all --url ${facts.console_url} --token-stdin`);
    assert.equal((await grantd(operator, {}, facts.operator_token)).code, 0);
    const tenants = await grantd(words('tenants list --use-context all'), {});
    assert.match(tenants.stdout, new RegExp(facts.tenant_id), tenants.stderr);
    const shown = await grantd(words('context show'), {});
    assert.match(shown.stdout, new RegExp(`context "local".*\\nurl +${facts.base_url}\\n`));
  });
});

interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: unknown;
}

class ToolClient implements AsyncDisposable {
  readonly client = new Client({ name: 'test', version: '1.0.0' });

  static async open(args: readonly string[], key = facts.key): Promise<ToolClient> {
    const tools = new ToolClient();
    const env = { PATH: path, HOME: home, GRANTD_URL: facts.base_url, GRANTD_KEY: key };
    const command = join(work, 'node_modules', '.bin', 'grantd');
    await tools.client.connect(
      new StdioClientTransport({ command, args: ['mcp', ...args], env, cwd: work, stderr: 'inherit' }),
    );
    return tools;
  }

  async call(name: string, input: Record<string, unknown>): Promise<ToolAnswer> {
    const { isError, content, structuredContent } = await this.client.callTool({ name, arguments: input });
    const [first] = content;
    return { isError: isError === true, text: first?.type === 'text' ? first.text : '', structured: structuredContent };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

describe('the MCP server', () => {
  const grant = { subject: 'agent:mail', relation: 'viewer', object: 'doc:mcp' };

  it('reads by default, with typed inputs and results', async () => {
    await grantd(words('grants add agent:mail viewer doc:mcp'));
    await using tools = await ToolClient.open([]);
    const { tools: offered } = await tools.client.listTools();
    assert.deepEqual(
      offered.map(({ name }) => name),
      ['check', 'check_many', 'list_objects', 'list_subjects', 'list_grants', 'read_rules', 'validate_rules'],
    );
    for (const { name, inputSchema, outputSchema, annotations } of offered) {
      assert.equal(inputSchema.type, 'object', name);
      assert.ok(outputSchema, name);
      assert.equal(annotations?.readOnlyHint, true, name);
    }
    const checked = await tools.call('check', grant);
    assert.partialDeepStrictEqual(checked.structured, { authorized: true, because: [grant] });
    assert.deepEqual(JSON.parse(checked.text), checked.structured);
    const both = await tools.call('check_many', { checks: [grant, { ...grant, subject: 'user:ann' }] });
    assert.partialDeepStrictEqual(both.structured, { results: [{ authorized: true }, { authorized: false }] });
    for (const [name, input, part] of [
      ['list_objects', { subject: 'agent:mail', relation: 'viewer' }, { objects: ['doc:mcp'], next_cursor: null }],
      ['list_subjects', { relation: 'viewer', object: 'doc:mcp' }, { subjects: ['agent:mail'] }],
      ['list_grants', { subject: 'agent:mail' }, { grants: [grant] }],
      ['read_rules', {}, { rule_set: {} }],
      ['validate_rules', { rule_set: { rules: [] } }, {}],
    ] as const) {
      const answer = await tools.call(name, input);
      assert.equal(answer.isError, false, answer.text);
      assert.partialDeepStrictEqual(answer.structured, part, name);
    }
    for (const name of ['create_grant', 'revoke_grant', 'write_rules']) {
      await assert.rejects(tools.call(name, grant), new RegExp(name));
    }
  });

  it('tells failures as errors of the tool, with the text of the problem', async () => {
    const made = await grantd(words('keys create --scope check:read --json'));
    await using tools = await ToolClient.open(['--allow-writes'], JSON.parse(made.stdout).key);
    const refused = await tools.call('create_grant', grant);
    assert.deepEqual([refused.isError, refused.structured], [true, undefined]);
    assert.match(refused.text, /insufficient-scope.*request req_/s);
    const wrong = await tools.call('check', { ...grant, subject: 'no namespace' });
    assert.match(wrong.text, /"subject" must be namespace:external_id/);
    for (const [name, input] of [
      ['check', { subject: 'user:ann' }],
      ['check', { ...grant, surprise: true }],
      ['list_objects', { subject: 'user:ann', relation: 'viewer', limit: 101 }],
      ['check_many', { checks: Array.from({ length: 101 }, () => grant) }],
    ] as const) {
      const answer = await tools.call(name, input);
      assert.deepEqual([answer.isError, answer.structured], [true, undefined], name);
    }
  });

  it('changes a tenant only if that was allowed, and rules only against their revision', async () => {
    await using tools = await ToolClient.open(['--allow-writes']);
    const created = await tools.call('create_grant', {
      ...grant,
      relation: 'editor',
      expires_at: '2090-01-31T12:00:00Z',
    });
    assert.partialDeepStrictEqual(created.structured, { relation: 'editor', expires_at: '2090-01-31T12:00:00.000Z' });
    assert.deepEqual((await tools.call('revoke_grant', { ...grant, relation: 'editor' })).structured, {
      revoked: true,
    });
    const again = await tools.call('revoke_grant', { ...grant, relation: 'editor' });
    assert.deepEqual([again.isError, again.structured], [false, { revoked: false }]);
    const { structured } = await tools.call('read_rules', {});
    const revision = String(Object(structured).revision);
    const rules = { rules: [{ namespace: 'doc', name: 'can_edit', any_of: ['editor'] }] };
    const written = await tools.call('write_rules', { rule_set: rules, revision });
    assert.equal(written.isError, false, written.text);
    const stale = await tools.call('write_rules', { rule_set: { rules: [] }, revision });
    assert.match(stale.text, /precondition-failed.*call read_rules/s);
    assert.doesNotMatch(stale.text, /"grantd /);
  });

  it('says to an agent what rules look like, what it may have misspelt, and what would hold with other grants', async () => {
    await using tools = await ToolClient.open([]);
    const { tools: offered } = await tools.client.listTools();
    const { inputSchema } = offered.find(({ name }) => name === 'validate_rules') ?? {};
    const { rule_set: schema } = Object(inputSchema?.properties);
    const [example] = schema.examples;
    assert.equal(new Ajv2020({ strict: false }).compile(inputSchema ?? {})({ rule_set: example }), true);
    assert.equal(new Ajv2020({ strict: false }).compile(inputSchema ?? {})({ rule_set: { rules: [{}] } }), false);
    assert.partialDeepStrictEqual((await tools.call('validate_rules', { rule_set: example })).structured, {
      complete: true,
    });
    // The service says more than the schema does.
    const wrong = await tools.call('validate_rules', { rule_set: { rules: [{ namespace: 'doc', any_of: ['x'] }] } });
    assert.match(wrong.text, /"rules\[0\]\.name" must be/);
    const typo = await tools.call('check', { ...grant, relation: 'veiwer' });
    assert.match(typo.text, /Did you mean "viewer"\? .*owner, admin/);
    const there = await tools.call('check', { ...grant, object: 'dco:mcp' });
    assert.partialDeepStrictEqual(there.structured, {
      authorized: false,
      warnings: ['The tenant has no grant, rule or namespace "dco".'],
    });
    const listed = await tools.call('list_objects', { subject: 'agent:mail', relation: 'viewer', namespace: 'dco' });
    assert.partialDeepStrictEqual(listed.structured, {
      objects: [],
      warnings: ['The tenant has no grant, rule or namespace "dco".'],
    });
    const absent = { ...grant, object: 'doc:absent' };
    const held = await tools.call('check_many', { checks: [absent], context_grants: [absent] });
    assert.partialDeepStrictEqual(held.structured, { results: [{ authorized: true }] });
  });

  it('serves many keys over HTTP, and ends at an interruption', async () => {
    const command = join(work, 'node_modules', '.bin', 'grantd');
    const args = ['mcp', '--http', '127.0.0.1:0', '--service-url', facts.base_url];
    const child = spawn(command, args, {
      cwd: work,
      env: { PATH: path, HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit');
    let errors = '';
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        errors += text;
        const found = /served at (\S+)\. /.exec(errors)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.once('exit', () => reject(new Error(errors)));
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: { authorization: `Bearer ${facts.key}` } },
      }),
    );
    const { structuredContent } = await client.callTool({ name: 'check', arguments: grant });
    assert.partialDeepStrictEqual(structuredContent, { authorized: true });
    await client.close();
    assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);
    child.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
  });

  it('serves over HTTP beyond this machine only for hosts that are named', async () => {
    const wide = await grantd(['mcp', '--http', '0.0.0.0:0', '--service-url', facts.base_url], {});
    assert.deepEqual([wide.code, /--allow-host/.test(wide.stderr)], [2, true]);
    const without = await grantd(['mcp', '--allow-host', 'a.example.com'], keyed());
    assert.deepEqual([without.code, /are for --http/.test(without.stderr)], [2, true]);
  });

  const call = (id: number): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'check', arguments: grant } })}\n`;

  it("refuses the operator's token, and ends with its input once all is answered", async () => {
    const environment = { GRANTD_OPERATOR_URL: facts.console_url, GRANTD_OPERATOR_TOKEN: facts.operator_token };
    const refused = await grantd(['mcp'], environment);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /takes an API key/);
    const ended = await grantd(['mcp'], keyed(), `no JSON\n${call(1)}${call(2)}`);
    assert.equal(ended.code, 0, ended.stderr);
    const answers = ended.stdout.trimEnd().split('\n');
    assert.deepEqual(new Set(answers.map((line) => JSON.parse(line).id)), new Set([null, 1, 2]));
  });

  it('ends without an error when nobody reads its answers, though its input is open', async () => {
    const command = join(work, 'node_modules', '.bin', 'grantd');
    const env = { PATH: path, HOME: home, ...keyed() };
    const child = spawn(command, ['mcp'], { cwd: work, env, stdio: ['pipe', 'pipe', 'pipe'] });
    const errors: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
    // It has ended when this fails.
    child.stdin.on('error', () => {});
    child.stdout.destroy();
    child.stdin.write(call(1));
    const [code] = await once(child, 'exit');
    assert.deepEqual([code, errors.join('')], [0, '']);
  });
});
