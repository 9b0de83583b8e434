// Import and export of a tenant's grants, line by line.
//
// One batch of an import: lines of JSON in, a result per line out. A malformed or refused line does not affect the
// others. All accepted grants are durable when the response is sent. A grant that exists stays as it is unless the call
// says `replace`: the owner decides it when it writes, so that nothing can come in between. So it does with grants that
// the types of the rules exclude: they are refused, unless the call keeps them. A body that begins as an export is
// taken whole or not at all.
//
// The export: every live grant, ascending by (subject, relation, object) in bytes, a page at a time and no faster than
// the client reads. A grant that exists during the whole export appears exactly once. In NDJSON, the rules stand before
// the grants, and the first line promises the last.

import { z } from 'zod';
import { assert, assertNever } from '../../../core/assert.ts';
import type { GrantRefusal } from '../../../core/bulk-writes.ts';
import { GrantdError } from '../../../core/errors.ts';
import { ExportFrame, exportEnd, exportHead } from '../../../core/export-frame.ts';
import { columnsOfTerms, grantRecord, parseAllTerms } from '../../../core/grant-attributes.ts';
import { demandMembers, isJsonObject } from '../../../core/json-members.ts';
import { IMPORT_BODY_BYTES_MAX, PAGE_LIMIT_MAX, WRITES_PER_CALL_MAX } from '../../../core/limits.ts';
import { CURSOR_HEADER } from '../../../core/text/cursors.ts';
import { parseJson } from '../../../core/text/json.ts';
import { type Grant, parseTuple } from '../../../core/tuples.ts';
import type { OperatorTenantSession, RequestContext } from '../../../front/front.ts';
import { EXAMPLE_GRANT, EXAMPLE_TIMESTAMP, EXAMPLE_TUPLE } from '../../../http/schema/examples.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { ruleSetSchema, rulesTextSchema } from '../../../http/schema/rule-schemas.ts';
import { grantBodySchema, grantSchema } from '../../../http/schema/schemas.ts';
import { hasRules, type RuleSet, ruleSetRecord } from '../../../rules/rule-set.ts';
import { KEEP_OUTSIDE, parseSentRules } from '../../../rules/rules-writes.ts';
import type { GrantRequest, GrantResult, GrantsPage } from '../../../shard/shard.ts';
import { tenantIdOf } from '../../path-ids.ts';
import { PARAMETERS } from '../../schemas.ts';
import { count, linesResponse, ownOperation, reading } from '../operation.ts';

// ---- import ----

const NEWLINE = 0x0a;
/** The members that an export writes. An import ignores the ID and the date of creation. */
const MEMBERS = Object.keys(grantSchema.shape);
const lineDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** The first line may start with a byte order mark. */
const firstLineDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

type Line = { readonly number: number } & (
  | { readonly write: GrantRequest }
  | { readonly refusal: { readonly code: string; readonly detail: string } }
);

const RESULTS = ['created', 'changed', 'unchanged', 'expired', 'refused'] as const;

interface LineResult {
  readonly line: number;
  readonly result: (typeof RESULTS)[number];
  readonly type?: string;
  readonly detail?: string;
}

/** What the owner decides of each line. */
type Choices = Required<Pick<GrantRequest, 'keepsExisting' | 'keepsOutside'>>;

