// The rules of the tenant (/v1/rules): read them with their revision, replace them, or preview what that would change.

import { RULES_BODY_BYTES_MAX } from '../../core/limits.ts';
import { WARNING_HEADER, warningHeaderOf } from '../../core/service-warnings.ts';
import { warnOfOutside } from '../../front/warnings.ts';
import { RULE_SET_BYTES_MAX, RULES_MAX, revisionOfRules, textOfRules } from '../../rules/rule-set.ts';
import { demandMatch, etagOf, isKnown, parseRulesRequest, rulesPreviewRecord } from '../../rules/rules-writes.ts';
import { EXAMPLE_ETAG, EXAMPLE_RULE_SET } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import { ruleSetBodySchema, ruleSetSchema, rulesWrittenSchema } from '../schema/rule-schemas.ts';
import { dryRunQuerySchema } from '../schema/schema-parts.ts';
import { validate } from '../schema/validation.ts';
import type { PublicOperation } from './operation.ts';
import { RULES_BYTES } from './response-bytes.ts';

export const readRules: PublicOperation = {
  id: 'readRules',
  method: 'GET',
  path: '/v1/rules',
  scope: 'admin',
  tag: 'Rules',
  summary: 'Read the rules',
  description:
    'What `PUT /v1/rules` takes. A tenant that has never set rules has empty ones, with a revision too: then relations follow from grants alone.',
  headers: {
    'If-None-Match': {
      description: 'Revisions that the client has. If the rules have one of them, the response is a 304.',
      example: EXAMPLE_ETAG,
    },
  },
  responseBytesMax: () => RULES_BYTES,
  successes: [
    success(200, 'The rules.', { name: 'RuleSet', schema: ruleSetSchema, example: EXAMPLE_RULE_SET, header: 'ETag' }),
    { ...success(304, 'The rules have one of the revisions in `If-None-Match`.'), header: 'ETag' },
  ],
  errors: ['precondition-failed'],
  answer(session, context, { headers }) {
    // A malformed condition is refused before the owner is called.
    isKnown(headers, '');
    return session.call('readRules', context, undefined).then((ruleSet) => {
      const text = textOfRules(ruleSet);
      const revision = revisionOfRules(text);
      demandMatch(headers, revision);
      const etag = etagOf(revision);
      return isKnown(headers, revision) ? { status: 304, etag, json: '' } : { status: 200, etag, json: text };
    });
  },
};

export const writeRules: PublicOperation = {
  id: 'writeRules',
  method: 'PUT',
  path: '/v1/rules',
  scope: 'admin',
  tag: 'Rules',
  summary: 'Replace the rules',
  description: `From the response on, every check and listing follows the new rules; empty ones remove all rules. At most ${RULES_MAX} rules, and ${RULE_SET_BYTES_MAX / 1024} KiB without white space; a body of more than 16 KiB has at most 4,096 JSON values. Every name that a rule uses must be a relation, built-in or own, or have a rule; none may depend on itself through \`but_not\`. Everything that is wrong is named at once, a line each, with its place. Without \`If-Match\`, the rules are replaced whatever they are. With \`dry_run=true\` nothing changes: the response says what would. If types that become stricter exclude stored grants, the response is a 409 \`grants-outside-types\`, that of a dry run too, unless the body has \`"outside_types": "keep"\`: then they stay, and count, and \`X-Service-Warning\` says how many there are. The audit log keeps the rules and those before them.`,
  body: {
    name: 'RuleSetRequest',
    schema: ruleSetBodySchema,
    bytesMax: RULES_BODY_BYTES_MAX,
    example: EXAMPLE_RULE_SET,
  },
  query: dryRunQuerySchema.shape,
  headers: {
    'If-Match': {
      description:
        'Revisions, one of which the present rules must have; otherwise the response is a 412, and nothing is changed. Weak tags never match; `*` always does.',
      example: EXAMPLE_ETAG,
    },
  },
  responseBytesMax: () => RULES_BYTES,
  successes: [
    success(200, 'The rules as they stand; with `dry_run=true`, what would change, without an `ETag`.', {
      name: 'RulesWritten',
      schema: rulesWrittenSchema,
      example: EXAMPLE_RULE_SET,
      header: ['ETag', WARNING_HEADER],
    }),
  ],
  errors: ['precondition-failed', 'condition-in-use', 'relation-in-use', 'grants-outside-types'],
  async answer(session, context, { body, query, headers }) {
    const { dry_run: dryRun } = validate(dryRunQuerySchema, query);
    const request = await parseRulesRequest(body, headers);
    if (dryRun === 'true') {
      return session.call('previewRules', context, request).then((preview) => ({
        status: 200,
        json: JSON.stringify(rulesPreviewRecord(request.ruleSet, preview)),
      }));
    }
    const { ruleSet } = request;
    const text = textOfRules(ruleSet);
    return session
      .call('writeRules', context, request)
      .then(() => warnOfOutside(session, context, ruleSet))
      .then((warnings) => ({
        status: 200,
        etag: etagOf(revisionOfRules(text)),
        warning: warningHeaderOf(warnings),
        json: text,
      }));
  },
};
