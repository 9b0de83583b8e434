// Asks a client every question of the table of faults, each of a bad server of its own, and judges what it gives.
// Invariant: every line is asked exactly once, and the run ends, whatever a client does.

import assert from 'node:assert/strict';
import { inParallel } from '../../../src/core/async/in-parallel.ts';
import { type BadServer, startBadServer } from './bad-server.ts';
import type { Case, CountRange } from './cases.ts';
import { perform, type Report, type Runner } from './contract.ts';
import { type Fault, type Operation, operationsOf, readTable, rightScript, scriptOf } from './faults.ts';
import { inRange, judgeOutcomes, judgeSecrets } from './judge.ts';

type Expectation = Readonly<Record<string, unknown>>;

/** An outcome that is right, and how many requests it takes. */
interface Verdict {
  readonly expect: Expectation;
  readonly requests: CountRange;
}

interface Line {
  readonly name: string;
  readonly input: string;
  readonly operation: Operation;
  readonly verdicts: readonly Verdict[];
  /** Absent: nothing listens. */
  readonly server: BadServer | undefined;
}

const KEY = 'gk1_of_the_bad_server';
/** An address of this machine on which no server listens. */
const NOBODY = '127.0.0.9';
/** Of a call that has to end by its deadline. */
const SHORT_MS = 400;
/** Of any other call: more than one takes on a busy machine. */
const LONG_MS = 120_000;
/** Of all lines together: many times what they take. */
const RUN_MS = 240_000;

const errorOf = (type: string, retryable: boolean | undefined, status?: number): Expectation => ({
  error: { type, ...(retryable === undefined ? {} : { retryable }), ...(status === undefined ? {} : { status }) },
});

/** The errors that a line gives by what its `gives` says, and whether the call is repeated. */
function errorsOf({
  gives,
  again = false,
  retryable,
  status,
}: Fault): readonly { error: Expectation; again: boolean | 'either' }[] {
  const timeout = { error: errorOf('timeout', true), again: false } as const;
  const lost = { error: errorOf('connection-lost', true), again: true };
  // The repeat may take the connection of a response that looked whole and whose end is on its way: nobody reads it.
  const lostOrSpent = { ...lost, again: 'either' } as const;
  switch (gives) {
    case 'right':
    case 'other':
      return [];
    case 'any':
      return [{ error: { error: { status } }, again: 'either' }];
    case 'connection-lost':
      return [lost];
    case 'timeout':
    case 'right-or-timeout':
      return [timeout];
    case 'timeout-or-error':
      return [
        { ...timeout, again: 'either' },
        lostOrSpent,
        { error: errorOf('invalid-response', undefined), again: 'either' },
      ];
    case 'not-json':
      return [{ error: errorOf('invalid-response', true), again: true }];
    case 'error':
    case 'right-or-error':
      return [lostOrSpent, { error: errorOf('invalid-response', undefined), again: 'either' }];
    default: {
      const isRetryable = retryable ?? (again === 'either' ? undefined : again);
      return [{ error: errorOf(gives, isRetryable, status), again }];
    }
  }
}

/** The JDK repeats a GET itself if its connection ends before a byte of the response. */
const attempts = (again: boolean | 'either', isGet: boolean): CountRange => ({
  min: again === true ? 2 : 1,
  max: (again === false ? 1 : 2) * (isGet ? 2 : 1),
});

function verdictsOf(fault: Fault, operation: Operation): readonly Verdict[] {
  const { call, each } = operation.step as { call: string; each?: readonly unknown[] };
  const isFeed = call === 'listChanges';
  const isGet = isFeed || call === 'listObjects';
  const several = (one: Expectation): Expectation =>
    fault.repeat === undefined ? one : { each: Array.from({ length: fault.repeat }, () => one) };
  const verdicts: Verdict[] = [];
  const result = fault.gives === 'other' ? operation.other_result : operation.result;
  if (/^(?:right|other)/.test(fault.gives)) {
    const count = fault.repeat ?? 1;
    verdicts.push({ expect: several(result ?? {}), requests: { min: count, max: count * 2 } });
  }
  for (const { error, again } of errorsOf(fault)) {
    const requests = fault.requests ?? attempts(again, isGet);
    // The feed goes on after what a repeat can resolve, and the bad server is right at the second request.
    if (isFeed && (again !== false || fault.gives.includes('timeout'))) {
      verdicts.push({ expect: operation.result, requests: { min: 2 } });
      if (again !== 'either') continue;
    }
    const expect = each === undefined ? error : { each: each.map(() => error) };
    verdicts.push({ expect: several(expect), requests });
  }
  return verdicts;
}

