// Listings of names, objects and subjects, page by page. The codec (codec/) writes the bytes of objects by hand, and
// the subjects that hold a relation travel in the same field, since each of them pays for its bytes.

import { namespaceOf } from '../../core/tuples.ts';
import type { HoldersPage, HoldersQuery, NamesQuery, ObjectsQuery, ResultPage } from '../../shard/shard.ts';
import type { Objects, Objects__Output } from '../gen/grantd/v1/Objects.ts';
import { nextCursorOf, pageFrom } from './answer-fields.ts';
import { callContextFrom, callContextToWire } from './call-context.ts';
import { defineCall } from './define-call.ts';
import { demandIdentifiers, orUndefined, pageQueryFromWire, pageQueryToWire, relationFrom } from './request-fields.ts';

const ENTITY_MS = 0.002;
/** Rules define up to 200 names, most of them far fewer; all are decided, whatever the limit of the page. */
const NAMES_MS = 0.2;

const OBJECTS_REPLY = {
  reply: 'objects',
  replyToWire: (page: ResultPage<string>): Objects => ({ objects: [...page.items], nextCursor: nextCursorOf(page) }),
  replyFromWire: ({ objects, nextCursor }: Pick<Objects__Output, 'objects' | 'nextCursor'>) =>
    pageFrom(objects, nextCursor),
} as const;

/** The namespaces of a listing that has nothing; none if it has. */
function namespacesOfEmpty(
  entity: string,
  { namespace, cursor }: { readonly namespace?: string | undefined; readonly cursor?: string | undefined },
  { items, nextCursor }: ResultPage<string>,
): readonly string[] {
  if (items.length > 0 || nextCursor !== undefined || cursor !== undefined) return [];
  return [namespaceOf(entity), ...(namespace === undefined ? [] : [namespace])];
}

export const listingCalls = {
  /** The objects on which a subject has a relation. */
  listObjects: defineCall('listObjects', {
    access: 'check:read',
    costMs: ({ limit }) => ENTITY_MS * limit,
    requestToWire: ({ subject, relation, namespace = '', direct = false, ...page }) => ({
      ...callContextToWire(page),
      ...pageQueryToWire(page),
      subject,
      relation,
      namespace,
      direct,
    }),
    requestFromWire: (query): ObjectsQuery => ({
      ...pageQueryFromWire(query),
      subject: query.subject,
      relation: relationFrom(query.relation),
      namespace: orUndefined(query.namespace),
      direct: query.direct,
      ...callContextFrom(query.callContext),
    }),
    namespacesDenied: ({ subject, ...query }, page) => namespacesOfEmpty(subject, query, page),
    ...OBJECTS_REPLY,
  }),

  /** The subjects that hold a relation on an object. */
  listHolders: defineCall('listHolders', {
    access: 'check:read',
    costMs: ({ limit }) => ENTITY_MS * limit,
    requestToWire: ({ object, relation, namespace = '', direct = false, includeSelf = false, ...page }) => ({
      ...callContextToWire(page),
      ...pageQueryToWire(page),
      object,
      relation,
      namespace,
      direct,
      includeSelf,
    }),
    requestFromWire: (query): HoldersQuery => ({
      ...pageQueryFromWire(query),
      object: query.object,
      relation: relationFrom(query.relation),
      namespace: orUndefined(query.namespace),
      direct: query.direct,
      includeSelf: query.includeSelf,
      ...callContextFrom(query.callContext),
    }),
    namespacesDenied: ({ object, ...query }, page) => namespacesOfEmpty(object, query, page),
    reply: 'objects',
    replyToWire: ({ excluded = [], ...page }: HoldersPage): Objects => ({
      ...OBJECTS_REPLY.replyToWire(page),
      excluded: [...excluded],
    }),
    replyFromWire: ({ excluded, ...objects }: Objects__Output): HoldersPage => ({
      ...OBJECTS_REPLY.replyFromWire(objects),
      ...(excluded.length === 0 ? {} : { excluded }),
    }),
  }),

  /** What a subject may do on an object. */
  listNames: defineCall('listNames', {
    access: 'check:read',
    costMs: () => NAMES_MS,
    requestToWire: ({ subject, object, ...page }) => ({
      ...pageQueryToWire(page),
      ...callContextToWire(page),
      subject,
      object,
    }),
    requestFromWire: (query): NamesQuery => {
      const { subject, object } = query;
      demandIdentifiers(subject, object);
      return { ...pageQueryFromWire(query), subject, object, ...callContextFrom(query.callContext) };
    },
    reply: 'names',
    replyToWire: (page) => ({ names: [...page.items], nextCursor: nextCursorOf(page) }),
    replyFromWire: ({ names, nextCursor }) => pageFrom(names, nextCursor),
  }),

  /** The subjects that have grants. */
  listSubjects: defineCall('listSubjects', {
    access: 'operator-handle',
    enumerates: true,
    requestToWire: (query) => pageQueryToWire(query),
    requestFromWire: pageQueryFromWire,
    reply: 'subjects',
    replyToWire: (page) => ({ subjects: [...page.items], nextCursor: nextCursorOf(page) }),
    replyFromWire: ({ subjects, nextCursor }) => pageFrom(subjects, nextCursor),
  }),
};
