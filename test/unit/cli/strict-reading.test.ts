// Every entrance that reads JSON, YAML or lines is as strict as every other one: what two readers could understand
// differently, or what nothing would read, is refused with a message that names it. One table of entrances and one of
// what is wrong.

import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import { ContextFile } from '../../../packages/cli/src/context-file.ts';
import { serveMcp } from '../../../packages/cli/src/mcp/serve.ts';
import { ServiceClient } from '../../../packages/cli/src/service-client.ts';
import { readDevFile } from '../../../src/roles/dev/dev-file.ts';
import { OPERATOR_TOKEN, useConsole } from '../../kit/console-service.ts';
import { useDirectory } from '../../kit/directory.ts';
import { startHttp } from '../http/http-in-process.ts';
import { runCli } from './cli-run.ts';

const directory = useDirectory();
const service = await useConsole();
const http = await startHttp();
after(() => http.close());

// ---- what is wrong ----

type Flaw = 'not UTF-8' | 'a byte order mark' | 'a member twice' | 'an unknown member' | 'the member __proto__';

/** `said`: the message names what is wrong. */
const FLAWS: Readonly<Record<Flaw, { readonly of: (text: string, at: string) => string | Buffer; said: RegExp }>> = {
  'not UTF-8': {
    of: (text) => {
      const [before = '', ...behind] = text.split('ann');
      return Buffer.concat([Buffer.from(before), Buffer.from([0x61, 0xff]), Buffer.from(behind.join('ann'))]);
    },
    said: /UTF-8/,
  },
  'a byte order mark': {
    of: (text) => `\u{feff}${text}`,
    said: /unexpected character at line 1, column 1|byte order mark/i,
  },
  'a member twice': {
    // The first of those that are there, with another value before it.
    of: (text, at) =>
      text.replace(at, (found) => `${found}${/^"\w+":/.exec(text.slice(text.indexOf(at) + at.length))}1,`),
    said: /"\w+".* twice/,
  },
  'an unknown member': {
    of: (text, at) => text.replace(at, (found) => `${found}"unheard":1,`),
    said: /unheard/,
  },
  'the member __proto__': {
    of: (text, at) => text.replace(at, (found) => `${found}"__proto__":{"a":1},`),
    said: /__proto__/,
  },
};

// ---- the entrances ----

interface Outcome {
  readonly accepted: boolean;
  readonly said: string;
}

interface Entrance {
  /** Accepted as it is. Its first `ann` is part of a string. */
  readonly text: string;
  /** The beginning of the object that gets another member; without one, the format has no members. */
  readonly at?: string;
  /** Flaws that it reads all the same, as its documentation says. */
  readonly takes?: readonly Flaw[];
  /** Flaws that it cannot have. */
  readonly without?: readonly Flaw[];
  readonly read: (bytes: Buffer) => Promise<Outcome> | Outcome;
}

const TUPLE = '{"subject":"user:ann","relation":"viewer","object":"doc:1"}';
const PEER_TUPLE = '{"user":"user:ann","relation":"viewer","object":"doc:1"}';
const RULES = '{"rules":[],"public":["ann"]}';
const MARK: readonly Flaw[] = ['a byte order mark'];

const target = { url: service.url, token: OPERATOR_TOKEN };
const outcomeOf = ({ code, stdout, stderr }: Awaited<ReturnType<typeof runCli>>): Outcome => ({
  accepted: code === 0,
  said: `${stderr}${stdout}`,
});
const grantd = async (args: readonly string[], stdin?: Buffer): Promise<Outcome> =>
  outcomeOf(await runCli(args, { target, ...(stdin && { stdin: Readable.from([stdin]) }) }));

async function createTenant(): Promise<string> {
  const { stdout } = await runCli(['tenants', 'create', 'Acme', '--json'], { target });
  return JSON.parse(stdout).tenant_id;
}
const tenant = await createTenant();
const capped = await createTenant();
const CAPPED = {
  conditions: [{ name: 'capped', parameters: { who: 'string' }, expression: 'who == "ann"' }],
  rules: [],
};
assert.ok(
  (await grantd(['rules', 'set', '-', '--yes', '--tenant', capped], Buffer.from(JSON.stringify(CAPPED)))).accepted,
);

