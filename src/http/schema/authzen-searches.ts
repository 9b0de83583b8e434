// Search requests of the AuthZEN Authorization API 1.0. What is searched for needs a type only, and its id is ignored.
// Types and ids that no grant can name are well-formed: the search has no results.

import type { JsonObject } from '../../core/json-members.ts';
import { isNamespaceName } from '../../core/tuples.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import { actionIn, demandBody, entityIn, identifierOf, textIn } from './authzen-requests.ts';
import { parseSearchPage, type SearchPage } from './search-pages.ts';

export interface Search<Asked> {
  readonly page: SearchPage;
  /** Undefined: there can be no results. */
  readonly asked: Asked | undefined;
}

export interface AskedEntities {
  /** The identifier that is given. */
  readonly entity: string;
  readonly relation: string;
  /** Of what is searched for. */
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
  return { page, asked: possible ? { entity: identifier, relation, namespace: type } : undefined };
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
  return { page, asked: possible ? { subject: subject.identifier, object } : undefined };
}
