// Log entries: the format of a group commit in the log. It is JSON, so that an operator can read it and a later version
// can add to it. A reader refuses a format that it does not know; it never skips an entry.

import { z } from 'zod';
import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { type GrantAttributes, readGrantAttributes } from '../../core/grant-attributes.ts';
import type { LogRecord, Stamp } from '../../store/store.ts';
import { type Change, type ChangeOrigin, changeSchema, type GrantChange, tenantIdSchema } from '../log-changes.ts';

/** The newest format that this program reads, and the one that it writes. */
export const LOG_FORMAT = 1;

/** UTF-8 bytes of a body. Well below what a store accepts in one mutation (8 MiB). */
export const ENTRY_BYTES_MAX = 1024 * 1024;

export interface EntryOperation extends ChangeOrigin {
  /** Position of the operation in its request; (requestId, index) is the operation's id. */
  readonly index: number;
  readonly changes: readonly Change[];
  /** Only of an operation whose changes do not determine its result. */
  readonly results?: LoggedResults | undefined;
}

export interface EntryTime {
  /** At least the wall clock, which may jump, and always after the previous entry. */
  readonly base: Stamp;
  /**
   * Whole ms on the owner's monotonic clock since the first entry of its epoch: the distance between entries of an
   * epoch.
   */
  readonly elapsedMs: number;
  /** How far the time of the entry is behind its base, since time was set back (slot-time.ts). Absent: 0. */
  readonly behindMs?: number | undefined;
}

/** The year 2200. Wall clocks beyond it are cut off here: some decades later, stamps would not be safe integers. */
const WALL_MS_MAX = Date.UTC(2200, 0, 1);
/** No base is that of a later time, so that the stamps after it are safe integers. */
export const BASE_MS_MAX = Date.UTC(2250, 0, 1);

/** The wall clock as a stamp. */
export function wallStamp(clock: Pick<Clock, 'wallMs'>): Stamp {
  return Math.min(clock.wallMs(), WALL_MS_MAX) * 1000;
}

/** The wall clock as a base of a log whose time is that far behind its bases. */
export function wallBase(clock: Pick<Clock, 'wallMs'>, behindMs: number): Stamp {
  return Math.min(wallStamp(clock) + behindMs * 1000, BASE_MS_MAX * 1000);
}

export interface Entry extends EntryTime {
  /** Change i of the entry, counted over its operations, has the stamp base + i. */
  readonly base: Stamp;
  readonly operations: readonly EntryOperation[];
}

/**
 * Zero for the first entry of an epoch, which has no operations. After it, appends of earlier epochs collide or are
 * void.
 */
export function countChanges(entry: Entry): number {
  return entry.operations.reduce((count, operation) => count + operation.changes.length, 0);
}

/** The first base that may follow `entry`: every entry takes at least one stamp, that of its checkpoint. */
export function followingBase(entry: Entry): Stamp {
  return entry.base + Math.max(countChanges(entry), 1);
}

/** The stamp of a checkpoint at this entry. Grows from entry to entry. */
export function checkpointStamp(entry: Entry): Stamp {
  return followingBase(entry) - 1;
}

/** JSON of one operation; `encodeEntry` joins them. */
export function encodeOperation(operation: EntryOperation): string {
  return JSON.stringify(operation);
}

export function encodeEntry(time: EntryTime, encodedOperations: readonly string[]): string {
  const { base, elapsedMs, behindMs = 0 } = time;
  const behind = behindMs === 0 ? '' : `"behindMs":${behindMs},`;
  const operations = encodedOperations.join(',');
  const body = `{"format":${LOG_FORMAT},"base":${base},"elapsedMs":${elapsedMs},${behind}"operations":[${operations}]}`;
  assert(Buffer.byteLength(body) <= ENTRY_BYTES_MAX, 'an entry is at most 1 MiB');
  return body;
}

const commitSchema = z.object({ seq: z.int().positive(), changes: z.array(changeSchema) });

export interface Commit {
  readonly seq: number;
  readonly changes: readonly Change[];
}

