// The schema of a rule set as requests bring it, for documentation alone: `parseRuleSet` parses it, and says more of
// what is wrong.

import { z } from 'zod';
import { NAMESPACE_REGEX } from '../core/tuples.ts';
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
  STATES_MAX,
  TYPE_SUBJECTS_MAX,
  TYPES_MAX,
} from './rule-set.ts';
import { KEEP_OUTSIDE } from './rules-writes.ts';

/** Before the name of a schema in references. */
export const SCHEMA_REFERENCE = '#/components/schemas/';

const namespace = z
  .string()
  .regex(NAMESPACE_REGEX)
  .meta({ description: 'The part of subjects and objects before the first colon.' });
const name = z.string().regex(new RegExp(`^${NAME_PATTERN}$`));

const ruleName = name.meta({
  description: 'A relation, built-in or own, whose own grants always count, or a name that is never granted.',
});

/** An element contains others: by reference, since its schema would never end. */
const elements = z
  .array(z.unknown().meta({ $ref: `${SCHEMA_REFERENCE}RuleElement` }))
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

const rulesSubject = { namespace, name: ruleName };

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
    namespace,
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
const statesMember = z.array(name).max(STATES_MAX).optional().meta({
  description:
    'States of objects. A state is granted with the subject `*`, and holds for every subject of every namespace. No rule has its name, and it stands in no `types` and not behind `from`. Default: none.',
});
const conditionsMember = z.array(conditionDeclarationSchema).max(CONDITIONS_MAX).optional().meta({
  description: 'Conditions that grants may carry. Default: none.',
});
const typesMember = z.array(typeRestrictionSchema).max(TYPES_MAX).optional().meta({
  description: 'A relation of a namespace that is not named here may be granted to any subject. Default: none.',
});

export const ruleSetBodySchema = z
  .strictObject({
    relations: relationsMember,
    states: statesMember,
    conditions: conditionsMember,
    types: typesMember,
    rules: z.array(ruleRequestSchema).max(RULES_MAX),
    groups: z.boolean().optional().meta({
      description: 'Whether a grant to `ns:id#name` is one to all who have `name` on `ns:id`. Default: false.',
    }),
    public: z
      .array(namespace)
      .max(PUBLIC_NAMESPACES_MAX)
      .optional()
      .meta({ description: 'A grant to `ns:*` is one to every subject of these namespaces. Default: none.' }),
    outside_types: z.literal(KEEP_OUTSIDE).optional().meta({
      description:
        'Only for this write, not part of the rules: stored grants that stricter `types` exclude stay, and count. Absent: the write is refused if there are such grants.',
    }),
  })
  .meta({ description: 'Unknown fields are refused.' });

export const EXAMPLE_RULE_SET = {
  rules: [
    { namespace: 'document', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'document', name: 'can_read', any_of: ['viewer', 'owner'] },
  ],
  groups: true,
  public: ['user'],
};

/** The same in the text form. */
export const EXAMPLE_RULES_TEXT = `groups: on
public: user

namespace document
  viewer = editor or viewer from parent  # those of the folder, too
  can_read = viewer or owner
`;
