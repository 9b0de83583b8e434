// Search requests of the AuthZEN Authorization API 1.0, and their pages. What is searched for needs a type only, and
// its id is ignored. Types and ids that no grant can name are well-formed: the search has no results.
//
// A token leads to the next page of one request, and is bound to all of that request but the token; the cursor in it is
// bound to the tenant by its owner. Invariant: a request that differs from the one that a token came from is refused,
// except that it may leave out the limit, which then stays.

import { hash } from 'node:crypto';
import type { CallContext } from '../../core/call-context.ts';
import { GrantdError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json-members.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import { isNamespaceName } from '../../core/tuples.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import {
  actionIn,
  demandAttributes,
  demandBody,
  entityIn,
  identifierOf,
  isAbsent,
  parseAttributes,
  textIn,
} from './authzen-requests.ts';

export interface Search<Asked> {
  readonly page: SearchPage;
  readonly call: Pick<CallContext, 'context'>;
  /** Undefined: there can be no results. */
  readonly asked: Asked | undefined;
}

export interface AskedEntities {
  readonly entity: string;
  readonly relation: string;
  /** The namespace of the results. */
  readonly namespace: string;
}

export interface AskedActions {
  readonly subject: string;
  readonly object: string;
}

interface Given {
  readonly entity: JsonObject;
  readonly identifier: string | undefined;
}

function givenIn(body: JsonObject, name: 'subject' | 'resource'): Given {
  const entity = entityIn(body, name);
  const [type, id] = [textIn(entity, name, 'type'), textIn(entity, name, 'id')];
  return { entity: { type, id, properties: entity.properties }, identifier: identifierOf(type, id) };
}

function parseEntitySearch(
  value: unknown,
  wanted: 'subject' | 'resource',
  known: 'subject' | 'resource',
): Search<AskedEntities> {
  const body = demandBody(value);
  const { properties } = entityIn(body, wanted);
  const type = textIn(entityIn(body, wanted), wanted, 'type');
  const { entity, identifier } = givenIn(body, known);
  const relation = actionIn(body);
  const action = { name: relation, properties: entityIn(body, 'action').properties };
  const page = parseSearchPage(body, [wanted, { type, properties }, action, entity]);
  const possible = identifier !== undefined && isNamespaceName(type) && isRuleName(relation);
  const call = parseAttributes(body.context, 'context');
  return { page, call, asked: possible ? { entity: identifier, relation, namespace: type } : undefined };
}

export const parseSubjectSearch = (body: unknown): Search<AskedEntities> =>
  parseEntitySearch(body, 'subject', 'resource');

export const parseResourceSearch = (body: unknown): Search<AskedEntities> =>
  parseEntitySearch(body, 'resource', 'subject');

export function parseActionSearch(value: unknown): Search<AskedActions> {
  const body = demandBody(value);
  const [subject, resource] = [givenIn(body, 'subject'), givenIn(body, 'resource')];
  const page = parseSearchPage(body, ['action', subject.entity, resource.entity]);
  const { identifier: object } = resource;
  const possible = subject.identifier !== undefined && object !== undefined;
  const call = parseAttributes(body.context, 'context');
  return { page, call, asked: possible ? { subject: subject.identifier, object } : undefined };
}

// ---- pages ----

export interface SearchPage {
  /** 0: no results, only whether there are any. */
  readonly limit: number;
  /** Where the owner's listing continues; undefined: at its start. */
  readonly cursor: string | undefined;
  /** The token of the page that begins at the cursor. */
  tokenAt(cursor: string | undefined): string;
}

/** 128 bits in base64url: the digest is no secret; it only keeps a client from mixing up its own requests. */
const DIGEST_LENGTH = 22;
const TOKEN_REGEX = new RegExp(`^(\\d{0,4})\\.([\\w-]{${DIGEST_LENGTH}})\\.([\\w-]*)$`);

