// The rules of the tenant (/v1/rules): read them with their revision, replace them, or preview what that would change.

import { RULES_BODY_BYTES_MAX, RULES_JSON_VALUES_MAX } from '../../core/limits.ts';
import { WARNING_HEADER, warningHeaderOf } from '../../core/service-warnings.ts';
import { warnOfOutside } from '../../front/warnings.ts';
import { jsonOfRules, RULE_SET_BYTES_MAX, RULES_MAX, RULES_SOURCE_BYTES_MAX } from '../../rules/rule-set.ts';
import { EXAMPLE_RULE_SET, EXAMPLE_RULES_TEXT, ruleSetBodySchema } from '../../rules/rule-set-schema.ts';
import { isJsonForm, RULES_TEXT_TYPE, type RulesText } from '../../rules/rules-text.ts';
import {
  demandMatch,
  etagOf,
  isKnown,
  parseRulesRequest,
  parseSentRules,
  rulesPreviewRecord,
  sourceInTurns,
} from '../../rules/rules-writes.ts';
import { EXAMPLE_ETAG } from '../schema/examples.ts';
import type { BodyDescription } from '../schema/operation-description.ts';
import { ruleSetSchema, rulesTextSchema, rulesWriteQuerySchema, rulesWrittenSchema } from '../schema/rule-schemas.ts';
import { validate } from '../schema/validation.ts';
import { acceptedType } from '../streams/media-types.ts';
import { type OperationHeaders, type OperationResponse, type PublicOperation, TextBody } from './operation.ts';
import { RULES_BYTES } from './response-bytes.ts';

const JSON_TYPE = 'application/json';

export const RULES_TEXT: BodyDescription & { readonly contentType: string } = {
  name: 'RulesText',
  schema: rulesTextSchema,
  example: EXAMPLE_RULES_TEXT,
  contentType: RULES_TEXT_TYPE,
};

export const ACCEPT = {
  description: `\`${RULES_TEXT_TYPE}\` for the text form. Default: JSON.`,
  example: RULES_TEXT_TYPE,
};

/** The rules in the form that the client prefers. */
export async function rulesResponse(rules: RulesText, { accept }: OperationHeaders): Promise<OperationResponse> {
  const response = { status: 200, etag: etagOf(rules.revision) } as const;
  const isStored = isJsonForm(rules.text);
  if (acceptedType(accept, [JSON_TYPE, RULES_TEXT_TYPE]) !== RULES_TEXT_TYPE) {
    return { ...response, json: isStored ? rules.text : jsonOfRules(await parseSentRules(rules)) };
  }
  const contentType = `${RULES_TEXT_TYPE}; charset=utf-8`;
  return { ...response, contentType, json: isStored ? await sourceInTurns(await parseSentRules(rules)) : rules.text };
}

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
    Accept: ACCEPT,
    'If-None-Match': {
      description: 'Revisions that the client has. If the rules have one of them, the response is a 304.',
      example: EXAMPLE_ETAG,
    },
  },
  responseBytesMax: () => RULES_BYTES,
  successes: [
    {
      status: 200,
      description: 'The rules.',
      bodies: [{ name: 'RuleSet', schema: ruleSetSchema, example: EXAMPLE_RULE_SET }, RULES_TEXT],
      header: 'ETag',
    },
    {
      status: 304,
      description: 'The rules have one of the revisions in `If-None-Match`.',
      bodies: [],
      header: 'ETag',
    },
  ],
  errors: ['precondition-failed'],
  answer(session, context, { headers }) {
    // A malformed condition is refused before the owner is called.
    isKnown(headers, '');
    return session.call('readRules', context, undefined).then((rules) => {
      const { revision } = rules;
      demandMatch(headers, revision);
      if (isKnown(headers, revision)) return { status: 304, etag: etagOf(revision), json: '' };
      return rulesResponse(rules, headers);
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
  description: `From the response on, every check and listing follows the new rules; empty ones remove all rules. At most ${RULES_MAX.toLocaleString('en')} rules, and ${RULE_SET_BYTES_MAX / 1024} KiB without white space; a body of more than 16 KiB has at most ${RULES_JSON_VALUES_MAX.toLocaleString('en')} JSON values. The text form is kept as it was written, with its comments, in at most ${RULES_SOURCE_BYTES_MAX / 1024} KiB as a JSON string. Every name that a rule uses must be a relation, built-in or own, or have a rule; none may depend on itself through \`but_not\`. Everything that is wrong is named at once, a line each, with its place. Without \`If-Match\`, the rules are replaced whatever they are. With \`dry_run=true\` nothing changes: the response says what would. If types that become stricter exclude stored grants, the response is a 409 \`grants-outside-types\`, that of a dry run too, unless the body, or the query, has \`outside_types\` as \`keep\`: then they stay, and count, and \`X-Service-Warning\` says how many there are. The audit log keeps the rules and those before them.`,
  body: {
    name: 'RuleSetRequest',
    schema: ruleSetBodySchema,
    bytesMax: RULES_BODY_BYTES_MAX,
    valuesMax: RULES_JSON_VALUES_MAX,
    example: EXAMPLE_RULE_SET,
    text: RULES_TEXT,
  },
  query: rulesWriteQuerySchema.shape,
  headers: {
    Accept: ACCEPT,
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
      description: 'The rules as they stand; with `dry_run=true`, what would change, in JSON, without an `ETag`.',
      bodies: [{ name: 'RulesWritten', schema: rulesWrittenSchema, example: EXAMPLE_RULE_SET }, RULES_TEXT],
      header: ['ETag', WARNING_HEADER],
    },
  ],
  errors: ['precondition-failed', 'condition-in-use', 'relation-in-use', 'grants-outside-types'],
  async answer(session, context, { body, query, headers }) {
    const { dry_run: dryRun, outside_types: outsideTypes } = validate(rulesWriteQuerySchema, query);
    const form = body instanceof TextBody ? { text: body.text } : { json: body };
    const request = await parseRulesRequest(form, { headers, outsideTypes });
    if (dryRun === 'true') {
      return session.call('previewRules', context, request).then((preview) => ({
        status: 200,
        json: JSON.stringify(rulesPreviewRecord(request.rules, preview)),
      }));
    }
    const { rules } = request;
    return session
      .call('writeRules', context, request)
      .then(() => warnOfOutside(session, context, rules))
      .then(async (warnings) => ({
        ...(await rulesResponse(rules, headers)),
        warning: warningHeaderOf(warnings),
      }));
  },
};
