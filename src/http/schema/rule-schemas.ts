// The schemas of rules in responses; those of requests are in src/rules.

import { z } from 'zod';
import { RULES_VERSIONS_MAX } from '../../core/rules-versions.ts';
import { ruleSchema, ruleSetBodySchema } from '../../rules/rule-set-schema.ts';
import { KEEP_OUTSIDE } from '../../rules/rules-writes.ts';
import { EXAMPLE_KEY_ID, EXAMPLE_REQUEST_ID, EXAMPLE_REVISION, EXAMPLE_TIMESTAMP } from './examples.ts';
import { dryRunSchema } from './schema-parts.ts';
import { namespaceNameSchema, relationSchema, timestamp } from './schemas.ts';

const { relations, states, conditions, types } = ruleSetBodySchema.shape;

export const ruleSetSchema = z.object({
  relations,
  states,
  conditions,
  types,
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

export const revision = z.string().regex(/^[0-9a-f]{32}$/);

const counted = (description: string) => z.int().min(0).meta({ description });
const some = (description: string) => z.array(z.string()).meta({ description });

export const accessRowSchema = z
  .object({
    subjects: some('The first subjects.'),
    subject_count: counted('How many subjects there are.'),
    names: some('Names that they lose, or gain.'),
    objects: some('The first objects.'),
    object_count: counted('How many objects there are.'),
  })
  .meta({ description: 'The same names on the same objects.' });

export const accessSideSchema = z
  .object({
    subjects: counted('Subjects that lose, or gain, a name.'),
    objects: counted('Objects on which they do.'),
    rows: z.array(accessRowSchema).meta({ description: 'Who loses, or gains, which names on which objects.' }),
    rows_left: counted('Rows that are left out.'),
    by_name: z.boolean().meta({
      description: 'Whether there is a row for each name, which its subjects lose, or gain, on some of its objects.',
    }),
  })
  .meta({ description: 'One side of a comparison.' });

const accessChangesSchema = z
  .object({
    lost: accessSideSchema.meta({ description: 'What is lost.' }),
    gained: accessSideSchema.meta({ description: 'What is gained.' }),
    unknown_because: z.array(z.string()).meta({
      description:
        'Why it is not known who else loses or gains access: `everyone` (each subject of a public namespace may), `undecided` (conditions need a context), `bounds` (more than one call compares) or `failed` (the grants changed meanwhile). Empty: these are all.',
    }),
  })
  .meta({ description: 'Who would lose and gain names of the present rules, each subject compared at one moment.' });

const vanishingNameSchema = z
  .object({
    name: z.string().meta({ description: 'The name.' }),
    asked_at: timestamp(
      'When a key of the tenant last asked about the name, in a check or a listing, to the minute; `null`: not in the last day, as far as is known.',
    ).nullable(),
  })
  .meta({ description: 'A name that checks can no longer ask about.' });

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
  vanishing: z.array(vanishingNameSchema).meta({
    description:
      'Names that the present rules define, and these do not: a check of one would be refused. Those that were asked about most recently come first.',
  }),
  access: accessChangesSchema,
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
