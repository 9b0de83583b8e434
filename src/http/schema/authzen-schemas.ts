// The schemas of the AuthZEN interface, as documented; its requests are parsed by hand (authzen-requests.ts,
// authzen-searches.ts). Ignored fields may have any value, so they have no schema here.

import { z } from 'zod';
import { BULK_CHECKS_MAX, PAGE_LIMIT_MAX } from '../../core/limits.ts';
import { NAMESPACE_PATTERN } from '../../core/tuples.ts';
import { SEMANTICS } from './authzen-requests.ts';

const attributes = z.record(z.string(), z.unknown()).meta({ description: 'Ignored.' }).nullish();
const context = z
  .record(z.string(), z.unknown())
  .meta({ description: 'Values for parameters of conditions; those that no condition asks for are ignored.' })
  .nullish();

const anyType = z.string().meta({ description: 'The namespace of the identifier `type:id`.' });
const anyId = z.string().meta({ description: 'Unique within its type.' });
const namespaceType = z.string().meta({ description: 'A namespace.', pattern: `^${NAMESPACE_PATTERN}$` });
const externalId = z.string().min(1).meta({
  description: 'Unique within its type: 1 to 256 Unicode code points without control characters or white space.',
});

/** What a decision is about. */
export const entitySchema = z
  .object({ type: namespaceType, id: externalId, properties: attributes })
  .meta({ description: 'A subject or a resource: the identifier `type:id`. Unknown fields are ignored.' });

export const actionSchema = z
  .object({
    name: z.string().meta({
      description: 'A built-in relation, or a name that a rule of the tenant defines. Any other one is denied.',
    }),
    properties: attributes,
  })
  .meta({ description: 'What the subject would do. Unknown fields are ignored.' });

export const evaluationSchema = z
  .object({ subject: entitySchema, action: actionSchema, resource: entitySchema, context })
  .meta({ description: 'May the subject perform the action on the resource? Unknown fields are ignored.' });

export const decisionSchema = z
  .object({
    decision: z.boolean().meta({ description: 'Whether the access is permitted.' }),
    context: z
      .object({
        reason: z.string().meta({ description: 'Why the action is denied whatever the grants are.' }).optional(),
        error: z
          .object({ status: z.int(), message: z.string() })
          .meta({ description: 'What is wrong with this element.' })
          .optional(),
      })
      .meta({ description: 'Only of a denial that rests on no grants.' })
      .optional(),
  })
  .meta({ description: 'A decision.' });

export const defaultEntitySchema = z
  .object({ type: anyType.optional(), id: anyId.optional(), properties: attributes })
  .meta({ description: 'A subject or resource for elements without one. Without elements: that of the evaluation.' });

const defaultAction = z
  .object({ name: z.string().optional(), properties: attributes })
  .meta({ description: 'An action for elements without one. Without elements: that of the evaluation.' })
  .nullish();

export const evaluationsSchema = z
  .object({
    subject: defaultEntitySchema.nullish(),
    action: defaultAction,
    resource: defaultEntitySchema.nullish(),
    context,
    evaluations: z
      .array(
        z.unknown().meta({
          description:
            'An object with `subject`, `action`, `resource` and `context`; each that is absent has its default. Anything else is denied.',
        }),
      )
      .max(BULK_CHECKS_MAX)
      .nullish(),
    options: z
      .object({
        evaluations_semantic: z
          .enum(SEMANTICS)
          .meta({ description: 'All, or until the first denial, or until the first permission.' })
          .nullish(),
      })
      .nullish(),
  })
  .meta({ description: 'Several evaluations, or a single one. Unknown fields are ignored.' });

export const evaluationsResultSchema = z
  .union([
    z.object({ evaluations: z.array(decisionSchema).meta({ description: 'In the order of the request.' }) }),
    decisionSchema,
  ])
  .meta({ description: 'The decisions, or the one of a single evaluation.' });

const searchPage = z
  .object({
    token: z.string().meta({ description: 'The `next_token` of the page before.' }).nullish(),
    limit: z
      .int()
      .min(0)
      .meta({
        description: `Results of a page at most; more than ${PAGE_LIMIT_MAX}, or none given: ${PAGE_LIMIT_MAX}.`,
      })
      .nullish(),
    properties: attributes,
  })
  .meta({
    description: 'Which page. Requests for further pages repeat the first one with a token; the limit may be left out.',
  });

const givenEntity = z
  .object({
    type: z.string().meta({ description: 'A namespace. For any other text there are no results.' }),
    id: z.string().meta({ description: 'An external id. For any other text there are no results.' }),
    properties: attributes,
  })
  .meta({ description: 'A subject or resource that is given.' });

const wantedType = z
  .object({ type: anyType, properties: attributes })
  .meta({ description: 'What is searched for. An `id` is ignored.' });

/** What occurs in several searches. */
export const SEARCH_PARTS = { SearchPage: searchPage, GivenEntity: givenEntity, WantedType: wantedType };

const paged = { context, page: searchPage.nullish() };

export const subjectSearchSchema = z
  .object({ subject: wantedType, action: actionSchema, resource: givenEntity, ...paged })
  .meta({ description: 'Which subjects of a type may perform the action on the resource?' });

export const resourceSearchSchema = z
  .object({ subject: givenEntity, action: actionSchema, resource: wantedType, ...paged })
  .meta({ description: 'On which resources of a type may the subject perform the action?' });

export const actionSearchSchema = z
  .object({ subject: givenEntity, resource: givenEntity, ...paged })
  .meta({ description: 'Which actions may the subject perform on the resource? An `action` is ignored.' });

export const pageInfoSchema = z
  .object({
    next_token: z.string().meta({ description: 'The `page.token` of the next request; empty at the end.' }),
    count: z.int().min(0).meta({ description: 'Results in this page.' }),
  })
  .meta({ description: 'Where the search goes on.' });

export const foundEntitySchema = z
  .object({
    type: anyType,
    id: anyId,
    properties: z
      .object({
        excluded: z
          .array(anyId)
          .meta({ description: 'Ids of subjects in the place of this page that are not permitted.' }),
      })
      .optional()
      .meta({ description: 'Only of the id `*`: whom a gate of the rules takes out of all subjects of the type.' }),
  })
  .meta({ description: 'A subject or resource that was found.' });

export const entitySearchResultSchema = z.object({
  page: pageInfoSchema,
  results: z.array(foundEntitySchema).meta({ description: 'Ascending by the bytes of the id.' }),
});

export const actionSearchResultSchema = z.object({
  page: pageInfoSchema,
  results: z.array(z.object({ name: z.string() })).meta({ description: 'Ascending by the bytes of the name.' }),
});
