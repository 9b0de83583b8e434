// The commands of the README, of the tutorial and of the guides, run as they stand there (but for the addresses, since
// a test takes free ports, and for what the guides leave open), in one shell, in their order.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { freePort } from '../../../tools/engines/free-port.ts';
import { NODE_20, oldestNode } from '../../../tools/engines/npm-program.ts';
import { readDevFacts, testEnvironment, useDev } from '../../kit/dev-process.ts';
import { asShown, linesOf, type ShellStep, shellBlocks, shellSteps } from '../../kit/shell-blocks.ts';
import { linkedInstall, makeUserCheckout } from '../../kit/user-checkout.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');

/** A command of a page that waits in vain ends with all that the script has started, and with what was printed. */
const SCRIPT_SECONDS_MAX = 300;
const runScript = (command: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) =>
  run('timeout', ['--kill-after=10', String(SCRIPT_SECONDS_MAX), ...command], options);

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
  return runScript(['bash', '-euo', 'pipefail', '-c', text], { cwd: directory, env });
}

const NEXT = 'echo "=== next"';
/** What a script has printed before and between each `NEXT`. */
const outputsIn = (stdout: string): string[][] => stdout.split('=== next\n').map(linesOf);

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

interface ReadPage {
  readonly page: string;
  /** How many of its blocks show what they print. */
  readonly shown: number;
  /** A block as the test runs it: one that would never end is started and awaited, and more may be asked. */
  readonly asRun?: (commands: string) => string;
  /** How many blocks without a shown output print a problem, as the page says beside them. */
  readonly refused?: number;
  /** What the page says of outputs that it does not show whole. */
  readonly says?: readonly RegExp[];
}

