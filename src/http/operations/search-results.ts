// Answers searches of the AuthZEN interface, page by page. Invariant: a page without a token is the last one; an action
// that no rule defines has no results.

import { GrantdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import type { Search } from '../schema/authzen-searches.ts';
import type { SearchPage } from '../schema/search-pages.ts';
import type { OperationResponse } from './operation.ts';
import { entityBytesMax } from './response-bytes.ts';

interface Listed {
  readonly items: readonly string[];
  readonly nextCursor: string | undefined;
}

type List<Asked> = (
  asked: Asked,
  page: { readonly limit: number; readonly cursor: string | undefined },
) => Promise<Listed>;

const NOTHING: Listed = Object.freeze({ items: [], nextCursor: undefined });

/** Of a body that is not validated yet. */
export function searchBytesMax(body: unknown): number {
  const page = isJsonObject(body) && isJsonObject(body.page) ? body.page : {};
  const { limit } = page;
  const isPage = typeof limit === 'number' && limit >= 1 && limit <= PAGE_LIMIT_MAX;
  return entityBytesMax(isPage ? limit : PAGE_LIMIT_MAX);
}

/** `{type, id}` of an identifier. */
export function entityText(identifier: string): string {
  const colon = identifier.indexOf(':');
  const [type, id] = [identifier.slice(0, colon), identifier.slice(colon + 1)];
  return `{"type":${JSON.stringify(type)},"id":${JSON.stringify(id)}}`;
}

/** Names need no escapes. */
export const actionText = (name: string): string => `{"name":"${name}"}`;

function isUndefinedAction(error: unknown): boolean {
  return error instanceof GrantdError && error.code === 'invalid-relation';
}

/** The owner knows a cursor; its client has a token. */
function asTokenError(error: unknown): unknown {
  if (!(error instanceof GrantdError) || error.code !== 'invalid-cursor') return error;
  return new GrantdError('invalid-cursor', '"page.token" was not issued for this tenant and this request.', {
    cause: error,
  });
}

async function listed<Asked>(
  session: TenantSession,
  context: RequestContext,
  { page, asked }: Search<Asked>,
  list: List<Asked>,
): Promise<Listed> {
  const { limit, cursor } = page;
  if (asked === undefined) {
    // The owner is asked all the same, whether the key holds.
    await session.confirm(context);
    return NOTHING;
  }
  try {
    return await list(asked, { limit: Math.max(limit, 1), cursor });
  } catch (error) {
    if (isUndefinedAction(error)) return NOTHING;
    throw asTokenError(error);
  }
}

function pageText({ items, nextCursor }: Listed, page: SearchPage, textOf: (item: string) => string): string {
  const told = page.limit === 0 ? [] : items;
  const isRest = page.limit === 0 && (items.length > 0 || nextCursor !== undefined);
  const token = isRest ? page.tokenAt(page.cursor) : nextCursor === undefined ? '' : page.tokenAt(nextCursor);
  const results = told.map(textOf).join(',');
  return `{"page":{"next_token":${JSON.stringify(token)},"count":${told.length}},"results":[${results}]}`;
}

export async function answerSearch<Asked>(
  session: TenantSession,
  context: RequestContext,
  search: Search<Asked>,
  list: List<Asked>,
  textOf: (item: string) => string,
): Promise<OperationResponse> {
  const found = await listed(session, context, search, list);
  return { status: 200, json: () => pageText(found, search.page, textOf) };
}
