// One batch of an import: lines of JSON in, a result per line out. A malformed or refused line does not affect the
// others. All accepted grants are durable when the response is sent. Repeating a batch is safe: existing grants stay.

import { assert, assertNever } from '../../../core/assert.ts';
import type { Clock } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { grantRecord } from '../../../core/grant-attributes.ts';
import { parseExpiry } from '../../../core/grant-expiry.ts';
import { demandMembers, isJsonObject } from '../../../core/json-members.ts';
import { IMPORT_BODY_BYTES_MAX, WRITES_PER_CALL_MAX } from '../../../core/limits.ts';
import { parseJson } from '../../../core/text/json.ts';
import { parseTuple } from '../../../core/tuples.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import type { GrantRequest, GrantResult } from '../../../shard/shard.ts';
import { NDJSON_MEDIA_TYPES, readBody } from '../../body.ts';
import { parseQuery } from '../../schemas.ts';
import { type Operation, sessionOf } from '../operation.ts';

const NEWLINE = 0x0a;
/** Those that an export writes. Id and date of creation are not taken over. */
const MEMBERS = [
  'subject',
  'relation',
  'object',
  'expires_at',
  'grant_id',
  'created_at',
] satisfies readonly (keyof ReturnType<typeof grantRecord>)[];
const lineDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** The first line may start with a byte order mark. */
const firstLineDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

type Line = { readonly number: number } & (
  | { readonly write: GrantRequest }
  | { readonly refusal: { readonly code: string; readonly detail: string } }
);

interface LineResult {
  readonly line: number;
  readonly result: 'created' | 'exists' | 'refused';
  readonly type?: string;
  readonly detail?: string;
}

function parseLine(text: string, wallMs: number): GrantRequest {
  const fields = parseJson(text, 'The line');
  if (!isJsonObject(fields)) throw new GrantdError('invalid-request', 'The line is not a JSON object.');
  demandMembers(fields, MEMBERS);
  return {
    ...parseTuple(fields.subject, fields.relation, fields.object),
    // An export says `null` of a grant that never expired then; an existing grant keeps what it has.
    ...parseExpiry(fields.expires_at ?? undefined, wallMs),
    revoke: false,
  };
}

function decodeLine(bytes: Uint8Array, number: number): string {
  try {
    return (number === 1 ? firstLineDecoder : lineDecoder).decode(bytes);
  } catch {
    throw new GrantdError('invalid-request', 'The line is not valid UTF-8.');
  }
}

/**
 * Lines are numbered from 1; empty lines count too, but have no result. Throws `payload-too-large` for too many lines.
 */
export function parseLines(body: Uint8Array, wallMs: number): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (let number = 1; start < body.length; number += 1) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline < 0 ? body.length : newline;
    const bytes = body.subarray(start, end);
    start = end + 1;
    if (bytes.length === 0) continue;
    try {
      const text = decodeLine(bytes, number);
      if (text.trim() !== '') lines.push({ number, write: parseLine(text, wallMs) });
    } catch (error) {
      const { code, message } = GrantdError.from(error);
      lines.push({ number, refusal: { code, detail: message } });
    }
    if (lines.length > WRITES_PER_CALL_MAX) {
      throw new GrantdError(
        'payload-too-large',
        `The body has more than ${WRITES_PER_CALL_MAX} lines. Split it into several requests.`,
      );
    }
  }
  return lines;
}

function lineResult(line: number, result: GrantResult, errorsBase: string): LineResult {
  switch (result.kind) {
    case 'created':
    case 'exists':
      return { line, result: result.kind };
    case 'refused':
      return { line, result: 'refused', type: `${errorsBase}/${result.code}`, detail: result.message };
    case 'revoked':
    case 'not-found':
      throw new Error(`An import cannot have the result ${result.kind}.`);
    default:
      return assertNever(result);
  }
}

export function importOperations(
  operatorApi: OperatorApi,
  errorsBase: string,
  clock: Pick<Clock, 'wallMs'>,
): readonly Operation[] {
  return [
    {
      method: 'POST',
      path: '/tenants/:tenantId/import',
      name: 'operator-import',
      async run(call) {
        parseQuery(call.search, {});
        const session = await sessionOf(operatorApi, call);
        const lines = parseLines(
          await readBody(call.request, { bytesMax: IMPORT_BODY_BYTES_MAX, mediaTypes: NDJSON_MEDIA_TYPES }),
          clock.wallMs(),
        );
        const writes = lines.flatMap((line) => ('write' in line ? [line.write] : []));
        const results = writes.length === 0 ? [] : await session.call(CALLS.writeGrants, call.context(), writes);
        assert(results.length === writes.length, 'every write has a result');
        const pending = results.values();
        const answer = lines.map((line): LineResult => {
          if ('refusal' in line) {
            const { code, detail } = line.refusal;
            return { line: line.number, result: 'refused', type: `${errorsBase}/${code}`, detail };
          }
          const { value } = pending.next();
          assert(value !== undefined, 'every write has a result');
          return lineResult(line.number, value, errorsBase);
        });
        return {
          kind: 'text',
          contentType: 'application/x-ndjson',
          text: answer.map((result) => `${JSON.stringify(result)}\n`).join(''),
        };
      },
    },
  ];
}