async function lineOf(fault: Fault, operation: Operation, of: string, elsewhere: string): Promise<Line> {
  const script = fault.send === 'nothing listens' ? [] : scriptOf(fault, operation, elsewhere);
  const heals = operation.step.call === 'listChanges';
  const right = rightScript(operation);
  const server =
    fault.send === 'nothing listens'
      ? undefined
      : await startBadServer({
          script: (number) => (heals && number > 0 ? right : script),
          ...(fault.at === 'accept' ? { atAccept: script } : {}),
        });
  const timeoutMs = fault.timeout_ms ?? (fault.gives.includes('timeout') ? SHORT_MS : LONG_MS);
  const name = `${fault.name} / ${of}`;
  const input = {
    name,
    url: server?.url ?? elsewhere.replace('127.0.0.1', NOBODY),
    key: KEY,
    client: { timeout_ms: timeoutMs, silence_ms: timeoutMs, max_retries: 1, backoff_first_ms: 1, backoff_max_ms: 1 },
    steps: [{ ...operation.step, ...(fault.repeat === undefined ? {} : { repeat: fault.repeat }) }],
  };
  return { name, input: JSON.stringify(input), operation, verdicts: verdictsOf(fault, operation), server };
}

async function linesOf(elsewhere: string): Promise<readonly Line[]> {
  const table = readTable();
  const lines: Line[] = [];
  const asked = table.faults.flatMap((fault) => operationsOf(fault, table).map((of) => ({ fault, of })));
  await inParallel(asked, 8, async ({ fault, of }) => {
    const operation = table.operations[of];
    if (operation === undefined) throw new Error(`${fault.name}: there is no operation ${of}.`);
    lines.push(await lineOf(fault, operation, of, elsewhere));
  });
  return lines;
}

/** Line breaks, escapes and the like, by which a response could forge a line of a log. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** What people are shown of outcomes: all of an error, and nothing of a result. */
function* shownOf(value: unknown, isShown: boolean): Generator<string> {
  if (typeof value === 'string' && isShown) yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    yield* shownOf(each, isShown || name === 'error' || name === 'refused');
  }
}

/** An entry of a log may end with the break of its line. */
function judgeControls({ outcomes, log, warnings }: Report): readonly string[] {
  const shown = [...shownOf(outcomes, false), ...shownOf([log, warnings], true)];
  const found = shown.find((text) => CONTROL.test(text.replace(/\n$/, '')));
  return found === undefined ? [] : [`a control character is in an error or a log: ${JSON.stringify(found)}`];
}

function judgeLine({ name, verdicts, operation, server }: Line, reports: readonly Report[]): readonly string[] {
  const found = reports.filter((report) => report.name === name);
  const [report] = found;
  if (report === undefined || found.length > 1) return [`it was performed ${found.length} times`];
  if (report.failure !== undefined) return [`the runner failed: ${String(report.failure)}`];
  const seen = server?.seen.length ?? 0;
  const misses: string[] = [];
  for (const { expect, requests } of verdicts) {
    const one: Case = { name, steps: [{ call: operation.step.call, expect }] };
    const differences = judgeOutcomes(one, report.outcomes);
    const isCounted = inRange(seen, requests);
    if (differences.length === 0 && isCounted) {
      misses.length = 0;
      break;
    }
    misses.push(...differences, ...(isCounted ? [] : [`${seen} requests, not ${JSON.stringify(requests)}`]));
  }
  return [...misses, ...judgeSecrets(KEY, report.outcomes, report.log), ...judgeControls(report)];
}

/** What does not hold, by the name of the line. */
async function faultFailures(runner: Omit<Runner, 'on'>): Promise<ReadonlyMap<string, string>> {
  await using stack = new AsyncDisposableStack();
  const elsewhere = await startBadServer({ script: () => [Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), 'end'] });
  stack.defer(() => elsewhere.close());
  const lines = await linesOf(elsewhere.url);
  stack.defer(async () => void (await Promise.all(lines.map(({ server }) => server?.close()))));
  const inputs = lines.map(({ input }) => input);
  const reports = await perform({ ...runner }, inputs, {}, RUN_MS);
  const failures = new Map<string, string>();
  for (const line of lines) {
    const differences = judgeLine(line, reports);
    if (differences.length > 0) failures.set(line.name, differences.join('; '));
  }
  if (elsewhere.seen.length > 0) failures.set('elsewhere', 'a redirection was followed');
  return failures;
}

/** Fails with everything that does not hold. */
export async function runFaults(runner: Omit<Runner, 'on'>): Promise<void> {
  const failures = [...(await faultFailures(runner))].map(([line, why]) => `${line}: ${why}`).toSorted();
  assert.equal(failures.length, 0, failures.join('\n'));
}
