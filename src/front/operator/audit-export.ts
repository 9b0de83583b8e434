// The export of the audit log of all tenants, page by page, from the logs of all slots. Invariants: the pages from a
// cursor on, put together, have every change after it, those of a tenant in their order; a slot that cannot be read now
// stays where it is, and delays no other one; a page is bounded. Without an export, there are no calls to the shards.
//
// For each page, every shard reports once where its logs end, which it knows from memory. Only slots with something
// new are read.

import { GrantdError } from '../../core/errors.ts';
import { type CursorSecrets, createLongCursor, decodeCursorSecrets, parseLongCursor } from '../../core/text/cursors.ts';
import type { LogEnds, LoggedChange, LoggedPage, LogQuery, LogRange } from '../../shard/shard.ts';
import type { AuditExportPage, AuditExportQuery, RequestContext } from '../front.ts';
import type { ShardLink } from '../links/shard-link.ts';
import { askShard, OwnerPath } from '../requests/flight-paths.ts';
import { makeCall } from '../requests/flight-requests.ts';
import { type FlightControl, pauseBetweenTries } from '../requests/flights.ts';

/** Bound of one question to one shard, which replies from memory. */
const QUESTION_MS_MAX = 1000;
/** Bound of reading one slot: an owner takes two seconds at most, unless it changes. */
const READING_MS_MAX = 4000;
/** A page begins with no further slots after this time. */
const PAGE_MS_MAX = 4000;
/** Slots that are read at once, each with up to a quarter of a mebibyte and one entry. */
const SLOTS_AT_ONCE = 4;
/** Characters of the changes of a page, after which no further slots are read. */
const PAGE_LENGTH_MAX = 512 * 1024;

/** The logs of all slots that have an owner. */
interface Survey {
  readonly ranges: ReadonlyMap<number, LogRange>;
  readonly cursors: ExportCursors;
}

interface ReadSlot {
  readonly slot: number;
  /** Undefined: it could not be read now. */
  readonly page: LoggedPage | undefined;
}

export class AuditExport {
  readonly #control: FlightControl;
  readonly #readyLinks: () => readonly ShardLink[];

  constructor(control: FlightControl, readyLinks: () => readonly ShardLink[]) {
    this.#control = control;
    this.#readyLinks = readyLinks;
  }

