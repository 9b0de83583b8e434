// What a browser's field for date and time holds. The console's are in UTC.

/** Milliseconds since the Unix epoch; undefined where it is no date and time. */
export function parseDateTime(text: string): number | undefined {
  const ms = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
