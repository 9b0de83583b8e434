// The runner of tests: what its words choose, that everything runs somewhere and once, and that a failure is one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, { globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { importersOf, touchedBy } from '../../scripts/testing/changes.ts';
import { readDurations, writeDurations } from '../../scripts/testing/durations.ts';
import { watchLeftovers } from '../../scripts/testing/leftovers.ts';
import { Report, type TestEvent } from '../../scripts/testing/report.ts';
import { groupsOf } from '../../scripts/testing/run-files.ts';
import { parsePart, partOf, SelectionError, select } from '../../scripts/testing/selection.ts';
import { STEPS } from '../../scripts/testing/steps.ts';
import { listTestFiles, MEASURES_ITS_PROCESS, SUITES, type SuiteFile } from '../../scripts/testing/suites.ts';
import { ROOT, readText } from '../kit/source-tree.ts';

const all = listTestFiles();
const pathsOf = (files: readonly SuiteFile[]): string[] => files.map(({ path }) => path).sort();
const chosen = (...words: readonly string[]): string[] => pathsOf(select(words, all).files);
const below = (pattern: string): string[] => globSync(pattern, { cwd: ROOT }).sort();
const namesOf = (each: readonly { readonly name: string }[]): string[] => each.map(({ name }) => name);

/** Runs the runner of a copy of the project that holds nothing but the runner and these tests. */
function runIn(tests: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), 'grantd-runner-'));
  try {
    symlinkSync(join(ROOT, 'src'), join(root, 'src'));
    for (const path of below('scripts/{test.ts,testing/*.ts}')) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), readText(path));
    }
    for (const [path, text] of Object.entries(tests)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), `import { it } from 'node:test';\n${text}`);
    }
    // As started by hand: this process is a test itself, of which the runner is to know nothing.
    const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...env } = process.env;
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

  it('has every folder in CONTRIBUTING.md, with what belongs there', () => {
    const rows = [...readText('CONTRIBUTING.md').matchAll(/^\| (`(?:test|tools)\/[^|]*) +\|/gm)].map(
      ([, cell]) => cell ?? '',
    );
    const named = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, folder]) => folder)).sort();
    const suites = namesOf(SUITES).map((name) => `test/${name}`);
    assert.deepEqual(named, [...suites, 'test/kit', 'tools/engines'].sort());
  });

  it('has every suite in CONTRIBUTING.md, with its time and what it protects', () => {
    const [, table = ''] = readText('CONTRIBUTING.md').split(/^\| suite +\| time +\| what it protects +\|\n/m);
    const [body = ''] = table.split('\n\n');
    const rows = [...body.matchAll(/^\| `([^`]+)` +\| (?:about )?\d+ (?:s|min) +\| ([^|]+?) +\|$/gm)];
    assert.deepEqual(rows.map(([, name]) => name).sort(), namesOf(SUITES).sort());
    assert.equal(new Set(rows.map(([, , protection]) => protection)).size, SUITES.length);
  });

  it('refuses a test file in the folder of no suite', () => {
    assert.throws(
      () => listTestFiles(['test/other/x.test.ts']),
      /test\/other\/x\.test\.ts is in the folder of no suite/,
    );
  });

  it('runs every step and every file, but for what needs a Kubernetes cluster or takes too long', () => {
    const { steps, files } = select([], all);
    assert.deepEqual(namesOf(steps), ['lint', 'types', 'tools']);
    const left = below('test/{kubernetes,cluster/slow,browser/slow,simulation/slow,differential/slow}/**/*.test.ts');
    assert.ok(left.length >= 4);
    assert.deepEqual([...pathsOf(files), ...left].sort(), pathsOf(all));
  });

  it('runs what is named: steps, suites, folders and files', () => {
    assert.deepEqual(namesOf(select(['types', 'lint'], all).steps), ['lint', 'types']);
    assert.deepEqual(select(['types'], all).files, []);
    assert.deepEqual(chosen('unit'), below('test/unit/**/*.test.ts'));
    assert.deepEqual(select(['unit'], all).steps, []);
    assert.deepEqual(chosen('unit/shard', './test/tidy/'), below('test/{unit/shard,tidy}/**/*.test.ts'));
    assert.deepEqual(chosen('faults'), below('test/cluster/faults/*.test.ts'));
    assert.deepEqual(chosen('test/tidy/runner.test.ts'), ['test/tidy/runner.test.ts']);
  });

  it('runs what takes long only where it is asked for by its own name', () => {
    assert.deepEqual(chosen('slow'), below('test/{cluster,browser,simulation,differential}/slow/*.test.ts'));
    assert.deepEqual(chosen('cluster'), below('test/cluster/{smoke,faults}/*.test.ts'));
    assert.deepEqual(chosen('cluster/slow'), below('test/cluster/slow/*.test.ts'));
    const [path = ''] = below('test/cluster/slow/*.test.ts');
    assert.deepEqual(chosen(path), [path]);
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
    for (const { steps, files } of parts) {
      assert.ok(files.length > whole.files.length / 5);
      const needsTools = files.some(({ suite }) => ['chart', 'loadtest'].includes(suite.name));
      assert.equal(namesOf(steps).includes('tools'), needsTools);
    }
    assert.deepEqual(parsePart('2/4'), { index: 2, of: 4 });
    for (const text of ['0/4', '5/4', '1', 'x/2', '1/0']) assert.throws(() => parsePart(text), SelectionError);
  });

  it('starts what took longest first, and what it does not know before that', () => {
    const files = listTestFiles(['test/cli/a.test.ts', 'test/cli/b.test.ts', 'test/chart/c.test.ts']);
    const known = new Map([
      ['test/cli/a.test.ts', 10],
      ['test/cli/b.test.ts', 20],
    ]);
    assert.deepEqual(
      groupsOf(files, known).flatMap(({ processes }) => processes.map(pathsOf)),
      [['test/chart/c.test.ts'], ['test/cli/b.test.ts'], ['test/cli/a.test.ts']],
    );
    const directory = mkdtempSync(join(tmpdir(), 'grantd-durations-'));
    try {
      const path = join(directory, 'cache', 'durations.json');
      assert.deepEqual(readDurations(path), new Map());
      writeDurations(path, known);
      writeDurations(path, new Map([['test/cli/a.test.ts', 30]]));
      assert.deepEqual(readDurations(path), new Map([...known, ['test/cli/a.test.ts', 30]]));
      writeFileSync(path, '{"test/un');
      assert.deepEqual(readDurations(path), new Map());
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('lets what wants the machine alone run by itself, one file at a time', () => {
    for (const { processes, concurrency } of groupsOf(all)) {
      const files = processes.flat();
      const beside = files.filter(({ suite }) => suite.runs === 'beside' || suite.runs === 'together');
      assert.equal(beside.length, concurrency === 1 ? 0 : files.length);
      if (concurrency === 1) assert.equal(new Set(files.map(({ suite }) => suite)).size, 1);
    }
    assert.deepEqual(pathsOf(groupsOf(all).flatMap(({ processes }) => processes.flat())), pathsOf(all));
  });

  it('has files of unit, property and tidy share a few processes of equal length, and every other file its own process', () => {
    const slow = 'test/unit/core/tuples.test.ts';
    const durations = new Map(all.map(({ path }) => [path, path === slow ? 60_000 : 100]));
    const groups = groupsOf(all, durations);
    const shared = groups.find(({ runs }) => runs === 'together');
    const others = groups.filter((group) => group !== shared);
    assert.ok(shared !== undefined && shared.processes.length > 1);
    assert.deepEqual(
      new Set(shared.processes.flat().map(({ suite }) => suite.name)),
      new Set(['unit', 'property', 'tidy']),
    );
    assert.deepEqual(
      shared.processes.map(pathsOf).find((paths) => paths.includes(slow)),
      [slow],
    );
    for (const { processes } of others) for (const files of processes) assert.equal(files.length, 1);
    assert.equal(groupsOf(select([slow], all).files)[0]?.processes.length, 1);
  });

  it('starts what runs behind the others before them, at a lower priority', () => {
    const [first, ...others] = groupsOf(all);
    assert.deepEqual([first?.runs, first?.concurrency], ['behind', 1]);
    assert.ok(first?.processes.flat().every(({ suite }) => suite.name === 'simulation'));
    assert.ok(others.length > 2 && others.every(({ runs }) => runs !== 'behind'));
    const path = 'test/simulation/a.test.ts';
    const text = "import { getPriority } from 'node:os';\nit('p', () => { if (getPriority() < 19) throw 1; });";
    const { status, stdout } = runIn(
      { [path]: text, 'test/unit/b.test.ts': "it('b', () => {});" },
      'simulation',
      'unit',
    );
    assert.equal(status, 0, stdout);
    for (const suite of ['simulation', 'unit']) assert.match(stdout, new RegExp(`✔ ${suite} .* 1 tests in 1 files`));
  });

  it('gives each test that measures its process one of its own', () => {
    const importers = below('test/unit/**/*.test.ts').filter((path) => readText(path).includes('/live-bytes.ts'));
    assert.deepEqual(importers, MEASURES_ITS_PROCESS);
    const alone = groupsOf(all).filter(({ runs }) => runs !== 'together');
    const own = new Set(alone.flatMap(({ processes }) => processes.flat().map(({ path }) => path)));
    assert.ok(importers.every((path) => own.has(path)));
  });
});

describe('what a file leaves to those after it in its process', () => {
  const found = async (leave: () => () => unknown): Promise<string[]> => {
    const look = watchLeftovers(0);
    const clear = leave();
    const left = await look();
    await clear();
    return left;
  };

  it('is nothing where it cleans up', async () => {
    assert.deepEqual(await found(() => () => {}), []);
    const look = watchLeftovers();
    const server = createServer().listen(0);
    await once(server, 'listening');
    // It is gone only a little later.
    server.close();
    assert.deepEqual(await look(), []);
  });

  it('is a variable, a function of Node, a listener, a server, a timer or a working directory', async () => {
    const { exitCode } = process;
    const set = <Value>(write: (value: Value) => void, value: Value, before: Value) => {
      write(value);
      return () => write(before);
    };
    const left = async (...args: Parameters<typeof set>) => found(() => set(...args));
    assert.deepEqual(await left((name) => Reflect.set(globalThis, 'Date', name), class {}, Date), ['globalThis.Date']);
    assert.deepEqual(
      await left(
        (now) => Reflect.set(Date, 'now', now),
        () => 1,
        Date.now,
      ),
      ['Date.now'],
    );
    assert.deepEqual(
      await left(
        (read) => Reflect.set(fs, 'readFileSync', read),
        () => '',
        fs.readFileSync,
      ),
      ['node:fs.readFileSync'],
    );
    assert.deepEqual(await left((to) => process.chdir(String(to)), tmpdir(), process.cwd()), ['the working directory']);
    assert.deepEqual(await left((code) => Reflect.set(process, 'exitCode', code), 1, exitCode), ['the exit code']);
    assert.deepEqual(
      await found(() => {
        Reflect.set(globalThis, 'leftHere', 1);
        return () => Reflect.deleteProperty(globalThis, 'leftHere');
      }),
      ['globalThis.leftHere'],
    );
    assert.deepEqual(
      await found(() => {
        const onWarning = () => {};
        process.on('SIGHUP', onWarning);
        return () => process.off('SIGHUP', onWarning);
      }),
      ['listeners of process for SIGHUP'],
    );
    assert.deepEqual(
      await found(() => {
        const server = createServer().listen(0, '127.0.0.1');
        const timer = setTimeout(() => {}, 60_000);
        return () => {
          clearTimeout(timer);
          server.close();
        };
      }),
      ['1 more of TCPServerWrap', '1 more of Timeout'],
    );
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

  it('does not follow a test that starts the whole program, and chooses nothing for no change', () => {
    assert.deepEqual(touched('src/main.ts'), ['test/tidy/d.test.ts']);
    assert.deepEqual(touched(), []);
  });
});

describe('the report of a run', () => {
  const file = join(ROOT, 'test/tidy/runner.test.ts');
  const event = (name: string, nesting: number, details: Partial<TestEvent['details']> = {}): TestEvent => ({
    name,
    nesting,
    file,
    entryFile: file,
    line: 7,
    details: { duration_ms: 12, ...details },
  });
  const failure = (cause: unknown, failureType = 'testCodeFailure') => ({
    error: Object.assign(new Error('outer', { cause }), { failureType }),
  });

  function reported(tell: (report: Report) => void): { readonly isGood: boolean; readonly text: string } {
    let text = '';
    const report = new Report(ROOT, all, (more) => {
      text += more;
    });
    tell(report);
    return { isGood: report.end(1000), text };
  }

  it('names a test that failed, where it stands and why, and tells its suites only where they fail themselves', () => {
    const { isGood, text } = reported((report) => {
      report.started({ name: 'a suite', nesting: 0, entryFile: file });
      report.started({ name: 'a test', nesting: 1, entryFile: file });
      report.testFailed(event('a test', 1, failure(new Error('the reason'))));
      report.testFailed(event('a suite', 0, { ...failure('1 subtest failed', 'subtestsFailed'), type: 'suite' }));
      report.fileEnded({ file, success: false, duration_ms: 5, counts: { tests: 1 } });
    });
    assert.equal(isGood, false);
    assert.match(text, /✖ test\/tidy\/runner\.test\.ts:7 a suite › a test 0\.0 s\n {4}Error: the reason/);
    assert.match(text, /✖ 1 failed in 1\.0 s\n$/);
  });

  it('is bad where a file, a step or a hook of a suite fails, without a test that does', () => {
    const step = reported((report) => report.step('lint', 5, false, 'src/x.ts is not formatted\n'));
    assert.equal(step.isGood, false);
    assert.match(step.text, /^src\/x\.ts is not formatted\n✖ lint\n/);
    const ended = (success: boolean) => ({ file, success, duration_ms: 5, counts: { tests: 0 } });
    assert.equal(reported((report) => report.fileEnded(ended(false))).isGood, false);
    assert.equal(reported((report) => report.fileEnded(ended(true))).isGood, true);
    const hook = { ...failure(new Error('x'), 'hookFailed'), type: 'suite' };
    assert.equal(reported((report) => report.testFailed(event('a suite', 0, hook))).isGood, false);
  });

  it('says what was not tested, and why', () => {
    const { isGood, text } = reported((report) => report.passed({ ...event('a test', 0), skip: 'No Java.' }));
    assert.equal(isGood, true);
    assert.match(text, /NOT TESTED \(1\): test\/tidy\/runner\.test\.ts: No Java\./);
  });
});

describe('the runner', () => {
  it('ends with 0 where all pass, and with 1 where one fails or a file cannot be loaded', () => {
    const good = "it('passes', () => {});";
    const passed = runIn({ 'test/unit/good.test.ts': good }, 'unit');
    assert.equal(passed.status, 0, passed.stdout + passed.stderr);
    assert.match(passed.stdout, /✔ test\/unit\/good\.test\.ts \(1 in/);
    const failed = runIn(
      { 'test/unit/good.test.ts': good, 'test/tidy/bad.test.ts': "it('fails', () => { throw 1; });" },
      'unit',
      'tidy',
    );
    assert.equal(failed.status, 1, failed.stdout + failed.stderr);
    assert.match(failed.stdout, /✖ test\/tidy\/bad\.test\.ts:2 fails/);
    const unloaded = runIn({ 'test/unit/unloaded.test.ts': "import './nowhere.ts';" }, 'unit');
    assert.equal(unloaded.status, 1, unloaded.stdout + unloaded.stderr);
  });

  const failuresOf = (stdout: string) =>
    [...stdout.slice(stdout.indexOf('\nFailed:')).matchAll(/^ {2}✖ (.*)$/gm)].map(([, what]) => what);

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
    assert.match(stdout, /It left: JSON\.parse; the environment's LEFT\./);
    assert.match(stdout, /It left: the exit code\./);
  });

  it('has node:test follow no promise, and knows nevertheless which test an error or a hook belongs to', () => {
    const { status, stdout } = runIn(
      {
        'test/unit/a.test.ts': `
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
      'unit',
    );
    assert.equal(status, 1);
    const failures = failuresOf(stdout).map((failure) => failure?.replace(/^test\/unit\/a\.test\.ts(:\d+)? /, ''));
    assert.deepEqual(failures, ['rejects', 'throws', 'emits'], stdout);
    assert.match(stdout, /unit {2,}[\d.]+ s {2}7 tests in 1 files/);
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
    for (const { name } of [...SUITES, ...STEPS]) assert.ok(help.stdout.includes(`  ${name} `), name);
    for (const args of [['units'], ['--part', '3/2'], ['--some']]) {
      const refused = runIn(tests, ...args);
      assert.equal(refused.status, 2, refused.stdout);
      assert.notEqual(refused.stderr, '');
    }
  });
});
