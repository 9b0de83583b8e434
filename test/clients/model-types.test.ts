// What `grantd rules types` writes: with it, a misspelled name does not compile, in each of the languages.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { revised } from '../../packages/cli/src/tenant-rules.ts';
import { type Language, modelTypesOf, renderTypes } from '../../packages/cli/src/types/render-types.ts';
import { parseRuleSet } from '../../src/rules/parse-rule-set.ts';
import { reportMissing } from '../../tools/engines/engine-script.ts';
import { provideJava, QUICK_JAVAC } from '../../tools/engines/java.ts';
import { installPythonTool, PYTHON_CLIENT } from '../../tools/engines/python-tool.ts';
import { ROOT } from '../kit/source-tree.ts';

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'grantd-types-'));
after(() => rmSync(directory, { recursive: true }));

const RULES = parseRuleSet({
  relations: ['approved', 'class'],
  states: ['archived'],
  conditions: [
    {
      name: 'office_hours',
      parameters: { now: 'timestamp', hours: 'list<int>', any: 'any', by_day: 'map<list<double>>' },
      expression: 'hours.size() > 0 && by_day.size() > 0 && any == any && now == now',
    },
  ],
  rules: [
    { namespace: 'document', name: 'can_read', any_of: ['viewer'] },
    { namespace: 'document', name: 'can.read', any_of: ['viewer'] },
    { namespace: 'doc-archive', name: 'can_open', any_of: ['approved'] },
  ],
});
const typesIn = (language: Language): string => renderTypes(modelTypesOf(revised(RULES), ['user']), language, 'model');

