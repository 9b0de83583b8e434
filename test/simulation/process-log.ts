// The log of a simulated process: into the trace of the run, where there is one. It keeps: an error that no fault of
// the run explains, and at any level a defect that something caught, fails the run.

import { isUnexpected } from '../../src/rpc/status-mapping.ts';
import type { Log } from '../../src/telemetry/log.ts';
import type { Focus } from './profile.ts';
import type { Trace } from './trace.ts';

interface ExpectedError {
  readonly message: string;
  /** Whether the faults of every run explain it: other reasons are defects, or a loss that no fault brings about. */
  readonly explains: (fields: Readonly<Record<string, unknown>>) => boolean;
}

const SESSION_OVER = 'the membership session ended';

function isOfAnother({ cluster, expected }: Readonly<Record<string, unknown>>): boolean {
  return typeof cluster === 'string' && typeof expected === 'string' && cluster !== expected;
}

/** A process that was cut off, paused or slow loses what it had, and says so. */
const EXPECTED_ERRORS: readonly ExpectedError[] = [
  {
    message: SESSION_OVER,
    explains: ({ reason }) => reasonIs(reason, /declared (this one )?dead/),
  },
  {
    message: 'the shard lost the slot',
    explains: ({ reason }) => reasonIs(reason, /^the log has epoch \d+ at seq|has another owner now/),
  },
  {
    // Its calls of the store failed, while those of others did not.
    message: 'this shard is unhealthy and another shard is healthy; heartbeats suspended',
    explains: ({ part }) => part === 'append' || part === 'apply',
  },
  {
    // The store could not be reached, or another owner was first.
    message: 'cannot open or release the slot; retrying',
    explains: ({ err }) => !isUnexpected(err),
  },
  // Of shards of restored copies, and of their peers.
  { message: 'shard refused: it is of another cluster', explains: isOfAnother },
  { message: 'peer refused: it is of another cluster', explains: isOfAnother },
  {
    message: 'shards of several clusters answer; none is used',
    explains: ({ clusters }) => reasonIs(clusters, /clu_.*; clu_/),
  },
];

/** After the loss of records: the slot is refused. */
const EXPECTED_AFTER_LOSS: readonly ExpectedError[] = [
  { message: 'the shard lost the slot', explains: ({ reason }) => reasonIs(reason, /^The log of slot \d+/) },
  {
    message: 'cannot open or release the slot; retrying',
    explains: ({ err }) => err instanceof Error && err.name === 'LogUnreadableError',
  },
];

const CLOCK_WRONG: ExpectedError = {
  message: 'this process serves nothing: its wall clock is wrong',
  explains: ({ reason }) => reasonIs(reason, /^its clock differs by [+-]3(600|599|601) s from /),
};

const reasonIs = (reason: unknown, pattern: RegExp): boolean => typeof reason === 'string' && pattern.test(reason);

/** The program itself is wrong: an assertion has failed, or it has used what is not there. */
const isDefect = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  (error instanceof Error && (error.message.startsWith('Assertion failed') || isDefect(error.cause)));

function textOf(parts: readonly unknown[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      return JSON.stringify(part, (_key, value: unknown) =>
        value instanceof Error ? `${value.name}: ${value.message}` : value,
      );
    })
    .join(' ');
}

function fieldsOf([first]: readonly unknown[]): Readonly<Record<string, unknown>> {
  return typeof first === 'object' && first !== null ? { ...first } : {};
}

function expectedErrors(focus: Focus): readonly ExpectedError[] {
  if (focus === 'lost-records') return [...EXPECTED_ERRORS, ...EXPECTED_AFTER_LOSS];
  if (focus === 'wrong-clocks') return [...EXPECTED_ERRORS, CLOCK_WRONG];
  // Nothing there lasts long enough for anybody to be declared dead.
  return focus === 'stalls' ? EXPECTED_ERRORS.filter(({ message }) => message !== SESSION_OVER) : EXPECTED_ERRORS;
}

/** `focus`: of the run, whose faults explain its errors. */
export function createProcessLog(name: string, trace: Trace, focus: Focus): Log {
  const expected = expectedErrors(focus);
  const judge = (level: string, parts: readonly unknown[]): void => {
    const fields = fieldsOf(parts);
    if (isDefect(fields.err)) trace.fail(`${name} logs a defect: ${textOf(parts)}`);
    if (level !== 'error') return;
    const isExpected = expected.some(({ message, explains }) => parts.at(-1) === message && explains(fields));
    if (!isExpected) trace.fail(`${name} logs an error: ${textOf(parts)}`);
  };
  const at =
    (level: string) =>
    (...parts: readonly unknown[]): void => {
      if (trace.on) trace.note(name, `[${level}] ${textOf(parts)}`);
      judge(level, parts);
    };
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isLevelEnabled: () => false,
    child: () => log,
  };
  return log;
}
