// What a reader may read.

import { authenticated, grantd } from '../../lib/authorize';

const DOCUMENTS_MAX = 100;

/** The list has what its reader may read, and nothing else. */
export const GET = (request: Request): Promise<Response> =>
  authenticated(request, async (subject) => {
    const ids: string[] = [];
    for await (const object of grantd().listObjects({ subject, relation: 'viewer', namespace: 'document' })) {
      ids.push(object.slice('document:'.length));
      if (ids.length === DOCUMENTS_MAX) break;
    }
    return Response.json(ids);
  });
