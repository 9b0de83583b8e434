// The export of a tenant: every live grant, ascending by (subject, relation, object) in bytes, a page at a time and no
// faster than the client reads. A grant that exists during the whole export appears exactly once.

import { z } from 'zod';
import { grantRecord } from '../../../core/grant-attributes.ts';
import { PAGE_LIMIT_MAX } from '../../../core/limits.ts';
import { CURSOR_HEADER } from '../../../core/text/cursors.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import type { Grant } from '../../../core/tuples.ts';
import type { OperatorApi, OperatorTenantSession, RequestContext } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import type { GrantsPage } from '../../../shard/shard.ts';
import { parseQuery } from '../../schemas.ts';
import { type Operation, sessionOf } from '../operation.ts';

const FORMATS = {
  ndjson: {
    contentType: 'application/x-ndjson',
    line: (grant: Grant): string => `${JSON.stringify(grantRecord(grant))}\n`,
  },
  tsv: {
    contentType: 'text/tab-separated-values; charset=utf-8',
    // Identifiers hold neither tabs nor line ends, so nothing needs quoting. Only a grant that expires has a fourth
    // column: without it, an import would make the grant permanent.
    line: ({ subject, relation, object, expiresAtMs }: Grant): string => {
      const tuple = `${subject}\t${relation}\t${object}`;
      return expiresAtMs === undefined ? `${tuple}\n` : `${tuple}\t${formatTimestamp(expiresAtMs)}\n`;
    },
  },
} as const;

/** About 100 KiB at a time. */
const readPage = (session: OperatorTenantSession, context: RequestContext, cursor?: string): Promise<GrantsPage> =>
  session.call(CALLS.exportGrants, context, { limit: PAGE_LIMIT_MAX, cursor });

async function* exportChunks(
  session: OperatorTenantSession,
  first: GrantsPage,
  context: () => RequestContext,
  line: (grant: Grant) => string,
): AsyncGenerator<string, void, undefined> {
  let page = first;
  while (true) {
    yield page.items.map(line).join('');
    if (page.nextCursor === undefined) return;
    page = await readPage(session, context(), page.nextCursor);
  }
}

export const exportShape = { format: z.enum(['ndjson', 'tsv'], 'must be ndjson or tsv').default('ndjson') };

export function exportOperations(operatorApi: OperatorApi): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/export',
      name: 'operator-export',
      access: 'read-only',
      async run(call) {
        const query = parseQuery(call.search, exportShape);
        const { contentType, line } = FORMATS[query.format];
        const session = await sessionOf(operatorApi, call);
        const first = await readPage(session, call.context());
        const chunks = exportChunks(session, first, () => call.context(), line);
        return {
          kind: 'stream',
          contentType,
          chunks,
          headers: { [CURSOR_HEADER]: first.feedCursor },
        };
      },
    },
  ];
}
