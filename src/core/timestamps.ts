// Times as text, and what they are made of. Thousands of answers carry the same millisecond, so the last text is kept.

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

/** `null` where there is none, as in JSON. */
export const optionalTimestamp = (wallMs: number | undefined): string | null =>
  wallMs === undefined ? null : formatTimestamp(wallMs);