/** A command that reads the file of this name. */
const ofFile =
  (name: string, args: (file: string) => readonly string[]): Entrance['read'] =>
  (bytes) => {
    const file = join(directory, name);
    writeFileSync(file, bytes);
    return grantd(args(file));
  };

/** A command for a new tenant. */
const ofNew =
  (name: string, args: (file: string) => readonly string[]): Entrance['read'] =>
  async (bytes) => {
    const id = await createTenant();
    return ofFile(name, (file) => [...args(file), '--tenant', id])(bytes);
  };

const importing = (name: string, text: string, more: Partial<Entrance> = {}, ...args: string[]): Entrance => ({
  text,
  read: ofNew(name, (file) => ['import', file, ...args]),
  ...more,
});
const testing = (name: string, text: string, more: Partial<Entrance> = {}): Entrance => ({
  text,
  at: '{',
  read: ofFile(name, (file) => ['model', 'test', file]),
  ...more,
});
/** Tests of a model whose parts stand in another file. */
const testingWith = (member: string, name: string, text: string, more: Partial<Entrance> = {}): Entrance => ({
  text,
  at: '{',
  read: (bytes) => {
    writeFileSync(join(directory, name), bytes);
    const check = '{"subject":"user:bob","relation":"viewer","object":"doc:2","expected":false}';
    const tests = `{"${member}":"${name}","tests":[{"name":"x","checks":[${check}]}]}`;
    return ofFile('with.yaml', (file) => ['model', 'test', file])(Buffer.from(tests));
  },
  ...more,
});

async function posting(url: string, key: string, bytes: Buffer, type = 'application/json'): Promise<Outcome> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': type };
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(bytes) });
  const said = await response.text();
  return { accepted: response.ok && !said.includes('refused'), said: said.replaceAll('\\"', '"') };
}

const { key } = await http.front.createTenant('standard');

/** A check with an option. */
async function asking(...args: readonly string[]): Promise<Outcome> {
  const { accepted, said } = await grantd(['check', 'user:ann', 'viewer', 'doc:9', ...args, '--tenant', capped]);
  return { accepted: accepted || said === 'authorized false\n', said };
}

/** A file that only its owner can read. */
function reading(name: string, bytes: Buffer, read: () => unknown): Outcome {
  const file = join(directory, name);
  writeFileSync(file, bytes);
  chmodSync(file, 0o600);
  try {
    return { accepted: read() !== undefined, said: '' };
  } catch (error) {
    return { accepted: false, said: String(error) };
  }
}

