// The schemas of everything that crosses the public interface. They validate requests, and the OpenAPI file is
// generated from them. An error message completes the sentence `"<field>" …`.

import { z } from 'zod';
import { CALL_CONTEXT_BYTES_MAX } from '../../core/call-context.ts';
import type { grantRecord } from '../../core/grant-attributes.ts';
import { CONDITION_NAME_PATTERN, GRANT_CONTEXT_BYTES_MAX } from '../../core/grant-terms.ts';
import {
  BULK_CHANGES_MAX,
  BULK_CHECKS_MAX,
  BULK_PRECONDITIONS_MAX,
  CONTEXT_GRANTS_MAX,
  DEEP_MAX,
  NAME_LENGTH_MAX,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
} from '../../core/limits.ts';
import { SCOPES } from '../../core/scopes.ts';
import {
  grantedFault,
  IDENTIFIER_LENGTH_MAX,
  IDENTIFIER_PATTERN,
  identifierFault,
  NAMESPACE_PATTERN,
  NAMESPACE_REGEX,
  RELATION_PATTERN,
  RELATION_RULE,
  RELATIONS,
  relationFault,
} from '../../core/tuples.ts';
import { RELATION_NAME_RULE } from '../../rules/questions.ts';
import { NAME_PATTERN } from '../../rules/rule-set.ts';
import { closedObject, pageLimit, pairList, tenantIdText } from './schema-parts.ts';

type Refusal = { readonly input?: unknown; readonly code?: string | undefined };

/** `otherwise`: what is wrong with a string. */
const refused =
  (must: string, otherwise: string | ((text: string) => string)) =>
  ({ input }: Refusal): string => {
    if (input === undefined) return `${must}; it is missing`;
    if (typeof input !== 'string') return `${must}; it is not a string`;
    return `${must}; it ${typeof otherwise === 'string' ? otherwise : otherwise(input)}`;
  };

const notGranted = refused(`must be ${RELATION_RULE}`, (text) => grantedFault(text));
const notRelation = refused(`must be ${RELATION_NAME_RULE}`, relationFault);

const SURROGATES = '\\ud800-\\udfff';

/**
 * A pattern as documented: without the surrogates, which never occur alone in a well-formed JSON text and which many
 * regex engines cannot name.
 */
const documented = (pattern: string): string => `^${pattern.replace(SURROGATES, '')}$`;

const identifier = (description: string, pattern = IDENTIFIER_PATTERN) => {
  const error = refused('must be namespace:external_id', identifierFault);
  return z
    .string({ error })
    .regex(new RegExp(`^${pattern}$`, 'u'), { error })
    .meta({ description, pattern: documented(pattern), maxLength: IDENTIFIER_LENGTH_MAX });
};

const IDENTIFIER_RULE =
  '`namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points without control characters or white space.';

export const subjectSchema = identifier(
  `Who. ${IDENTIFIER_RULE} Only states have another subject: \`*\`.`,
  `(?:\\*|${IDENTIFIER_PATTERN})`,
);
export const objectSchema = identifier(`On what. ${IDENTIFIER_RULE}`);
export const relationSchema = z
  .string({ error: notGranted })
  .regex(new RegExp(`^${RELATION_PATTERN}$`), { error: notGranted })
  .meta({
    description: `One of the built-in relations (${RELATIONS.join(', ')}), or one that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.`,
  });

/** The relation of a check or a listing. */
export const relationNameSchema = z
  .string({ error: notRelation })
  .regex(new RegExp(`^${NAME_PATTERN}$`), { error: notRelation })
  .meta({
    description: `One of the built-in relations (${RELATIONS.join(', ')}), one that its rules declare, or a name that one of them defines.`,
  });

const TUPLE_MUST = 'must be an object with subject, relation and object';

export const tupleSchema = closedObject(
  { subject: subjectSchema, relation: relationSchema, object: objectSchema },
  TUPLE_MUST,
).meta({ description: 'A relationship. Unknown fields are refused.' });

const contextSchema = (description: string) => z.record(z.string(), z.unknown()).meta({ description });

/** For the documentation; the condition is parsed by hand (grant-terms.ts). */
const grantConditionShape = {
  name: z
    .string()
    .regex(new RegExp(`^${CONDITION_NAME_PATTERN}$`))
    .meta({ description: 'The name of a condition that the rules of the tenant declare.' }),
  context: contextSchema(
    `Values for parameters of the condition, at most ${GRANT_CONTEXT_BYTES_MAX} bytes as compact JSON. They take precedence over those that a call sends. For an int or uint, numbers beyond 2^53 are written as strings of digits.`,
  ),
};

