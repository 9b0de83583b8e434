// The versions of the rules of the tenant (/v1/rules/versions): list them, and read the rules of one.

import { GrantdError } from '../../core/errors.ts';
import { parseVersion, RULES_VERSIONS_MAX, rulesVersionRecord } from '../../core/rules-versions.ts';
import { EXAMPLE_RULE_SET } from '../../rules/rule-set-schema.ts';
import { success } from '../schema/operation-description.ts';
import { EXAMPLE_RULES_VERSIONS, ruleSetSchema, rulesVersionListSchema } from '../schema/rule-schemas.ts';
import type { PublicOperation } from './operation.ts';
import { RULES_BYTES, RULES_VERSIONS_BYTES } from './response-bytes.ts';
import { ACCEPT, RULES_TEXT, rulesResponse } from './rules.ts';

export const listRulesVersions: PublicOperation = {
  id: 'listRulesVersions',
  method: 'GET',
  path: '/v1/rules/versions',
  scope: 'admin',
  tag: 'Rules',
  summary: 'List the versions of the rules',
  description: `Who changed the rules, and when: a version for each change. The newest ${RULES_VERSIONS_MAX} are kept. A tenant that has never set rules has none.`,
  responseBytesMax: () => RULES_VERSIONS_BYTES,
  successes: [
    success(200, 'The versions that are kept. The first one is the present one.', {
      name: 'RulesVersionList',
      schema: rulesVersionListSchema,
      example: EXAMPLE_RULES_VERSIONS,
    }),
  ],
  answer: (session, context) =>
    session.call('listRulesVersions', context, undefined).then((versions) => ({
      status: 200,
      json: JSON.stringify({ versions: versions.map(rulesVersionRecord) }),
    })),
};

export const readRulesVersion: PublicOperation = {
  id: 'readRulesVersion',
  method: 'GET',
  path: '/v1/rules/versions/{version}',
  pathParameters: { version: { description: 'The number of the version.', example: '1' } },
  headers: { Accept: ACCEPT },
  scope: 'admin',
  tag: 'Rules',
  summary: 'Read a version of the rules',
  description:
    'To return to it, put it as the rules, with the revision of the present ones in `If-Match`; `dry_run` says what that would change.',
  responseBytesMax: () => RULES_BYTES,
  successes: [
    {
      status: 200,
      description: 'The rules of this version, with their revision in `ETag`.',
      bodies: [{ name: 'RuleSet', schema: ruleSetSchema, example: EXAMPLE_RULE_SET }, RULES_TEXT],
      header: 'ETag',
    },
  ],
  errors: ['rules-version-not-found', 'not-found'],
  answer(session, context, { pathParameters, headers }) {
    const version = parseVersion(pathParameters.version);
    if (version === undefined) {
      throw new GrantdError('rules-version-not-found', 'The rules have no version with this number.');
    }
    return session.call('readRulesVersion', context, version).then((rules) => rulesResponse(rules, headers));
  },
};
