// The schemas of rules in requests and responses. Those of requests only document: `parseRuleSet` parses them.

import { z } from 'zod';
import { ELEMENTS_MAX, NAME_PATTERN, PUBLIC_NAMESPACES_MAX, RULES_MAX } from '../../rules/rule-set.ts';
import { namespaceNameSchema, relationSchema } from './schemas.ts';

const ruleName = z
  .string()
  .regex(new RegExp(`^${NAME_PATTERN}$`))
  .meta({ description: 'A built-in relation, whose own grants always count, or a name that is never granted.' });

export const ruleSchema = z
  .strictObject({
    namespace: namespaceNameSchema,
    name: ruleName,
    any_of: z
      .array(z.string().regex(new RegExp(`^${NAME_PATTERN}( from ${NAME_PATTERN})?$`)))
      .min(1)
      .max(ELEMENTS_MAX)
      .meta({
        description:
          'Each a name on the same object, such as `editor`, or `NAME from RELATION`: the name on every entity that has that built-in relation on the object, such as `viewer from parent`. Every name is a built-in relation or has a rule.',
      }),
  })
  .meta({ description: 'On objects of the namespace, a subject with one of `any_of` has `name`. One rule per name.' });

/** As documented; `parseRuleSet` parses it. */
export const ruleSetBodySchema = z
  .strictObject({
    rules: z.array(ruleSchema).max(RULES_MAX),
    groups: z.boolean().optional().meta({
      description: 'Whether a grant to `ns:id#name` is one to all who have `name` on `ns:id`. Default: false.',
    }),
    public: z
      .array(namespaceNameSchema)
      .max(PUBLIC_NAMESPACES_MAX)
      .optional()
      .meta({ description: 'A grant to `ns:*` is one to every subject of these namespaces. Default: none.' }),
  })
  .meta({ description: 'Unknown fields are refused.' });

export const ruleSetSchema = z.object({
  rules: z.array(ruleSchema),
  groups: z.boolean(),
  public: z.array(namespaceNameSchema),
});

export const namespaceRelationSchema = z
  .object({ namespace: namespaceNameSchema, relation: relationSchema })
  .meta({ description: 'A built-in relation on objects of a namespace.' });

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
      'Built-in relations on which rules rely (in `any_of`, or after `from`), but of which no object of the namespace has a grant.',
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

/** With `dry_run`, and without. */
export const rulesWrittenSchema = z.union([ruleSetSchema, rulesPreviewSchema]);

export const rulesQuerySchema = z.object({
  dry_run: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .meta({ description: '`true`: change nothing, and answer what would change.' })
    .optional(),
});