export const grantConditionSchema = z
  .object(grantConditionShape)
  .meta({ description: 'The grant holds only where this condition is met. Absent: it has none.' });

export const conditionRequestSchema = closedObject({
  ...grantConditionShape,
  context: grantConditionShape.context.optional(),
}).meta({ description: 'A condition under which a grant holds.' });

/** For the documentation; the terms are parsed by hand (grant-terms.ts). */
export const grantBodySchema = closedObject(
  {
    ...tupleSchema.shape,
    expires_at: z.iso.datetime({ offset: true }).nullable().optional().meta({
      description:
        'The grant holds until just before this moment, which must lie in the future and within 100 years. Absent: a new grant never expires, and an existing one keeps what it has. `null`: it never expires.',
    }),
    condition: conditionRequestSchema.nullable().optional().meta({
      description:
        'The grant holds only where this condition is met. Absent: a new grant has none, and an existing one keeps what it has. `null`: it has none.',
    }),
  },
  TUPLE_MUST,
).meta({ description: 'A relationship, until when it holds, and on which condition. Unknown fields are refused.' });

export const questionSchema = closedObject(
  { subject: subjectSchema, relation: relationNameSchema, object: objectSchema },
  TUPLE_MUST,
).meta({ description: 'A relationship, granted or following from the rules. Unknown fields are refused.' });

export const contextGrantSchema = closedObject(
  { ...tupleSchema.shape, condition: conditionRequestSchema.nullable().optional() },
  TUPLE_MUST,
).meta({ description: 'A grant that counts for one call.' });

/** For the documentation; the context of a call is parsed by hand (call-context.ts). */
const callContextShape = {
  context: contextSchema(
    `Values for parameters of conditions, at most ${CALL_CONTEXT_BYTES_MAX / 1024} KiB as compact JSON. What a grant stores takes precedence; what no condition asks for is ignored. For an int or uint, numbers beyond 2^53 are written as strings of digits.`,
  ).optional(),
  context_grants: z
    .array(contextGrantSchema, { error: 'must be an array' })
    .max(CONTEXT_GRANTS_MAX)
    .meta({
      description: 'Grants that count for this call as if they were stored. They are not, and no other call sees them.',
    })
    .optional(),
};

export const checkSchema = closedObject({
  ...questionSchema.shape,
  ...callContextShape,
  explain: z
    .boolean({ error: 'must be true or false' })
    .optional()
    .meta({ description: 'Whether the result names the grants that it rests on.' }),
});

/** The body of a bulk check as documented; its length is checked before its elements. */
export const bulkSchema = closedObject({
  checks: z.array(questionSchema, { error: 'must be an array' }).max(BULK_CHECKS_MAX),
  ...callContextShape,
});

export const conditionSchema = closedObject(
  {
    ...tupleSchema.shape,
    exists: z
      .boolean({ error: 'must be true or false' })
      .meta({ description: 'Whether the grant must exist before the call.' }),
  },
  'must be an object with subject, relation, object and exists',
).meta({ description: 'A condition on the state before the call.' });

/** For the documentation; `parseBulkWrite` of core parses it, since the counts come before the elements. */
export const bulkWriteSchema = closedObject({
  grants: z
    .array(grantBodySchema, { error: 'must be an array' })
    .max(BULK_CHANGES_MAX)
    .meta({ description: 'To create. Of what exists already, only the expiry and the condition may change.' })
    .optional(),
  revocations: z
    .array(tupleSchema, { error: 'must be an array' })
    .max(BULK_CHANGES_MAX)
    .meta({
      description: `To revoke. At most ${BULK_CHANGES_MAX} together with \`grants\`, and at least one of the two.`,
    })
    .optional(),
  if: z
    .array(conditionSchema, { error: 'must be an array' })
    .max(BULK_PRECONDITIONS_MAX)
    .meta({ description: 'Nothing is changed unless all of them are met.' })
    .optional(),
});

/** For the documentation; `parseGrantFilter` of core parses it. */
export const grantFilterSchema = closedObject({
  subject: subjectSchema.optional(),
  object: objectSchema.optional(),
  relation: relationSchema.optional(),
});

/** Either all of them or a body. */
export const tupleQuerySchema = z.object({
  subject: subjectSchema.optional(),
  relation: relationSchema.optional(),
  object: objectSchema.optional(),
});

