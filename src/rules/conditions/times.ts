// Timestamps and durations as text, and the parts of a timestamp in a time zone.

import { Duration, INT_MAX, INT_MIN, NANOS_PER_SECOND, Timestamp } from './values.ts';

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z: the range of `google.protobuf.Timestamp`. */
const TIMESTAMP_MIN = -62_135_596_800n * NANOS_PER_SECOND;
const TIMESTAMP_MAX = 253_402_300_800n * NANOS_PER_SECOND - 1n;
const NANOS_PER_MS = 1_000_000n;
const MS_PER_DAY = 86_400_000;
const MS_PER_CALENDAR_CYCLE = 146_097 * MS_PER_DAY;

/** Undefined: outside the years 1 to 9999. */
export const timestampOf = (nanos: bigint): Timestamp | undefined =>
  nanos < TIMESTAMP_MIN || nanos > TIMESTAMP_MAX ? undefined : new Timestamp(nanos);

/** Undefined: more than 64 bits of nanoseconds. */
export const durationOf = (nanos: bigint): Duration | undefined =>
  nanos < INT_MIN || nanos > INT_MAX ? undefined : new Duration(nanos);

const TIMESTAMP =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(?:([Zz])|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

const daysOf = (year: number, month: number): number =>
  month === 2
    ? year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      ? 29
      : 28
    : [4, 6, 9, 11].includes(month)
      ? 30
      : 31;

/** `Date.UTC` without its years of two digits. */
function utcMs(year: number, month: number, day: number, seconds: number): number {
  // A cycle of the calendar has 400 years.
  return Date.UTC(year + 400, month - 1, day, 0, 0, seconds) - MS_PER_CALENDAR_CYCLE;
}

/** RFC 3339, with a zone. Undefined: not of that form, no day of the calendar, or out of range. */
export function parseRfc3339(text: string): Timestamp | undefined {
  const match = text.length > 40 ? null : TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined;
  const seconds = 3600 * Number(match[4]) + 60 * Number(match[5]) + Number(match[6]);
  const offset = 3600 * Number(match[10] ?? 0) + 60 * Number(match[11] ?? 0);
  const ms = utcMs(year, month, day, match[9] === '-' ? seconds + offset : seconds - offset);
  const fraction = match[7] === undefined ? 0n : BigInt(match[7].padEnd(9, '0'));
  return timestampOf(BigInt(ms) * NANOS_PER_MS + fraction);
}

/** Whether only the zone of a timestamp is missing, for a message that says so. */
export const lacksZone = (text: string): boolean => parseRfc3339(`${text}Z`) !== undefined;

const fractionText = (nanos: bigint): string =>
  nanos === 0n ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;

const floorMs = (nanos: bigint): number => {
  const ms = nanos / NANOS_PER_MS;
  return Number(nanos % NANOS_PER_MS < 0n ? ms - 1n : ms);
};

/** RFC 3339 in UTC, with as many digits as are needed. */
export function timestampText({ nanos }: Timestamp): string {
  const fraction = ((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  return `${new Date(floorMs(nanos)).toISOString().slice(0, 19)}${fractionText(fraction)}Z`;
}

/** In seconds: `-1.5s`. */
export function durationText({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? '-' : ''}${size / NANOS_PER_SECOND}${fractionText(size % NANOS_PER_SECOND)}s`;
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', NANOS_PER_MS],
  ['s', NANOS_PER_SECOND],
  ['m', 60n * NANOS_PER_SECOND],
  ['h', 3600n * NANOS_PER_SECOND],
]);
const DURATION = /^([+-]?)(?:0|((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+))$/;
const DURATION_PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g;
const DURATION_LENGTH_MAX = 64;

/** A sequence of decimal numbers with units, such as `1h30m` or `-1.5s`, as Go writes it. Undefined: no such text. */
export function parseDuration(text: string): Duration | undefined {
  const match = text.length > DURATION_LENGTH_MAX ? null : DURATION.exec(text);
  if (match === null) return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of (match[2] ?? '').matchAll(DURATION_PART)) {
    const unitNanos = UNITS.get(unit) ?? 0n;
    nanos += BigInt(whole) * unitNanos + (BigInt(fraction) * unitNanos) / 10n ** BigInt(fraction.length);
  }
  return durationOf(match[1] === '-' ? -nanos : nanos);
}

const FIXED_OFFSET = /^([+-]?)(\d\d):(\d\d)$/;
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
/** Zones that are kept at once. */
const ZONES_MAX = 32;

/** A zone has one offset from UTC from one transition to the next. */
interface OffsetSpan {
  readonly from: bigint;
  readonly until: bigint | undefined;
  readonly offset: bigint;
}

/** Offsets of time zones from UTC. Keeps those of the last zones, since the database of zones takes 10 µs to ask. */
export class ZoneOffsets {
  readonly #spans = new Map<string, OffsetSpan>();

  /** In nanoseconds. Undefined: there is no such zone. Zones are names such as `Europe/Berlin`, or `+02:00`. */
  offsetAt(zone: string, { nanos }: Timestamp): bigint | undefined {
    const fixed = FIXED_OFFSET.exec(zone);
    if (fixed !== null) {
      const minutes = BigInt(fixed[2] ?? 0) * 60n + BigInt(fixed[3] ?? 0);
      return (fixed[1] === '-' ? -minutes : minutes) * 60n * NANOS_PER_SECOND;
    }
    const kept = this.#spans.get(zone);
    if (kept !== undefined && kept.from <= nanos && (kept.until === undefined || nanos < kept.until))
      return kept.offset;
    const span = ZONE_NAME.test(zone) ? spanAt(zone, nanos) : undefined;
    if (span === undefined) return undefined;
    if (this.#spans.size >= ZONES_MAX) this.#spans.clear();
    this.#spans.set(zone, span);
    return span.offset;
  }
}

function spanAt(zone: string, nanos: bigint): OffsetSpan | undefined {
  let time: Temporal.ZonedDateTime;
  try {
    time = new Temporal.ZonedDateTime(nanos, zone);
  } catch {
    return undefined;
  }
  const until = time.getTimeZoneTransition('next')?.epochNanoseconds;
  return { from: nanos, until, offset: BigInt(time.offsetNanoseconds) };
}

/** The time of day and the date of a moment, in a zone of the given offset from UTC. */
export function localTime({ nanos }: Timestamp, offset: bigint): Date {
  return new Date(floorMs(nanos + offset));
}

/** From 0. */
export function dayOfYear(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start.getTime()) / MS_PER_DAY);
}