  /** Rejects with `invalid-cursor`, `cursor-too-old` or `unavailable`. */
  async read(context: RequestContext, { cursor, since }: AuditExportQuery): Promise<AuditExportPage> {
    // An export begins at a known place of every slot.
    const { ranges, cursors } = await this.#survey(context, cursor === undefined);
    const { slots } = this.#control.routing;
    const position = cursor === undefined ? startOf(ranges, slots, since) : cursors.positionOf(cursor, slots);
    if (position === undefined) throw new GrantdError('invalid-cursor', 'This cluster has not issued "cursor".');
    demandKept(ranges, cursors, position);

    const { sinceMs, startSlot } = position;
    const seqs = [...position.seqs];
    const news = changedSlots(ranges, position);
    const items: LoggedChange[] = [];
    const enoughAtMs = this.#control.clock.monotonicMs() + PAGE_MS_MAX;
    let length = 0;
    let read = 0;
    let complete = true;
    let failed = 0;
    while (read < news.length && length < PAGE_LENGTH_MAX && this.#control.clock.monotonicMs() < enoughAtMs) {
      const slotsNow = news.slice(read, read + SLOTS_AT_ONCE);
      const pages = await Promise.all(
        slotsNow.map((slot) => this.#readSlot(context, { slot, afterSeq: seqs[slot] ?? 0, sinceMs })),
      );
      for (const { slot, page } of pages) {
        if (page === undefined) failed += 1;
        complete &&= page?.atEnd ?? true;
        items.push(...(page?.items ?? []));
        length += lengthOf(page?.items ?? []);
        seqs[slot] = page?.nextSeq ?? seqs[slot] ?? 0;
      }
      read += slotsNow.length;
    }
    const slotsMissing = slots - ranges.size + failed;
    const next = { sinceMs, startSlot: news[read] ?? startSlot, seqs };
    const atEnd = complete && read >= news.length && slotsMissing === 0;
    return { items, cursor: cursors.cursorAt(next), atEnd, slotsMissing };
  }

  /** `whole`: waits until every slot has an owner that replies. */
  async #survey(context: RequestContext, whole: boolean): Promise<Survey> {
    for (let tries = 0; ; tries += 1) {
      const links = this.#readyLinks();
      const replies = await Promise.all(links.map((link) => this.#askEnds(context, link)));
      const known = replies.filter((reply) => reply !== undefined);
      const [first] = known;
      const ranges = rangesIn(known);
      if (first !== undefined && (!whole || ranges.size === this.#control.routing.slots)) {
        return { ranges, cursors: new ExportCursors(first.cursorKeys) };
      }
      await pauseBetweenTries(this.#control, context, tries);
    }
  }

  /** Undefined: the shard cannot reply now. */
  #askEnds(context: RequestContext, link: ShardLink): Promise<LogEnds | undefined> {
    const asked = this.#withDeadline(context, QUESTION_MS_MAX);
    return askShard(this.#control, link, asked, 'listLogEnds', undefined).catch(passing);
  }

  async #readSlot(context: RequestContext, query: LogQuery): Promise<ReadSlot> {
    const { slot } = query;
    const asked = this.#withDeadline(context, READING_MS_MAX);
    const page = await makeCall(this.#control, new OwnerPath({ slot }), asked, 'readLog', query).catch(passing);
    return { slot, page };
  }

  #withDeadline(context: RequestContext, timeoutMs: number): RequestContext {
    return { ...context, deadlineMs: Math.min(context.deadlineMs, this.#control.clock.monotonicMs() + timeoutMs) };
  }
}

/** Ignores failures that may pass. If a log was trimmed just now, the next page reports it. */
function passing(error: unknown): undefined {
  if (error instanceof GrantdError && (error.retryable || error.code === 'cursor-too-old')) return undefined;
  throw error;
}

const lengthOf = (items: readonly LoggedChange[]): number =>
  items.reduce((length, { change }) => length + change.length, 0);

/** If two shards report the log of a slot, one of them was its owner before: both are right, one knows more. */
function rangesIn(replies: readonly LogEnds[]): ReadonlyMap<number, LogRange> {
  const ranges = new Map<number, LogRange>();
  for (const range of replies.flatMap(({ ranges: each }) => each)) {
    const known = ranges.get(range.slot);
    const { slot } = range;
    const first = Math.max(range.first, known?.first ?? 0);
    ranges.set(slot, { slot, first, last: Math.max(range.last, known?.last ?? 0) });
  }
  return ranges;
}

function startOf(
  ranges: ReadonlyMap<number, LogRange>,
  slots: number,
  since: AuditExportQuery['since'] = 0,
): ExportPosition {
  const seqs = Array.from({ length: slots }, (_, slot) => {
    const { first = 1, last = 0 } = ranges.get(slot) ?? {};
    return since === 'now' ? last : Math.max(0, first - 1);
  });
  return { sinceMs: since === 'now' ? 0 : Math.max(0, since), startSlot: 0, seqs };
}

/** Throws `cursor-too-old`, with the cursor that goes on with the oldest entries that are kept. */
function demandKept(ranges: ReadonlyMap<number, LogRange>, cursors: ExportCursors, position: ExportPosition): void {
  const seqs = position.seqs.map((seq, slot) => Math.max(seq, (ranges.get(slot)?.first ?? 1) - 1));
  const lost = seqs.filter((seq, slot) => seq !== position.seqs[slot]).length;
  if (lost === 0) return;
  const earliest = cursors.cursorAt({ ...position, seqs });
  throw new GrantdError('cursor-too-old', `The logs of ${lost} slots no longer have all changes after this cursor.`, {
    details: { earliest },
  });
}

/**
 * From the start of the page on, and around. A place ahead of a log is no news unless its owner says so: another shard
 * may have reported an older end.
 */
function changedSlots(ranges: ReadonlyMap<number, LogRange>, { seqs, startSlot }: ExportPosition): readonly number[] {
  const changed = [...ranges.values()].filter(({ slot, last }) => last !== seqs[slot]).map(({ slot }) => slot);
  changed.sort((left, right) => left - right);
  const from = changed.findIndex((slot) => slot >= startSlot);
  return from <= 0 ? changed : [...changed.slice(from), ...changed.slice(0, from)];
}

// ---- its cursor ----
//
// The cursor of an export of the audit log: a place in the log of each slot, signed. Invariants: a cursor that another
// cluster issued, or that was changed, is refused; its length is bounded by the number of slots.

const SCOPE = ['audit-export'];
const FORMAT = 1;

export interface ExportPosition {
  /** Changes of earlier entries are left out, wall clock in ms; 0: none. */
  readonly sinceMs: number;
  /** The slot with which the next page begins, so that all slots take turns. */
  readonly startSlot: number;
  /** For each slot, the last entry that has been exported. */
  readonly seqs: readonly number[];
}

/** Unsigned LEB128, for safe integers. */
function writeNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

function readNumbers(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  let factor = 1;
  for (const byte of bytes) {
    value += (byte % 128) * factor;
    factor *= 128;
    if (byte >= 128) continue;
    numbers.push(value);
    value = 0;
    factor = 1;
  }
  return numbers;
}

/** Signed with keys that only the shards of the cluster hand out. */
export class ExportCursors {
  readonly #keys: CursorSecrets;

  constructor(cursorKeys: readonly string[]) {
    this.#keys = decodeCursorSecrets(cursorKeys);
  }

  cursorAt({ sinceMs, startSlot, seqs }: ExportPosition): string {
    const bytes: number[] = [];
    for (const number of [FORMAT, sinceMs, startSlot, ...seqs]) writeNumber(bytes, number);
    return createLongCursor(this.#keys, SCOPE, Uint8Array.from(bytes));
  }

  /** Undefined: not issued by this cluster with its number of slots. */
  positionOf(cursor: string, slots: number): ExportPosition | undefined {
    const bytes = parseLongCursor(this.#keys, SCOPE, cursor);
    const [format, sinceMs = 0, startSlot = 0, ...seqs] = readNumbers(bytes ?? new Uint8Array());
    return format === FORMAT && seqs.length === slots ? { sinceMs, startSlot, seqs } : undefined;
  }
}
