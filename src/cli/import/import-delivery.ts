// Sends one batch of an import, and repeats it while the service is unreachable or overloaded. Repeating is always
// safe: grants that the lost attempt created are reported as unchanged.

import { NO_RULES, type RuleSet, revisionOf, ruleSetRecord } from '../../rules/rule-set.ts';
import { CliFailure, ProblemFailure } from '../failures.ts';
import { asRecord, optionalTextOf, parseJson, textOf } from '../output/json-view.ts';
import { type RetryOptions, withRetries } from '../retries.ts';
import type { ServiceClient } from '../service-client.ts';
import { putTenantRules, readTenantRules } from '../tenant-rules.ts';

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
      await putTenantRules(client, ruleSetRecord(rules), { ifMatch: none });
      return { index: 0, result: 'created', code: '', detail: '' };
    } catch (error) {
      if (!(error instanceof ProblemFailure) || error.code !== 'precondition-failed') throw error;
      return { index: 0, result: 'refused', code: error.code, detail: OTHER_RULES };
    }
  }, options);
}
