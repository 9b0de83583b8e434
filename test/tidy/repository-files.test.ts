// The files that a site for repositories and editors read: each is what its schema allows, and the workflows run every
// test with no more rights than they need.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';
import { SUITES } from '../../scripts/testing/suites.ts';
import { listFiles, readText } from '../kit/source-tree.ts';

const schemas: Record<'workflow' | 'form' | 'formConfig' | 'devcontainer' | 'dependabot', object> = JSON.parse(
  gunzipSync(readFileSync(join(import.meta.dirname, 'support', 'repository-schemas.json.gz'))).toString(),
);
const LENIENT = { strict: false, allErrors: true, validateFormats: false } as const;
const validators = {
  workflow: new Ajv(LENIENT).compile(schemas.workflow),
  form: new Ajv(LENIENT).compile(schemas.form),
  formConfig: new Ajv(LENIENT).compile(schemas.formConfig),
  devcontainer: new Ajv2019(LENIENT).compile(schemas.devcontainer),
  dependabot: new Ajv(LENIENT).compile(schemas.dependabot),
};

/** What names versions of others, by the ecosystem of Dependabot that finds it. */
const ECOSYSTEMS: readonly (readonly [ecosystem: string, path: RegExp])[] = [
  ['npm', /(^|\/)package\.json$/],
  ['pip', /(^|\/)([\w-]*requirements[\w-]*\.txt|pyproject\.toml)$/],
  ['gomod', /(^|\/)go\.mod$/],
  ['maven', /(^|\/)pom\.xml$/],
  ['docker', /(^|\/)Dockerfile$|^k8s\/stores\/(cassandra|redis)\.yaml$/],
  ['docker-compose', /(^|\/)compose(\.\w+)?\.yaml$/],
  ['github-actions', /^\.github\/(workflows|actions\/\w+)\/[\w-]+\.ya?ml$/],
  ['devcontainers', /^\.devcontainer\/devcontainer\.json$/],
];

