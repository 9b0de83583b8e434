// `grantd check -f`: reads checks, one per line, perhaps with the expected result, and sends them in bulk, several
// calls at a time. Results come in the order of the file. The calls in flight bound the memory, whatever its length.

import type { Readable } from 'node:stream';
import { GrantdError } from '../../../../src/core/errors.ts';
import { ExportFrame } from '../../../../src/core/export-frame.ts';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { BULK_CHECKS_MAX } from '../../../../src/core/limits.ts';
import { formatCsvLine } from '../../../../src/core/text/csv.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import type { CompiledRules } from '../../../../src/rules/compiled-rules.ts';
import { type ExpectedCheck, parseExpected, parseExpectedJson } from '../../../../src/rules/expected-checks.ts';
import { undefinedName } from '../../../../src/rules/questions.ts';
import { CliFailure } from '../failures.ts';
import { encodeLine, type ImportFormat, type Refusal, readLines, type SourceLine } from '../import/import-lines.ts';
import { chunksOf } from '../import/import-source.ts';
import { recordsOf } from '../output/json-view.ts';
import { formatCount } from '../output/render.ts';
import { type RetryOptions, withRetries } from '../retries.ts';
import type { ServiceClient } from '../service-client.ts';

const CALLS_IN_FLIGHT_MAX = 4;
/** Refused lines take no call, but wait for the lines before them. */
const BATCH_LINES_MAX = 1000;

/** A line of the file, numbered from 1 as in an editor. */
type ReadLine = { readonly line: number } & (ExpectedCheck | { readonly refusal: Refusal });

export type LineResult = { readonly line: number } & (
  | (ExpectedCheck & { readonly authorized: boolean })
  | { readonly refusal: Refusal }
);

/** Whether the result is the expected one. A line that expects nothing passes. */
export const differs = ({ expected, authorized }: ExpectedCheck & { readonly authorized: boolean }): boolean =>
  expected !== undefined && expected !== authorized;

export interface CheckTally {
  authorized: number;
  denied: number;
  refused: number;
  /** Lines that expect a result, and those of them that got the other one. */
  expecting: number;
  different: number;
  /** Lines that expect nothing and are not authorized. */
  deniedUnexpected: number;
  /** Bytes of the source that were read so far. */
  bytesRead: number;
}

interface CheckRun extends Omit<RetryOptions, 'signal'> {
  readonly source: Readable;
  readonly format: ImportFormat;
  /** The names that the tenant's rules define or declare. */
  readonly rules: CompiledRules;
  /** Ends the reading; the results of calls in flight are not waited for. */
  readonly signal: AbortSignal;
  /** Awaited, so that a slow reader slows the checks. */
  readonly onResults: (results: readonly LineResult[], tally: Readonly<CheckTally>) => Promise<void> | void;
}

/** Throws what is wrong with the line. */
function parseCheck(json: string, format: ImportFormat, rules: CompiledRules): ExpectedCheck {
  const fields = parseJson(json, 'The line');
  const check = parseExpectedJson(fields);
  const { relation, object } = check.question;
  // One unknown name would refuse the whole call.
  if (rules.numberOf(relation) === undefined) throw undefinedName(relation, rules.askableOn(object), object);
  if (format === 'ndjson' || !isJsonObject(fields) || typeof fields.expires_at !== 'string') return check;
  return { ...check, expected: parseExpected(fields.expires_at) };
}

function parseSource(source: SourceLine, { format, rules }: Pick<CheckRun, 'format' | 'rules'>): ReadLine | undefined {
  const line = source.number;
  const encoded = encodeLine(source, format);
  if (encoded === undefined) return undefined;
  if ('refusal' in encoded) return { line, refusal: encoded.refusal };
  try {
    return { line, ...parseCheck(encoded.json, format, rules) };
  } catch (error) {
    const { code, message } = GrantdError.from(error);
    return { line, refusal: { code, detail: message } };
  }
}

