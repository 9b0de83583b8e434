// Listings of names, objects and subjects, page by page. The codec (codec/) writes the bytes of objects by hand, and
// the subjects that hold a relation travel in the same field, since each of them pays for its bytes.

import { DEEP_MAX } from '../../core/limits.ts';
import { namespacesOf } from '../../core/tuples.ts';
import type {
  CallContext,
  HoldersPage,
  HoldersQuery,
  NamesQuery,
  ObjectsQuery,
  ResultPage,
  SetsQuery,
  SubjectSets,
} from '../../shard/shard.ts';
import { inContext } from './call-context.ts';
import { defineCall } from './define-call.ts';
import { identifierText, page, pageFields, pageQuery, ruleName } from './fields.ts';
import * as s from './schema.ts';

const ENTITY_MS = 0.002;
/** Rules define up to 200 names, most of them far fewer; all are decided, whatever the limit of the page. */
const NAMES_MS = 0.2;
/** For a hundred groups and a hundred containers. */
const SETS_MS = 0.2;

const listing = { access: 'check:read', costMs: ENTITY_MS, per: ['limit'], reply: 'objects' } as const;
const rangeFields = {
  ...pageFields,
  relation: ruleName,
  namespace: s.orUndefined(s.text),
  direct: s.orDefault(s.flag),
};

/** The namespaces of a listing that has nothing; none if it has. */
function namespacesOfEmpty(
  entity: string,
  { namespace, cursor }: { readonly namespace?: string | undefined; readonly cursor?: string | undefined },
  { items, nextCursor }: ResultPage<string>,
): readonly string[] {
  if (items.length > 0 || nextCursor !== undefined || cursor !== undefined) return [];
  return [...namespacesOf(entity), ...(namespace === undefined ? [] : [namespace])];
}

export const listingCalls = {
  /** The objects on which a subject has a relation. */
  listObjects: defineCall('listObjects', {
    ...listing,
    request: inContext<Omit<ObjectsQuery, keyof CallContext>>({ ...rangeFields, subject: s.text }),
    answer: page('objects', s.text),
    namespacesDenied: ({ subject, ...query }, answer) => namespacesOfEmpty(subject, query, answer),
  }),

  /** The subjects that hold a relation on an object. */
  listHolders: defineCall('listHolders', {
    ...listing,
    request: inContext<Omit<HoldersQuery, keyof CallContext>>({
      ...rangeFields,
      object: s.text,
      includeSelf: s.orDefault(s.flag),
    }),
    answer: s.message<HoldersPage>({
      items: s.as('objects', s.list(s.text)),
      nextCursor: s.orUndefined(s.text),
      excluded: s.optional(s.list(s.text)),
    }),
    namespacesDenied: ({ object, ...query }, answer) => namespacesOfEmpty(object, query, answer),
  }),

  /** The sets of a subject. */
  readSets: defineCall('readSets', {
    access: 'check:read',
    costMs: SETS_MS,
    request: inContext<Omit<SetsQuery, keyof CallContext>>({
      subject: s.text,
      namespace: s.text,
      name: ruleName,
      deep: s.list(s.text, { max: DEEP_MAX }),
      perhaps: s.flag,
    }),
    reply: 'sets',
    answer: s.message<SubjectSets>({
      subjects: s.list(s.text),
      held: s.list(s.text),
      perhaps: s.list(s.text),
      own: s.text,
      revision: s.text,
      seq: s.int64,
      timeMs: s.int64,
      through: s.int64,
    }),
  }),

  /** What a subject may do on an object. */
  listNames: defineCall('listNames', {
    access: 'check:read',
    costMs: NAMES_MS,
    request: inContext<Omit<NamesQuery, keyof CallContext>>({
      ...pageFields,
      subject: identifierText,
      object: identifierText,
    }),
    reply: 'names',
    answer: page('names', s.text),
  }),

  /** The subjects that have grants. */
  listSubjects: defineCall('listSubjects', {
    access: 'operator-handle',
    enumerates: true,
    request: pageQuery,
    reply: 'subjects',
    answer: page('subjects', s.text),
  }),
};
