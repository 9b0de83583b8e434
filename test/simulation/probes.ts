// What runs have to reach: each probe counts how often one place of the program is passed, by a patch of the source
// text as it is loaded. Mutations show that what is reached is judged; probes show that it is reached. A path that
// production takes and no run does could be wrong in any way.

import { applyEdit, type Edit, patchAsLoaded } from './mutate.ts';

export interface Probe {
  readonly name: string;
  readonly what: string;
  /** In the replacement `reached()` stands for the count. */
  readonly edit: Edit;
}

/** How often, by the name of the probe. */
export type Reached = Readonly<Record<string, number>>;

const POSITIONS = 'src/front/requests/read-positions.ts';
const ITEMS = 'src/shard/memory/recent-items.ts';
const READER = 'src/shard/readers/tenant-reader.ts';

export const PROBES: readonly Probe[] = [
  {
    name: 'question-gathered',
    what: 'A front delays the question for a position, because the tenant is busy.',
    edit: {
      file: POSITIONS,
      find: 'this.#timer = clock.setTimer(() => {',
      replace: 'reached(); this.#timer = clock.setTimer(() => {',
    },
  },
  {
    name: 'question-joined',
    what: 'A flight joins a question that has not left yet.',
    edit: {
      file: POSITIONS,
      find: 'this.#leaving.push(flight);',
      replace: 'reached(); this.#leaving.push(flight);',
    },
  },
  {
    name: 'positions-forgotten',
    what: 'A front forgets a tenant none of whose flights waits for a position.',
    edit: {
      file: POSITIONS,
      find: 'if (idle) this.#tenants.delete(tenantId);',
      replace: 'if (idle) reached(), this.#tenants.delete(tenantId);',
    },
  },
  {
    name: 'promise-used',
    what: 'A front uses the promise of an owner for a flight that comes after the question had left.',
    edit: {
      file: POSITIONS,
      find: 'this.#quiet.served += 1;',
      replace: 'reached(); this.#quiet.served += 1;',
    },
  },
  {
    name: 'entry-held',
    what: 'An entry is in the log, and waits for a promise.',
    edit: {
      file: 'src/shard/log/appender.ts',
      find: 'await delay(clock, holdMs);',
      replace: 'reached(); await delay(clock, holdMs);',
    },
  },
  {
    name: 'time-held',
    what: 'An entry waits for promises because of its time.',
    edit: {
      file: 'src/shard/log/quiet-promises.ts',
      find: 'return this.#lastMs - atMs;',
      replace: '{ reached(); return this.#lastMs - atMs; }',
    },
  },
  {
    name: 'write-kept-out',
    what: 'Nothing is appended, because every write that waits does so for a promise.',
    edit: {
      file: 'src/shard/log/appender.ts',
      find: 'await this.#waitForPromises();',
      replace: 'reached(); await this.#waitForPromises();',
    },
  },
  {
    name: 'settled-log',
    what: 'A successor serves a slot from where its previous owner has left the log.',
    edit: {
      file: 'src/shard/log/recovery.ts',
      find: 'const isBehind = checkpoint.seq < lastSeq;',
      replace: 'reached(); const isBehind = checkpoint.seq < lastSeq;',
    },
  },
  {
    name: 'page-evicted',
    what: 'A page is evicted, because memory is short.',
    edit: {
      file: 'src/shard/memory/grant-page.ts',
      find: 'override evict(): void {',
      replace: 'override evict(): void { reached();',
    },
  },
  {
    name: 'commits-dropped',
    what: 'An owner drops the oldest commits of a tenant, which exceed the bound.',
    edit: {
      file: ITEMS,
      find: 'const seq = this.#items[this.#head]?.seq ?? this.#lastSeq;',
      replace: 'reached(); const seq = this.#items[this.#head]?.seq ?? this.#lastSeq;',
    },
  },
  {
    name: 'commits-evicted',
    what: 'The commits that an owner keeps of a tenant are evicted, because memory is short.',
    edit: {
      file: ITEMS,
      find: 'override evict(): void {',
      replace: 'override evict(): void { reached();',
    },
  },
  {
    name: 'commits-not-followed',
    what: 'An owner no longer keeps the commits of a tenant, because no reader has asked for them.',
    edit: {
      file: 'src/shard/memory/tenant-memory.ts',
      find: 'recentCommits?.drop();\n',
      replace: 'if (recentCommits !== undefined) reached(); recentCommits?.drop();\n',
    },
  },
  {
    name: 'commits-missing',
    what: 'An owner no longer has what a reader lacks.',
    edit: {
      file: 'src/shard/readers/follow-tenant.ts',
      find: 'if (part === undefined) throw',
      replace: 'if (part === undefined) reached(); if (part === undefined) throw',
    },
  },
  {
    name: 'commits-overlapping',
    what: 'The answer to a reader has a commit that the reader has already applied.',
    edit: {
      file: READER,
      find: 'if (commit.seq <= this.#seq) continue;',
      replace: 'if (commit.seq <= this.#seq) reached(); if (commit.seq <= this.#seq) continue;',
    },
  },
  {
    name: 'reader-advance',
    what: 'A reader needs the log of the owner to reach the time of a call.',
    edit: {
      file: READER,
      find: 'await this.#ask(true);',
      replace: 'reached(); await this.#ask(true);',
    },
  },
  {
    name: 'commits-in-steps',
    what: 'A reader parses commits in several steps.',
    edit: {
      file: READER,
      find: 'await yieldTurn(this.#dependencies.clock);',
      replace: 'reached(); await yieldTurn(this.#dependencies.clock);',
    },
  },
  {
    name: 'reader-idle',
    what: 'A reader ends because no call has used it for a while.',
    edit: {
      file: 'src/shard/readers/readers.ts',
      find: "reader.end('idle');",
      replace: "reached(), reader.end('idle');",
    },
  },
  {
    name: 'check-deferred',
    what: 'A check waits for the turn of its tenant.',
    edit: {
      file: 'src/rpc/serving/peer-stream.ts',
      find: 'this.#defer(connection.tenantOf(handle), (error) => {',
      replace: 'reached(); this.#defer(connection.tenantOf(handle), (error) => {',
    },
  },
  {
    name: 'step-in-a-later-turn',
    what: 'A step runs in a later turn of the event loop than that in which it came.',
    edit: {
      file: 'src/core/async/turns.ts',
      find: 'this.#runStep(flow, work.step);',
      replace: 'reached(); this.#runStep(flow, work.step);',
    },
  },
];

