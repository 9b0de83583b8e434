// Times as strings. Thousands of responses contain the same millisecond, so the last string is cached.

export const MS_PER_MINUTE = 60_000;
export const MS_PER_HOUR = 60 * MS_PER_MINUTE;
export const MS_PER_DAY = 24 * MS_PER_HOUR;

let lastMs = Number.NaN;
let lastText = '';

/** ISO 8601 in UTC with milliseconds and `Z`. */
export function formatTimestamp(wallMs: number): string {
  if (wallMs !== lastMs) {
    lastText = new Date(wallMs).toISOString();
    lastMs = wallMs;
  }
  return lastText;
}

/** `null` if there is no time, as in JSON. */
export const optionalTimestamp = (wallMs: number | undefined): string | null =>
  wallMs === undefined ? null : formatTimestamp(wallMs);

const TIMESTAMP =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** ISO 8601 with a time zone, in whole milliseconds; undefined: not of that form, or no day of the calendar. */
export function parseTimestamp(text: string): number | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const ms = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offsetMs = (60 * Number(match[9] ?? 0) + Number(match[10] ?? 0)) * MS_PER_MINUTE;
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  const date = new Date(localMs);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return match[8] === '-' ? localMs + offsetMs : localMs - offsetMs;
}

/** `3 minutes`, rounded down to the largest unit that fits. */
export function span(ms: number): string {
  const [amount, unit] =
    ms >= 2 * MS_PER_DAY
      ? [ms / MS_PER_DAY, 'day']
      : ms >= 2 * MS_PER_HOUR
        ? [ms / MS_PER_HOUR, 'hour']
        : ms >= MS_PER_MINUTE
          ? [ms / MS_PER_MINUTE, 'minute']
          : [Math.max(0, ms) / 1000, 'second'];
  const whole = Math.floor(amount);
  return `${whole.toLocaleString('en-US')} ${unit}${whole === 1 ? '' : 's'}`;
}
