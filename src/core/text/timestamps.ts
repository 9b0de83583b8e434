// Times as strings. Thousands of responses contain the same millisecond, so the last string is cached.

export const MS_PER_MINUTE = 60_000;

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
