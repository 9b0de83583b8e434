// What a subject may do on an object, page by page.

import type { NamesQuery } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { nextCursorOf, pageFrom, pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';
import { demandIdentifiers } from './parts/request-fields.ts';

/** Rules define up to 200 names, most of them far fewer; all are decided, whatever the limit of the page. */
const NAMES_MS = 0.2;

export const listNames = defineCall({
  request: 'listNames',
  reply: 'names',
  access: 'check:read',
  write: 'no',
  costMs: () => NAMES_MS,
  requestToWire: ({ subject, object, ...page }: NamesQuery) => ({
    listNames: { ...pageQueryToWire(page), subject, object },
  }),
  requestFromWire: (query): NamesQuery => {
    const { subject, object } = query;
    demandIdentifiers(subject, object);
    return { ...pageQueryFromWire(query), subject, object };
  },
  serve: ({ connection, handle }, query) => connection.listNames(handle, query),
  replyToWire: (page) => ({ names: { names: [...page.items], nextCursor: nextCursorOf(page) } }),
  replyFromWire: ({ names, nextCursor }) => pageFrom(names, nextCursor),
});