async function asAgent(bytes: Buffer): Promise<Outcome> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const answer = { authorized: true, checked_at: '2030-01-01T00:00:00.000Z' };
  const client = new ServiceClient(
    { api: 'public', url: 'http://service.invalid', secret: 'gk1_a' },
    { onWarning() {}, fetch: async () => Response.json(answer) },
  );
  const served = serveMcp({ stdin, stdout, note() {} }, client, { allowWrites: true, version: '1.0.0' });
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'init', method: 'initialize', params: hello })}\n`);
  stdin.end(Buffer.concat([bytes, Buffer.from('\n')]));
  await served;
  stdout.end();
  const lines = (await stdout.setEncoding('utf8').toArray()).join('').split('\n');
  const said = lines.filter((line) => line !== '' && !line.includes('"init"')).join('\n');
  return { accepted: said.includes('"authorized":true'), said: said.replaceAll('\\"', '"') };
}

const STORE_MODEL = 'model\\n  schema 1.1\\ntype user\\ntype doc\\n  relations\\n    define viewer: [user]\\n';
const ZED_SCHEMA = 'definition user {}\\ndefinition doc { relation viewer: user }\\n';
const PERMIFY = 'entity user {} entity doc { relation viewer @user }';

const ENTRANCES: Readonly<Record<string, Entrance>> = {
  'the HTTP API': {
    ...{ text: TUPLE, at: '{' },
    read: (bytes) => posting(`${http.url}/v1/grants`, key, bytes),
  },
  'the operator’s API': {
    ...{ text: TUPLE, at: '{' },
    read: (bytes) => posting(`${service.url}/operator/v1/tenants/${tenant}/grants`, OPERATOR_TOKEN, bytes),
  },
  'an import of the operator’s API': {
    ...{ text: TUPLE, at: '{', takes: MARK },
    read: (bytes) =>
      posting(`${service.url}/operator/v1/tenants/${tenant}/import`, OPERATOR_TOKEN, bytes, 'application/x-ndjson'),
  },
  'an import of NDJSON': importing('grants.ndjson', `${TUPLE}\n`, { at: '{', takes: MARK }),
  'the rules in an import': importing('rules.ndjson', `{"rules":${RULES}}\n`, { at: '{"rules":{', takes: MARK }),
  'what stands beside the rules in an import': importing('beside.ndjson', `{"rules":${RULES}}\n`, {
    ...{ at: '{', takes: MARK },
  }),
  'an import of TSV': importing('grants.tsv', 'user:ann\tviewer\tdoc:1\n', { takes: MARK }),
  'an import of CSV': importing('grants.csv', 'user:ann,viewer,doc:1\n', { takes: MARK }),
  'the context in a line of TSV': {
    ...{ text: 'user:ann\tviewer\tdoc:1\t\tcapped {"who":"ann"}\n', at: '{', takes: MARK },
    read: ofFile('context.tsv', (file) => ['import', file, '--tenant', capped]),
  },
  'an import of JSON of OpenFGA': importing(
    't.json',
    `[${PEER_TUPLE}]`,
    { at: '[{', takes: MARK },
    '--from',
    'openfga',
  ),
  'an import of lines of OpenFGA': importing(
    't.jsonl',
    `${PEER_TUPLE}\n`,
    { at: '{', takes: MARK },
    '--from',
    'openfga',
  ),
  'an import of a store of OpenFGA': importing(
    't.yaml',
    `{"tuples":[${PEER_TUPLE}]}`,
    { at: '[{', takes: MARK },
    ...['--from', 'openfga'],
  ),
  'an import of CSV of OpenFGA': importing(
    't.csv',
    'user_type,user_id,relation,object_type,object_id\nuser,ann,viewer,doc,1\n',
    { takes: MARK },
    ...['--from', 'openfga'],
  ),
  'an import of relationships of SpiceDB': importing(
    't.txt',
    'doc:1#viewer@user:ann\n',
    { takes: MARK },
    ...['--from', 'spicedb'],
  ),
  'a relation map': {
    ...{ text: '{"relation_map":{},"name_map":{"doc#ann":"viewer"}}', at: '{' },
    read: async (bytes) => {
      writeFileSync(join(directory, 'tuples.jsonl'), '');
      return ofNew('map.json', (file) => [
        ...['import', join(directory, 'tuples.jsonl'), '--from', 'openfga', '--relation-map', file],
      ])(bytes);
    },
  },
  'rules set': {
    ...{ text: RULES, at: '{' },
    read: async (bytes) => grantd(['rules', 'set', '-', '--yes', '--tenant', await createTenant()], bytes),
  },
  'rules diff': {
    ...{ text: RULES, at: '{' },
    read: async (bytes) => {
      const { accepted, said } = await ofNew('diff.json', (file) => ['rules', 'diff', file])(bytes);
      // A difference has an exit code of its own.
      return { accepted: accepted || said === '+ public: ann\n', said };
    },
  },
  'rules format': { text: RULES, at: '{', read: ofFile('format.json', (file) => ['rules', 'format', file]) },
  'checks as NDJSON': {
    text: `${TUPLE.replace('}', ',"expected":false}')}\n`,
    ...{ at: '{', takes: MARK },
    read: ofNew('checks.ndjson', (file) => ['check', '-f', file]),
  },
  'checks as TSV': {
    ...{ text: 'user:ann\tviewer\tdoc:1\tfalse\n', takes: MARK },
    read: ofNew('checks.tsv', (file) => ['check', '-f', file]),
  },
  'checks as CSV': {
    ...{ text: 'user:ann,viewer,doc:1,false\n', takes: MARK },
    read: ofNew('checks.csv', (file) => ['check', '-f', file]),
  },
  'the values of --context': {
    // Any member may be a parameter of a condition.
    ...{ text: '{"who":"ann"}', at: '{', without: ['an unknown member', 'the member __proto__'] },
    read: (bytes) => {
      writeFileSync(join(directory, 'values.json'), bytes);
      return asking('--context', `@${join(directory, 'values.json')}`);
    },
  },
  '--context-grant': {
    text: 'user:ann viewer doc:9 with capped {"who":"ann"}',
    // It comes as text.
    ...{ at: '{', without: ['not UTF-8', 'a byte order mark'] },
    read: (bytes) => asking('--context-grant', bytes.toString()),
  },
  'tests of a model': testing(
    'own.yaml',
    `{"grants":[],"tests":[{"name":"ann","checks":[${TUPLE.replace('}', ',"expected":false}')}]}]}`,
    { takes: MARK },
  ),
  'a check of tests of a model': testing(
    'own.json',
    `{"grants":[],"tests":[{"name":"x","checks":[${TUPLE.replace('}', ',"expected":false}')}]}]}`,
    { at: '"checks":[{', takes: MARK },
  ),
  'the rules of tests of a model': testingWith('rules_file', 'rules-of.json', RULES),
  'the grants of tests of a model': testingWith('grants_file', 'grants-of.ndjson', `${TUPLE}\n`, { takes: MARK }),
  'a store of OpenFGA with tests': testing(
    'store.fga.yaml',
    `{"name":"ann","model":"${STORE_MODEL}","tests":[{"name":"x","check":[{"user":"user:ann","object":"doc:1","assertions":{"viewer":false}}]}]}`,
    { takes: MARK },
  ),
  'a validation file of SpiceDB': testing(
    'validation.yaml',
    `{"schema":"${ZED_SCHEMA}","relationships":"doc:1#viewer@user:ann","assertions":{"assertTrue":["doc:1#viewer@user:ann"]}}`,
    { takes: MARK },
  ),
  'a shape of Permify': testing(
    'shape.yaml',
    `{"schema":"${PERMIFY}","relationships":["doc:1#viewer@user:ann"],"scenarios":[{"name":"x","checks":[{"entity":"doc:1","subject":"user:ann","assertions":{"viewer":true}}]}]}`,
    { takes: MARK },
  ),
  apply: {
    ...{ text: '{"tenants":[{"name":"ann"}]}', at: '{', takes: MARK },
    read: ofFile('tenants.yaml', (file) => ['apply', '-f', file, '--dry-run']),
  },
  'a tenant of apply': {
    ...{ text: '{"tenants":[{"name":"ann"}]}', at: '[{', takes: MARK },
    read: ofFile('tenants.yaml', (file) => ['apply', '-f', file, '--dry-run']),
  },
  'the contexts of the command line': {
    ...{ text: '{"current":"ann","contexts":{"ann":{"url":"http://a","key":"gk1_a"}}}', at: '{' },
    read: (bytes) => reading('contexts.json', bytes, () => new ContextFile(join(directory, 'contexts.json')).read()),
  },
  'one context of the command line': {
    ...{ text: '{"current":"ann","contexts":{"ann":{"url":"http://a","key":"gk1_a"}}}', at: '"ann":{' },
    read: (bytes) => reading('contexts.json', bytes, () => new ContextFile(join(directory, 'contexts.json')).read()),
  },
  'dev.json': {
    ...{ text: '{"base_url":"ann","ops_url":"b","console_url":"c","operator_token":"d"}', at: '{' },
    read: (bytes) => reading('dev.json', bytes, () => readDevFile(directory)),
  },
  mcp: {
    text: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check","arguments":${TUPLE}}}`,
    at: '"arguments":{',
    read: asAgent,
  },
};

describe('an entrance reads strictly', () => {
  for (const [name, { text, at, takes = [], without = [], read }] of Object.entries(ENTRANCES)) {
    test(name, async () => {
      const plain = await read(Buffer.from(text));
      assert.ok(plain.accepted, `as it is: ${plain.said}`);
      for (const [flaw, { of, said }] of Object.entries(FLAWS)) {
        if (without.some((each) => each === flaw) || (at === undefined && flaw.includes('member'))) continue;
        const outcome = await read(Buffer.from(of(text, at ?? '')));
        if (takes.some((each) => each === flaw)) {
          assert.ok(outcome.accepted, `${flaw}: ${outcome.said}`);
          continue;
        }
        assert.ok(!outcome.accepted, `${flaw}: accepted, ${outcome.said}`);
        assert.match(outcome.said, said, flaw);
      }
    });
  }
});
