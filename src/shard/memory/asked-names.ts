// When applications last asked about the names of a tenant's rules, to the minute, for a day. It is part of the
// tenant's usage and stored with it. Invariant: it has few more names than rules can define, whatever fronts report;
// rows of the store that are damaged, or of another time, say nothing.

import { isJsonObject } from '../../core/json-members.ts';
import { MS_PER_DAY, MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import { NAMES_MAX } from '../../rules/rule-set.ts';
import type { UsageRow } from '../../store/store.ts';

/** The longest text, and its entry. */
const NAME_BYTES = 160;

/** With the longest names, below the 8 KiB of a row. */
const NAMES_PER_ROW = 100;
/** Those of the present rules, and some that are to make way for others. */
const COUNT_MAX = NAMES_MAX + NAMES_PER_ROW;
const FIRST_PLACE = 900;
/** Where they are stored, besides the counts of the usage. */
export const ASKED_PLACES = { from: FIRST_PLACE, to: FIRST_PLACE + Math.ceil(COUNT_MAX / NAMES_PER_ROW) - 1 } as const;

type AskedMinute = readonly [name: string, minute: number];

export class AskedNames {
  /** Minutes since 1970, by name; the least recent ones first. */
  readonly #minutes = new Map<string, number>();

  get bytes(): number {
    return this.#minutes.size * NAME_BYTES;
  }

  note(names: Iterable<string>, nowMs: number): void {
    const minute = Math.floor(nowMs / MS_PER_MINUTE);
    for (const name of names) {
      this.#minutes.delete(name);
      this.#minutes.set(name, minute);
      if (this.#minutes.size <= COUNT_MAX) continue;
      // Several at once: to find the first one takes as long as there are deleted ones before it.
      for (const oldest of this.#minutes.keys().take(NAMES_PER_ROW)) this.#minutes.delete(oldest);
    }
  }

  /** Adds what earlier owners stored. */
  seed(rows: readonly UsageRow[], nowMs: number): void {
    for (const [name, minute] of rows.flatMap((row) => minutesIn(row, nowMs))) {
      const known = this.#minutes.get(name);
      if (known === undefined ? this.#minutes.size < COUNT_MAX : known < minute) this.#minutes.set(name, minute);
    }
  }

  /** Undefined: not in the last day. */
  askedAtMs(name: string, nowMs: number): number | undefined {
    const atMs = (this.#minutes.get(name) ?? 0) * MS_PER_MINUTE;
    return nowMs - atMs <= MS_PER_DAY ? atMs : undefined;
  }

  /** Fewer rows than before leave some that were true, and which age. */
  rows(nowMs: number): readonly UsageRow[] {
    const names = [...this.#minutes].filter(([name]) => this.askedAtMs(name, nowMs) !== undefined);
    return Array.from({ length: Math.ceil(names.length / NAMES_PER_ROW) }, (_, index) => ({
      place: FIRST_PLACE + index,
      counts: JSON.stringify(Object.fromEntries(names.slice(index * NAMES_PER_ROW, (index + 1) * NAMES_PER_ROW))),
    }));
  }
}

function minutesIn({ counts }: UsageRow, nowMs: number): readonly AskedMinute[] {
  const [oldest, now] = [nowMs - MS_PER_DAY, nowMs].map((atMs) => Math.floor(atMs / MS_PER_MINUTE));
  return Object.entries(parsed(counts)).filter(
    (entry): entry is [string, number] =>
      Number.isSafeInteger(entry[1]) && Number(entry[1]) >= Number(oldest) && Number(entry[1]) <= Number(now),
  );
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
