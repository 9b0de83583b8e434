// Many checks or changes of a tenant in one call, for operators: the same shapes and rules as under /v1/.

import { z } from 'zod';
import type { Clock } from '../../../core/async/clock.ts';
import { bulkWriteRecord, demandWritten, parseBulkWrite, parseGrantFilter } from '../../../core/bulk-writes.ts';
import { GrantdError } from '../../../core/errors.ts';
import { demandMembers, isJsonObject } from '../../../core/json-members.ts';
import { BULK_BODY_BYTES_MAX, BULK_CHECKS_MAX } from '../../../core/limits.ts';
import { unfollowedWarnings } from '../../../core/service-warnings.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import { TUPLE_MEMBERS } from '../../../core/tuples.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { namespacesDenied } from '../../../front/namespace-warnings.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { type NamedTuple, parseQuestion } from '../../../rules/questions.ts';
import { readJson } from '../../body.ts';
import { parseBody, parseQuery } from '../../schemas.ts';
import { type Call, type Operation, sessionOf } from '../operation.ts';
import { headersOf, warningHeaders } from '../warning-headers.ts';

function parseChecks(body: unknown): readonly NamedTuple[] {
  const { checks } = parseBody(body, { checks: z.array(z.unknown(), 'must be an array') });
  if (checks.length > BULK_CHECKS_MAX) {
    throw new GrantdError(
      'bulk-too-large',
      `"checks" holds ${checks.length} checks; at most ${BULK_CHECKS_MAX} are allowed.`,
    );
  }
  return checks.map((check, index) => {
    const fields = isJsonObject(check) ? check : {};
    demandMembers(fields, TUPLE_MEMBERS, `checks[${index}]`);
    return parseQuestion(fields.subject, fields.relation, fields.object, 'checks', index);
  });
}

/** The body of a bulk call, which has no query. */
function readBulk({ request, search }: Call): Promise<unknown> {
  parseQuery(search, {});
  return readJson(request, BULK_BODY_BYTES_MAX);
}

export function bulkOperations(operatorApi: OperatorApi, clock: Pick<Clock, 'wallMs'>): readonly Operation[] {
  return [
    {
      method: 'POST',
      path: '/tenants/:tenantId/check/bulk',
      name: 'operator-check-bulk',
      access: 'read-only',
      async run(call) {
        const session = await sessionOf(operatorApi, call);
        const checks = parseChecks(await readBulk(call));
        const { authorized, checkedAtMs } = await session.checkBulk(call.context(), checks);
        const results = authorized.map((each) => ({ authorized: each }));
        const headers = await warningHeaders(session, call, namespacesDenied(checks, authorized));
        return { kind: 'json', status: 200, headers, body: { results, checked_at: formatTimestamp(checkedAtMs) } };
      },
    },
    {
      method: 'POST',
      path: '/tenants/:tenantId/grants/bulk',
      name: 'operator-write-bulk',
      async run(call) {
        const session = await sessionOf(operatorApi, call);
        const write = parseBulkWrite(await readBulk(call), clock.wallMs());
        const written = demandWritten(write, await session.call(CALLS.writeBulk, call.context(), write));
        const headers = headersOf(unfollowedWarnings(written.grants));
        return { kind: 'json', status: 200, headers, body: bulkWriteRecord(write, written) };
      },
    },
    {
      method: 'POST',
      path: '/tenants/:tenantId/grants/revoke',
      name: 'operator-revoke-grants',
      async run(call) {
        parseQuery(call.search, {});
        const session = await sessionOf(operatorApi, call);
        const filter = parseGrantFilter(await readJson(call.request));
        const { revoked, complete } = await session.call(CALLS.revokeGrants, call.context(), filter);
        return { kind: 'json', status: 200, body: { revoked, complete } };
      },
    },
  ];
}
