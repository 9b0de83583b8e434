// The schemas of joins: of the query, and of the response as `src/rules/join.ts` makes it.

import { z } from 'zod';
import { DEEP_MAX } from '../../core/limits.ts';
import { isNamespaceName, NAMESPACE_PATTERN } from '../../core/tuples.ts';
import type { Join, JoinedNode } from '../../rules/join.ts';
import { SCHEMA_REFERENCE } from '../../rules/rule-set-schema.ts';
import { EXAMPLE_REVISION, EXAMPLE_TENANT_ID } from './examples.ts';
import { revision } from './rule-schemas.ts';
import { tenantIdText } from './schema-parts.ts';
import { namespaceNameSchema, relationNameSchema } from './schemas.ts';

function deepFault(input: unknown): string {
  const must = `must be up to ${DEEP_MAX} namespaces, separated by commas`;
  const wrong = String(input)
    .split(',')
    .find((name): boolean => !isNamespaceName(name));
  return wrong === undefined ? `${must}; it has more` : `${must}; ${JSON.stringify(wrong.slice(0, 64))} is none`;
}

export const joinParametersSchema = z.object({
  namespace: namespaceNameSchema.meta({ description: 'Of the objects that are listed.' }),
  name: relationNameSchema,
  deep: z
    .string()
    .regex(new RegExp(`^${NAMESPACE_PATTERN}(,${NAMESPACE_PATTERN}){0,${DEEP_MAX - 1}}$`, 'u'), {
      error: ({ input }) => deepFault(input),
    })
    .meta({
      description:
        'Namespaces of containers, separated by commas: of these, all grants that count are mirrored, and not only those that lead to other containers. For subjects with grants on more containers than the sets of a subject may have.',
    })
    .optional(),
});

const texts = (description: string) => z.array(z.string()).meta({ description });

export const joinedFromSchema = z
  .object({
    relation: z.string().meta({ description: 'Mirrored.' }),
    names: texts('One of these holds on the entity.'),
  })
  .meta({ description: 'The object has such a grant, and one of the names holds on its subject, a single entity.' });

const nodeShape = {
  relations: texts('Mirrored: a grant of one of them on the object to one of the subjects.'),
  own: texts('The object is the own one of the subject, and the subject has it by one of these.'),
  held: z.string().optional().meta({ description: 'This name on the object is among what is held.' }),
  from: z.array(joinedFromSchema).meta({ description: 'Grants that lead to containers.' }),
  every: z.literal(true).optional().meta({
    description:
      'Of the one member of `from`: the object has such a grant, and for each of them one of the names holds.',
  }),
} satisfies Record<keyof JoinedNode, z.ZodType>;

export const joinedNodeSchema = z.object(nodeShape).meta({ description: 'Any of these suffices.' });

/** By reference, since its schema would never end. */
const formulas = z.array(z.unknown().meta({ $ref: `${SCHEMA_REFERENCE}JoinFormula` }));

export const joinFormulaSchema = z
  .union([
    z.string(),
    z.object({
      any_of: formulas.optional().meta({ description: 'One of these holds. Empty: never.' }),
      all_of: formulas.optional().meta({ description: 'Each of these holds.' }),
      none_of: formulas.optional().meta({ description: 'Beside `all_of`: none of these holds.' }),
    }),
  ])
  .meta({ description: 'An atom, by its key, or formulas over others. Undecided parts are decided as in SQL.' });

export const joinSchema = z.object({
  tenant_id: tenantIdText,
  revision,
  namespace: namespaceNameSchema,
  name: z.string(),
  groups: z.boolean().meta({ description: 'Whether a subject `ns:id#name` is a group, and no container.' }),
  public: z.array(namespaceNameSchema).meta({ description: 'Of these, `ns:*` is every subject, and no container.' }),
  mirror: z
    .array(z.object({ namespace: namespaceNameSchema, relations: texts('In order.') }))
    .meta({ description: 'The grants to mirror: of these relations on objects of the namespace.' }),
  atoms: z.record(z.string(), joinedNodeSchema).meta({ description: 'What suffices on an object without a gate.' }),
  formula: joinFormulaSchema,
  nesting: z
    .array(z.object({ namespace: namespaceNameSchema, name: z.string(), ...nodeShape }))
    .meta({ description: 'Names on containers: what suffices for each. Those that are not here are held, or not.' }),
  ask: texts('The names on containers that the sets of a subject have, if it holds them.'),
  depth_max: z.int().meta({ description: 'Levels of containers: what is only found beyond is undecided.' }),
} satisfies Record<keyof Join | 'tenant_id' | 'revision', z.ZodType>);

const inherited = { relations: [], own: [], held: 'viewer', from: [{ relation: 'parent', names: ['viewer'] }] };

export const EXAMPLE_JOIN = {
  tenant_id: EXAMPLE_TENANT_ID,
  revision: EXAMPLE_REVISION,
  namespace: 'document',
  name: 'viewer',
  groups: true,
  public: ['user'],
  mirror: [
    { namespace: 'document', relations: ['editor', 'parent', 'viewer'] },
    { namespace: 'folder', relations: ['parent'] },
  ],
  atoms: {
    a: { relations: ['editor', 'viewer'], own: ['editor', 'viewer'], from: inherited.from },
  },
  formula: 'a',
  nesting: [{ namespace: 'folder', name: 'viewer', ...inherited }],
  ask: ['viewer'],
  depth_max: 25,
};