export const timestamp = (description: string) =>
  z.string().meta({ format: 'date-time', description: `${description} ISO 8601 in UTC with milliseconds.` });

const id = (prefix: string, description: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`))
    .meta({ description });

export const namespaceNameSchema = z
  .string({ error: refused('must be a namespace name', 'is not of that form') })
  .regex(NAMESPACE_REGEX, { error: `must be a namespace name (${NAMESPACE_PATTERN}); it is not of that form` })
  .meta({ description: 'The part of subjects and objects before the first colon.' });

/** What a grant has besides its tuple that may change. */
export const grantTermsShape = {
  expires_at: timestamp('The grant holds until just before this moment; `null`: it never expires.').nullable(),
  condition: grantConditionSchema.optional(),
};

export const grantSchema = z
  .object({
    grant_id: id('grt', 'Opaque. A grant created again after its revocation has a new id.'),
    subject: subjectSchema,
    relation: relationSchema,
    object: objectSchema,
    created_at: timestamp('When the grant was created.'),
    ...grantTermsShape,
  } satisfies Record<keyof ReturnType<typeof grantRecord>, z.ZodType>)
  .meta({ description: 'A stored relationship, unique per (subject, relation, object).' });

export const writtenGrantSchema = z
  .object({
    ...grantSchema.shape,
    created: z
      .boolean()
      .meta({ description: 'False: the grant existed already; at most its expiry or its condition was changed.' }),
  })
  .meta({ description: 'A grant of a bulk write.' });

export const revocationSchema = z
  .object({ revoked: z.boolean().meta({ description: 'False: there was no such grant.' }) })
  .meta({ description: 'A revocation of a bulk write.' });

export const bulkWriteResultSchema = z.object({
  grants: z.array(writtenGrantSchema).meta({ description: 'One per grant, in the order of the request.' }),
  revocations: z.array(revocationSchema).meta({ description: 'One per revocation, in the order of the request.' }),
});

export const revokeResultSchema = z.object({
  revoked: z.int().min(0).meta({ description: 'Grants that this call has revoked; of a dry run, would revoke.' }),
  complete: z.boolean().meta({ description: 'Whether no grant that matches was left at that moment, or would be.' }),
});

/** One that the call sent has no id and no times. */
export const reasonGrantSchema = z
  .object({
    ...tupleSchema.shape,
    grant_id: grantSchema.shape.grant_id.optional(),
    created_at: grantSchema.shape.created_at.optional(),
    expires_at: grantSchema.shape.expires_at.optional(),
    condition: grantConditionSchema.optional(),
    condition_saw: contextSchema('The values that its condition saw.').optional(),
    context_grant: z.boolean().optional().meta({ description: 'True: the call sent it.' }),
    excludes: z
      .object({ name: z.string().meta({ description: 'A name that a rule defines.' }), object: objectSchema })
      .optional()
      .meta({ description: 'Of `excluded_by`: what the grant takes away from the subject.' }),
  })
  .meta({ description: 'A grant of a reason.' });

export const denialReasonSchema = z
  .object({
    text: z.string().meta({ description: 'One sentence, for people.' }),
    excluded_by: z.array(reasonGrantSchema).meta({ description: 'Grants that exclude the subject.' }),
    unmet: z.array(reasonGrantSchema).meta({ description: 'Grants whose condition is not met.' }),
    missing: z.array(tupleSchema).meta({ description: 'Grants that do not exist.' }),
    cut: z.boolean().optional().meta({ description: 'True: these are not all, or none could be found.' }),
  })
  .meta({
    description:
      'If asked for, and only if not authorized: the fewest grants found that decide it. Without those in `excluded_by`, with the conditions in `unmet` met, and with those in `missing`, the subject would hold the relation; each of them is needed.',
  });

export const checkResultSchema = z.object({
  authorized: z.boolean().meta({ description: 'Whether the relationship holds.' }),
  checked_at: timestamp('When it was decided.'),
  because: z.array(grantSchema).optional().meta({
    description:
      'If asked for, and only if authorized: a shortest chain of grants, from the subject to the object, without those of `context_grants`, which are in `proof`. Empty: it has no others, or a group is part of itself. Under rules with gates, the grants of the proof.',
  }),
  reason: denialReasonSchema.optional(),
  proof: z.record(z.string(), z.unknown()).optional().meta({
    description:
      'If asked for, under rules with gates: why, as a tree. Each node says whether `name` holds on `object`, and, if it does, `because` of which grants, and which `gate` gave it; if not, what was `looked_for`, and the `gates` that did not open. A gate has the proofs of `all_of` and of `but_not`, and that of an `all of N from R` the grants of R, its `parents`. A node with `repeated` stands in full elsewhere. A proof takes at most 256 KiB: a node or a gate with `cut` lacks what did not fit.',
  }),
});

export const bulkAnswerSchema = z.object({
  authorized: z.boolean().meta({ description: 'Whether the relationship holds.' }),
});

export const bulkResultSchema = z.object({
  results: z.array(bulkAnswerSchema).meta({ description: 'One per check, in the order of the request.' }),
  checked_at: timestamp('The moment at which all of them were decided.'),
});

export const namespaceSchema = z.object({
  name: namespaceNameSchema,
  created_at: timestamp('When it was created, explicitly or by the first grant that names it.'),
});

export const namespaceListSchema = z.object({ namespaces: z.array(namespaceSchema) });

export const namespaceBodySchema = closedObject({ name: namespaceNameSchema });

const nextCursor = z.string().nullable().meta({ description: 'The `cursor` of the next request; `null` at the end.' });

export const objectListSchema = z.object({
  objects: z.array(objectSchema).meta({ description: 'Ascending by the bytes of the object.' }),
  next_cursor: nextCursor,
});

export const subjectListSchema = z.object({
  subjects: z.array(subjectSchema).meta({ description: 'Ascending by the bytes of the subject.' }),
  next_cursor: nextCursor,
  excluded: z.array(subjectSchema).optional().meta({
    description:
      'Under rules with gates: subjects whom a gate excludes, although `ns:*` of their namespace, or `*`, holds the relation; `ns:*` among them stands for every subject of its namespace. They lie in the range of the page, and count against its limit. Absent: there are none in it.',
  }),
});

export const grantListSchema = z.object({
  grants: z.array(grantSchema).meta({
    description:
      'Ascending by the bytes of the relation, then of the object (or subject). With `on`: of the subject first.',
  }),
  next_cursor: nextCursor,
  seq: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Only with `on`: no grant of the page is as a later entry of the log made it.' }),
});

const limit = pageLimit('Items per page; may change from page to page.').default(PAGE_LIMIT_DEFAULT);

const cursor = z
  .string()
  .min(1, { error: 'is empty; leave it out to start at the beginning' })
  .meta({ description: 'The `next_cursor` of the previous page of the same query. Opaque and signed.' })
  .optional();

export const pageQuerySchema = z.object({ limit, cursor });

export const viaSchema = z
  .enum(['direct'], { error: 'must be direct, or absent' })
  .meta({ description: '`direct`: only grants of the relation itself count, and not what follows from the rules.' });

export const includeSchema = z.enum(['self'], { error: 'must be self, or absent' }).meta({
  description:
    '`self`: also the groups `ns:id#name` of the object itself, which hold the relation because they consist of those who hold it.',
});