/** The global variable that holds the counts. */
const COUNTS = 'grantdReached';

const noneReached = (): Record<string, number> => Object.fromEntries(PROBES.map(({ name }) => [name, 0]));

/** The text of a file with its probes. Throws where it does not hold the statement of one of them exactly once. */
export function withProbes(text: string, file: string): string {
  return PROBES.filter(({ edit }) => edit.file === file).reduce((probed, { name, edit }) => {
    const replace = edit.replace.replace('reached()', `globalThis.${COUNTS}['${name}'] += 1`);
    return applyEdit(probed, { ...edit, replace });
  }, text);
}

/** To be called before the code under test is imported. */
export function loadProbes(): void {
  Reflect.set(globalThis, COUNTS, noneReached());
  const files = new Set(PROBES.map(({ edit }) => edit.file));
  patchAsLoaded(new Map([...files].map((file) => [file, (text: string) => withProbes(text, file)])));
}

/** What was reached since the last call. Empty: no probes are loaded. */
export function takeReached(): Reached {
  const reached: Reached | undefined = Reflect.get(globalThis, COUNTS);
  if (reached === undefined) return {};
  Reflect.set(globalThis, COUNTS, noneReached());
  return reached;
}

/** Over many runs. Every probe has a count. */
export function sumOfReached(results: readonly { readonly reached: Reached }[]): Reached {
  const sum = noneReached();
  for (const { reached } of results) {
    for (const [name, count] of Object.entries(reached)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}
