// The schemas of rules in requests and responses. Those of requests only document: `parseRuleSet` parses them.

import { z } from 'zod';
import { RULES_VERSIONS_MAX } from '../../core/rules-versions.ts';
import {
  CONDITIONS_MAX,
  ELEMENTS_MAX,
  EXPRESSION_BYTES_MAX,
  GATE_DEPTH_MAX,
  NAME_PATTERN,
  OWN_RELATIONS_MAX,
  PARAMETERS_MAX,
  PUBLIC_NAMESPACES_MAX,
  RULES_MAX,
  TYPE_SUBJECTS_MAX,
  TYPES_MAX,
} from '../../rules/rule-set.ts';
import { KEEP_OUTSIDE } from '../../rules/rules-writes.ts';
import { EXAMPLE_KEY_ID, EXAMPLE_REQUEST_ID, EXAMPLE_REVISION, EXAMPLE_TIMESTAMP } from './examples.ts';
import { dryRunSchema } from './schema-parts.ts';
import { namespaceNameSchema, relationSchema } from './schemas.ts';

const name = z.string().regex(new RegExp(`^${NAME_PATTERN}$`));

const ruleName = name.meta({
  description: 'A relation, built-in or own, whose own grants always count, or a name that is never granted.',
});

/** An element contains others: by reference, since its schema would never end. */
const elements = z
  .array(z.unknown().meta({ $ref: '#/components/schemas/RuleElement' }))
  .min(1)
  .max(ELEMENTS_MAX);

export const ruleGateSchema = z
  .strictObject({
    any_of: elements.optional().meta({ description: 'At least one of these holds.' }),
    all_of: elements.optional().meta({ description: 'Each of these holds.' }),
    but_not: elements.optional().meta({ description: 'None of these holds.' }),
  })
  .meta({
    description: `Either \`any_of\` or \`all_of\`, and perhaps \`but_not\`. At most ${GATE_DEPTH_MAX} lie inside of each other.`,
  });

export const ruleElementSchema = z
  .union([z.string().regex(new RegExp(`^(all of )?${NAME_PATTERN}( from ${NAME_PATTERN})?$`)), ruleGateSchema])
  .meta({
    description:
      'A name on the same object, such as `editor`; or `NAME from RELATION`: the name on an entity that has the relation on the object, such as `viewer from parent`; or `all of NAME from RELATION`: the name on each such entity, of which there must be one; or an object that combines elements. Every name is a relation, built-in or own, or has a rule; `self` holds for the object itself.',
  });

const rulesSubject = { namespace: namespaceNameSchema, name: ruleName };

export const ruleSchema = z
  .strictObject({ ...rulesSubject, any_of: elements })
  .meta({ description: 'On objects of the namespace, a subject with one of `any_of` has `name`. One rule per name.' });

export const ruleRequestSchema = z
  .strictObject({ ...rulesSubject, ...ruleGateSchema.shape })
  .meta({ description: 'A rule, or one that is a gate itself: its members stand beside its name.' });

export const conditionDeclarationSchema = z
  .strictObject({
    name: name.meta({ description: 'By which grants name the condition.' }),
    parameters: z.record(z.string(), z.string()).meta({
      description: `The type of each parameter, by its name; at most ${PARAMETERS_MAX}.`,
    }),
    expression: z
      .string()
      .min(1)
      .meta({
        description: `In CEL, over the parameters; a bool. At most ${EXPRESSION_BYTES_MAX} bytes in UTF-8.`,
      }),
  })
  .meta({ description: 'What grants may depend on.' });

const SUBJECT_TYPE = `^${NAME_PATTERN}(:\\*|#${NAME_PATTERN})?( with ${NAME_PATTERN})?$`;

export const typeRestrictionSchema = z
  .strictObject({
    namespace: namespaceNameSchema,
    relation: name,
    subjects: z
      .array(z.string().regex(new RegExp(SUBJECT_TYPE)))
      .max(TYPE_SUBJECTS_MAX)
      .meta({
        description:
          'Each `NAMESPACE`, `NAMESPACE:*` or, for groups, `NAMESPACE#NAME`; with ` with CONDITION` behind it, grants to them carry the condition, without, they carry none.',
      }),
  })
  .meta({ description: 'To which subjects the relation may be granted on objects of the namespace.' });

const relationsMember = z.array(name).max(OWN_RELATIONS_MAX).optional().meta({
  description: 'Relations of the tenant, which are granted like the built-in ones. Default: none.',
});
const conditionsMember = z.array(conditionDeclarationSchema).max(CONDITIONS_MAX).optional().meta({
  description: 'Conditions that grants may carry. Default: none.',
});
const typesMember = z.array(typeRestrictionSchema).max(TYPES_MAX).optional().meta({
  description: 'A relation of a namespace that is not named here may be granted to any subject. Default: none.',
});