export const objectQuerySchema = z.object({
  subject: subjectSchema,
  relation: relationNameSchema,
  namespace: namespaceNameSchema.meta({ description: 'Only objects of this namespace.' }).optional(),
  via: viaSchema.optional(),
  limit,
  cursor,
});

export const subjectQuerySchema = z.object({
  object: objectSchema,
  relation: relationNameSchema,
  namespace: namespaceNameSchema.meta({ description: 'Only subjects of this namespace.' }).optional(),
  via: viaSchema.optional(),
  include: includeSchema.optional(),
  limit,
  cursor,
});

const bodyLimit = z
  .int({ error: `must be a whole number from 1 to ${PAGE_LIMIT_MAX}` })
  .min(1, { error: `must be a whole number from 1 to ${PAGE_LIMIT_MAX}` })
  .max(PAGE_LIMIT_MAX, { error: `must be a whole number from 1 to ${PAGE_LIMIT_MAX}` })
  .default(PAGE_LIMIT_DEFAULT)
  .meta({ description: 'Items per page; may change from page to page.' });

/** The members of a body that is a listing with a context. */
export const objectBodySchema = closedObject({ ...objectQuerySchema.shape, limit: bodyLimit, ...callContextShape });
export const subjectBodySchema = closedObject({ ...subjectQuerySchema.shape, limit: bodyLimit, ...callContextShape });

/** Of a name of the rules: which objects a subject holds it on follows from mirrored grants and the subject's sets. */
export const joinQuerySchema = closedObject({
  namespace: namespaceNameSchema.meta({ description: 'That of the objects that are listed.' }),
  name: relationNameSchema,
  deep: z
    .array(namespaceNameSchema, { error: 'must be an array' })
    .max(DEEP_MAX, { error: `must have at most ${DEEP_MAX} namespaces` })
    .optional()
    .meta({ description: 'As in the request for the join.' }),
});

