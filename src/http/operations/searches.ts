// Searches of the AuthZEN interface, page by page: who may perform an action on a resource (POST
// /access/v1/search/subject), on which resources a subject may (…/resource), and which actions (…/action). Invariant: a
// page without a token is the last one; an action that no rule defines has no results.

import { EVALUATION_ERRORS, GrantdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { BODY_BYTES_MAX, PAGE_LIMIT_MAX } from '../../core/limits.ts';
import { EVERY_SUBJECT, RELATIONS } from '../../core/tuples.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import { OWN_RELATIONS_MAX, RULES_MAX } from '../../rules/rule-set.ts';
import {
  actionSearchResultSchema,
  actionSearchSchema,
  entitySearchResultSchema,
  resourceSearchSchema,
  subjectSearchSchema,
} from '../schema/authzen-schemas.ts';
import {
  parseActionSearch,
  parseResourceSearch,
  parseSubjectSearch,
  type Search,
  type SearchPage,
} from '../schema/authzen-searches.ts';
import { EXAMPLE_EVALUATION } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import type { OperationResponse, PublicOperation } from './operation.ts';
import { entityBytesMax } from './response-bytes.ts';

interface SearchResult {
  readonly items: readonly string[];
  /** Subjects whom a gate takes out of `ns:*`. */
  readonly excluded?: readonly string[];
  readonly nextCursor: string | undefined;
}

type List<Asked> = (
  asked: Asked,
  page: { readonly limit: number; readonly cursor: string | undefined },
) => Promise<SearchResult>;

const NOTHING: SearchResult = Object.freeze({ items: [], nextCursor: undefined });

/** `body`: not validated yet. */
function searchBytesMax(body: unknown): number {
  const page = isJsonObject(body) && isJsonObject(body.page) ? body.page : {};
  const { limit } = page;
  const isPage = typeof limit === 'number' && limit >= 1 && limit <= PAGE_LIMIT_MAX;
  return entityBytesMax(1 + (isPage ? limit : PAGE_LIMIT_MAX));
}

/** `{type, id}` of an identifier. */
function entityText(identifier: string): string {
  const colon = identifier.indexOf(':');
  const [type, id] = [identifier.slice(0, colon), identifier.slice(colon + 1)];
  return `{"type":${JSON.stringify(type)},"id":${JSON.stringify(id)}}`;
}

/**
 * The subjects of a page: `*`, which states give, is all subjects of the type. Those whom a gate excludes stand with
 * all of them, which are named again for them on any page but the first.
 */
function subjectTexts({ items: found, excluded = [] }: SearchResult, type: string): readonly string[] {
  const everyone = `${type}:*`;
  const items = [...new Set(found.map((each) => (each === EVERY_SUBJECT ? everyone : each)))];
  const texts = items.map(entityText);
  if (excluded.length === 0) return texts;
  const ids = excluded.map((each) => each.slice(type.length + 1));
  const all = `{"type":${JSON.stringify(type)},"id":"*","properties":{"excluded":${JSON.stringify(ids)}}}`;
  const place = items.indexOf(everyone);
  return place < 0 ? [all, ...texts] : texts.with(place, all);
}

/** Names need no escapes. */
const actionText = (name: string): string => `{"name":"${name}"}`;

function isUndefinedAction(error: unknown): boolean {
  return error instanceof GrantdError && error.code === 'invalid-relation';
}

/** The owner refuses a cursor; the client of a search has only a token. */
function asTokenError(error: unknown): unknown {
  if (!(error instanceof GrantdError) || error.code !== 'invalid-cursor') return error;
  return new GrantdError('invalid-cursor', '"page.token" was not issued for this tenant and this request.', {
    cause: error,
  });
}

async function listed<Asked>(
  session: TenantSession,
  context: RequestContext,
  { page, call, asked }: Search<Asked>,
  list: List<Asked>,
): Promise<SearchResult> {
  const { limit, cursor } = page;
  if (asked === undefined) {
    // The owner must still confirm the key.
    await session.confirm(context);
    return NOTHING;
  }
  try {
    return await list(asked, { limit: Math.max(limit, 1), cursor, ...call });
  } catch (error) {
    if (isUndefinedAction(error)) return NOTHING;
    throw asTokenError(error);
  }
}

function pageText(found: SearchResult, page: SearchPage, textsOf: (found: SearchResult) => readonly string[]): string {
  const { items, nextCursor } = found;
  const shown = page.limit === 0 ? [] : textsOf(found);
  const isRest = page.limit === 0 && (items.length > 0 || found.excluded !== undefined || nextCursor !== undefined);
  const token = isRest ? page.tokenAt(page.cursor) : nextCursor === undefined ? '' : page.tokenAt(nextCursor);
  return `{"page":{"next_token":${JSON.stringify(token)},"count":${shown.length}},"results":[${shown.join(',')}]}`;
}

async function answerSearch<Asked>(
  session: TenantSession,
  context: RequestContext,
  search: Search<Asked>,
  list: List<Asked>,
  textsOf: (found: SearchResult) => readonly string[],
): Promise<OperationResponse> {
  const found = await listed(session, context, search, list);
  return { status: 200, json: () => pageText(found, search.page, textsOf) };
}

export const searchSubjects: PublicOperation = {
  id: 'searchSubjects',
  method: 'POST',
  path: '/access/v1/search/subject',
  scope: 'check:read',
  tag: 'AuthZEN',
  summary: 'Search for the subjects that may perform an action on a resource',
  description:
    'The Subject Search API. Finds the subjects of the type that the grants name, groups resolved. All subjects of a public namespace, or of every one where a state is enough, appear as the id `*`, with the ids of those whom a gate takes out of them among its properties, page by page; and a group of the type as `id#name`. Ascending by the bytes of the id, and complete: a subject that is permitted throughout the search is found exactly once. A page may have fewer results than `limit`, or none, although `next_token` leads on. There are no results for a type or an action that is not known.',
  body: {
    name: 'SubjectSearch',
    schema: subjectSearchSchema,
    bytesMax: BODY_BYTES_MAX,
    example: { ...EXAMPLE_EVALUATION, subject: { type: 'user' } },
  },
  responseBytesMax: ({ body }) => searchBytesMax(body),
  successes: [
    success(200, 'One page.', {
      name: 'EntitySearchResult',
      schema: entitySearchResultSchema,
      example: {
        page: { next_token: '', count: 2 },
        results: [
          { type: 'user', id: 'alice' },
          { type: 'user', id: 'bob' },
        ],
      },
    }),
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'invalid-cursor', ...EVALUATION_ERRORS],
  answer(session, context, { body }) {
    const search = parseSubjectSearch(body);
    return answerSearch(
      session,
      context,
      search,
      ({ entity, relation, namespace }, page) =>
        session.call('listHolders', context, { object: entity, relation, namespace, ...page }),
      (found) => subjectTexts(found, search.asked?.namespace ?? ''),
    );
  },
};

export const searchResources: PublicOperation = {
  id: 'searchResources',
  method: 'POST',
  path: '/access/v1/search/resource',
  scope: 'check:read',
  tag: 'AuthZEN',
  summary: 'Search for the resources on which a subject may perform an action',
  description:
    'The Resource Search API. Ascending by the bytes of the id, and complete: a resource that is permitted throughout the search is found exactly once. A page may have fewer results than `limit`, or none, although `next_token` leads on. There are no results for a type or an action that is not known.',
  body: {
    name: 'ResourceSearch',
    schema: resourceSearchSchema,
    bytesMax: BODY_BYTES_MAX,
    example: { ...EXAMPLE_EVALUATION, resource: { type: 'document' } },
  },
  responseBytesMax: ({ body }) => searchBytesMax(body),
  successes: [
    success(200, 'One page.', {
      name: 'EntitySearchResult',
      schema: entitySearchResultSchema,
      example: { page: { next_token: '', count: 1 }, results: [{ type: 'document', id: 'readme' }] },
    }),
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'invalid-cursor', ...EVALUATION_ERRORS],
  answer: (session, context, { body }) =>
    answerSearch(
      session,
      context,
      parseResourceSearch(body),
      ({ entity, relation, namespace }, page) =>
        session.call('listObjects', context, { subject: entity, relation, namespace, ...page }),
      ({ items }) => items.map(entityText),
    ),
};

/** Names on objects of one namespace. */
const ACTIONS_MAX = Math.max(RULES_MAX, RELATIONS.length + OWN_RELATIONS_MAX);
/** An action with the longest name, and its comma. */
const ACTION_BYTES_MAX = 64 + '{"name":""},'.length;

export const searchActions: PublicOperation = {
  id: 'searchActions',
  method: 'POST',
  path: '/access/v1/search/action',
  scope: 'check:read',
  tag: 'AuthZEN',
  summary: 'Search for the actions that a subject may perform on a resource',
  description:
    'The Action Search API. The actions on a type are the derived names that the rules of the tenant define for it; where they define none, the built-in relations. All of a page are decided at one moment. Ascending. There are no results for what is not known.',
  body: {
    name: 'ActionSearch',
    schema: actionSearchSchema,
    bytesMax: BODY_BYTES_MAX,
    example: { subject: EXAMPLE_EVALUATION.subject, resource: EXAMPLE_EVALUATION.resource },
  },
  responseBytesMax: () => ACTIONS_MAX * ACTION_BYTES_MAX,
  successes: [
    success(200, 'One page.', {
      name: 'ActionSearchResult',
      schema: actionSearchResultSchema,
      example: { page: { next_token: '', count: 2 }, results: [{ name: 'editor' }, { name: 'viewer' }] },
    }),
  ],
  errors: ['invalid-subject', 'invalid-object', 'invalid-cursor', ...EVALUATION_ERRORS],
  answer: (session, context, { body }) =>
    answerSearch(
      session,
      context,
      parseActionSearch(body),
      (asked, page) => session.call('listNames', context, { ...asked, ...page }),
      ({ items }) => items.map(actionText),
    ),
};