function parseLine(text: string, wallMs: number, choices: Choices): GrantRequest {
  const fields = parseJson(text, 'The line');
  if (!isJsonObject(fields)) throw new GrantdError('invalid-request', 'The line is not a JSON object.');
  demandMembers(fields, MEMBERS);
  return {
    ...parseTuple(fields.subject, fields.relation, fields.object),
    // What replaces a grant is the whole line.
    ...parseAllTerms(fields, wallMs),
    ...choices,
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
 * Lines are numbered from 1; empty lines, and the first and the last of an export, count too, but have no result.
 * Throws `payload-too-large` for too many lines, and `invalid-request` for an export that is not whole.
 */
export function parseLines(body: Uint8Array, wallMs: number, choices: Choices): readonly Line[] {
  const lines: Line[] = [];
  const frame = new ExportFrame();
  let start = 0;
  for (let number = 1; start < body.length; number += 1) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline < 0 ? body.length : newline;
    const bytes = body.subarray(start, end);
    start = end + 1;
    if (bytes.length === 0 || frame.take(bytes, number)) continue;
    try {
      const text = decodeLine(bytes, number);
      if (text.trim() !== '') lines.push({ number, write: parseLine(text, wallMs, choices) });
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
  const fault = frame.fault();
  if (fault !== undefined) throw new GrantdError('invalid-request', `The body is not a complete export. ${fault}`);
  return lines;
}

const refusedLine = (
  line: number,
  { code, detail }: { readonly code: string; readonly detail: string },
  errorsBase: string,
): LineResult => ({ line, result: 'refused', type: `${errorsBase}/${code}`, detail });

/**
 * A grant that has expired since an export is not lost: it would not count anywhere. But a line that replaces would
 * leave a grant that exists as it is, with other terms than the line has.
 */
const isExpired = ({ code }: { readonly code: GrantRefusal }, { keepsExisting }: Choices): boolean =>
  code === 'invalid-request' && keepsExisting;

function lineResult(line: number, result: GrantResult, choices: Choices, errorsBase: string): LineResult {
  switch (result.kind) {
    case 'created':
    case 'changed':
      return { line, result: result.kind };
    case 'exists':
      return { line, result: 'unchanged' };
    case 'refused':
      if (isExpired(result, choices)) return { line, result: 'expired' };
      return refusedLine(line, { code: result.code, detail: result.message }, errorsBase);
    case 'revoked':
    case 'not-found':
      throw new Error(`An import cannot have the result ${result.kind}.`);
    default:
      return assertNever(result);
  }
}

const resultSchema = z
  .object({
    line: z.int().min(1).meta({ description: 'The number of the line in the body.' }),
    result: z.enum(RESULTS).meta({
      description:
        '`changed`: the grant existed, and has the expiry and the condition of the line now. `unchanged`: it existed, and is as it was. `expired`: its expiry has passed, so it was not created; with `replace`, such a line is refused.',
    }),
    type: z.string().optional().meta({ description: 'Only for a refused line: the type of the error.' }),
    detail: z.string().optional().meta({ description: 'Only for a refused line: what is wrong with it.' }),
  })
  .meta({ description: 'The result of one line.' });

const importShape = {
  replace: z.enum(['true', 'false'], 'must be true or false').default('false').meta({
    description:
      '`true`: a grant that exists gets the expiry and the condition of its line, and loses those that the line lacks. Otherwise it stays as it is.',
  }),
  outside_types: z.enum([KEEP_OUTSIDE], `must be ${KEEP_OUTSIDE}, or be left out`).optional().meta({
    description:
      'For a restore: grants that the `types` of the rules exclude are imported too, and count, as they did where they were exported. Otherwise they are refused as `type-not-allowed`.',
  }),
};

const NDJSON = { contentType: 'application/x-ndjson', lines: true };

export const importGrants = ownOperation({
  id: 'import',
  method: 'POST',
  access: 'full',
  path: '/tenants/{tenantId}/import',
  tag: 'Import and export',
  summary: 'Import up to 1,000 grants, line by line',
  description:
    'A line that is refused does not affect the others. Repeating a call is safe. A grant that exists stays as it is, unless `replace` is true. The first and the last line of an export have no result; if the body has one of them without the other, or another number of grants than the last counts, nothing is imported. A line of rules is refused: they have a call of their own.',
  query: importShape,
  body: {
    name: 'ImportLine',
    schema: grantBodySchema,
    bytesMax: IMPORT_BODY_BYTES_MAX,
    example: `${JSON.stringify({ ...EXAMPLE_TUPLE, expires_at: EXAMPLE_TIMESTAMP })}\n`,
    ...NDJSON,
  },
  successes: [
    success(200, 'A result for each line that is not empty.', {
      name: 'ImportResult',
      schema: resultSchema,
      ...NDJSON,
    }),
  ],
  async run(call, { replace, outside_types: outsideTypes }) {
    const session = await call.tenant();
    const { body } = call.request;
    assert(body instanceof Uint8Array, 'a body of lines arrives as bytes');
    const choices = { keepsExisting: replace !== 'true', keepsOutside: outsideTypes === KEEP_OUTSIDE };
    const lines = parseLines(body, call.clock.wallMs(), choices);
    const writes = lines.flatMap((line) => ('write' in line ? [line.write] : []));
    const results = writes.length === 0 ? [] : await session.call('writeGrants', call.context(), writes);
    assert(results.length === writes.length, 'every write has a result');
    const pending = results.values();
    const answer = lines.map((line): LineResult => {
      if ('refusal' in line) return refusedLine(line.number, line.refusal, call.errorsBase);
      const { value } = pending.next();
      assert(value !== undefined, 'every write has a result');
      return lineResult(line.number, value, choices, call.errorsBase);
    });
    return linesResponse(answer);
  },
});

// ---- export ----

const FORMATS = {
  ndjson: {
    contentType: 'application/x-ndjson',
    line: (grant: Grant): string => `${JSON.stringify(grantRecord(grant))}\n`,
  },
  tsv: {
    contentType: 'text/tab-separated-values; charset=utf-8',
    // Nothing holds tabs or line ends, so nothing needs quoting. Without its terms, an import would widen the grant.
    line: (grant: Grant): string =>
      `${[grant.subject, grant.relation, grant.object, ...columnsOfTerms(grant)].join('\t')}\n`,
  },
} as const;

/** About 100 KiB at a time. */
const readPage = (session: OperatorTenantSession, context: RequestContext, cursor?: string): Promise<GrantsPage> =>
  session.call('exportGrants', context, { limit: PAGE_LIMIT_MAX, cursor });

async function* exportChunks(
  session: OperatorTenantSession,
  first: GrantsPage,
  context: () => RequestContext,
  { head, line, end }: { head: string; line: (grant: Grant) => string; end: (grants: number) => string },
): AsyncGenerator<string, void, undefined> {
  let page = first;
  let grants = 0;
  yield head;
  while (true) {
    grants += page.items.length;
    yield page.items.map(line).join('');
    if (page.nextCursor === undefined) break;
    page = await readPage(session, context(), page.nextCursor);
  }
  yield end(grants);
}

const rulesLine = (ruleSet: RuleSet): string =>
  hasRules(ruleSet) ? `${JSON.stringify({ rules: ruleSet.source ?? ruleSetRecord(ruleSet) })}\n` : '';

const exportLineSchema = z
  .union([
    grantSchema,
    z.object({ export: z.object({ tenant_id: z.string() }) }).meta({ description: 'The first line.' }),
    z
      .object({ rules: z.union([ruleSetSchema, rulesTextSchema]) })
      .meta({ description: 'The second line, if the tenant has rules: as JSON or as text, as they were set.' }),
    z.object({ end: z.object({ grants: count('The number of grants.') }) }).meta({ description: 'The last line.' }),
  ])
  .meta({ description: 'A line of an export.' });

export const exportGrants = reading({
  id: 'export',
  path: '/tenants/{tenantId}/export',
  tag: 'Import and export',
  summary: 'Export all grants of a tenant',
  description:
    'As fast as the client reads. A body that breaks off is incomplete. As NDJSON, the first line is `{"export":{"tenant_id":…}}`, the next one `{"rules":…}` if the tenant has rules, and the last one `{"end":{"grants":…}}` with the number of grants: without it, the export is not whole. TSV has only grants.',
  query: {
    format: z.enum(['ndjson', 'tsv'], 'must be ndjson or tsv').default('ndjson').meta(PARAMETERS.format),
  },
  successes: [
    {
      status: 200,
      description: `Every grant in a line, such as \`${JSON.stringify(EXAMPLE_GRANT)}\`, or in columns.`,
      bodies: [
        { name: 'ExportLine', schema: exportLineSchema, ...NDJSON },
        {
          name: 'GrantColumns',
          schema: z
            .string()
            .meta({ description: 'Subject, relation, object, and the expiry and the condition if there are any.' }),
          contentType: 'text/tab-separated-values',
          lines: true,
        },
      ],
      header: CURSOR_HEADER,
    },
  ],
  async run(call, { format }) {
    const { contentType, line } = FORMATS[format];
    const session = await call.tenant();
    const isFramed = format === 'ndjson';
    // Before the grants: what they mean depends on the rules.
    const rules = isFramed
      ? rulesLine(await parseSentRules(await session.call('readRules', call.context(), undefined)))
      : '';
    const first = await readPage(session, call.context());
    const head = isFramed ? `${exportHead(tenantIdOf(call))}${rules}` : '';
    const chunks = exportChunks(session, first, call.context, { head, line, end: isFramed ? exportEnd : () => '' });
    return { contentType, chunks, feedCursor: first.feedCursor };
  },
});
