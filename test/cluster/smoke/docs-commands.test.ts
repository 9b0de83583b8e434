// The commands of the README, of the tutorial and of the guides, run as they stand there (but for the addresses, since
// a test takes free ports, and for what the guides leave open), in one shell, in their order.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { freePort } from '../../../tools/engines/free-port.ts';
import { installNpmProgram, NODE_20 } from '../../../tools/engines/npm-program.ts';
import { readDevFacts, testEnvironment, useDev } from '../../kit/dev-process.ts';
import { asShown, linesOf, type ShellStep, shellBlocks, shellSteps } from '../../kit/shell-blocks.ts';
import { linkedInstall, makeUserCheckout } from '../../kit/user-checkout.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');

const { directory: folder } = useDev('service');

/** Makes a folder of a page, with a dev.json in `data`: that of the service, but for a new tenant. Returns its path. */
async function newFolder(name: string, data: string): Promise<string> {
  const directory = join(folder, name);
  mkdirSync(join(directory, data), { recursive: true });
  const facts = readDevFacts(join(folder, 'service'));
  const create = async (path: string, body: object): Promise<Record<string, string>> => {
    const response = await fetch(`${facts.console_url}/operator/v1/tenants${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${facts.operator_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 201);
    return Object(await response.json());
  };
  const { tenant_id } = await create('', { name, plan: 'scale' });
  const { key } = await create(`/${tenant_id}/keys`, { scopes: ['check:read', 'grant:write', 'admin'] });
  const text = `${JSON.stringify({ ...facts, tenant_id, key }, undefined, 2)}\n`;
  // As `grantd dev` leaves it: the command line reads no other.
  writeFileSync(join(directory, data, 'dev.json'), text, { mode: 0o600 });
  return directory;
}

/** Runs the commands of a page, one after another. `reader`: the folder with the `.grantd` of its reader. */
async function commandsOf(path: string, blocksMin: number, between: string, reader?: string): Promise<string> {
  const directory = reader ?? (await newFolder(basename(path), '.grantd'));
  const { base_url: baseUrl, key } = readDevFacts(join(directory, '.grantd'));
  const blocks = shellBlocks(path);
  assert.ok(blocks.length >= blocksMin);
  const script = blocks
    .join(between)
    .replaceAll('http://127.0.0.1:8080', baseUrl)
    .replaceAll('.grantd/dev.json', join(directory, '.grantd', 'dev.json'));
  // In the shell of a reader who has followed the tutorial, which exports these.
  const exported = reader === undefined ? {} : { GRANTD_URL: baseUrl, GRANTD_KEY: key };
  const env = { ...testEnvironment(join(directory, '.grantd')), ...exported };
  const { stdout } = await run('sh', ['-euc', script], { cwd: ROOT, env });
  return stdout;
}

/** Runs parts of a script in the folder of a page, with `grantd` and what is in `programs` in the PATH. */
async function runWithProgram(directory: string, parts: readonly (string | undefined)[], data = 'data', programs = '') {
  mkdirSync(join(directory, 'bin'));
  symlinkSync(join(ROOT, 'bin', 'grantd'), join(directory, 'bin', 'grantd'));
  const script = [`export PATH='${directory}/bin${programs}':"$PATH"`, ...parts].join('\n');
  const { base_url: baseUrl, tenant_id: tenant } = readDevFacts(join(directory, data));
  const text = script
    .replaceAll(/http:\/\/127\.0\.0\.1:8080|https:\/\/grantd\.example\.com/g, baseUrl)
    .replaceAll('ten_…', tenant);
  const env = testEnvironment(join(directory, data));
  return run('bash', ['-euo', 'pipefail', '-c', text], { cwd: directory, env });
}

const NEXT = 'echo "=== next"';
/** What a script has printed before and between each `NEXT`. */
const outputsIn = (stdout: string): string[][] => stdout.split('=== next\n').map(linesOf);

/** Each step has printed what the page shows, or at least no problem. */
function assertPrinted(steps: readonly ShellStep[], outputs: readonly (readonly string[])[], shownMin: number): void {
  assert.equal(outputs.length, steps.length);
  assert.ok(steps.filter(({ printed }) => printed !== undefined).length >= shownMin);
  for (const [index, { commands, printed }] of steps.entries()) {
    const output = outputs[index] ?? [];
    if (printed === undefined) assert.doesNotMatch(output.join('\n'), /"status":/, commands);
    else assert.deepEqual(asShown(output, printed), printed, commands);
  }
}

describe('the commands of the README', () => {
  it('work in their order', async () => {
    const stdout = await commandsOf('README.md', 1, '\n');
    assert.match(stdout, /"authorized":true.*"authorized":false/s);
  });
});

describe('the commands of the page for platform teams', () => {
  const PAGE = 'docs/operating/production-in-an-hour.md';

  it('create the first tenant, and its key is answered as the page shows', async () => {
    const directory = await newFolder('production', 'data');
    const steps = shellSteps(PAGE);
    const first = steps.findIndex(({ commands }) => commands.includes('grantd tenants create'));
    const [tenant, ask] = steps.slice(first, first + 2);
    // Here, the program is on this machine and not in a pod.
    const program = /^grantd\(\) \{ kubectl --namespace grantd exec deployment\/grantd-console -- grantd "\$@"; \}$/m;
    assert.match(tenant?.commands ?? '', program);
    const checks = steps.find(({ commands }) => commands.includes('seq 300'))?.commands ?? '';
    const { stdout } = await runWithProgram(directory, [
      tenant?.commands.replace(program, ''),
      ask?.commands,
      checks.replace('seq 300', 'seq 3').replace(/^kubectl .*$/m, ''),
    ]);
    const lines = linesOf(stdout);
    const shown = [...(ask?.printed ?? []), '      3 "authorized":true'];
    assert.deepEqual(asShown(lines, shown), shown);
  });
});

describe('the commands of the guide to many changes', () => {
  it('work in their order, and answer as the guide says', async () => {
    const stdout = await commandsOf('docs/guides/many-changes.md', 8, '\necho\n');
    // Ada becomes an editor and an owner; Bob becomes the owner in her place.
    assert.match(stdout, /"editor".*"created":true.*"revocations":\[\{"revoked":false\}\]/);
    assert.match(stdout, /"user:bob".*"created":true.*"revocations":\[\{"revoked":true\}\]/);
    assert.deepEqual(stdout.match(/\{"revoked":\d+,"complete":true\}/g), [
      '{"revoked":0,"complete":true}',
      '{"revoked":1,"complete":true}',
      '{"revoked":0,"complete":true}',
      '{"revoked":1,"complete":true}',
      '{"revoked":0,"complete":true}',
    ]);
    // The last call revokes what was revoked already.
    assert.match(stdout, /grant-not-found[^\n]*\n*$/);
  });
});

// One reader with one demo tenant: no page may leave behind what another one refuses or counts.
describe('the guides to permissions and rules, the tutorial and its application, by one reader in their order', () => {
  const checkout = join(folder, 'reader', 'grantd');
  const guides = [
    { page: 'docs/guides/modelling-permissions.md', printedMin: 5 },
    { page: 'docs/guides/modelling-groups.md', printedMin: 4 },
    { page: 'docs/guides/modelling-gates.md', printedMin: 14 },
    { page: 'docs/guides/modelling-examples.md', printedMin: 8 },
    { page: 'docs/guides/changing-rules.md', printedMin: 5 },
  ];
  before(async () => {
    makeUserCheckout(checkout);
    await newFolder('reader', 'grantd/.grantd');
  });

  for (const { page, printedMin } of guides) {
    it(`print what ${page} shows`, async () => {
      const steps = shellSteps(page);
      assertPrinted(steps, outputsIn(await commandsOf(page, steps.length, `\n${NEXT}\n`, checkout)), printedMin);
    });
  }

  /** Runs commands in the checkout, on the oldest Node that the page asks for, where it can be had. */
  async function runInCheckout(commands: readonly string[]): Promise<string> {
    const { base_url: baseUrl } = readDevFacts(join(checkout, '.grantd'));
    const node = await installNpmProgram(NODE_20).catch(() => process.execPath);
    const script = ["trap 'kill $(jobs -p) 2> /dev/null || true' EXIT", linkedInstall(checkout), ...commands]
      .join(`\n${NEXT}\n`)
      .replaceAll('http://127.0.0.1:8080', baseUrl)
      .replaceAll('3000', String(await freePort()));
    const { PATH, ...others } = testEnvironment(join(folder, 'reader'));
    const env = { ...others, PATH: `${dirname(node)}:${PATH}`, HOME: join(folder, 'reader') };
    const { stdout } = await run('bash', ['-euc', script], { cwd: checkout, env });
    return stdout;
  }

  it('print what the tutorial shows', async () => {
    const steps = shellSteps('docs/guides/tutorial.md').filter(({ commands }) => commands !== '');
    // A busy machine may need more.
    const stdout = await runInCheckout(
      steps.map(({ commands }) => commands.replaceAll('timeoutMs: 2000', 'timeoutMs: 60_000')),
    );
    const outputs = outputsIn(stdout).slice(2);
    assert.equal(outputs.length, steps.length);
    assert.equal(steps.filter(({ printed }) => printed !== undefined).length, 5);
    for (const [index, { commands, printed }] of steps.entries()) {
      assert.deepEqual(outputs[index], printed ?? [], commands);
    }
  });

  it('start the application of the examples', async () => {
    const [start = '', ...others] = shellBlocks('examples/docs-app/README.md');
    assert.deepEqual(others, []);
    assert.match(start, /^npm start$/m);
    const page = await runInCheckout([
      start.replace(/^npm start$/m, 'PORT=3000 node main.js > log 2>&1 &'),
      'until curl -sfL http://127.0.0.1:3000; do kill -0 $! || { cat log >&2; exit 1; }; sleep 0.1; done',
    ]);
    assert.match(page, /<html/);
  });
});

describe('the commands of the guides to keys, to shared links and to deletions', () => {
  it('work in their order, and answer as the guides say', async () => {
    assert.match(await commandsOf('docs/guides/keys-for-services.md', 1, '\n'), /"name":"reports".*"key":"gk1_/);
    const shared = await commandsOf('docs/guides/sharing-links.md', 3, '\necho\n');
    assert.match(shared, /"results":\[\{"authorized":true\},\{"authorized":false\}\]/);
    assert.match(shared, /"subjects":\["link:[0-9a-f]{32}"\]/);
    assert.match(await commandsOf('docs/guides/deleting-things.md', 1, '\n'), /"complete":true.*"complete":true/s);
  });
});

describe('the commands of the guide to AuthZEN', () => {
  const PAGE = 'docs/guides/authzen.md';

  it('print what the guide shows, and a proxy is answered as it needs', async () => {
    const directory = await newFolder('authzen', '.grantd');
    const steps = shellSteps(PAGE);
    const script = ["trap 'kill $(jobs -p) 2> /dev/null || true' EXIT", ...steps.map(({ commands }) => commands)]
      .join(`\n${NEXT}\n`)
      .replaceAll('http://127.0.0.1:8080', readDevFacts(join(directory, '.grantd')).base_url)
      .replaceAll('9000', String(await freePort()));
    const { stdout } = await run('bash', ['-euc', script], { cwd: directory, env: testEnvironment(directory) });
    assertPrinted(steps, outputsIn(stdout).slice(1), 6);
  });
});

describe('the commands of the guide from OpenFGA and SpiceDB', () => {
  const PAGE = 'docs/guides/coming-from-openfga-or-spicedb.md';

  it('work in their order, and say what the guide says', async () => {
    const directory = await newFolder('coming-from', 'data');
    const blocks = shellBlocks(PAGE);
    assert.equal(blocks.length, 4);
    const { stdout, stderr } = await runWithProgram(directory, blocks);

    const page = readFileSync(join(ROOT, PAGE), 'utf8');
    const [, map = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
    assert.deepEqual(JSON.parse(readFileSync(join(directory, 'rules.relation-map.json'), 'utf8')), JSON.parse(map));
    assert.match(stdout, /^some do not fit$/m);
    const [, refused = ''] = /^```\n( {2}line 5:[^`]*?) …$/m.exec(page) ?? [];
    assert.equal(stderr.split(refused).length, 3, stderr);
    assert.match(stdout, /^Dry run of 5 lines: 4 would be imported, 1 refused; nothing was written$/m);
    assert.match(stdout, /^5 lines .*: 4 created, 0 changed, 0 unchanged, 1 refused$/m);
    const { tenant_id: tenant } = readDevFacts(join(directory, 'data'));
    const env = testEnvironment(join(directory, 'data'));
    const exported = await run(join(directory, 'bin', 'grantd'), ['export', '--tenant', tenant], { env });
    assert.equal(
      exported.stdout,
      [
        'folder:plans\tfolder\tdocument:roadmap\n',
        'group:eng#member\tviewer\tfolder:plans\n',
        'user:ann\tmember\tgroup:eng\n',
        'user:bob\twriter\tdocument:roadmap\n',
      ].join(''),
    );
    assert.match(stdout, /^folder:plans +folder +grt_/m);
  });
});

describe('the commands of the guide to the command line', () => {
  it('work in their order', async () => {
    const directory = await newFolder('cli', 'data');
    const [home, work] = [join(directory, 'home'), join(directory, 'work')];
    mkdirSync(join(home, '.local', 'bin'), { recursive: true });
    mkdirSync(work);
    writeFileSync(join(work, 'grants.tsv'), 'user:ann\tviewer\tdoc:readme\n');
    writeFileSync(join(work, 'expected.csv'), 'subject,relation,object\nuser:ann,viewer,doc:readme\n');
    const grant = { subject: 'user:bob', relation: 'viewer', object: 'doc:readme' };
    writeFileSync(join(work, 'grants.ndjson.gz'), gzipSync(`${JSON.stringify(grant)}\n`));
    const [install = '', ...blocks] = shellBlocks('docs/operating/cli.md');
    assert.match(install, /^ln -s /);
    assert.ok(blocks.length >= 5);
    const { base_url: baseUrl, key } = readDevFacts(join(directory, 'data'));
    writeFileSync(join(work, 'key.txt'), `${key}\n`);
    const commands = blocks
      .join('\n')
      .replaceAll('http://127.0.0.1:8080', baseUrl)
      .replaceAll('ten_…', '"$TENANT"')
      .replaceAll('; then …', '; then echo guarded; fi')
      // What each prints is for a shell of its own; test/cli/completion.test.ts gives it to them.
      .replace(/source <\((.*)\)/g, '$1 > /dev/null');
    const script = [
      install,
      'export PATH="$HOME/.local/bin:$PATH"',
      `cd '${work}'`,
      // What follows without an end is interrupted, as a person would; it then ends with 130.
      'grantd() {',
      '  case " $* " in',
      '    *" --follow "*) code=0; timeout --signal=INT --preserve-status 5 grantd "$@" || code=$?; test "$code" = 130;;',
      '    *) command grantd "$@";;',
      '  esac',
      '}',
      `export TENANT=$(sed -n 's/.*"tenant_id": "\\(.*\\)",*/\\1/p' "$GRANTD_DATA_DIR/dev.json")`,
      'grantd import grants.tsv --tenant "$TENANT"',
      commands,
      'echo; cat grants.tsv; cat acme.ndjson',
    ].join('\n');
    const env = { ...testEnvironment(join(directory, 'data')), HOME: home };
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT, env });
    assert.match(stdout, /^guarded$/m);
    // The export was written over what was imported first.
    assert.match(stdout, /^user:bob\tviewer\tdoc:readme$/m);
  });
});

describe('the commands of the guides to agents and to retrieval', () => {
  for (const page of ['docs/guides/agents.md', 'docs/guides/retrieval.md']) {
    it(`print what ${page} shows`, async () => {
      const directory = await newFolder(basename(page), '.grantd');
      const steps = shellSteps(page);
      const parts = steps.flatMap(({ commands }) => [NEXT, commands]);
      const { stdout } = await runWithProgram(directory, parts, '.grantd', `:${join(ROOT, 'node_modules', '.bin')}`);
      assertPrinted(steps, outputsIn(stdout).slice(1), 2);
    });
  }
});

describe('the commands of the guide for a large tenant', () => {
  it('work in their order', async () => {
    const directory = await newFolder('large-tenant', 'data');
    const blocks = shellBlocks('docs/operating/large-tenant.md');
    assert.ok(blocks.length >= 2);
    const { stdout } = await runWithProgram(directory, blocks);
    const { tenant_id: tenant } = readDevFacts(join(directory, 'data'));
    assert.match(stdout, /^SHARD +.* +BUSIEST TENANT +ITS SHARE$/m);
    assert.match(stdout, new RegExp(`"tenant_id": ?"${tenant}"|${tenant}`));
  });
});

describe('the commands of the page on the export of the audit log', () => {
  it('export every change once, and go on where they stopped', async () => {
    const directory = await newFolder('audit-export', 'data');
    const [follow = '', ...others] = shellBlocks('docs/operating/audit-export.md');
    assert.equal(others.length, 1);
    const { stdout } = await runWithProgram(directory, [
      'tenant=$(grantd tenants create Acme --json | sed -n \'s/.*"tenant_id": *"\\([^"]*\\)".*/\\1/p\')',
      'change() { printf "user:ann\\tviewer\\tdoc:$1\\n" | grantd import - --tenant "$tenant" > /dev/null; }',
      'await() { until grep -q "$1" audit.jsonl; do sleep 0.1; done; }',
      'change 1',
      `${follow.trimEnd()} &`,
      // An event of a change has the place; a checkpoint after it says that the cursor is stored next.
      'await \'"at_end":true\'',
      'change 2',
      'await "doc:2"',
      'kill -INT $! && wait $! || test $? = 130',
      'change 3',
      ...others,
      ...others,
      'echo "$tenant"',
    ]);
    const events = linesOf(readFileSync(join(directory, 'audit.jsonl'), 'utf8')).map((line) => JSON.parse(line));
    const told = new Map(
      events.filter(({ type }) => type === 'grantd.audit.v1').map((event) => [`${event.source} ${event.id}`, event]),
    );
    const grants = [...told.values()]
      .filter(({ subject, data }) => subject === stdout.trim() && data.change.action === 'grant.created')
      .map(({ data }) => data.change.object);
    assert.deepEqual(grants, ['doc:1', 'doc:2', 'doc:3']);
    const { tenant_id: demo } = readDevFacts(join(directory, 'data'));
    assert.ok([...told.values()].some(({ subject }) => subject === demo));
    const ends = events.filter(({ type }) => type === 'grantd.audit-checkpoint.v1').slice(-2);
    assert.ok(ends.every(({ data }) => data.at_end && data.slots_missing === 0));
  });
});