const refused = (message: string): GrantdError => new GrantdError('invalid-cursor', message);

/**
 * JSON with the members of objects in order, equal for equal values. Without recursion: attributes may be nested as
 * deep as a body allows.
 */
export function canonicalJson(value: unknown): string {
  let text = '';
  const rest: ({ readonly text: string } | { readonly value: unknown })[] = [{ value }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if ('text' in next) text += next.text;
    else if (Array.isArray(next.value)) {
      text += '[';
      rest.push({ text: ']' });
      for (let index = next.value.length - 1; index >= 0; index -= 1) {
        rest.push({ value: next.value[index] });
        if (index > 0) rest.push({ text: ',' });
      }
    } else if (isJsonObject(next.value)) {
      text += '{';
      rest.push({ text: '}' });
      const members = Object.entries(next.value).filter(([, member]) => member !== undefined);
      // The first member is pushed last.
      for (const [index, [name, member]] of members.sort(([left], [right]) => (left < right ? 1 : -1)).entries()) {
        const comma = index < members.length - 1 ? ',' : '';
        rest.push({ value: member }, { text: `${comma}${JSON.stringify(name)}:` });
      }
    } else text += JSON.stringify(next.value) ?? 'null';
  }
  return text;
}

/** Undefined: none is given. A limit beyond the largest page means the largest page. */
function limitIn(limit: unknown): number | undefined {
  if (isAbsent(limit)) return undefined;
  if (typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= 0) return Math.min(limit, PAGE_LIMIT_MAX);
  throw new GrantdError('invalid-request', '"page.limit" must be a whole number, 0 or more; it is not.');
}

/** An empty token ends a search, so a request with it begins again. */
function tokenIn(token: unknown): readonly [limit: string, digest: string, cursor: string] | undefined {
  if (isAbsent(token) || token === '') return undefined;
  if (typeof token !== 'string') {
    throw new GrantdError('invalid-request', '"page.token" must be a string; it is not.');
  }
  const [, limit, digest, cursor] = TOKEN_REGEX.exec(token) ?? [];
  // The digest is no secret, so the limit may be any text that the expression lets pass.
  const isLimit = limit === '' || String(Math.min(Number(limit), PAGE_LIMIT_MAX)) === limit;
  if (limit !== undefined && digest !== undefined && cursor !== undefined && isLimit) return [limit, digest, cursor];
  throw refused('"page.token" was not issued by this service.');
}

/** `asked`: everything that defines the search, besides the page and the context. */
export function parseSearchPage({ page, context }: JsonObject, asked: readonly unknown[]): SearchPage {
  demandAttributes(context, 'context');
  if (!isAbsent(page) && !isJsonObject(page)) {
    throw new GrantdError('invalid-request', '"page" must be an object; it is not.');
  }
  const { limit, token, properties } = page ?? {};
  demandAttributes(properties, 'page.properties');
  const given = limitIn(limit);
  const [previousLimit = '', previousDigest, cursor = ''] = tokenIn(token) ?? [];
  const kept = given === undefined ? previousLimit : String(given);
  let digest: string | undefined;
  const digestNow = (): string => {
    const bound = canonicalJson([asked, context ?? null, properties ?? null, kept]);
    digest ??= hash('sha256', bound, 'base64url').slice(0, DIGEST_LENGTH);
    return digest;
  };
  if (previousDigest !== undefined && (kept !== previousLimit || previousDigest !== digestNow())) {
    throw refused('"page.token" came from another request; only the token may differ from page to page.');
  }
  // After a page with limit 0, a request with its token and without a limit reads the results.
  const isKeptZero = kept === '0' && given === undefined;
  return {
    limit: kept === '' || isKeptZero ? PAGE_LIMIT_MAX : Number(kept),
    cursor: cursor === '' ? undefined : cursor,
    tokenAt: (next) => `${kept}.${digestNow()}.${next ?? ''}`,
  };
}
