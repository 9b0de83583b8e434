// The versions of the rules of a tenant for operators: the same shapes as under /v1/.

import { rulesVersionRecord } from '../../../core/rules-versions.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { ruleSetSchema, rulesVersionListSchema } from '../../../http/schema/rule-schemas.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { revisionOfRules } from '../../../rules/rule-set.ts';
import { etagOf } from '../../../rules/rules-writes.ts';
import { versionOf } from '../../path-ids.ts';
import { jsonResponse, reading, sessionOf } from '../operation.ts';

export const listRulesVersions = reading({
  id: 'listRulesVersions',
  path: '/tenants/{tenantId}/rules/versions',
  tag: 'Within a tenant',
  summary: 'List the versions of the rules',
  query: {},
  successes: [
    success(200, 'Those that are kept, from the newest back.', {
      name: 'RulesVersionList',
      schema: rulesVersionListSchema,
    }),
  ],
  async run(call) {
    const session = await sessionOf(call);
    const versions = await session.call(CALLS.listRulesVersions, call.context(), undefined);
    return jsonResponse(200, { versions: versions.map(rulesVersionRecord) });
  },
});

export const readRulesVersion = reading({
  id: 'readRulesVersion',
  path: '/tenants/{tenantId}/rules/versions/{version}',
  tag: 'Within a tenant',
  summary: 'Read a version of the rules',
  query: {},
  successes: [
    success(200, 'The rules of this version, with their revision in `ETag`.', {
      name: 'RuleSet',
      schema: ruleSetSchema,
      header: 'ETag',
    }),
  ],
  errors: ['rules-version-not-found'],
  async run(call) {
    const version = versionOf(call);
    const session = await sessionOf(call);
    const text = await session.call(CALLS.readRulesVersion, call.context(), version);
    return {
      kind: 'text',
      contentType: 'application/json',
      text,
      headers: { ETag: etagOf(revisionOfRules(text)) },
    };
  },
});
