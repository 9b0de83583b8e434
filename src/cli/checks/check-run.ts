// `grantd check -f`: reads tuples, one per line, and checks them in bulk, several calls at a time. Results come in the
// order of the file. The calls in flight bound the memory, whatever its length.

import type { Readable } from 'node:stream';
import { GrantdError } from '../../core/errors.ts';
import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import { type NamedTuple, parseQuestion } from '../../rules/questions.ts';
import { CliFailure, ProblemFailure } from '../failures.ts';
import { encodeLine, type ImportFormat, type Refusal, readLines, type SourceLine } from '../import/import-lines.ts';
import { chunksOf } from '../import/import-source.ts';
import { type OperatorClient, path } from '../operator-client.ts';
import { asRecord, parseJson, recordsOf } from '../output/json-view.ts';
import { type RetryOptions, withRetries } from '../retries.ts';

const CALLS_IN_FLIGHT_MAX = 4;
/** Refused lines take no call, but wait for the lines before them. */
const BATCH_LINES_MAX = 1000;

/** A line of the file, numbered from 1 as in an editor. */
type ReadLine = { readonly line: number } & ({ readonly tuple: NamedTuple } | { readonly refusal: Refusal });

export type LineResult = { readonly line: number } & (
  | { readonly tuple: NamedTuple; readonly authorized: boolean }
  | { readonly refusal: Refusal }
);

export interface CheckTally {
  authorized: number;
  denied: number;
  refused: number;
  /** Bytes of the source that were read so far. */
  bytesRead: number;
}

interface CheckRun extends Omit<RetryOptions, 'signal'> {
  readonly source: Readable;
  readonly format: ImportFormat;
  readonly tenant: string;
  /** Ends the reading; the results of calls in flight are not waited for. */
  readonly signal: AbortSignal;
  /** Awaited, so that a slow reader slows the checks. */
  readonly onResults: (results: readonly LineResult[], tally: Readonly<CheckTally>) => Promise<void> | void;
}

function parseSource(source: SourceLine, format: ImportFormat): ReadLine | undefined {
  const line = source.number;
  const encoded = encodeLine(source, format);
  if (encoded === undefined) return undefined;
  if ('refusal' in encoded) return { line, refusal: encoded.refusal };
  try {
    const fields = asRecord(parseJson(encoded.json));
    return { line, tuple: parseQuestion(fields.subject, fields.relation, fields.object) };
  } catch (error) {
    if (error instanceof GrantdError) return { line, refusal: { code: error.code, detail: error.message } };
    return { line, refusal: { code: 'invalid-request', detail: 'The line is not a JSON object.' } };
  }
}

async function* gather(source: AsyncIterable<Uint8Array>, format: ImportFormat): AsyncGenerator<readonly ReadLine[]> {
  let batch: ReadLine[] = [];
  let checks = 0;
  for await (const lines of readLines(source)) {
    for (const source of lines) {
      const line = parseSource(source, format);
      if (line === undefined) continue;
      batch.push(line);
      if ('tuple' in line) checks += 1;
      if (checks < BULK_CHECKS_MAX && batch.length < BATCH_LINES_MAX) continue;
      yield batch;
      batch = [];
      checks = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

type Answer = { readonly authorized: boolean } | { readonly refusal: Refusal };

/** Only the owner knows which names the rules define, and it refuses a call with one that they do not. */
const namesUnknownName = (error: unknown): error is ProblemFailure =>
  error instanceof ProblemFailure && error.code === 'invalid-relation';

/** One answer per check. A call that is refused for a name is halved until the check with that name is alone. */
async function answerChecks(
  client: OperatorClient,
  tenant: string,
  checks: readonly NamedTuple[],
  retry: RetryOptions,
): Promise<readonly Answer[]> {
  if (checks.length === 0) return [];
  const request = { method: 'POST', path: path`/tenants/${tenant}/check/bulk`, json: { checks } } as const;
  let response: Awaited<ReturnType<OperatorClient['readJson']>>;
  try {
    response = await withRetries(() => client.readJson(request), retry);
  } catch (error) {
    if (!namesUnknownName(error)) throw error;
    if (checks.length === 1) return [{ refusal: { code: error.code, detail: error.detail } }];
    const half = Math.ceil(checks.length / 2);
    return [
      ...(await answerChecks(client, tenant, checks.slice(0, half), retry)),
      ...(await answerChecks(client, tenant, checks.slice(half), retry)),
    ];
  }
  const results = recordsOf(response, 'results');
  return checks.map((_, index) => {
    const authorized = results[index]?.authorized;
    if (typeof authorized === 'boolean') return { authorized };
    throw new CliFailure('The response to a bulk check does not have one result per check.');
  });
}

async function checkBatch(
  client: OperatorClient,
  tenant: string,
  batch: readonly ReadLine[],
  retry: RetryOptions,
): Promise<readonly LineResult[]> {
  const checks = batch.flatMap((line) => ('tuple' in line ? [line.tuple] : []));
  const answers = (await answerChecks(client, tenant, checks, retry)).values();
  return batch.map((line): LineResult => {
    if ('refusal' in line) return line;
    const answer = answers.next().value;
    if (answer === undefined) throw new CliFailure('A check has no answer.');
    return 'refusal' in answer ? { line: line.line, refusal: answer.refusal } : { ...line, ...answer };
  });
}

function count(tally: CheckTally, results: readonly LineResult[]): void {
  for (const result of results) {
    if ('refusal' in result) tally.refused += 1;
    else if (result.authorized) tally.authorized += 1;
    else tally.denied += 1;
  }
}

export interface CheckOutcome {
  readonly tally: Readonly<CheckTally>;
  /** Whether all lines of the source have a result. */
  readonly whole: boolean;
  /** The first failure, of the source or of the service. */
  readonly failure: unknown;
}

/** Never rejects: a failure is part of the outcome, next to the results so far. */
export async function runChecks(client: OperatorClient, run: CheckRun): Promise<CheckOutcome> {
  const { signal } = run;
  const tally: CheckTally = { authorized: 0, denied: 0, refused: 0, bytesRead: 0 };
  const inFlight: Promise<readonly LineResult[]>[] = [];
  const deliverFirst = async (): Promise<void> => {
    const results = await inFlight.shift();
    if (results === undefined || signal.aborted) return;
    count(tally, results);
    await run.onResults(results, tally);
  };
  try {
    for await (const batch of gather(chunksOf(run.source, signal, tally), run.format)) {
      const results = checkBatch(client, run.tenant, batch, run);
      // Its failure counts when its turn comes.
      results.catch(() => {});
      inFlight.push(results);
      if (inFlight.length === CALLS_IN_FLIGHT_MAX) await deliverFirst();
    }
    while (inFlight.length > 0) await deliverFirst();
  } catch (failure) {
    // An aborted source fails with the abort.
    if (!signal.aborted) return { tally, whole: false, failure };
  } finally {
    run.source.destroy();
  }
  return { tally, whole: !signal.aborted, failure: undefined };
}
