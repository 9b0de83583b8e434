// The runner of tests: what its words choose, that everything runs somewhere and once, and that a failure is one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { batchesOf } from '../../scripts/testing/batches.ts';
import { importersOf, touchedBy } from '../../scripts/testing/changes.ts';
import { parsePart, partOf, SelectionError, select } from '../../scripts/testing/selection.ts';
import { STEPS } from '../../scripts/testing/steps.ts';
import { listTestFiles, MEASURES_ITS_PROCESS, SUITES, type SuiteFile } from '../../scripts/testing/suites.ts';
import { ROOT, readText } from '../kit/source-tree.ts';

const all = listTestFiles();
const pathsOf = (files: readonly SuiteFile[]): string[] => files.map(({ path }) => path).sort();
const below = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).sort();
const namesOf = (each: readonly { readonly name: string }[]): string[] => each.map(({ name }) => name);

/** Runs the runner of a copy of the project that holds nothing but the runner and these tests. */
function runIn(tests: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), 'grantd-runner-'));
  try {
    for (const folder of ['src', 'tools']) symlinkSync(join(ROOT, folder), join(root, folder));
    for (const path of below('scripts/{test.ts,testing/*.ts}')) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), readText(path));
    }
    for (const [path, text] of Object.entries(tests)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), `import { it } from 'node:test';\n${text}`);
    }
    // As started by hand: this process is a test itself, of which the runner is to know nothing.
    const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...outer } = process.env;
    const env = { ...outer, GRANTD_TOOLS: root };
    return spawnSync(process.execPath, [join(root, 'scripts/test.ts'), ...args], { encoding: 'utf8', env });
  } finally {
    rmSync(root, { recursive: true });
  }
}

describe('npm test', () => {
  it('knows every test file, once, in a suite that has files', () => {
    assert.ok(all.length > 250);
    assert.deepEqual(pathsOf(all), below('test/**/*.test.ts'));
    assert.deepEqual(new Set(all.map(({ suite }) => suite.name)), new Set(namesOf(SUITES)));
  });

  it('has every suite in CONTRIBUTING.md, with when it runs, its time and what it protects', () => {
    const text = readText('CONTRIBUTING.md');
    for (const { name, runs } of SUITES)
      assert.match(text, new RegExp(`^\\| \`${name}\` +\\| ${runs} +\\| \\d+ (s|min) +\\| .{10}`, 'm'));
  });

  it('refuses a test file in the folder of no suite', () => {
    assert.throws(
      () => listTestFiles(['test/other/x.test.ts']),
      /test\/other\/x\.test\.ts is in the folder of no suite/,
    );
  });

  it('runs every step and every file, but for what needs a Kubernetes cluster or takes too long', () => {
    const { steps, files } = select([], all);
    assert.deepEqual(namesOf(steps), ['lint', 'types']);
    const left = below('test/{kubernetes,*/slow}/**/*.test.ts');
    assert.ok(left.length >= 4);
    assert.deepEqual([...pathsOf(files), ...left].sort(), pathsOf(all));
  });

  it('refuses a word that names nothing', () => {
    assert.throws(() => select(['unit', 'units'], all), SelectionError);
  });

  it('has parts that together are everything, once', () => {
    const whole = select([], all);
    const parts = [1, 2, 3, 4].map((index) => partOf(whole, { index, of: 4 }));
    assert.deepEqual(pathsOf(parts.flatMap(({ files }) => files)), pathsOf(whole.files));
    for (const name of ['lint', 'types']) {
      assert.equal(parts.filter(({ steps }) => namesOf(steps).includes(name)).length, 1);
    }
    for (const { files } of parts) assert.ok(files.length > whole.files.length / 5);
    assert.deepEqual(parsePart('2/4'), { index: 2, of: 4 });
    for (const text of ['0/4', '5/4', '1', 'x/2', '1/0']) assert.throws(() => parsePart(text), SelectionError);
  });

  it('gives each file that judges times the machine to itself, after the others', () => {
    const batches = batchesOf(all, new Map(), 2);
    const first = batches.findIndex(({ isExclusive }) => isExclusive);
    for (const [index, { files, isExclusive }] of batches.entries()) {
      assert.equal(isExclusive, index >= first);
      for (const { suite } of files) assert.equal(suite.runs === 'alone' || suite.runs === 'on-request', isExclusive);
    }
    assert.deepEqual(pathsOf(batches.flatMap(({ files }) => files)), pathsOf(all));
  });

  it('gives each test that measures its process one of its own', () => {
    const importers = below('test/unit/**/*.test.ts').filter((path) => readText(path).includes('/live-bytes.ts'));
    assert.deepEqual(importers, MEASURES_ITS_PROCESS);
    const alone = batchesOf(all, new Map(), 2).filter(({ isShared }) => !isShared);
    const own = new Set(alone.flatMap(({ files }) => files.map(({ path }) => path)));
    assert.ok(importers.every((path) => own.has(path)));
  });
});

