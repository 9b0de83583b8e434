// The rules of a tenant over the API: reading them with their revision, replacing and trying them. Each call takes the
// client of the tenant.

import { Option } from 'commander';
import { GrantdError } from '../../../src/core/errors.ts';
import { type RuleSet, revisionOf, revisionOfRules, ruleSetRecord } from '../../../src/rules/rule-set.ts';
import { RULES_TEXT_TYPE, RulesText } from '../../../src/rules/rules-text.ts';
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

export const readTenantRules = (client: ServiceClient): Promise<RevisedRules> => readRules(client, '/rules');

/** Rejects with a ProblemFailure `rules-version-not-found`. */
export const readRulesVersion = (client: ServiceClient, version: number): Promise<RevisedRules> =>
  readRules(client, path`/rules/versions/${String(version)}`);

/** With their text, if they were set as text: otherwise the service prints one, which is not that of the revision. */
async function readRules(client: ServiceClient, from: string): Promise<RevisedRules> {
  const { text, tag } = await client.readTagged({ method: 'GET', path: from, accept: RULES_TEXT_TYPE });
  try {
    const { source, ...ruleSet } = new RulesText(text).ruleSet;
    return { ruleSet: revisionOfRules(text) === tag ? { ...ruleSet, source: text } : ruleSet, revision: tag };
  } catch (error) {
    throw new CliFailure(
      `This version of the command does not know the rules of the tenant: ${GrantdError.from(error).message}`,
      undefined,
      { cause: error },
    );
  }
}

interface PutOptions {
  /** The revision that the present rules must have; undefined: whatever they are. */
  readonly ifMatch?: string;
  readonly dryRun?: boolean;
  /** What becomes of stored grants that stricter types exclude; absent: the rules are refused. */
  readonly outsideTypes?: string | undefined;
}

/** An option of commands that set rules, and of an import. */
export const outsideTypesOption = (
  description = 'let stored grants that stricter types exclude stay, and count (default: refuse the rules)',
): Option => new Option('--outside-types <choice>', description).choices([KEEP_OUTSIDE]);

/** Rules as a request has them. */
export type RulesBody = { readonly rulesText: string } | { readonly json: object };

/** As text, if they have one, and otherwise as JSON. */
export const bodyOf = (ruleSet: RuleSet): RulesBody =>
  ruleSet.source === undefined ? { json: ruleSetRecord(ruleSet) } : { rulesText: ruleSet.source };

export const putTenantRules = (
  client: ServiceClient,
  rules: RulesBody,
  { ifMatch, dryRun = false, outsideTypes }: PutOptions,
): Promise<JsonRecord> =>
  client.readJson({
    method: 'PUT',
    path: '/rules',
    query: { dry_run: dryRun ? 'true' : undefined, outside_types: outsideTypes },
    ...rules,
    ...(ifMatch === undefined ? {} : { ifMatch: `"${ifMatch}"` }),
  });
