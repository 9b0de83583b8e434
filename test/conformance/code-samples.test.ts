// The samples of the reference: those for curl are run as they stand against a real service, those for the clients are
// compiled against the clients of this repository.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type ReferenceOperation, readReference } from '../../scripts/docs/reference.ts';
import { createCommittedOpenapi } from '../../src/http/openapi/openapi.ts';
import { EXAMPLE_KEY_ID, EXAMPLE_TUPLE } from '../../src/http/schema/examples.ts';
import { reportMissing } from '../../tools/engines/engine-script.ts';
import { provideJava, QUICK_JAVAC } from '../../tools/engines/java.ts';
import { useHttpService } from '../kit/http-service.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const COMPILE_MS_MAX = 300_000;

const operations = readReference(createCommittedOpenapi()).sections.flatMap((section) => section.operations);
const sourceOf = ({ samples }: ReferenceOperation, label: string): string =>
  samples.find((sample) => sample.label === label)?.source ?? '';
const sourcesIn = (label: string): string[] =>
  operations.map((each) => sourceOf(each, label)).filter((text) => text !== '');

/** Clients are generated from it. */
const WITHOUT_CLIENTS = ['readOpenapi'];

/** The grants that the samples are about. */
const PRESUMED = ['viewer', 'editor'].map((relation) => ({ ...EXAMPLE_TUPLE, relation }));

describe('the samples of every operation', () => {
  it('are there in all languages', () => {
    for (const operation of operations) {
      const labels = operation.samples.map(({ label }) => label);
      const all = WITHOUT_CLIENTS.includes(operation.id) ? ['curl'] : ['curl', 'TypeScript', 'Go', 'Python', 'Java'];
      assert.deepEqual(labels, all, operation.id);
    }
  });
});

describe('the samples for curl', async () => {
  const service = await useHttpService();

  it('succeed as they stand, and answer with what the reference shows', async () => {
    const { tenantId, key } = await service.createTenant();
    const spare = await service.createKey(tenantId, { scopes: ['check:read'] });
    const env = { ...process.env, GRANTD_URL: service.baseUrl, GRANTD_KEY: key };
    for (const operation of operations) {
      // What the samples change, each of them finds as the first one did.
      const made = await service.send({ method: 'POST', path: '/v1/grants/bulk', key, body: { grants: PRESUMED } });
      assert.equal(made.status, 200, made.text);
      const command = sourceOf(operation, 'curl').replaceAll(EXAMPLE_KEY_ID, spare.keyId);
      const { stdout } = await run('bash', ['-euc', `${command} -w '\n%{http_code}'`], { env, maxBuffer: 1e7 });
      const [, body = '', status = ''] = /^(.*)\n(\d{3})$/s.exec(stdout) ?? [];
      const success = operation.successes.find((each) => each.status === status);
      assert.ok(success !== undefined, `${operation.id}: ${stdout}`);
      const shown = success.bodies[0]?.example;
      if (shown === undefined) continue;
      assert.deepEqual(Object.keys(JSON.parse(body)).sort(), Object.keys(JSON.parse(shown)).sort(), operation.id);
    }
  });
});

const JAVA_SOURCES = 'clients/java/client/src/main/java';
const hasJava = await provideJava();
if (!hasJava) reportMissing('the samples for the Java client', 'It needs Java 17.');

/** The source of what the package exports: `./dist/x.js` is built from `src/x.ts`. */
function entryOf(client: string): string {
  const { exports }: { readonly exports: { readonly '.': { readonly default: string } } } = JSON.parse(
    readFileSync(join(client, 'package.json'), 'utf8'),
  );
  return exports['.'].default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
}