interface Job {
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: { readonly part?: readonly string[]; readonly run?: readonly string[] } };
  readonly steps: readonly {
    readonly if?: string;
    readonly uses?: string;
    readonly run?: string;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FORMS = '.github/ISSUE_TEMPLATE';
const DEPENDABOT = '.github/dependabot.yml';
const files = listFiles().filter((path) => path.startsWith('.github/') || path.startsWith('.devcontainer/'));
const workflows = files.filter((path) => path.startsWith('.github/workflows/'));
const readWorkflow = (path: string): Workflow => parse(readText(path));

function kindOf(path: string): keyof typeof validators | undefined {
  if (workflows.includes(path)) return 'workflow';
  if (path === `${FORMS}/config.yml`) return 'formConfig';
  if (path === DEPENDABOT) return 'dependabot';
  if (path.startsWith(FORMS)) return 'form';
  return path.endsWith('devcontainer.json') ? 'devcontainer' : undefined;
}

describe('the files for sites and editors', () => {
  it('are what their schemas allow', () => {
    const kinds = files.flatMap((path) => {
      const kind = kindOf(path);
      if (kind === undefined) return [];
      const validate = validators[kind];
      assert.equal(validate(parse(readText(path))), true, `${path}: ${JSON.stringify(validate.errors, undefined, 1)}`);
      return [kind];
    });
    assert.deepEqual(kinds.toSorted(), [
      'dependabot',
      'devcontainer',
      'form',
      'form',
      'formConfig',
      'workflow',
      'workflow',
      'workflow',
      'workflow',
    ]);
    assert.equal(validators.workflow({ on: 'push', jobs: { a: { 'runs-on': 'x', step: [] } } }), false);
    assert.equal(validators.form({ name: 'x', description: 'y', body: [{ type: 'inputs' }] }), false);
    assert.equal(validators.formConfig({ blank_issues: true }), false);
    assert.equal(validators.devcontainer({ image: 5 }), false);
    assert.equal(
      validators.dependabot({ version: 2, updates: [{ 'package-ecosystem': 'npm', directory: '/' }] }),
      false,
    );
  });

  it('run every part of the tests, and name none twice', () => {
    const { part } = readWorkflow('.github/workflows/test.yaml').jobs;
    const parts = part?.strategy?.matrix.part ?? [];
    assert.deepEqual(
      parts,
      parts.map((_, index) => `${index + 1}/${parts.length}`),
    );
    assert.ok(part?.steps.some(({ run }) => /npm test -- --part \$\{\{ matrix\.part \}\}/.test(run ?? '')));
  });

  it('run every night each suite that runs only when it is named, and keep the logs of what failed', () => {
    const { jobs } = readWorkflow('.github/workflows/nightly.yaml');
    const commands = Object.values(jobs).flatMap(({ strategy, steps }) => [
      ...(strategy?.matrix.run ?? []),
      ...steps.map(({ run = '' }) => run),
    ]);
    const named = commands.flatMap((command) => /\btest -- (\S+)/.exec(command)?.[1] ?? []);
    const onRequest = SUITES.filter(({ runs }) => runs === 'on-request').map(({ name }) => name);
    assert.deepEqual(named.toSorted(), onRequest.toSorted());
    for (const script of ['simulate', 'fuzz', 'soak']) {
      assert.ok(
        commands.some((command) => command.startsWith(`run ${script} -- `)),
        script,
      );
    }
    for (const { steps } of Object.values(jobs)) {
      assert.ok(
        steps.some(({ uses, if: condition }) => uses?.includes('/upload-artifact@') && condition === 'failure()'),
      );
    }
  });

  it('give a workflow no right that it does not name, an end, and no credentials to the code that it runs', () => {
    for (const path of workflows) {
      const { on, permissions, jobs } = readWorkflow(path);
      assert.deepEqual(permissions, { contents: 'read' }, path);
      assert.ok(!Object.keys(on).includes('pull_request_target'), path);
      for (const [name, job] of Object.entries(jobs)) {
        assert.ok((job['timeout-minutes'] ?? 0) > 0, `${path}: ${name}`);
        const rights = job.permissions ?? {};
        if (Object.keys(on).includes('pull_request')) assert.deepEqual(rights, {}, `${path}: ${name}`);
        for (const { uses, with: given } of job.steps) {
          if (uses?.startsWith('actions/checkout@')) assert.equal(given?.['persist-credentials'], false, name);
        }
      }
    }
  });

  it('ask for updates of everything that is pinned: packages, images, actions', () => {
    const { updates }: { updates: { 'package-ecosystem': string; directories: string[] }[] } = parse(
      readText(DEPENDABOT),
    );
    const asked = new Set(
      updates.flatMap(({ 'package-ecosystem': ecosystem, directories }) =>
        directories.map((directory) => `${ecosystem} ${directory}`),
      ),
    );
    const { workspaces }: { workspaces: string[] } = JSON.parse(readText('package.json'));
    const pinned = listFiles().flatMap((path) => {
      const folder = `/${dirname(path).replace(/^\.$/, '')}`;
      const isWorkspace = workspaces.some((each) => folder === `/${each}`);
      return ECOSYSTEMS.filter(([, pattern]) => pattern.test(path))
        .filter(([ecosystem]) => ecosystem !== 'npm' || !isWorkspace)
        .map(([ecosystem]) => `${ecosystem} ${/^\/\.(github\/workflows|devcontainer)$/.test(folder) ? '/' : folder}`);
    });
    assert.ok(pinned.length > 10);
    assert.deepEqual(
      [...new Set(pinned)].filter((each) => !asked.has(each)),
      [],
    );
  });

  it('have the programs that Debian has for `npm test` in the dev container', () => {
    const { onCreateCommand, features } = JSON.parse(readText('.devcontainer/devcontainer.json'));
    const packages = onCreateCommand.split('--no-install-recommends ')[1].split(' ');
    const engines = listFiles().filter((path) => /^tools\/engines\/[^/]+\.ts$/.test(path));
    const wanted = engines.flatMap((path) =>
      [...readText(path).matchAll(/\b(?:missing|provide)Program\((?:what, )?'([\w-]+)'/g)].map(([, name = '']) => name),
    );
    assert.ok(wanted.length >= 3, String(wanted));
    const ofFeatures = new Set(['java', 'javac', 'mvn']);
    const packageOf = (name: string): string => (name === 'pg_ctlcluster' ? 'postgresql' : name);
    for (const each of [
      ...wanted.filter((name) => !ofFeatures.has(name)).map(packageOf),
      'chromium-headless-shell',
      'fonts-dejavu-core',
      'python3-venv',
    ])
      assert.ok(packages.includes(each), each);
    const names = Object.keys(features).map((each) => /\/(\w+):\d+$/.exec(each)?.[1]);
    assert.deepEqual(names.toSorted(), ['go', 'java', 'node']);
  });

  it('run actions of others by the commit that was read, and say its version', () => {
    for (const path of [...workflows, '.github/actions/setup/action.yml']) {
      const uses = readText(path)
        .split('\n')
        .filter((line) => /^\s*(- )?uses: [^.]/.test(line));
      assert.ok(uses.length > 0, path);
      for (const line of uses) assert.match(line, /uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, path);
    }
  });
});