/** From `encodeCommit`. Throws if it is anything else. */
export function decodeCommit(line: string): Commit {
  return commitSchema.parse(JSON.parse(line));
}

const headSchema = z.object({
  format: z.int(),
  base: z.int().positive(),
  elapsedMs: z.int().nonnegative(),
  behindMs: z.int().positive().optional(),
});

const tailEntrySchema = headSchema.extend({ operations: z.array(z.unknown()) });

const entrySchema = headSchema.extend({
  operations: z.array(
    z.object({
      tenantId: tenantIdSchema,
      actor: z.string(),
      requestId: z.string(),
      index: z.int().nonnegative(),
      atMs: z.int(),
      changes: z.array(changeSchema),
      results: z.unknown().optional(),
    }),
  ),
});

/** The log cannot be read. A slot is never served on a guess. */
export class LogUnreadableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'LogUnreadableError';
  }
}

/**
 * The parts of an operation that its repeat needs: its id, and its last change, which determines its result; or its
 * results, with all changes of a bulk write.
 */
export type TailOperation = Pick<EntryOperation, 'requestId' | 'index' | 'changes' | 'results'>;

export interface TailEntry extends EntryTime {
  readonly operations: readonly TailOperation[];
}

/** Throws LogUnreadableError if the format is unknown or the body is not an entry. */
export function decodeEntry(record: LogRecord): Entry {
  const { operations, ...head } = parseEntry(record, entrySchema);
  return {
    ...timeIn(head),
    operations: operations.map(({ results, ...operation }) => {
      if (results === undefined) return operation;
      const read = readLoggedResults(results, operation.changes);
      if (read === undefined) throw unreadableResults(record);
      return { ...operation, results: read };
    }),
  };
}

const timeIn = ({ base, elapsedMs, behindMs }: z.infer<typeof headSchema>): EntryTime =>
  behindMs === undefined ? { base, elapsedMs } : { base, elapsedMs, behindMs };

/** Decodes the time of an entry alone. */
export const decodeTime = (record: LogRecord): EntryTime => timeIn(parseEntry(record, headSchema));

const unreadableResults = (record: LogRecord): LogUnreadableError =>
  new LogUnreadableError(`The ${placeOf(record)} has results that do not belong to its changes.`);

/**
 * Decodes an entry of the tail of the log, of which a start reads back many. It decodes only what a repeat needs, in a
 * third of the time. The entry is well-formed, since the state tables contain it.
 */
export function decodeTailEntry(record: LogRecord): TailEntry {
  const { operations, ...head } = parseEntry(record, tailEntrySchema);
  return {
    ...timeIn(head),
    operations: operations.map((operation) => {
      const last = parseTailOperation(operation);
      if (last === undefined) throw new LogUnreadableError(`The ${placeOf(record)} is not well-formed.`);
      if (last === 'unreadable-results') throw unreadableResults(record);
      return last;
    }),
  };
}

function parseTailOperation(value: unknown): TailOperation | 'unreadable-results' | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const stored: { [Field in keyof TailOperation]?: unknown } = value;
  const { requestId, index, changes, results } = stored;
  if (typeof requestId !== 'string' || !isCount(index) || !Array.isArray(changes)) return undefined;
  if (results !== undefined) {
    const kinds = changes.filter(isChangeKind);
    const read = kinds.length < changes.length ? undefined : readLoggedResults(results, kinds);
    if (read === undefined) return 'unreadable-results';
    if (read.kind !== 'bulk') return { requestId, index, changes: [], results: read };
    const created = changes.filter(({ kind }) => kind === 'grant-created');
    return created.every(isGrantChange) ? { requestId, index, changes: created, results: read } : undefined;
  }
  if (changes.length === 0) return { requestId, index, changes: [] };
  const last = parseLastChange(changes.at(-1));
  return last === undefined ? undefined : { requestId, index, changes: [last] };
}

const isChangeKind = (value: unknown): value is ChangeKind =>
  typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string';

/** Almost all changes are of grants, which are validated by hand. */
function parseLastChange(value: unknown): Change | undefined {
  if (isGrantChange(value)) return value;
  return changeSchema.safeParse(value).data;
}

