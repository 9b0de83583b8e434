// PUT /v1/rules: replaces the rules of the tenant, or answers what that would change.

import { RULES_BODY_BYTES_MAX } from '../../core/limits.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { RULE_SET_BYTES_MAX, RULES_MAX, revisionOfRules, textOfRules } from '../../rules/rule-set.ts';
import { etagOf, parseRulesRequest, rulesPreviewRecord } from '../../rules/rules-writes.ts';
import { EXAMPLE_ETAG, EXAMPLE_RULE_SET } from '../schema/examples.ts';
import { ruleSetBodySchema, rulesQuerySchema, rulesWrittenSchema } from '../schema/rule-schemas.ts';
import { validate } from '../schema/validation.ts';
import type { Operation } from './operation.ts';
import { RULES_BYTES } from './response-bytes.ts';

export const writeRules: Operation = {
  id: 'writeRules',
  method: 'PUT',
  path: '/v1/rules',
  scope: 'admin',
  tag: 'Rules',
  summary: 'Replace the rules',
  description: `From the moment of the response on, every check and listing follows the new rules; those that are empty remove them. At most ${RULES_MAX} rules, and ${RULE_SET_BYTES_MAX / 1024} KiB without white space; a body of more than 16 KiB has at most 4,096 JSON values. Every name that a rule uses must be a built-in relation or have a rule. Without \`If-Match\`, the rules are replaced whatever they are. With \`dry_run=true\` nothing changes: the response says what would. The audit log keeps the rules and those before them.`,
  body: {
    name: 'RuleSetRequest',
    schema: ruleSetBodySchema,
    bytesMax: RULES_BODY_BYTES_MAX,
    example: EXAMPLE_RULE_SET,
  },
  query: rulesQuerySchema,
  headers: {
    'If-Match': {
      description:
        'Revisions, one of which the present rules must have; otherwise the response is a 412, and nothing is changed. Weak tags never match; `*` always does.',
      example: EXAMPLE_ETAG,
    },
  },
  responseBytesMax: () => RULES_BYTES,
  successes: [
    {
      status: 200,
      etag: true,
      description: 'The rules as they stand; with `dry_run=true`, what would change, without an `ETag`.',
      schema: { name: 'RulesWritten', schema: rulesWrittenSchema },
      example: EXAMPLE_RULE_SET,
    },
  ],
  errors: ['precondition-failed'],
  answer(session, context, { body, query, headers }) {
    const { dry_run: dryRun } = validate(rulesQuerySchema, query);
    const request = parseRulesRequest(body, headers);
    if (dryRun === 'true') {
      return session.call(CALLS.previewRules, context, request).then((preview) => ({
        status: 200,
        json: JSON.stringify(rulesPreviewRecord(request.ruleSet, preview)),
      }));
    }
    const text = textOfRules(request.ruleSet);
    return session.call(CALLS.writeRules, context, request).then(() => ({
      status: 200,
      etag: etagOf(revisionOfRules(text)),
      json: text,
    }));
  },
};