/** The pages in the order of docs/README.md, after that of the repository. */
const READ_IN_ORDER: readonly ReadPage[] = [
  { page: 'README.md', shown: 0, says: [/"authorized":true.*"authorized":false/s] },
  { page: 'docs/guides/tutorial.md', shown: 5 },
  {
    page: 'examples/docs-app/README.md',
    shown: 0,
    asRun: (commands) =>
      commands
        .replace(/^npm start$/m, 'PORT=3000 node main.js > log 2>&1 &')
        .concat('until curl -sfL http://127.0.0.1:3000; do kill -0 $! || { cat log >&2; exit 1; }; sleep 0.1; done'),
    says: [/<html/],
  },
  { page: 'docs/guides/modelling-permissions.md', shown: 5 },
  { page: 'docs/guides/modelling-groups.md', shown: 5 },
  { page: 'docs/guides/modelling-gates.md', shown: 17 },
  { page: 'docs/guides/modelling-examples.md', shown: 8 },
  { page: 'docs/guides/changing-rules.md', shown: 8 },
  { page: 'docs/guides/sharing-links.md', shown: 1, says: [/"subjects":\["link:[0-9a-f]{32}"\]/] },
  {
    page: 'docs/guides/expiring-grants.md',
    shown: 0,
    says: [/"expires_at":"2030-01-31T12:00:00.000Z"/],
  },
  {
    page: 'docs/guides/coming-from-openfga-or-spicedb.md',
    shown: 0,
    asRun: (commands) => `exec 2>&1\n${commands.replace(/^grantd grants list .*$/m, '$&\ngrantd export\necho {')}`,
    says: [
      /^some do not fit$/m,
      /^ {2}line 5: invalid-relation: "document#can_publish" is not in the relation map: .*^ {2}line 5: invalid-relation/ms,
      /^Dry run of 5 lines: 4 would be imported, 1 refused; nothing was written$/m,
      /^5 lines .*: 4 created, 0 changed, 0 unchanged, 1 refused$/m,
      /^folder:plans +folder +grt_/m,
      new RegExp(
        `^${[
          'folder:plans\tfolder\tdocument:roadmap',
          'group:eng#member\tviewer\tfolder:plans',
          'user:ann\tmember\tgroup:eng',
          'user:bob\twriter\tdocument:roadmap',
        ].join('\n')}\n{$`,
        'm',
      ),
    ],
  },
  {
    page: 'docs/guides/many-changes.md',
    shown: 1,
    // The last call revokes what was revoked already.
    refused: 1,
    says: [
      // Ada becomes an editor and an owner; Bob becomes the owner in her place.
      /"editor".*"created":true.*"revocations":\[\{"revoked":true\}\]/,
      /"user:bob".*"created":true.*"revocations":\[\{"revoked":true\}\]/,
      /(\{"revoked":\d+,"complete":true\}\n?){5}[^\n]*grant-not-found[^\n]*$/,
    ],
  },
  { page: 'docs/guides/deleting-things.md', shown: 0, says: [/"complete":true.*"complete":true/s] },
  { page: 'docs/guides/keys-for-services.md', shown: 0, says: [/"name":"reports".*"key":"gk1_/] },
  {
    page: 'docs/guides/agents.md',
    shown: 2,
    // The server of tools ends with no page.
    asRun: (commands) => commands.replace(/^grantd mcp --http /gm, ': $&'),
  },
  { page: 'docs/guides/retrieval.md', shown: 2 },
  { page: 'docs/guides/authzen.md', shown: 6 },
];

/** Where the commands of further pages are run, or why they cannot be here. */
const RUN_ELSEWHERE = new Map([
  ['clients/README.md', 'test/clients'],
  ['clients/go/README.md', 'test/clients'],
  ['clients/java/README.md', 'test/clients'],
  ['clients/python/README.md', 'test/clients'],
  ['clients/typescript/README.md', 'test/clients'],
  ...['drive', 'code-hosting', 'chat', 'custom-roles', 'health', 'cloud-accounts'].map(
    (name) => [`docs/cookbook/${name}.md`, 'test/unit/cli/commands/model.test.ts'] as const,
  ),
  ['docs/guides/following-changes.md', 'they follow without an end'],
  ['docs/guides/lists.md', 'test/clients/lists.test.ts'],
  ['docs/guides/testing-applications.md', 'test/cli/testing'],
  ['docs/guides/testing-models.md', 'test/unit/cli/commands/model.test.ts'],
  ['docs/operating/cli.md', 'below: it begins with a tenant of its own'],
  ['docs/reference/api.md', 'test/conformance/code-samples.test.ts'],
  ['examples/lists-app/README.md', 'test/clients/lists.test.ts'],
]);

// One reader with one demo tenant: no page may leave behind what another one refuses or counts.
describe('the pages for application developers, by one reader in their order', () => {
  const checkout = join(folder, 'reader', 'grantd');
  before(async () => {
    makeUserCheckout(checkout);
    await newFolder('reader', 'grantd/.grantd');
    mkdirSync(join(folder, 'reader', 'bin'));
    symlinkSync(join(ROOT, 'bin', 'grantd'), join(folder, 'reader', 'bin', 'grantd'));
  });

  /** Runs steps in the checkout, on the oldest Node that pages ask for if it can be had. Returns what each prints. */
  async function runInCheckout(steps: readonly ShellStep[]): Promise<string[][]> {
    const { base_url: baseUrl, key } = readDevFacts(join(checkout, '.grantd'));
    const node = await oldestNode(NODE_20, 'the pages');
    const script = [linkedInstall(checkout), ...steps.map(({ commands }) => commands)]
      .join(`\n${NEXT}\n`)
      .replaceAll('http://127.0.0.1:8080', baseUrl)
      .replaceAll('3000', String(await freePort()))
      .replaceAll('9000', String(await freePort()))
      // A busy machine may need more.
      .replaceAll('timeoutMs: 2000', 'timeoutMs: 60_000');
    const { PATH, ...others } = testEnvironment(join(checkout, '.grantd'));
    const env = {
      ...others,
      // In the shell of a reader who has followed the tutorial, which exports these.
      GRANTD_URL: baseUrl,
      GRANTD_KEY: key,
      HOME: join(folder, 'reader'),
      PATH: `${join(folder, 'reader', 'bin')}:${dirname(node)}:${PATH}`,
    };
    // What a page leaves running is ended, for which bash knows its jobs.
    const [shell, trap] = / &$/m.test(script)
      ? ['bash', "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT"]
      : ['sh', ''];
    const { stdout } = await runScript([shell, '-euc', `${trap}\n${script}`], { cwd: checkout, env });
    return outputsIn(stdout).slice(1);
  }

  for (const { page, shown, asRun = (commands: string) => commands, refused = 0, says = [] } of READ_IN_ORDER) {
    it(`print what ${page} shows`, async () => {
      const steps = shellSteps(page)
        .filter(({ commands }) => commands !== '')
        .map((step) => ({ ...step, commands: asRun(step.commands) }));
      const outputs = await runInCheckout(steps);
      assert.equal(outputs.length, steps.length);
      assert.equal(steps.filter(({ printed }) => printed !== undefined).length, shown);
      const problems = steps.filter(({ commands, printed }, index) => {
        const output = outputs[index] ?? [];
        if (printed !== undefined) assert.deepEqual(asShown(output, printed), printed, commands);
        return printed === undefined && output.join('\n').includes('"status":');
      });
      assert.equal(problems.length, refused, problems.map(({ commands }) => commands).join('\n'));
      const text = outputs.flat().join('\n');
      for (const pattern of says) assert.match(text, pattern);
    });
  }

  it('leave the rules and the map that the guide from OpenFGA shows', () => {
    const page = readFileSync(join(ROOT, 'docs/guides/coming-from-openfga-or-spicedb.md'), 'utf8');
    const [, rules = ''] = /^```grantd\n(.*?)^```$/ms.exec(page) ?? [];
    const [, shown = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
    assert.equal(readFileSync(join(checkout, 'rules.grantd'), 'utf8'), rules);
    assert.deepEqual(JSON.parse(readFileSync(join(checkout, 'rules.relation-map.json'), 'utf8')), JSON.parse(shown));
  });

  it('are all the pages of their index with commands that one reader can follow', () => {
    const [, section = ''] =
      /^## Application developers$(.*?)^## /ms.exec(readFileSync(join(ROOT, 'docs/README.md'), 'utf8')) ?? [];
    const linked = [...section.matchAll(/\]\(([^)#\s]+\.md)/g)].map(([, path = '']) => join('docs', path));
    const withCommands = ['README.md', ...linked].filter(
      (page) => shellBlocks(page).length > 0 && !RUN_ELSEWHERE.has(page),
    );
    assert.deepEqual(
      READ_IN_ORDER.map(({ page }) => page),
      [...new Set(withCommands)],
    );
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
    const { stdout } = await runScript(['bash', '-euo', 'pipefail', '-c', script], { cwd: ROOT, env });
    assert.match(stdout, /^guarded$/m);
    // The export was written over what was imported first.
    assert.match(stdout, /^user:bob\tviewer\tdoc:readme$/m);
  });
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
