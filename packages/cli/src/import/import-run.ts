// An import: lines are read, grouped into batches and delivered several at a time. The batches in flight bound the
// memory, whatever the length of the file. What a line does never depends on which batch is faster: a batch waits for
// those in flight that name one of its tuples. Rules wait for all grants before them, grants behind rules are sent only
// once these are stored, and if they are refused, nothing behind them is sent.

import { isJsonObject } from '../../../../src/core/json-members.ts';
import { IMPORT_BODY_BYTES_MAX, WRITES_PER_CALL_MAX } from '../../../../src/core/limits.ts';
import { NO_RULES, type RuleSet, revisionOf } from '../../../../src/rules/rule-set.ts';
import { CliFailure, ProblemFailure } from '../failures.ts';
import { asRecord, optionalTextOf, parseJson, textOf } from '../output/json-view.ts';
import { type RetryOptions, withRetries } from '../retries.ts';
import type { ServiceClient } from '../service-client.ts';
import { bodyOf, putTenantRules, readTenantRules } from '../tenant-rules.ts';
import type { ImportEntry, Refusal, SourceLine } from './import-lines.ts';

/** Enough for the service to commit while lines travel; more would only wait there. */
const BATCHES_IN_FLIGHT_MAX = 4;

export interface ImportTally {
  /** Lines with a result; empty lines are not counted. */
  lines: number;
  created: number;
  changed: number;
  unchanged: number;
  /** Their expiry had passed, so that there was nothing to create. */
  expired: number;
  refused: number;
  /** Bytes of the source that were read so far. */
  bytesRead: number;
}

export interface RefusedLine extends Refusal {
  readonly line: SourceLine;
}

export interface ImportRun {
  /** Fails with the abort once the signal aborts, and counts in `tally` the bytes that it has read. */
  readonly read: (signal: AbortSignal, tally: { bytesRead: number }) => AsyncIterable<readonly ImportEntry[]>;
  /** Ends the reading; batches in flight complete. */
  readonly signal: AbortSignal;
  readonly onProgress: (tally: Readonly<ImportTally>) => void;
  /** Grants that exist get the terms of their lines; otherwise they stay as they are. */
  readonly replace: boolean;
  /** `keep`: grants that the types of the rules exclude are imported too. */
  readonly outsideTypes: string | undefined;
  readonly onRetry: (reason: string, delayMs: number) => void;
  /** Awaited, so that a slow file slows the import. */
  readonly onRefused: (refused: RefusedLine) => Promise<void> | void;
  readonly backoffFirstMs?: number;
}

export interface ImportOutcome {
  readonly tally: Readonly<ImportTally>;
  /** Whether all lines of the source got a result. */
  readonly whole: boolean;
  /** The first failure, of the source or of the service. */
  readonly failure: unknown;
}

const newTally = (): ImportTally => ({
  ...{ lines: 0, created: 0, changed: 0, unchanged: 0, expired: 0, refused: 0 },
  bytesRead: 0,
});

interface Batch {
  readonly lines: readonly SourceLine[];
  readonly body: string;
  /** The tuples that it names, as keys. */
  readonly tuples: ReadonlySet<string>;
}

type RulesLine = Extract<ImportEntry, { rules: unknown }>;

class BatchesInFlight {
  /** By delivery, none of which rejects: the tuples of its batch. */
  readonly #tuples = new Map<Promise<void>, ReadonlySet<string>>();

