// The rules of a tenant over the API: reading them with their revision, replacing and trying them. Each call takes the
// client of the tenant.

import { Option } from 'commander';
import { GrantdError } from '../../../src/core/errors.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { type RuleSet, revisionOf } from '../../../src/rules/rule-set.ts';
import { KEEP_OUTSIDE } from '../../../src/rules/rules-writes.ts';
import { CliFailure } from './failures.ts';
import type { JsonRecord } from './output/json-view.ts';
import { path, type ServiceClient } from './service-client.ts';

export interface RevisedRules {
  readonly ruleSet: RuleSet;
  readonly revision: string;
}

export const revised = (ruleSet: RuleSet): RevisedRules => ({
  ruleSet,
  revision: revisionOf(ruleSet),
});

export const readTenantRules = async (client: ServiceClient): Promise<RevisedRules> =>
  parseRules(await client.readJson({ method: 'GET', path: '/rules' }));

/** Rejects with a ProblemFailure `rules-version-not-found`. */
export const readRulesVersion = async (client: ServiceClient, version: number): Promise<RevisedRules> =>
  parseRules(await client.readJson({ method: 'GET', path: path`/rules/versions/${String(version)}` }));

function parseRules(record: JsonRecord): RevisedRules {
  try {
    return revised(parseRuleSet(record));
  } catch (error) {
    throw new CliFailure(
      `This version of the command does not know the rules of the tenant: ${GrantdError.from(error).message}`,
      undefined,
      { cause: error },
    );
  }
}

interface PutOptions {
  /** The revision that the present rules must have. */
  readonly ifMatch: string;
  readonly dryRun?: boolean;
  /** What becomes of stored grants that stricter types exclude; absent: the rules are refused. */
  readonly outsideTypes?: string | undefined;
}

/** An option of commands that set rules, and of an import. */
export const outsideTypesOption = (
  description = 'let stored grants that stricter types exclude stay, and count (default: refuse the rules)',
): Option => new Option('--outside-types <choice>', description).choices([KEEP_OUTSIDE]);

export function putTenantRules(
  client: ServiceClient,
  rules: object,
  { ifMatch, dryRun = false, outsideTypes }: PutOptions,
): Promise<JsonRecord> {
  return client.readJson({
    method: 'PUT',
    path: '/rules',
    query: { dry_run: dryRun ? 'true' : undefined },
    json: outsideTypes === undefined ? rules : { ...rules, outside_types: outsideTypes },
    ifMatch: `"${ifMatch}"`,
  });
}