describe('npm test -- --changed', () => {
  const files = listTestFiles([
    'test/unit/a.test.ts',
    'test/unit/b.test.ts',
    'test/chart/c.test.ts',
    'test/tidy/d.test.ts',
  ]);
  const importers = importersOf(
    new Map([
      ['src/core/x.ts', "import type { Y } from './y.ts';\nexport { z } from './z.ts';"],
      ['test/kit/k.ts', "import {\n  x,\n} from '../../src/core/x.ts';"],
      ['test/unit/a.test.ts', "import { k } from '../kit/k.ts';"],
      [
        'test/unit/b.test.ts',
        "const x = await import('../../src/core/z.ts');\nnew URL('../../src/main.ts', import.meta.url);",
      ],
      ['src/main.ts', "import './core/y.ts';"],
    ]),
  );
  const touched = (...paths: readonly string[]): string[] => pathsOf(touchedBy(paths, files, importers));

  it('chooses what imports a changed file, however far away, and the tests that read all text', () => {
    assert.deepEqual(touched('src/core/y.ts'), ['test/tidy/d.test.ts', 'test/unit/a.test.ts']);
    assert.deepEqual(touched('src/core/z.ts'), ['test/tidy/d.test.ts', 'test/unit/a.test.ts', 'test/unit/b.test.ts']);
    assert.deepEqual(touched('test/unit/b.test.ts'), ['test/tidy/d.test.ts', 'test/unit/b.test.ts']);
  });

  it('chooses the suite that reads a changed file without importing it', () => {
    assert.deepEqual(touched('charts/grantd/values.yaml'), ['test/chart/c.test.ts', 'test/tidy/d.test.ts']);
  });
});

