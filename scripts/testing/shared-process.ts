// Runs test files one after another in this process, so that the program is loaded once for all of them. Each file is a
// suite with its path as its name; after it, a test fails if the file leaves state to the next one: changed globals and
// functions of Node, a changed environment, listeners of the process, and handles that keep it alive.

import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { ROOT } from './suites.ts';

/** Sockets and servers take a moment to end after the test that closed them. */
const WAIT_MAX_MS = 10_000;
const WAIT_MS = 5;

const MODULES = [
  'child_process',
  'crypto',
  'dns',
  'dns/promises',
  'fs',
  'fs/promises',
  'http',
  'http2',
  'https',
  'net',
  'os',
  'timers',
  'timers/promises',
  'tls',
  'worker_threads',
] as const;

/** Objects whose functions a test might replace and not put back. */
const WATCHED: readonly (readonly [string, object])[] = [
  ['globalThis', globalThis],
  ['process', process],
  ['process.stdout', process.stdout],
  ['process.stderr', process.stderr],
  ['console', console],
  ['performance', performance],
  ...Object.entries({ JSON, Math, Reflect }),
  ...[Array, Buffer, Date, Error, Map, Number, Object, Promise, RegExp, Set, String].flatMap((each) => [
    [each.name, each] as const,
    [`${each.name}.prototype`, each.prototype] as const,
  ]),
  ...MODULES.map((name) => [`node:${name}`, process.getBuiltinModule(name)] as const),
];

/** Globals that all copies of a library share, and those that Node turns from accessors into functions at first use. */
const HARMLESS = /^globalThis\.__zod_|^node:crypto\.pseudoRandomBytes$/;

type State = ReadonlyMap<string, unknown>;

/** Values by name. Of objects, only functions and accessors: anything else in them may change by itself. */
function readState(): State {
  const state = new Map<string, unknown>([
    ['the exit code', process.exitCode],
    ['the working directory', process.cwd()],
    ['the arguments of the process', [...process.argv, ...process.execArgv].join(' ')],
    ['Error.stackTraceLimit', Error.stackTraceLimit],
  ]);
  for (const [name, value] of Object.entries(process.env)) state.set(`the environment's ${name}`, value);
  for (const event of process.eventNames()) {
    state.set(`listeners of process for ${String(event)}`, process.listenerCount(event));
  }
  for (const [of, object] of WATCHED) {
    for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      if (get !== undefined || typeof value === 'function') state.set(`${of}.${name}`, get ?? value);
      else if (object === globalThis) state.set(`${of}.${name}`, value);
    }
  }
  return state;
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (name !== 'Immediate') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function surplus(before: ReadonlyMap<string, number>): string[] {
  return [...countResources()].flatMap(([name, count]) => {
    const more = count - (before.get(name) ?? 0);
    return more > 0 ? [`${more} more of ${name}`] : [];
  });
}

/** Takes a snapshot; the function that it returns takes another and resolves to the differences. */
function watchLeftovers(waitMaxMs = WAIT_MAX_MS): () => Promise<string[]> {
  const before = readState();
  const resources = countResources();
  return async () => {
    const untilMs = performance.now() + waitMaxMs;
    // An error that a test has caused and not awaited is thrown in this turn.
    await turn();
    while (surplus(resources).length > 0 && performance.now() < untilMs) await delay(WAIT_MS);
    const after = readState();
    const names = new Set([...before.keys(), ...after.keys()]);
    const changed = [...names].filter((name) => !Object.is(before.get(name), after.get(name)) && !HARMLESS.test(name));
    return [...changed, ...surplus(resources)];
  };
}

export const LEAVES_NOTHING = 'leaves nothing behind in its process';

/** @public The files that start these processes are written by run-files.ts and call it. */
export async function runTogether(paths: readonly string[], timeoutMs: number): Promise<void> {
  // The globals of node:test itself exist once a test has run.
  await test('starts', () => {});
  // Libraries import it as a module, which opens the standard input for good.
  await import('node:process');
  // Tests may wait for timers that keep no process alive.
  const awake = setInterval(() => {}, timeoutMs);
  for (const path of paths) {
    const leftovers = watchLeftovers();
    // It loads the file, and its tests start when that is done.
    void describe(path, { timeout: timeoutMs }, async () => {
      await import(join(ROOT, path));
    });
    await test(LEAVES_NOTHING, async () => {
      const left = await leftovers();
      if (left.length > 0) throw new Error(`It left: ${left.join('; ')}.`);
    });
  }
  clearInterval(awake);
}