const setSchema = z.string().meta({ description: 'A subject as grants name it, or `object#name`.' });

export const setsBodySchema = closedObject({
  subject: subjectSchema,
  join: joinQuerySchema,
  ...callContextShape,
  perhaps: z.boolean({ error: 'must be true or false' }).optional().meta({
    description:
      'True: sets whose conditions lack a parameter are in `perhaps`. Otherwise such a set refuses the call as `context-incomplete`.',
  }),
});

export const setsSchema = z.object({
  subjects: z.array(setSchema).meta({
    description: 'The subject, `ns:*` and `*` where their grants are also its own, and the groups in which it is.',
  }),
  held: z
    .array(setSchema)
    .meta({ description: '`container#name`: what it holds on containers, of what the join asks.' }),
  perhaps: z.array(setSchema).meta({ description: 'Sets of which a parameter is missing. In no other list.' }),
  own: z.string().meta({ description: 'The `object#name` that the subject is itself. Empty: none.' }),
  tenant_id: tenantIdText,
  revision: z.string().meta({ description: 'That of the rules. The join must have the same.' }),
  at: z
    .object({
      seq: z
        .int()
        .min(0)
        .meta({ description: 'A place in the log: the answer has every change up to it, and no other.' }),
      time: timestamp('Grants that expire by then have expired.'),
    })
    .meta({ description: 'The moment of which the answer is.' }),
  through: z.int().min(0).meta({
    description:
      'A place in the log up to `at.seq`, after which nothing has changed that the join mirrors: a mirror that has it is complete for this answer.',
  }),
});

export const grantQuerySchema = z.object({
  subject: subjectSchema.meta({ description: 'The grants of this subject. Either this, `object` or `on`.' }).optional(),
  object: objectSchema.meta({ description: 'The grants on this object. Either this, `subject` or `on`.' }).optional(),
  on: pairList(
    'All grants of these relations on objects of these namespaces, each as `namespace:relation`. Either this, `subject` or `object`, and without `relation`.',
  ).optional(),
  relation: relationSchema.meta({ description: 'Only this relation.' }).optional(),
  limit,
  cursor,
});

/** Neither characters of Unicode category Cc nor lone surrogates, which UTF-8 cannot carry. */
const KEY_NAME_PATTERN = `[^\\u0000-\\u001f\\u007f-\\u009f${SURROGATES}]{0,${NAME_LENGTH_MAX}}`;
const keyNameError = refused(
  `must be a string of at most ${NAME_LENGTH_MAX} code points without control characters`,
  'is not',
);
export const keyName = z
  .string({ error: keyNameError })
  .regex(new RegExp(`^${KEY_NAME_PATTERN}$`, 'u'), { error: keyNameError })
  .meta({
    description: 'For people; may be empty.',
    pattern: documented(KEY_NAME_PATTERN),
    maxLength: NAME_LENGTH_MAX,
  });

export const scopeSchema = z
  .enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` })
  .meta({ description: 'No scope implies another.' });

export const scopes = z
  .array(scopeSchema, { error: 'must be a non-empty array of distinct scopes' })
  .min(1, { error: 'must not be empty' })
  .refine((values) => new Set(values).size === values.length, { error: 'must not repeat a scope' })
  .meta({ uniqueItems: true });

export const keyBodySchema = closedObject({
  name: keyName.optional(),
  scopes,
  expires_at: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 timestamp with a time zone, or null' })
    .nullable()
    .optional()
    .meta({ description: 'The key is refused from this moment on; must be in the future. Absent or `null`: never.' }),
});

const keyFields = {
  key_id: id('key', 'Names the key; not secret.'),
  name: keyName,
  scopes,
  created_at: timestamp('When the key was created.'),
  expires_at: timestamp('The key is refused from this moment on; `null`: never.').nullable(),
};

export const createdKeySchema = z.object({
  ...keyFields,
  key: z
    .string()
    .regex(/^gk1_[0-9A-Za-z]{81}$/)
    .meta({ description: 'The API key itself. Shown here once and never again.' }),
});

export const listedKeySchema = z.object({
  ...keyFields,
  last_used_at: timestamp('When the key was last used, to within a few minutes; `null`: no use is known.').nullable(),
});

export const keyListSchema = z.object({ keys: z.array(listedKeySchema), next_cursor: nextCursor });
