// `npm test`: the linter, the types and every suite, or those that the arguments name. Ends with status 1 if anything
// failed, and with 2 if an argument names nothing.

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { TOOLS_DIRECTORY } from '../tools/engines/tools-directory.ts';
import { readDurations, writeDurations } from './testing/batches.ts';
import { listChangedTests } from './testing/changes.ts';
import { Report } from './testing/report.ts';
import { runSelection } from './testing/run-selection.ts';
import { parsePart, partOf, type Selection, SelectionError, select } from './testing/selection.ts';
import { StatusLine } from './testing/status-line.ts';
import { STEPS } from './testing/steps.ts';
import { listTestFiles, ROOT, SUITES } from './testing/suites.ts';

const CACHE = join(ROOT, 'node_modules', '.cache');
/** Outside the tree, so that a clean install or a new clone keeps the durations of this machine. */
const DURATIONS = join(TOOLS_DIRECTORY, 'test-durations.json');
/** The output of tests, one log for each test file. */
const LOGS = join(CACHE, 'test-logs');
const STATUS_FAILED = 1;
const STATUS_USAGE = 2;

const { stdout, stderr } = process;

const namesOf = (areNamedOnly: boolean): string =>
  SUITES.filter(({ runs }) => (runs === 'on-request') === areNamedOnly)
    .map(({ name }) => name)
    .join(' ');

const HELP = `npm test -- [what…] [--changed] [--part 1/4] [--list]

Runs everything that a change must pass, or only what you name: steps, suites, folders, files.

Steps: ${STEPS.map(({ name, what }) => `${name}, ${what}`).join('; ')}
Suites (folders of test/, which CONTRIBUTING.md explains):
  ${namesOf(false)}
Suites that run only when you name them; "slow" names all slow ones:
  ${namesOf(true)}

  --changed        the tests that import what you changed since the branch left main; suites that start the whole
                   program are included only if their own files changed
  --part 2/4       the second of four parts that together run everything, each about equally long
  --list           lists the files and runs nothing
`;

const OPTIONS = {
  changed: { type: 'boolean' },
  part: { type: 'string' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new SelectionError(error instanceof Error ? error.message : String(error));
  }
}

function choose({ values, positionals }: ReturnType<typeof readArguments>): Selection {
  const all = listTestFiles();
  const named = select(positionals, all);
  const touched = values.changed === true ? new Set(listChangedTests(named.files)) : undefined;
  const chosen = touched === undefined ? named : { ...named, files: named.files.filter((file) => touched.has(file)) };
  return values.part === undefined ? chosen : partOf(chosen, parsePart(values.part));
}

async function runAll(selection: Selection): Promise<boolean> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());
  const status = new StatusLine(stdout);
  const write = (text: string): void => status.write(text);
  const report = new Report({ root: ROOT, files: selection.files, logDirectory: LOGS, write });
  const isGood = await runSelection(selection, {
    report,
    durations: readDurations(DURATIONS),
    signal: interruption.signal,
    around: (name, run) => status.during(name, run),
  });
  status.end();
  writeDurations(DURATIONS, report.durations);
  return isGood;
}

// With cached compiled code, processes start in half the time; each test file is a process, and so is each service of a
// test.
process.env.NODE_COMPILE_CACHE ??= join(CACHE, 'grantd');

try {
  const given = readArguments();
  if (given.values.help === true) stdout.write(HELP);
  else {
    const selection = choose(given);
    if (given.values.list === true) {
      for (const { name } of selection.steps) stdout.write(`${name}\n`);
      for (const { path } of selection.files) stdout.write(`${path}\n`);
    } else process.exitCode = (await runAll(selection)) ? 0 : STATUS_FAILED;
  }
} catch (error) {
  if (!(error instanceof SelectionError)) throw error;
  stderr.write(`${error.message}\n`);
  process.exitCode = STATUS_USAGE;
}
