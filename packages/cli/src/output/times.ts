// Times as people write them: a day, a time, or a duration. They become what the service accepts: ISO 8601 in UTC.

import { InvalidArgumentError } from 'commander';

const FORMS = 'a day (2030-01-31), a time (2030-01-31T12:00Z) or a duration (90d; s, m, h, d or w)';
export const TIME_FORMS = '2030-01-31, 2030-01-31T12:00Z or 90d (s, m, h, d, w)';

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 7 * 86_400_000],
]);

const DISTANCE = /^(?<amount>\d{1,9})(?<unit>[smhdw])$/;
const TIME = /^(?<day>\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?<zone>Z|[+-]\d{2}:\d{2})?)?$/;

function timeMsOf(text: string, nowMs: number, direction: 1 | -1): number {
  const distance = DISTANCE.exec(text)?.groups;
  if (distance !== undefined) {
    return nowMs + direction * Number(distance.amount) * (UNIT_MS.get(distance.unit ?? '') ?? Number.NaN);
  }
  const time = TIME.exec(text)?.groups;
  // A day that its month does not have would become one of the next month.
  const dayMs = Date.parse(`${time?.day}T00:00Z`);
  if (time === undefined || !Number.isFinite(dayMs)) return Number.NaN;
  if (new Date(dayMs).toISOString().slice(0, 10) !== time.day) return Number.NaN;
  // Without a zone it is UTC, whatever the zone of this machine.
  return Date.parse(text.includes('T') && time.zone === undefined ? `${text}Z` : text);
}

/** The parser of an option for a duration, in whole seconds: `24h`, or `0`. */
export function durationParser(secondsMax: number, max: string): (text: string) => number {
  return (text) => {
    const distance = DISTANCE.exec(text)?.groups;
    const unitMs = UNIT_MS.get(distance?.unit ?? '') ?? Number.NaN;
    const seconds = text === '0' ? 0 : (Number(distance?.amount) * unitMs) / 1000;
    if (seconds <= secondsMax) return seconds;
    throw new InvalidArgumentError(`It must be 0 or a duration up to ${max}, such as 24h (s, m, h, d, w).`);
  };
}

/** The parser of an option. A duration counts from now: back or ahead. */
export function timeParser(nowMs: () => number, towards: 'the past' | 'the future'): (text: string) => string {
  return (text) => {
    const time = new Date(timeMsOf(text, nowMs(), towards === 'the past' ? -1 : 1));
    if (Number.isNaN(time.getTime())) throw new InvalidArgumentError(`It must be ${FORMS}, in UTC.`);
    return time.toISOString();
  };
}
