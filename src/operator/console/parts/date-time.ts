// Parses a browser's field for date and time. The console's fields are in UTC.

/** Milliseconds since the Unix epoch; undefined if it is not a date and time. */
export function parseDateTime(text: string): number | undefined {
  const ms = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