async function* gather(source: AsyncIterable<Uint8Array>, run: CheckRun): AsyncGenerator<readonly ReadLine[]> {
  const frame = new ExportFrame();
  let batch: ReadLine[] = [];
  let checks = 0;
  for await (const lines of readLines(source)) {
    for (const source of lines) {
      // What an export is to be checked for is its grants.
      if (run.format === 'ndjson' && frame.take(source.bytes, source.number)) continue;
      const line = parseSource(source, run);
      if (line === undefined) continue;
      batch.push(line);
      if ('question' in line) checks += 1;
      if (checks < BULK_CHECKS_MAX && batch.length < BATCH_LINES_MAX) continue;
      yield batch;
      batch = [];
      checks = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

async function checkBatch(
  client: ServiceClient,
  batch: readonly ReadLine[],
  retry: RetryOptions,
): Promise<readonly LineResult[]> {
  const checks = batch.flatMap((line) => ('question' in line ? [line.question] : []));
  const request = { method: 'POST', path: '/check/bulk', json: { checks } } as const;
  const answer = checks.length === 0 ? { results: [] } : await withRetries(() => client.readJson(request), retry);
  const results = recordsOf(answer, 'results').values();
  return batch.map((line): LineResult => {
    if ('refusal' in line) return line;
    const authorized = results.next().value?.authorized;
    if (typeof authorized === 'boolean') return { ...line, authorized };
    throw new CliFailure('The response to a bulk check does not have one result per check.');
  });
}

function count(tally: CheckTally, results: readonly LineResult[]): void {
  for (const result of results) {
    if ('refusal' in result) {
      tally.refused += 1;
      continue;
    }
    if (result.authorized) tally.authorized += 1;
    else tally.denied += 1;
    if (result.expected !== undefined) tally.expecting += 1;
    else if (!result.authorized) tally.deniedUnexpected += 1;
    if (differs(result)) tally.different += 1;
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
export async function runChecks(client: ServiceClient, run: CheckRun): Promise<CheckOutcome> {
  const { signal } = run;
  const tally: CheckTally = {
    authorized: 0,
    denied: 0,
    refused: 0,
    expecting: 0,
    different: 0,
    deniedUnexpected: 0,
    bytesRead: 0,
  };
  const inFlight: Promise<readonly LineResult[]>[] = [];
  const deliverFirst = async (): Promise<void> => {
    const results = await inFlight.shift();
    if (results === undefined || signal.aborted) return;
    count(tally, results);
    await run.onResults(results, tally);
  };
  try {
    for await (const batch of gather(chunksOf(run.source, signal, tally), run)) {
      const results = checkBatch(client, batch, run);
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

// ---- the results, each shown as soon as it is known ----

export const CHECK_OUTPUTS = ['table', 'csv', 'ndjson'] as const;
export type CheckOutput = (typeof CHECK_OUTPUTS)[number];

/** Above the first row; lines of JSON have no head. */
export const HEADS: Readonly<Record<CheckOutput, string>> = {
  table: 'AUTHORIZED  SUBJECT RELATION OBJECT\n',
  csv: 'line,subject,relation,object,authorized,error,expected\n',
  ndjson: '',
};

const ROWS: Readonly<Record<CheckOutput, (result: LineResult) => string>> = {
  table(result) {
    if ('refusal' in result) return `refused     line ${result.line}: ${result.refusal.detail}`;
    const { subject, relation, object } = result.question;
    const differing = differs(result) ? `  (expected ${result.expected}, line ${result.line})` : '';
    return `${String(result.authorized).padEnd(10)}  ${subject} ${relation} ${object}${differing}`;
  },
  csv(result) {
    const line = String(result.line);
    if ('refusal' in result) return formatCsvLine([line, '', '', '', '', result.refusal.detail, '']);
    const { subject, relation, object } = result.question;
    const expected = result.expected === undefined ? '' : String(result.expected);
    return formatCsvLine([line, subject, relation, object, String(result.authorized), '', expected]);
  },
  ndjson(result) {
    const { line } = result;
    if ('refusal' in result) return JSON.stringify({ line, error: result.refusal });
    const { question, authorized, expected } = result;
    return JSON.stringify({ line, ...question, authorized, ...(expected === undefined ? {} : { expected }) });
  },
};

export const renderResults = (results: readonly LineResult[], output: CheckOutput): string =>
  results.map((result) => `${ROWS[output](result)}\n`).join('');

export function renderSummary({ authorized, denied, refused, expecting, different }: CheckTally): string {
  const lines = formatCount(authorized + denied + refused);
  const counted = `${lines} lines: ${formatCount(authorized)} authorized, ${formatCount(denied)} not authorized, ${formatCount(refused)} refused`;
  if (expecting === 0) return counted;
  return `${counted}; ${formatCount(expecting - different)} of ${formatCount(expecting)} as expected`;
}
