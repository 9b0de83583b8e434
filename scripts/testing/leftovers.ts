// Detects state that a test file leaves to the files after it in the same process: changed globals and functions of
// Node, a changed environment, listeners of the process, and handles that keep it alive: servers, sockets, timers.

import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

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
export function watchLeftovers(waitMaxMs = WAIT_MAX_MS): () => Promise<string[]> {
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