function write(name: string, text: string): string {
  const file = join(directory, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
}

test('TypeScript', async () => {
  write('ts/model.ts', typesIn('typescript'));
  write(
    'ts/use.ts',
    `import { Grantd } from '@grantd/client';
import type { Client, Conditions } from './model.ts';
const grantd: Client = new Grantd({ url: '', key: '' });
const id: string = 'plan';
export const right = async () => {
  await grantd.check({ subject: 'user:ada', relation: 'can_read', object: \`document:\${id}\`, context: { hour: 1 } });
  await grantd.check({ subject: 'user:ada', relation: 'class', object: 'doc-archive:a' });
  await grantd.checkBulk({ checks: [{ subject: 'user:ada', relation: 'can_open', object: 'doc-archive:a' }] });
  await grantd.createGrant({ subject: 'user:ada', relation: 'approved', object: 'document:plan', condition: null });
  await grantd.createGrant({ subject: '*', relation: 'archived', object: 'document:plan' });
  await grantd.check({ subject: 'user:ada', relation: 'archived', object: 'document:plan' });
  const context: Conditions['office_hours'] = { now: '2026-01-01T00:00:00Z', hours: [1, '2'], by_day: { mo: [1] } };
  await grantd.createGrant({
    subject: 'user:ada', relation: 'viewer', object: 'document:plan', condition: { name: 'office_hours', context },
  });
  for await (const object of grantd.listObjects({ subject: 'user:ada', relation: 'can_read', namespace: 'document' })) {
    console.log(object);
  }
  for await (const subject of grantd.listSubjects({ object: 'document:plan', relation: 'can_read' })) console.log(subject);
  await grantd.readRules();
};
export const wrong = async () => {
  // @ts-expect-error a misspelled name
  await grantd.check({ subject: 'user:ada', relation: 'can_raed', object: 'document:plan' });
  // @ts-expect-error a name of another namespace
  await grantd.check({ subject: 'user:ada', relation: 'can_open', object: 'document:plan' });
  // @ts-expect-error an unknown namespace
  await grantd.check({ subject: 'user:ada', relation: 'viewer', object: 'documnet:plan' });
  // @ts-expect-error a name that cannot be granted
  await grantd.createGrant({ subject: 'user:ada', relation: 'can_read', object: 'document:plan' });
  // @ts-expect-error a state is granted to all subjects
  await grantd.createGrant({ subject: 'user:ada', relation: 'archived', object: 'document:plan' });
  // @ts-expect-error an unknown parameter
  await grantd.createGrant({ subject: 'user:ada', relation: 'viewer', object: 'document:plan', condition: { name: 'office_hours', context: { hour: 1 } } });
  // @ts-expect-error a name of another namespace
  await grantd.checkBulk({ checks: [{ subject: 'user:ada', relation: 'can_open', object: 'document:plan' }] });
  // @ts-expect-error a misspelled name
  grantd.listObjects({ subject: 'user:ada', relation: 'can_raed' });
  // @ts-expect-error a misspelled name
  grantd.listSubjects({ object: 'document:plan', relation: 'can_raed' });
};
`,
  );
  const client = join(ROOT, 'clients/typescript/src/exports.ts');
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'nodenext',
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: [],
    paths: { '@grantd/client': [client] },
  };
  const project = write('ts/tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project]).catch(({ stdout }) => assert.fail(stdout));
});

const has = async (command: string): Promise<boolean> =>
  run(command, ['version']).then(
    () => true,
    () => false,
  );
const hasGo = await has('go');
if (!hasGo) reportMissing('Go', 'there is no go');

describe('Go', { skip: !hasGo }, () => {
  const use = (name: string): string => `package main

import "example.org/app/model"

func main() { println(model.Document("plan"), ${name}, model.StateArchived, model.ConditionOfficeHours, model.OfficeHoursNow) }
`;
  const build = async (name: string): Promise<string> => {
    write('go/go.mod', 'module example.org/app\n\ngo 1.24\n');
    write('go/model/model.go', typesIn('go'));
    write('go/main.go', use(name));
    const environment = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
    return run('go', ['vet', './...'], { cwd: join(directory, 'go'), env: environment }).then(
      () => '',
      ({ stderr }) => String(stderr),
    );
  };

  test('constants, in the layout of gofmt', async () => {
    assert.equal(await build('model.DocumentCanRead'), '');
    assert.equal((await run('gofmt', ['-l', join(directory, 'go', 'model')])).stdout, '');
    assert.match(await build('model.DocumentCanRaed'), /undefined: model\.DocumentCanRaed/);
  });
});

const hasJava = await provideJava();
if (!hasJava) reportMissing('Java', 'It needs Java 17.');

describe('Java', { skip: !hasJava }, () => {
  const build = async (name: string): Promise<string> => {
    const model = write('java/model/Model.java', typesIn('java'));
    const use = write(
      'java/Use.java',
      `import model.Model;
class Use {
    String[] names = {Model.Document.of("plan"), ${name}, Model.Conditions.OFFICE_HOURS, Model.OfficeHoursParameters.NOW,
        Model.Relations.CLASS, Model.States.ARCHIVED, Model.DocArchive.CAN_OPEN, Model.Document.CAN_READ2};
}
`,
    );
    const options = [
      ...QUICK_JAVAC,
      '-Xlint:all',
      '-Werror',
      '-Xdoclint:all,-missing',
      '-d',
      join(directory, 'java/out'),
    ];
    return run('javac', [...options, model, use]).then(
      () => '',
      ({ stderr }) => String(stderr),
    );
  };

  test('constants', async () => {
    assert.equal(await build('Model.Document.CAN_READ'), '');
    assert.match(await build('Model.Document.CAN_RAED'), /cannot find symbol/);
  });
});

const python = await installPythonTool(PYTHON_CLIENT).catch((error: unknown) => {
  reportMissing('the Python client', error instanceof Error ? error.message : String(error));
  return undefined;
});

describe('Python', { skip: python === undefined }, () => {
  test('constants and literal types', async () => {
    write('py/model.py', typesIn('python'));
    write(
      'py/use.py',
      `from model import Document, DocumentName, OfficeHoursParameters, Relation, State, States, document
right: DocumentName = "can_read"
asked: DocumentName = "archived"
state: State = States.archived
granted: Relation = "archived"  # type: ignore[assignment]
names: list[str] = [Document.can_read, Document.can_read2, Document.class_, document("plan")]
context: OfficeHoursParameters = {"now": "2026-01-01T00:00:00Z", "hours": [1, "2"], "by_day": {"mo": [1.5]}}
wrong: DocumentName = "can_raed"  # type: ignore[assignment]
Document.can_raed  # type: ignore[attr-defined]
misspelled: OfficeHoursParameters = {"noww": ""}  # type: ignore[typeddict-unknown-key]
`,
    );
    const { command = '', environment = {} } = python ?? {};
    const options = { cwd: join(directory, 'py'), env: { ...process.env, ...environment } };
    const mypy = ['-m', 'mypy', '--strict', '--cache-dir', join(directory, 'mypy'), 'use.py'];
    await run(command, mypy, options).catch(({ stdout }) => assert.fail(stdout));
  });
});

test('the same rules and namespaces give the same text, with the revision of the rules', () => {
  assert.equal(typesIn('go'), typesIn('go'));
  const other = parseRuleSet({ rules: [{ namespace: 'document', name: 'can_read', any_of: ['editor'] }] });
  const text = renderTypes(modelTypesOf(revised(other), []), 'typescript', 'model');
  assert.match(text, /revision [0-9a-f]{32}\. Do not edit/);
  assert.match(text, /export type Conditions = Record<never, never>;/);
  assert.doesNotMatch(text, /\bState\b/);
});