/** For the documentation; `parseRuleSet` parses it. */
export const ruleSetBodySchema = z
  .strictObject({
    relations: relationsMember,
    conditions: conditionsMember,
    types: typesMember,
    rules: z.array(ruleRequestSchema).max(RULES_MAX),
    groups: z.boolean().optional().meta({
      description: 'Whether a grant to `ns:id#name` is one to all who have `name` on `ns:id`. Default: false.',
    }),
    public: z
      .array(namespaceNameSchema)
      .max(PUBLIC_NAMESPACES_MAX)
      .optional()
      .meta({ description: 'A grant to `ns:*` is one to every subject of these namespaces. Default: none.' }),
    outside_types: z.literal(KEEP_OUTSIDE).optional().meta({
      description:
        'Only for this write, not part of the rules: stored grants that stricter `types` exclude stay, and count. Absent: the write is refused if there are such grants.',
    }),
  })
  .meta({ description: 'Unknown fields are refused.' });

export const ruleSetSchema = z.object({
  relations: relationsMember,
  conditions: conditionsMember,
  types: typesMember,
  rules: z.array(ruleSchema),
  groups: z.boolean(),
  public: z.array(namespaceNameSchema),
});

export const rulesTextSchema = z.string().meta({
  description:
    'Rules in the text form, UTF-8. A response has the text that was set, with its comments, or one that is printed from rules that were set as JSON.',
});

/** The query of a write of rules. */
export const rulesWriteQuerySchema = z.object({
  dry_run: dryRunSchema.optional(),
  outside_types: z.literal(KEEP_OUTSIDE, `must be ${KEEP_OUTSIDE}`).optional().meta({
    description: 'As the field of a body in JSON: stored grants that stricter types exclude stay, and count.',
  }),
});

export const namespaceRelationSchema = z
  .object({ namespace: namespaceNameSchema, relation: relationSchema })
  .meta({ description: 'A relation on objects of a namespace.' });

const revision = z.string().regex(/^[0-9a-f]{32}$/);

export const rulesPreviewSchema = z.object({
  rule_set: ruleSetSchema.meta({ description: 'The rules as they would stand.' }),
  revision: revision.meta({ description: 'The revision that they would have.' }),
  current_revision: revision.meta({ description: 'The revision of the present rules.' }),
  changed: z.boolean().meta({ description: 'Whether the two revisions differ.' }),
  group_subjects: z.int().min(0).meta({
    description:
      'Subjects `ns:id#name` with a grant, whose grants become, or cease to be, ones to a group. 0 if `groups` stays as it is.',
  }),
  public_grants: z.int().min(0).meta({
    description:
      'Grants to `ns:*` that become, or cease to be, public: those of the namespaces that `public` gains or loses.',
  }),
  grants_not_followed: z.int().min(0).meta({
    description:
      'Grants that the rules could never follow: to a group without `groups`, or of a name that nobody can hold; to `ns:*` where `ns` is not public; to a group or `ns:*` where rules only follow the relation to entities, as `parent` in `viewer from parent`.',
  }),
  grants_outside_types: z.int().min(0).meta({
    description: 'Grants that the types of the rules do not allow: they stay, and count, but can only be revoked.',
  }),
  ungranted: z.array(namespaceRelationSchema).meta({
    description:
      'Relations on which rules rely (as an element, or after `from`), but of which no object of the namespace has a grant.',
  }),
  complete: z.boolean().meta({
    description:
      'Whether all grants that matter to the counts were examined. If not, the counts are lower bounds, and a relation in `ungranted` may have grants.',
  }),
  scanned_grants: z
    .int()
    .min(0)
    .meta({ description: 'How many grants were examined; one that is examined for two of the counts counts twice.' }),
  scanned_grants_max: z
    .int()
    .min(0)
    .meta({ description: 'How many are examined at most; fewer if the store is slow.' }),
});

export const rulesVersionSchema = z
  .object({
    version: z.int().min(1).meta({ description: 'Its number: 1 for the first change of the rules, without gaps.' }),
    revision: revision.meta({
      description: 'The revision of its rules. Versions with the same rules have the same one.',
    }),
    at: z
      .string()
      .meta({ format: 'date-time', description: 'When it was decided. ISO 8601 in UTC with milliseconds.' }),
    actor: z.string().meta({ description: 'The id of a key, or `operator:` and a name.' }),
    request_id: z.string().meta({ description: 'The request that wrote it.' }),
    added: z.int().min(0).meta({
      description: 'How many rules, conditions, types and settings are new, or differ from the version before.',
    }),
    removed: z.int().min(0).meta({ description: 'How many of those of the version before are gone, or differ.' }),
  })
  .meta({ description: 'A version of the rules: who changed them, and when.' });

export const rulesVersionListSchema = z.object({
  versions: z
    .array(rulesVersionSchema)
    .max(RULES_VERSIONS_MAX)
    .meta({ description: `The newest ${RULES_VERSIONS_MAX}, from the newest back.` }),
});

export const EXAMPLE_RULES_VERSIONS = {
  versions: [
    {
      version: 3,
      revision: EXAMPLE_REVISION,
      at: EXAMPLE_TIMESTAMP,
      actor: EXAMPLE_KEY_ID,
      request_id: EXAMPLE_REQUEST_ID,
      added: 2,
      removed: 1,
    },
  ],
};

/** With `dry_run`, and without. */
export const rulesWrittenSchema = z.union([ruleSetSchema, rulesPreviewSchema]);
