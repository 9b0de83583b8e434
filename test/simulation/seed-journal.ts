// The journal of a long run: a file of JSON lines, the first of which says which seeds are run of which code, each
// other one what came of a chunk of them. It keeps: a chunk is in the journal once it is done, and a journal of other
// seeds or of other code is refused, since what it says would not hold.

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sumOf, type Totals } from './render-results.ts';
import type { SeedChunk } from './run-seeds.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface JournalOf {
  readonly from: number;
  readonly count: number;
  readonly focus: string;
  readonly mutation: string;
}

interface Line {
  readonly from: number;
  readonly totals: Totals;
}

/** Of whatever can change the course of a run. */
function hashOfCode(): string {
  const hash = createHash('sha256');
  for (const file of globSync(['src/**/*.ts', 'test/{simulation,kit}/**/*.ts'], { cwd: ROOT }).sort()) {
    hash.update(`${file}\n`).update(readFileSync(`${ROOT}${file}`));
  }
  return hash.update(process.version).digest('hex');
}

export class SeedJournal {
  readonly #path: string;
  readonly #done = new Map<number, Totals>();

  /** Opens the journal, or begins it. Throws where the file is the journal of another run. */
  constructor(path: string, of: JournalOf) {
    this.#path = path;
    const head = JSON.stringify({ ...of, code: hashOfCode() });
    if (!existsSync(path)) {
      writeFileSync(path, `${head}\n`);
      return;
    }
    const lines = readFileSync(path, 'utf8').split('\n');
    if (lines[0] !== head) throw new Error(`${path} is the journal of other seeds, of another focus or of other code.`);
    // What follows the last end of a line was cut off while it was written.
    for (const text of lines.slice(1, -1)) {
      const { from, totals } = JSON.parse(text) as Line;
      this.#done.set(from, totals);
    }
    if (lines.at(-1) !== '') writeFileSync(path, `${lines.slice(0, -1).join('\n')}\n`);
  }

  /** First seeds of the chunks that are done. */
  get done(): ReadonlySet<number> {
    return new Set(this.#done.keys());
  }

  get totals(): Totals {
    return sumOf([...this.#done.values()]);
  }

  add({ from }: SeedChunk, totals: Totals): void {
    this.#done.set(from, totals);
    appendFileSync(this.#path, `${JSON.stringify({ from, totals } satisfies Line)}\n`);
  }
}
