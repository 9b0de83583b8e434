// The rules of style that a machine can hold, beyond those of the formatter and the linter.

import { basename } from 'node:path';
import { codeText } from './code-text.ts';
import { type FunctionSpan, functionsOf } from './functions.ts';

/** What fits on a screen, so that a function is read without scrolling. */
const FUNCTION_LINES_MAX = 70;
const BARREL_NAMES = new Set(['index.ts', 'utils.ts', 'util.ts', 'helpers.ts', 'common.ts', 'misc.ts']);

/** What the formatter holds code to; comments it leaves alone. */
const COLUMNS_MAX = 120;
/**
 * Functions that may be longer, and why: they put parts together or list them, line by line, and no part of them could
 * be read or tested alone. Those of `src/roles` do nothing else.
 */
export const LONG_FUNCTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'src/front/create-front.ts createFront': 'puts the parts of a front together',
    'src/http/app.ts createApp': 'leads each kind of request to the pipeline',
    'src/http/server.ts listenHttp': 'puts the parts of the public server together',
    'packages/console/src/assets/console.js script': 'the script of the pages, closed off from them',
    'src/store/cassandra/schema/migration-lock.ts acquireMigrationLock': 'one lock, from taking to giving back',
    'src/store/cassandra/tables/purge.ts createPurge': 'lists the statements of a purge',
    'src/store/cassandra/tables/state-reads.ts createStateReads': 'lists the calls of the state tables',
    'src/store/cassandra/tables/tombstone-gc.ts createRowRemoval': 'lists the statements of a removal',
    'src/store/sqlite/sqlite-store.ts createStore': 'lists the calls of the store, each with the worker that does it',
    'src/store/sqlite/worker/state-calls.ts createStateHandlers': 'lists the calls of the state tables',
    'test/browser/console-walk.test.ts it': 'one walk through the console, in order',
    'test/contract/store/audit-log-contract.ts it': 'one history and what is told of it, in order',
    'test/model/support/shard-model.ts run': 'lists the commands of the model',
    'test/simulation/nemesis.ts #strike': 'lists faults',
    'test/simulation/store-view.ts createStoreView': 'lists the calls of the store',
    'test/unit/telemetry/traced-service.ts startTracedService': 'puts the parts of a service together',
  }),
);
/** A timer that a test sets for itself, the kit's wait of a load, and a wait until a clock shows some time. */
const SLEEPS: readonly RegExp[] = [
  /\bsetTimeout\(/,
  /\bletRun\(/,
  /\bscheduler\.wait\(/,
  /\bAtomics\.wait/,
  /\bwaitFor\([^;]*\b(?:performance|Date)\.now\(\)/,
];

type Rule = readonly [what: string, breaks: (path: string, text: string, code: string) => boolean];

const inTests = (path: string): boolean => path.startsWith('test/');
/** Written in two parts, so that this very file keeps the rule. */
const unfinished = new RegExp(
  `\\b(${['TO', 'FIX', 'HA', 'XX'].map((head, index) => head + ['DO', 'ME', 'CK', 'X'][index]).join('|')})\\b`,
);

const RULES: readonly Rule[] = [
  ['the first lines say what the file owns', (_path, text) => !/^(#!.*\n)?\/\/ \S/.test(text)],
  ['no barrel and no file without a concept', (path) => BARREL_NAMES.has(basename(path))],
  ['nothing is left unfinished', (_path, text) => unfinished.test(text)],
  ['type checking is on', (_path, text) => new RegExp(['@ts', 'nocheck'].join('-')).test(text)],
  ['the compiler is overruled in tests only', (path, text) => !inTests(path) && /@ts-expect-error/.test(text)],
  [`no function above ${FUNCTION_LINES_MAX} lines`, (path, _text, code) => longFunctions(path, code).length > 0],
  [`no comment line above ${COLUMNS_MAX} columns`, (_path, text) => hasWideComment(text)],
  [
    'no test is skipped or runs alone',
    (path, _text, code) =>
      inTests(path) && /\b(?:it|test|describe|suite)\.(?:skip|only|todo)\b|\b(?:skip|only|todo):\s*true\b/.test(code),
  ],
  [
    'tests wait for conditions',
    (path, _text, code) =>
      inTests(path) &&
      /\bimport\s*\{[^}]*\bsetTimeout\b[^}]*\}\s*from/.test(code) &&
      /await\s+setTimeout\(\s*[\d_]{3,}\s*\)/.test(code),
  ],
  [
    'unit tests neither sleep nor wait for the real clock: a test moves its clock',
    (path, _text, code) => path.startsWith('test/unit/') && SLEEPS.some((pattern) => pattern.test(code)),
  ],
];

/** A wide line that differs without its comments has one. Directives to tools cannot be broken. */
function hasWideComment(text: string): boolean {
  const wide = text.split('\n').filter((line) => line.length > COLUMNS_MAX && !line.includes('biome-ignore'));
  if (wide.length === 0) return false;
  const code = new Set(codeText(text, { strings: 'kept' }).split('\n'));
  return wide.some((line) => !code.has(line));
}

export const isLong = ({ lines }: FunctionSpan): boolean => lines > FUNCTION_LINES_MAX;

/** Above the bound, and not allowed to be. */
function longFunctions(path: string, code: string): FunctionSpan[] {
  if (path.startsWith('src/roles/')) return [];
  return functionsOf(code).filter((span) => isLong(span) && !LONG_FUNCTIONS.has(`${path} ${span.name}`));
}

/** The rules that a file breaks, one line each. */
export function findStyleViolations(path: string, text: string): string[] {
  const code = codeText(text, { strings: 'emptied' });
  return RULES.filter(([, breaks]) => breaks(path, text, code)).map(([what]) => `${path}: ${what}`);
}
