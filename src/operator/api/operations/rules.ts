// Rules of a tenant for operators: the same shapes and rules as under /v1/rules.

import { z } from 'zod';
import { RULES_BODY_BYTES_MAX } from '../../../core/limits.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { type RuleSet, revisionOf, ruleSetRecord } from '../../../rules/rule-set.ts';
import { etagOf, parseRulesRequest, rulesPreviewRecord } from '../../../rules/rules-writes.ts';
import { readJson } from '../../body.ts';
import { parseQuery } from '../../schemas.ts';
import { type ApiResponse, type Operation, sessionOf } from '../operation.ts';

export const writeRulesShape = {
  dry_run: z.enum(['true', 'false'], 'must be true or false').default('false'),
};

const answerWith = (ruleSet: RuleSet): ApiResponse => ({
  kind: 'json',
  status: 200,
  body: ruleSetRecord(ruleSet),
  headers: { ETag: etagOf(revisionOf(ruleSet)) },
});

export function rulesOperations(operatorApi: OperatorApi): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/rules',
      name: 'operator-read-rules',
      access: 'read-only',
      async run(call) {
        parseQuery(call.search, {});
        const session = await sessionOf(operatorApi, call);
        return answerWith(await session.call(CALLS.readRules, call.context(), undefined));
      },
    },
    {
      method: 'PUT',
      path: '/tenants/:tenantId/rules',
      name: 'operator-write-rules',
      async run(call) {
        const { dry_run: dryRun } = parseQuery(call.search, writeRulesShape);
        const session = await sessionOf(operatorApi, call);
        const request = parseRulesRequest(await readJson(call.request, RULES_BODY_BYTES_MAX), call.request.headers);
        if (dryRun === 'true') {
          const preview = await session.call(CALLS.previewRules, call.context(), request);
          return { kind: 'json', status: 200, body: rulesPreviewRecord(request.ruleSet, preview) };
        }
        await session.call(CALLS.writeRules, call.context(), request);
        return answerWith(request.ruleSet);
      },
    },
  ];
}
