// Entries of the audit log as a file that the browser saves: CSV for spreadsheets, NDJSON for programs. It is sent as
// it is read. Invariants: a file that is not complete says so in its last line; few are open at a time for each
// console, and fewer for each operator; no text of a tenant becomes a formula of a spreadsheet.

import { formatCsvLine, inertJson } from '../../../src/core/text/csv.ts';
import { formatTimestamp } from '../../../src/core/text/timestamps.ts';
import { OperatorSlots } from '../../../src/operator/operator-slots.ts';
import type { LoggedChange } from '../../../src/shard/shard.ts';

export type FileFormat = 'csv' | 'ndjson';

/** Some entries. */
export interface EntriesPart {
  readonly entries: readonly LoggedChange[];
  /** More entries match, and are left out. Only of the last part. */
  readonly isCut: boolean;
}

/** Each holds a page of some mebibytes, and calls the shards as fast as its reader takes it. */
const slots = new OperatorSlots({ what: 'downloads of the audit log', slotsMax: 8, slotsPerOperatorMax: 2 });
/** The last line of a file that is not complete. */
const CUT = 'There are more entries. Choose a shorter range of time for each file.';

const COLUMNS = ['at', 'tenant_id', 'action', 'actor', 'subject', 'relation', 'object', 'request_id', 'seq', 'index'];

type Cells = Parameters<typeof formatCsvLine>[0];
const line = (cells: Cells): string => `${formatCsvLine(cells)}\r\n`;

function parsed(change: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(change));
  } catch {
    return {};
  }
}

function csvLine({ seq, index, atMs, tenantId, actor, requestId, change }: LoggedChange): string {
  const { action, subject, relation, object } = parsed(change);
  const texts = [action, actor, subject, relation, object].map((value) => String(value ?? ''));
  return line([formatTimestamp(atMs), tenantId, ...texts, requestId, seq, index, inertJson(change)]);
}

const jsonLine = ({ seq, index, atMs, tenantId, actor, requestId, change }: LoggedChange): string =>
  `${JSON.stringify({ tenant_id: tenantId, seq, index, at: formatTimestamp(atMs), actor, request_id: requestId, change: parsed(change) })}\n`;

async function* chunksOf(
  operator: string,
  format: FileFormat,
  parts: AsyncIterable<EntriesPart>,
): AsyncGenerator<string> {
  using _slot = slots.take(operator);
  if (format === 'csv') yield line([...COLUMNS, 'change']);
  for await (const { entries, isCut } of parts) {
    yield entries.map(format === 'csv' ? csvLine : jsonLine).join('');
    if (isCut) yield format === 'csv' ? line([CUT]) : `${JSON.stringify({ incomplete: CUT })}\n`;
  }
}

interface AuditFile {
  readonly name: string;
  readonly format: FileFormat;
  /** The name of the operator who saves it. */
  readonly operator: string;
}

/** Throws `overloaded` if too many are open. */
export function auditFile({ name, format, operator }: AuditFile, parts: AsyncIterable<EntriesPart>) {
  slots.demandRoom(operator);
  const contentType = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
  const chunks = chunksOf(operator, format, parts);
  return { kind: 'stream', name: `${name}.${format}`, contentType, chunks } as const;
}