describe('the runner', () => {
  const failuresOf = (stdout: string) =>
    [...stdout.slice(stdout.indexOf('\nFailed:')).matchAll(/^ {2}✖ (.*)$/gm)].map(([, what]) => what);
  const withRuns = <Result>(use: (path: string) => Result): Result => {
    const directory = mkdtempSync(join(tmpdir(), 'grantd-judged-'));
    try {
      process.env.RUNS = join(directory, 'runs');
      return use(process.env.RUNS);
    } finally {
      delete process.env.RUNS;
      rmSync(directory, { recursive: true });
    }
  };
  /** Of its two tests, one cannot judge at first, and then does what `second` says. */
  const undecided = (second: string) => `
    import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
    import { describe } from 'node:test';
    describe('suite', () => {
      it('judges (twice)', () => {
        const mark = process.env.RUNS + process.argv[1].replaceAll('/', '-');
        const isFirst = !existsSync(mark);
        writeFileSync(mark, '');
        if (isFirst) throw new Error('inconclusive: strain 4.2');
        ${second}
      });
      it('other', () => appendFileSync(process.env.RUNS, 'o'));
    });`;

  it('ends with 0 where all pass, also a test that could judge only when it was run once more', () => {
    withRuns((runs) => {
      const shares = "it('passes', () => { if (process.env.TEST_CASSANDRA === undefined) throw 1; });";
      const { status, stdout, stderr } = runIn(
        { 'test/unit/good.test.ts': shares, 'test/image/undecided.test.ts': undecided('') },
        'unit',
        'image',
      );
      assert.equal(status, 0, stdout + stderr);
      assert.match(stdout, /✔ test\/unit\/good\.test\.ts \(1 in/);
      assert.doesNotMatch(stdout, /shared Cassandra/);
      assert.equal(readFileSync(runs, 'utf8'), 'o', 'what has passed is not run again');
      assert.match(stdout, /\n3 passed, 0 failed, 0 skipped\n$/);
    });
  });

  it('ends with 1 and names what failed: a test, a file that cannot be loaded, what fails when it is judged again', () => {
    withRuns(() => {
      const { status, stdout } = runIn(
        {
          'test/unit/good.test.ts': "it('passes', () => {});",
          'test/image/bad.test.ts': "it('fails', () => { throw 1; });",
          'test/model/unloaded.test.ts': "import './nowhere.ts';",
          'test/image/late.test.ts': undecided("throw new Error('late');"),
          'test/cli/promises.test.ts': `
            import assert from 'node:assert/strict';
            import { after, describe } from 'node:test';
            import { setImmediate as turn } from 'node:timers/promises';
            it('follows none', async () => {
              await turn();
              assert.deepEqual(Object.getOwnPropertySymbols(Promise.resolve()), []);
            });
            let ended = 0;
            describe('suite', async () => {
              await turn();
              it('outer', async (context) => {
                await turn();
                after(() => { ended += 1; });
                await context.test('inner', async () => {
                  await turn();
                  after(() => { ended += 1; });
                });
                assert.equal(ended, 1);
              });
              it('after it', () => assert.equal(ended, 2));
            });
            it('rejects', async () => {
              await turn();
              Promise.reject(new Error('aside'));
              await new Promise(() => {});
            });
            it('throws', async () => {
              await turn();
              setTimeout(() => { throw new Error('aside'); }, 1);
              await new Promise(() => {});
            });
            it('emits', async () => {
              await turn();
              process.nextTick(() => { throw new Error('aside'); });
              await new Promise(() => {});
            });`,
        },
        ...['unit', 'image', 'model', 'cli'],
      );
      assert.equal(status, 1, stdout);
      const failures = failuresOf(stdout).map((failure) => failure?.replace(/:\d+/, ''));
      assert.deepEqual(failures.toSorted(), [
        'test/cli/promises.test.ts emits',
        'test/cli/promises.test.ts rejects',
        'test/cli/promises.test.ts throws',
        'test/image/bad.test.ts fails',
        'test/image/late.test.ts suite › judges (twice)',
        'test/model/unloaded.test.ts the file as a whole',
      ]);
      assert.match(stdout, /cli {2,}[\d.]+ s +[\d.]+ s {2}7 tests in 1 files/);
    });
  });

  it('names the file that leaves something to the next one in its process, and what', () => {
    const { status, stdout } = runIn(
      {
        'test/unit/a.test.ts': "it('a', () => { process.env.LEFT = '1'; JSON.parse = () => 1; });",
        'test/unit/b.test.ts': "it('b', () => { if (process.env.LEFT === '1') throw 1; });",
        'test/unit/c.test.ts': "it('c', () => { setImmediate(() => { throw new Error('late'); }); });",
        'test/unit/d.test.ts': "import { after } from 'node:test';\nafter(() => { throw 1; });\nit('d', () => {});",
      },
      'unit',
    );
    assert.equal(status, 1);
    assert.deepEqual(failuresOf(stdout).slice(0, 4), [
      'test/unit/a.test.ts leaves nothing behind in its process',
      'test/unit/b.test.ts:2 b',
      'test/unit/c.test.ts leaves nothing behind in its process',
      'test/unit/d.test.ts the file as a whole',
    ]);
    const atTheEnd = stdout.slice(stdout.indexOf('\nFailed:'));
    assert.match(atTheEnd, /^ {6}It left: JSON\.parse; the environment's LEFT\.$/m);
    assert.match(stdout, /It left: the exit code\./);
  });

  it('fails every file whose process ends before it', () => {
    const ends = "import { describe } from 'node:test';\ndescribe('a', () => it('ends', () => process.exit(0)));";
    const files = { 'test/unit/a.test.ts': ends, 'test/unit/b.test.ts': "it('b', () => {});" };
    const { status, stdout } = runIn(files, 'unit');
    assert.equal(status, 1);
    const failures = failuresOf(stdout);
    for (const path of Object.keys(files)) {
      assert.ok(
        failures.some((failure) => failure?.startsWith(`${path} did not end before its process`)),
        stdout,
      );
    }
  });

  it('lists without running, helps, and refuses what there is not with status 2', () => {
    const tests = { 'test/unit/bad.test.ts': 'throw new Error();' };
    const listed = runIn(tests, 'types', 'unit', '--list');
    assert.deepEqual([listed.status, listed.stdout], [0, 'types\ntest/unit/bad.test.ts\n'], listed.stderr);
    const help = runIn(tests, '--help');
    assert.equal(help.status, 0);
    for (const { name } of [...SUITES, ...STEPS]) assert.match(help.stdout, new RegExp(`\\b${name}\\b`));
    for (const args of [['units'], ['--part', '3/2'], ['--some']]) {
      const refused = runIn(tests, ...args);
      assert.equal(refused.status, 2, refused.stdout);
      assert.notEqual(refused.stderr, '');
    }
  });
});
