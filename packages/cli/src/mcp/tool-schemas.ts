// The inputs and results of the tools. The service validates what it gets, and its problem says what is wrong; these
// schemas say to an agent which forms there are, and bound what one call can ask for.

import { z } from 'zod';
import { BULK_CHECKS_MAX, CONTEXT_GRANTS_MAX } from '../../../../src/core/limits.ts';
import {
  EXAMPLE_RULE_SET,
  EXAMPLE_RULES_TEXT,
  ruleElementSchema,
  ruleSetBodySchema,
  SCHEMA_REFERENCE,
} from '../../../../src/rules/rule-set-schema.ts';
import { CliFailure } from '../failures.ts';
import type { RulesBody } from '../tenant-rules.ts';

/** Longer pages fill the context of an agent, and it rarely reads them. */
const ROWS_MAX = 100;
const ROWS_DEFAULT = 50;

const text = (description: string) => z.string().min(1).max(1024).describe(description);

export const subject = text('Who: namespace:id, such as user:ann or agent:mail; group members as team:ops#member.');
export const relation = text('A relation, or a name that the rules derive, such as viewer or can_read.');
export const object = text('On what: namespace:id, such as document:plan.');
export const namespace = text('Only this namespace, the part before the colon.').optional();
export const context = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('Values for parameters of conditions that the rules define.');
export const condition = z
  .strictObject({ name: z.string().min(1).max(64), context })
  .optional()
  .describe('A condition of the rules on which the grant depends.');
export const proof = z
  .boolean()
  .default(false)
  .describe(
    'Whether to add "proof", the whole reasoning where rules have gates, or the call has context_grants: a tree that may be long.',
  );
export const limit = z
  .number()
  .int()
  .min(1)
  .max(ROWS_MAX)
  .default(ROWS_DEFAULT)
  .describe('The most rows of this page.');
export const cursor = text('next_cursor of the page before, with the same arguments.').optional();
export const question = { subject, relation, object };
export const contextGrants = z
  .array(z.strictObject({ ...question, condition }))
  .max(CONTEXT_GRANTS_MAX)
  .optional()
  .describe('Grants that count for this call alone, and are not stored: what would hold if they were.');
/** Of every tool that asks about one moment. */
export const called = { context, context_grants: contextGrants };
export const questions = z
  .array(z.strictObject(question))
  .min(1)
  .max(BULK_CHECKS_MAX)
  .describe('Answered in their order, all at one moment.');
/** A JSON schema of the service's own, with the references that it needs within the property `rule_set` of a tool. */
function ruleSetSchema(): Readonly<Record<string, unknown>> {
  const [body, RuleElement] = [ruleSetBodySchema.omit({ outside_types: true }), ruleElementSchema].map((schema) => {
    const { $schema, ...json } = z.toJSONSchema(schema);
    return json;
  });
  const text = JSON.stringify({ ...body, $defs: { RuleElement } });
  return JSON.parse(text.replaceAll(SCHEMA_REFERENCE, '#/properties/rule_set/$defs/'));
}

/** The service parses it and names every place that is wrong: the schema only says to an agent what rules look like. */
const ruleSet = z.record(z.string(), z.unknown()).meta({
  ...ruleSetSchema(),
  description: 'All rules of the tenant, in the form in which read_rules returns them as rule_set.',
  examples: [EXAMPLE_RULE_SET],
});

const RULES_HINT = `All rules of the tenant as text, such as read_rules returns as rules:
${EXAMPLE_RULES_TEXT}
"RELATION: user, user:*, team#member with CONDITION" says who may be granted a relation, "NAME = a or b", "a and b", "a but not b", "a from RELATION" or "all of a from RELATION" what follows; "condition NAME(parameter: type) = CEL". Mixed "and" and "or" need parentheses.`;

/** Rules that a tool takes, in one of two forms. */
export const rules = {
  rules: z.string().optional().describe(RULES_HINT),
  rule_set: ruleSet.optional(),
};

export function rulesBody({
  rules: rulesText,
  rule_set: json,
}: {
  readonly rules?: string | undefined;
  readonly rule_set?: object | undefined;
}): RulesBody {
  if (rulesText !== undefined && json === undefined) return { rulesText };
  if (rulesText === undefined && json !== undefined) return { json };
  throw new CliFailure('Give either "rules", as text, or "rule_set", as JSON.');
}

/** Beside each answer. */
const warnings = z
  .array(z.string())
  .optional()
  .describe('Hints that something is misspelt, such as a namespace that the tenant does not know.');
const nextCursor = z.string().nullable().optional().describe('null: that was the last page.');
const checkedAt = z.string();
export const checkResult = z.looseObject({ authorized: z.boolean(), checked_at: checkedAt, warnings });
export const checksResult = z.looseObject({
  results: z.array(z.looseObject({ authorized: z.boolean() })),
  checked_at: checkedAt,
  warnings,
});
export const objectsResult = z.looseObject({ objects: z.array(z.string()), next_cursor: nextCursor, warnings });
export const subjectsResult = z.looseObject({ subjects: z.array(z.string()), next_cursor: nextCursor, warnings });
const grant = { subject: z.string(), relation: z.string(), object: z.string() };
export const grantResult = z.looseObject({ ...grant, warnings });
export const grantsResult = z.looseObject({
  grants: z.array(z.looseObject(grant)),
  next_cursor: nextCursor,
  warnings,
});
export const rulesResult = z.looseObject({ revision: z.string(), rules: z.string(), rule_set: z.looseObject({}) });
export const previewResult = z.looseObject({ changed: z.boolean(), warnings });
export const writtenRulesResult = z.looseObject({ warnings });
export const revokedResult = z.strictObject({
  revoked: z.boolean().describe('false: there was no such grant, and nothing changed.'),
  warnings,
});
