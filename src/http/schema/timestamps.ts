// Timestamps as text. Thousands of answers carry the same millisecond, so the last text is kept.

import { formatTimestamp } from '../../core/async/clock.ts';

let lastMs = -1;
let lastText = '';

/** ISO 8601 in UTC with milliseconds and `Z`. */
export function timestampText(wallMs: number): string {
  if (wallMs !== lastMs) {
    lastText = formatTimestamp(wallMs);
    lastMs = wallMs;
  }
  return lastText;
}