/** What the samples of a client become in a file, and how that is compiled; for clients that are in the repository. */
const CLIENTS = [
  {
    label: 'TypeScript',
    folder: 'clients/typescript',
    file: 'samples.mts',
    textOf: (client: string, sources: readonly string[]) =>
      [
        `import type { Grantd } from '${client}/${entryOf(client)}';`,
        'declare const grantd: Grantd;',
        ...sources.map((source) => `{\n${source}\n}`),
      ].join('\n'),
    command: (file: string) => [
      join(ROOT, 'node_modules/.bin/tsc'),
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      ...['--target', 'esnext', '--module', 'nodenext', '--allowImportingTsExtensions'],
      ...['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')],
      file,
    ],
  },
  {
    label: 'Go',
    folder: 'clients/go',
    file: 'samples.go',
    textOf: (_client: string, sources: readonly string[]) =>
      [
        'package samples',
        'import (\n"context"\n"fmt"\n"github.com/grantd/grantd/clients/go"\n)',
        'var ctx = context.Background()\nvar client *grantd.Client\nvar _ = fmt.Sprint',
        ...sources.map((source, index) => {
          const named = [...source.matchAll(/^(\w+(?:, \w+)*) := /gm)].flatMap(([, names = '']) => names.split(', '));
          return `func sample${index}() {\n${source}\n${named.map((name) => `_ = ${name}\n`).join('')}}`;
        }),
      ].join('\n'),
    command: (file: string) => ['go', 'vet', file],
  },
  {
    label: 'Python',
    folder: 'clients/python',
    file: 'samples.py',
    // A call that the client would not take fails against its specification, without any service.
    textOf: (client: string, sources: readonly string[]) =>
      [
        `import sys; sys.path.insert(0, ${JSON.stringify(`${client}/src`)})`,
        'from inspect import signature',
        'from unittest.mock import MagicMock',
        // The libraries of the client are not needed to read the signatures.
        "sys.modules['certifi'] = sys.modules['h11'] = MagicMock()",
        'import ast, grantd',
        `for source in ${JSON.stringify(sources)}:`,
        '    for call in ast.walk(ast.parse(source)):',
        '        if not isinstance(call, ast.Call) or getattr(call.func, "value", None) is None: continue',
        '        if getattr(call.func.value, "id", "") != "client": continue',
        '        method = getattr(grantd.Grantd, call.func.attr)',
        '        signature(method).bind(None, *call.args, **{word.arg: word.value for word in call.keywords})',
      ].join('\n'),
    command: (file: string) => ['python3', file],
  },
  {
    label: 'Java',
    folder: JAVA_SOURCES,
    file: 'Samples.java',
    textOf: (_client: string, sources: readonly string[]) =>
      [
        'import io.github.grantd.*;\nimport java.util.*;',
        'class Samples {',
        ...sources.map((source, index) => `void sample${index}(Grantd grantd) {\n${source}\n}`),
        '}',
      ].join('\n'),
    command: (file: string) => [
      'javac',
      ...QUICK_JAVAC,
      ...['--release', '17', '-proc:none', '-implicit:none', '-sourcepath', join(ROOT, JAVA_SOURCES)],
      ...['-d', dirname(file), file],
    ],
  },
];

describe('the samples for the clients', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-samples-'));
  after(() => rmSync(directory, { recursive: true, force: true }));

  for (const { label, folder, file, textOf, command } of CLIENTS.filter((each) =>
    existsSync(join(ROOT, each.folder)),
  )) {
    const skip = label === 'Java' && !hasJava;
    it(`compile against the client for ${label}`, { skip, timeout: COMPILE_MS_MAX }, () => {
      const path = join(directory, file);
      const client = join(ROOT, folder);
      writeFileSync(path, textOf(client, sourcesIn(label)));
      // For Go: the client of this repository in place of a published one.
      const module = 'github.com/grantd/grantd/clients/go';
      const replaced = `module samples\ngo 1.24\nrequire ${module} v0.0.0\nreplace ${module} => ${client}\n`;
      writeFileSync(join(directory, 'go.mod'), replaced);
      const [program = '', ...args] = command(path);
      const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
      assert.equal(status, 0, `${stdout}${stderr}`);
    });
  }
});