const GRANT_KINDS: ReadonlySet<unknown> = new Set(['grant-created', 'grant-revoked', 'grant-updated', 'grant-expired']);

function isGrantChange(value: unknown): value is GrantChange {
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('grant' in value)) return false;
  if (!GRANT_KINDS.has(value.kind)) return false;
  if (typeof value.grant !== 'object' || value.grant === null) return false;
  const grant: { readonly [Field in keyof GrantAttributes]?: unknown } = value.grant;
  return readGrantAttributes(({ field }) => grant[field]) !== undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const placeOf = ({ seq, slot }: LogRecord): string => `log entry ${seq} of slot ${slot}`;

function parseEntry<Parsed>(record: LogRecord, schema: z.ZodType<Parsed>): Parsed {
  let json: unknown;
  try {
    json = JSON.parse(record.body);
  } catch (error) {
    throw new LogUnreadableError(`The ${placeOf(record)} is not JSON.`, error);
  }
  const format = z.object({ format: z.int() }).safeParse(json);
  if (format.success && format.data.format > LOG_FORMAT) {
    throw new LogUnreadableError(
      `The ${placeOf(record)} has format ${format.data.format}; this version reads up to ${LOG_FORMAT}. Start a newer version.`,
    );
  }
  const entry = schema.safeParse(json);
  if (!entry.success) throw new LogUnreadableError(`The ${placeOf(record)} is not well-formed.`, entry.error);
  return entry.data;
}

// ---- stored results ----
//
// An operation with one change needs none, since the change determines its result. The results of an operation with
// many changes are stored with it, so that a repeat gets them exactly. Invariant: stored results agree with the changes
// next to them, or the log is unreadable.

/** Results that are stored with an operation. */
export type LoggedResults =
  | {
      readonly kind: 'bulk';
      /**
       * In the order of the request. `created`: by the next change that creates a grant. Otherwise the grant existed,
       * and has these attributes after the write.
       */
      readonly grants: readonly ('created' | GrantAttributes)[];
      readonly revoked: readonly boolean[];
    }
  | { readonly kind: 'revocation'; readonly revoked: number; readonly complete: boolean };

/** The part of a change that results depend on. */
export interface ChangeKind {
  readonly kind: string;
}

const count = <Item>(items: readonly Item[], holds: (item: Item) => boolean): number =>
  items.reduce((sum, item) => sum + (holds(item) ? 1 : 0), 0);

function bulkGrant(value: unknown): 'created' | GrantAttributes | undefined {
  if (value === 'created') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const stored: { readonly [Field in keyof GrantAttributes]?: unknown } = value;
  return readGrantAttributes(({ field }) => stored[field]);
}

const isDefined = <Value>(value: Value | undefined): value is Value => value !== undefined;
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

/** Undefined: these are not the results of an operation with these changes. */
export function readLoggedResults(value: unknown, changes: readonly ChangeKind[]): LoggedResults | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const stored: { readonly [Field in 'kind' | 'grants' | 'revoked' | 'complete']?: unknown } = value;
  const created = count(changes, ({ kind }) => kind === 'grant-created');
  const ended = count(changes, ({ kind }) => kind === 'grant-revoked');
  const expired = count(changes, ({ kind }) => kind === 'grant-expired');
  if (stored.kind === 'bulk') {
    const { grants, revoked } = stored;
    if (!Array.isArray(grants) || !Array.isArray(revoked) || !revoked.every(isBoolean)) return undefined;
    const read = grants.map(bulkGrant);
    if (!read.every(isDefined) || count(read, (grant) => grant === 'created') !== created) return undefined;
    return count(revoked, Boolean) === ended ? { kind: 'bulk', grants: read, revoked } : undefined;
  }
  if (stored.kind === 'revocation') {
    const { revoked, complete } = stored;
    if (!isBoolean(complete) || revoked !== ended || ended + expired !== changes.length) return undefined;
    return { kind: 'revocation', revoked, complete };
  }
  return undefined;
}