  #fits(batch: Batch | RulesLine): boolean {
    if ('rules' in batch) return this.#tuples.size === 0;
    if (this.#tuples.size >= BATCHES_IN_FLIGHT_MAX) return false;
    return [...this.#tuples.values()].every((tuples) => tuples.isDisjointFrom(batch.tuples));
  }

  /** Resolves when the batch may be sent. */
  async untilFits(batch: Batch | RulesLine): Promise<void> {
    while (!this.#fits(batch)) await Promise.race(this.#tuples.keys());
  }

  add(delivery: Promise<void>, tuples: ReadonlySet<string>): void {
    const ending = delivery.then(() => {
      this.#tuples.delete(ending);
    });
    this.#tuples.set(ending, tuples);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#tuples.keys());
  }
}

/** The tuple of a line, as a key; undefined: the service refuses the line, or finds no JSON in it. */
function tupleIn(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? JSON.stringify([value.subject, value.relation, value.object]) : undefined;
  } catch {
    return undefined;
  }
}

/** Batches of lines that can be sent, and lines with rules, in the order of the file; other lines go to `refuse`. */
async function* gather(
  source: AsyncIterable<readonly ImportEntry[]>,
  refuse: (refused: RefusedLine) => Promise<void>,
): AsyncGenerator<Batch | RulesLine> {
  let lines: SourceLine[] = [];
  let texts: string[] = [];
  let tuples = new Set<string>();
  let length = 0;
  const take = (): Batch => {
    const batch = { lines, body: texts.join(''), tuples };
    lines = [];
    tuples = new Set();
    texts = [];
    length = 0;
    return batch;
  };
  for await (const entries of source) {
    for (const entry of entries) {
      const { line } = entry;
      if ('rules' in entry) {
        if (lines.length > 0) yield take();
        yield entry;
        continue;
      }
      if ('refusal' in entry) {
        await refuse({ line, ...entry.refusal });
        continue;
      }
      const text = `${entry.json}\n`;
      const textLength = Buffer.byteLength(text);
      if (lines.length === WRITES_PER_CALL_MAX || length + textLength > IMPORT_BODY_BYTES_MAX) yield take();
      lines.push(line);
      texts.push(text);
      const tuple = tupleIn(entry.json);
      if (tuple !== undefined) tuples.add(tuple);
      length += textLength;
    }
  }
  if (lines.length > 0) yield take();
}

const refusedRules = ({ code, detail }: Refusal): BatchResult => ({ index: 0, result: 'refused', code, detail });

/** Never rejects: a failure is part of the outcome, next to the results so far. */
export async function runImport(client: ServiceClient, run: ImportRun): Promise<ImportOutcome> {
  const tally = newTally();
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const failures: unknown[] = [];
  const inFlight = new BatchesInFlight();

  const refuse = async (refused: RefusedLine): Promise<void> => {
    tally.lines += 1;
    tally.refused += 1;
    await run.onRefused(refused);
  };
  const count = async (
    { lines }: Pick<Batch, 'lines'>,
    { index, result, code, detail }: BatchResult,
  ): Promise<void> => {
    const line = lines[index];
    if (line === undefined) throw new Error('A result names a line that is not in its batch.');
    if (result === 'refused') {
      await refuse({ line, code, detail });
      return;
    }
    tally.lines += 1;
    tally[result] += 1;
  };
  const deliver = async (batch: Batch | RulesLine): Promise<void> => {
    const { onRetry, backoffFirstMs } = run;
    const options = { signal, onRetry, ...(backoffFirstMs === undefined ? {} : { backoffFirstMs }) };
    if ('rules' in batch) {
      const { line } = batch;
      const result =
        batch.rules === 'unreadable' ? refusedRules(batch.refusal) : await deliverRules(client, batch.rules, options);
      await count({ lines: [line] }, result);
      run.onProgress(tally);
      if (result.result === 'refused') {
        throw new CliFailure(
          `The rules in line ${line.number} were refused, so nothing behind them was sent. To import the grants under the rules that the tenant has, remove that line.`,
        );
      }
      return;
    }
    const { body, lines } = batch;
    const { replace, outsideTypes } = run;
    const results = await deliverBatch(client, { body, length: lines.length, replace, outsideTypes }, options);
    for (const result of results) await count(batch, result);
    run.onProgress(tally);
  };
  const fail = (error: unknown): void => {
    failures.push(error);
    stop.abort();
  };

  try {
    for await (const batch of gather(run.read(signal, tally), refuse)) {
      await inFlight.untilFits(batch);
      if (signal.aborted) break;
      const delivery = deliver(batch).catch(fail);
      if ('rules' in batch) await delivery;
      else inFlight.add(delivery, batch.tuples);
    }
  } catch (error) {
    // An aborted source fails with the abort; its cause is already known.
    if (!signal.aborted) fail(error);
  }
  await inFlight.ended();
  run.onProgress(tally);
  return { tally, whole: failures.length === 0 && !run.signal.aborted, failure: failures[0] };
}

/** Reads to the end and sends nothing: what would be sent counts as created. Never rejects. */
export async function runDryImport(run: Pick<ImportRun, 'read' | 'signal' | 'onRefused'>): Promise<ImportOutcome> {
  const tally = newTally();
  try {
    for await (const entries of run.read(run.signal, tally)) {
      for (const entry of entries) {
        tally.lines += 1;
        if ('refusal' in entry) {
          tally.refused += 1;
          await run.onRefused({ line: entry.line, ...entry.refusal });
        } else tally.created += 1;
      }
      if (run.signal.aborted) break;
    }
  } catch (failure) {
    return { tally, whole: false, failure: run.signal.aborted ? undefined : failure };
  }
  return { tally, whole: !run.signal.aborted, failure: undefined };
}

// ---- batches ----
//
// Sends one batch of an import, and repeats it while the service is unreachable or overloaded. Repeating is always
// safe: grants that the lost attempt created are reported as unchanged.

const RESULTS = ['created', 'changed', 'unchanged', 'expired', 'refused'] as const;

export interface BatchResult {
  /** The position in the batch, from 0. */
  readonly index: number;
  readonly result: (typeof RESULTS)[number];
  /** Only for a refused line. */
  readonly code: string;
  readonly detail: string;
}

function parseResults(text: string, length: number): readonly BatchResult[] {
  const results = text.split('\n').flatMap((line): BatchResult[] => {
    if (line === '') return [];
    const record = asRecord(parseJson(line));
    const { line: number } = record;
    const result = RESULTS.find((each) => each === record.result);
    if (typeof number !== 'number' || result === undefined) return [];
    const code = optionalTextOf(record, 'type')?.replace(/^.*\//, '') ?? '';
    return [{ index: number - 1, result, code, detail: result === 'refused' ? textOf(record, 'detail') : '' }];
  });
  const positions = new Set(results.map(({ index }) => index));
  const whole = results.length === length && positions.size === length;
  if (!whole || results.some(({ index }) => !(index >= 0 && index < length))) {
    throw new CliFailure('The response to a batch does not have one result per line.');
  }
  return results;
}

/** The results for `length` lines of JSON, in the order of the response. Rejects if they cannot be obtained. */
export async function deliverBatch(
  client: ServiceClient,
  batch: {
    readonly body: string;
    readonly length: number;
    readonly replace: boolean;
    readonly outsideTypes?: string | undefined;
  },
  options: RetryOptions,
): Promise<readonly BatchResult[]> {
  // Said either way: a service that does not know the choice refuses it, rather than overwrite grants.
  const query = { replace: String(batch.replace), outside_types: batch.outsideTypes };
  const request = { method: 'POST', path: '/import', query, ndjson: batch.body } as const;
  return withRetries(async () => parseResults(await client.readText(request), batch.length), options);
}

const OTHER_RULES =
  'The tenant has other rules, which an import never replaces: with other rules, its grants mean something else. Compare them with "grantd rules diff", and replace them with "grantd rules set".';

/** Sets the rules of a tenant that has none. `unchanged`: it has these rules already. */
export async function deliverRules(client: ServiceClient, rules: RuleSet, options: RetryOptions): Promise<BatchResult> {
  const revision = revisionOf(rules);
  return withRetries(async () => {
    const present = await readTenantRules(client);
    if (present.revision === revision) return { index: 0, result: 'unchanged', code: '', detail: '' };
    try {
      const none = revisionOf(NO_RULES);
      await putTenantRules(client, bodyOf(rules), { ifMatch: none });
      return { index: 0, result: 'created', code: '', detail: '' };
    } catch (error) {
      if (!(error instanceof ProblemFailure) || error.code !== 'precondition-failed') throw error;
      return { index: 0, result: 'refused', code: error.code, detail: OTHER_RULES };
    }
  }, options);
}
