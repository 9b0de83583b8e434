// The runner of tests: what its words choose, that everything runs somewhere and once, and that a failure is one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { batchesOf } from '../../scripts/testing/batches.ts';
import { importersOf, touchedBy } from '../../scripts/testing/changes.ts';
import { type Durations, readDurations, writeDurations } from '../../scripts/testing/durations.ts';
import { watchLeftovers } from '../../scripts/testing/leftovers.ts';
import { Report, type TestEvent } from '../../scripts/testing/report.ts';
import { type Job, runJobs } from '../../scripts/testing/schedule.ts';
import { parsePart, partOf, SelectionError, select } from '../../scripts/testing/selection.ts';
import { STEPS } from '../../scripts/testing/steps.ts';
import { listTestFiles, MEASURES_ITS_PROCESS, SUITES, type SuiteFile, suiteOf } from '../../scripts/testing/suites.ts';
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
    const [, table = ''] = readText('CONTRIBUTING.md').split(/^\| suite in `test` .*\n/m);
    const [body = ''] = table.split('\n\n');
    const rows = [...body.matchAll(/^\| `([^`]+)` +\| (\w+) +\| \d+ (?:s|min) +\| ([^|]+?) +\|$/gm)];
    assert.deepEqual(
      rows.map(([, name, runs]) => `${name} ${runs}`).sort(),
      SUITES.map(({ name, runs }) => `${name} ${runs}`).sort(),
    );
    assert.equal(new Set(rows.map(([, , , protection]) => protection)).size, SUITES.length);
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
    assert.deepEqual(chosen('slow'), below('test/*/slow/*.test.ts'));
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
    for (const { files } of parts) assert.ok(files.length > whole.files.length / 5);
    assert.deepEqual(parsePart('2/4'), { index: 2, of: 4 });
    for (const text of ['0/4', '5/4', '1', 'x/2', '1/0']) assert.throws(() => parsePart(text), SelectionError);
  });

  it('starts what took longest first, and what it does not know before that', () => {
    const files = listTestFiles(['test/cli/a.test.ts', 'test/cli/b.test.ts', 'test/chart/c.test.ts']);
    const known = new Map([
      ['test/cli/a.test.ts', { ms: 10, cpuMs: 5 }],
      ['test/cli/b.test.ts', { ms: 20, cpuMs: 5 }],
    ]);
    assert.deepEqual(
      batchesOf(files, known, 2).map(({ files: some }) => pathsOf(some)),
      [['test/chart/c.test.ts'], ['test/cli/b.test.ts'], ['test/cli/a.test.ts']],
    );
    const directory = mkdtempSync(join(tmpdir(), 'grantd-durations-'));
    try {
      const path = join(directory, 'cache', 'durations.json');
      assert.deepEqual(readDurations(path), new Map());
      writeDurations(path, known);
      writeDurations(path, new Map([['test/cli/a.test.ts', { ms: 30, cpuMs: 9 }]]));
      assert.deepEqual(readDurations(path), new Map([...known, ['test/cli/a.test.ts', { ms: 30, cpuMs: 9 }]]));
      writeFileSync(path, '{"test/un');
      assert.deepEqual(readDurations(path), new Map());
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('weighs a file by the processors that it last kept busy, or by its suite, and never beyond the machine', () => {
    const weights = (durations: Durations, processors: number) =>
      batchesOf(listTestFiles(['test/simulation/a.test.ts', 'test/cli/b.test.ts']), durations, processors).map(
        ({ files: [file], weight }) => [file?.path, weight],
      );
    const [cli, simulation] = ['test/cli/b.test.ts', 'test/simulation/a.test.ts'];
    assert.deepEqual(
      new Map(weights(new Map(), 4) as [string, number][]),
      new Map([
        [cli, suiteOf(cli)?.weight],
        [simulation, 4],
      ]),
    );
    const measured = new Map([
      [cli, { ms: 1000, cpuMs: 10 }],
      [simulation, { ms: 1000, cpuMs: 1500 }],
    ]);
    assert.deepEqual(
      new Map(weights(measured, 4) as [string, number][]),
      new Map([
        [cli, 0.5],
        [simulation, 1.5],
      ]),
    );
    assert.deepEqual(
      new Map(weights(measured, 1) as [string, number][]),
      new Map([
        [cli, 0.5],
        [simulation, 1],
      ]),
    );
  });

  it('gives each file that judges times the machine to itself, after the others', () => {
    const batches = batchesOf(all, new Map(), 2);
    const first = batches.findIndex(({ isExclusive }) => isExclusive);
    for (const [index, { files, isExclusive }] of batches.entries()) {
      assert.equal(isExclusive, index >= first);
      for (const { suite } of files) assert.equal(suite.runs === 'alone' || suite.runs === 'asked', isExclusive);
    }
    assert.deepEqual(pathsOf(batches.flatMap(({ files }) => files)), pathsOf(all));
  });

  it('has files of unit, property and tidy share a few processes of equal length, and every other file its own process', () => {
    const slow = 'test/unit/core/tuples.test.ts';
    const durations = new Map(all.map(({ path }) => [path, { ms: path === slow ? 60_000 : 100, cpuMs: 50 }]));
    const batches = batchesOf(all, durations, 2);
    const shared = batches.filter(({ isShared }) => isShared);
    assert.equal(shared.length, 4);
    assert.deepEqual(
      new Set(shared.flatMap(({ files }) => files.map(({ suite }) => suite.name))),
      new Set(['unit', 'property', 'tidy']),
    );
    assert.deepEqual(
      shared.map(({ files }) => pathsOf(files)).find((paths) => paths.includes(slow)),
      [slow],
    );
    for (const { files, isShared } of batches) if (!isShared) assert.equal(files.length, 1);
    assert.equal(batchesOf(select([slow], all).files, durations, 2).length, 1);
  });

  it('gives each test that measures its process one of its own', () => {
    const importers = below('test/unit/**/*.test.ts').filter((path) => readText(path).includes('/live-bytes.ts'));
    assert.deepEqual(importers, MEASURES_ITS_PROCESS);
    const alone = batchesOf(all, new Map(), 2).filter(({ isShared }) => !isShared);
    const own = new Set(alone.flatMap(({ files }) => files.map(({ path }) => path)));
    assert.ok(importers.every((path) => own.has(path)));
  });
});

describe('the schedule of a run', () => {
  /** Jobs that end when the test says so; what runs, by name. */
  function watchedJobs(jobs: readonly Omit<Job, 'run'>[], capacity: number) {
    const running = new Map<string, () => void>();
    const interruption = new AbortController();
    const watched = jobs.map(
      (job): Job => ({
        ...job,
        run: () => new Promise((resolve) => running.set(job.name, resolve)),
      }),
    );
    const done = runJobs(watched, capacity, interruption.signal);
    const end = async (...names: readonly string[]): Promise<string[]> => {
      for (const name of names) {
        running.get(name)?.();
        running.delete(name);
      }
      await turn();
      return [...running.keys()];
    };
    return { end, done, interruption };
  }
  const job = (name: string, weight: number, more: Partial<Job> = {}) => ({ name, weight, ...more });

  it('starts no more than the machine has processors for, and fills gaps with what is lighter', async () => {
    const { end, done } = watchedJobs([job('a', 1), job('b', 1.5), job('c', 0.5), job('d', 0.5), job('e', 9)], 2);
    assert.deepEqual(await end(), ['a', 'c', 'd']);
    assert.deepEqual(await end('c'), ['a', 'd']);
    assert.deepEqual(await end('a'), ['d', 'b']);
    assert.deepEqual(await end('d', 'b'), ['e']);
    assert.deepEqual(await end('e'), []);
    await done;
  });

  it('lets an exclusive job run by itself after the others', async () => {
    const alone = { exclusive: true };
    const { end, done } = watchedJobs([job('x', 0.1, alone), job('a', 1), job('y', 0.1, alone)], 2);
    assert.deepEqual(await end(), ['a']);
    assert.deepEqual(await end('a'), ['x']);
    assert.deepEqual(await end('x'), ['y']);
    await end('y');
    await done;
  });

  it('holds back what needs a job that has not ended, and nothing else', async () => {
    const { end, done } = watchedJobs([job('tool', 1), job('a', 1, { after: ['tool'] }), job('b', 1)], 2);
    assert.deepEqual(await end(), ['tool', 'b']);
    assert.deepEqual(await end('b'), ['tool']);
    assert.deepEqual(await end('tool'), ['a']);
    await end('a');
    await done;
    await assert.rejects(runJobs([{ ...job('c', 1, { after: ['c'] }), run: async () => {} }], 2, AbortSignal.any([])));
  });

  it('starts nothing more once it is interrupted, and waits for what runs', async () => {
    const { end, done, interruption } = watchedJobs([job('a', 2), job('b', 2)], 2);
    interruption.abort();
    assert.deepEqual(await end('a'), []);
    await done;
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
  const path = 'test/tidy/runner.test.ts';
  const file = join(ROOT, path);
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

  function reported(tell: (report: Report) => void) {
    let text = '';
    const logDirectory = mkdtempSync(join(tmpdir(), 'grantd-logs-'));
    const write = (more: string): void => {
      text += more;
    };
    try {
      const report = new Report({ root: ROOT, files: all, logDirectory, write });
      tell(report);
      const isGood = report.end({ ms: 1000, cpuMs: 61_000 });
      const log = globSync('*.log', { cwd: logDirectory }).map((name) =>
        readFileSync(join(logDirectory, name), 'utf8'),
      );
      return { isGood, text, log: log.join('') };
    } finally {
      rmSync(logDirectory, { recursive: true });
    }
  }

  it('names a test that failed, where it stands and why, and tells its suites only where they fail themselves', () => {
    const { isGood, text } = reported((report) => {
      report.started({ name: 'a suite', nesting: 0, entryFile: file });
      report.started({ name: 'a test', nesting: 1, entryFile: file });
      report.testFailed(event('a test', 1, failure(new Error('the reason'))));
      report.testFailed(event('a suite', 0, { ...failure('1 subtest failed', 'subtestsFailed'), type: 'suite' }));
      report.fileEnded({ path, success: false, duration_ms: 5, counts: { tests: 1 } });
    });
    assert.equal(isGood, false);
    assert.match(text, /✖ test\/tidy\/runner\.test\.ts:7 a suite › a test 0\.0 s\n {4}Error: the reason/);
    assert.match(text, /✖ 1 failed in 1\.0 s, with 1 min 1 s of processor time\n0 passed, 1 failed, 0 skipped\n$/);
  });

  it('is bad where a file, a step or a hook of a suite fails, without a test that does', () => {
    const step = reported((report) =>
      report.step('lint', { ms: 5, isGood: false, output: ['src/x.ts is not formatted'] }),
    );
    assert.equal(step.isGood, false);
    assert.match(step.text, /^src\/x\.ts is not formatted\n✖ lint\n/);
    const ended = (success: boolean) => ({ path, success, duration_ms: 5, counts: { tests: 0 } });
    assert.equal(reported((report) => report.fileEnded(ended(false))).isGood, false);
    assert.equal(reported((report) => report.fileEnded(ended(true))).isGood, true);
    const hook = { ...failure(new Error('x'), 'hookFailed'), type: 'suite' };
    assert.equal(reported((report) => report.testFailed(event('a suite', 0, hook))).isGood, false);
  });

  it('keeps what a file prints in its log, and shows the head of a failure and where the log is', () => {
    const { text, log } = reported((report) => {
      report.output(path, 'a notice of a library\n');
      report.diagnostic(path, 'strain 1.1');
      report.passed(event('good', 0));
      report.testFailed(event('bad', 0, failure(Array.from({ length: 99 }, (_, line) => `line ${line}`).join('\n'))));
    });
    for (const part of ['a notice of a library', 'strain 1.1', '✔ good', 'line 98'])
      assert.ok(log.includes(part), part);
    for (const part of ['a notice', 'strain', '✔ good', 'line 98']) assert.ok(!text.includes(part), part);
    assert.match(text, / {4}line 0\n(?:.*\n)* {4}log: .*test-tidy-runner\.test\.ts\.log\n/);
  });

  it('counts a test that could not judge only if it still cannot when it is run once more', () => {
    const busy = event('paced', 0, failure(new Error('inconclusive: strain 3.1\n5 of 9 were late')));
    const ended = { path, success: false, duration_ms: 5, counts: { tests: 2 } };
    const once = (repeat: (report: Report) => void, othersBusy = 0) =>
      reported((report) => {
        report.testFailed(busy);
        report.fileEnded(ended);
        assert.deepEqual(report.takeInconclusive(othersBusy), new Map([[path, ['paced']]]));
        repeat(report);
      });
    const passed = once((report) => report.fileEnded({ ...ended, success: true }));
    assert.equal(passed.isGood, true);
    assert.match(
      passed.text,
      /\? test\/tidy\/runner\.test\.ts:7 paced 0\.0 s\n {4}inconclusive: strain 3\.1; it runs again/,
    );
    assert.equal(once((report) => report.testFailed(busy)).isGood, false);
    const late = (report: Report) => report.testFailed(event('paced', 0, failure(new Error('late'))));
    assert.equal(once(late).isGood, false);
    // Where other programs keep the machine busy it cannot judge at all: that is said, and is no failure.
    const repeat = (report: Report) => {
      report.testFailed(busy);
      report.fileEnded(ended);
    };
    const undecided = once(repeat, 1.9);
    assert.equal(undecided.isGood, true);
    assert.match(undecided.text, /NOT TESTED \(1\): .*not judged: other programs kept 1\.9 processors busy/);
    assert.equal(once(repeat, 0.3).isGood, false);
    assert.equal(once(late, 1.9).isGood, false);
  });

  it('says what was not tested, and why', () => {
    const { isGood, text } = reported((report) => report.passed({ ...event('a test', 0), skip: 'No Java.' }));
    assert.equal(isGood, true);
    assert.match(text, /NOT TESTED \(1\): test\/tidy\/runner\.test\.ts: No Java\./);
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
    assert.match(stdout, /It left: JSON\.parse; the environment's LEFT\./);
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
    for (const { name } of [...SUITES, ...STEPS]) assert.ok(help.stdout.includes(`  ${name} `), name);
    for (const args of [['units'], ['--part', '3/2'], ['--some']]) {
      const refused = runIn(tests, ...args);
      assert.equal(refused.status, 2, refused.stdout);
      assert.notEqual(refused.stderr, '');
    }
  });
});
