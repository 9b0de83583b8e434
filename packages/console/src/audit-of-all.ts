// The audit log of all tenants, filtered, as pages of the console read it: from the logs of the slots, which keep some
// days of it. Invariant: the reader says when it is enough; nothing here reads ahead of that.

import { type AuditFilter, auditMatcher } from '../../../src/core/audit-log.ts';
import type { OperatorApi, RequestContext } from '../../../src/front/front.ts';
import type { LoggedChange } from '../../../src/shard/shard.ts';

export interface AuditOfAllQuery extends AuditFilter {
  readonly sinceMs: number;
  readonly untilMs?: number | undefined;
}

export interface AuditOfAllPart {
  /** Those that match, of each tenant in the order of its log. */
  readonly entries: readonly LoggedChange[];
  /** Changes that were read for it. */
  readonly read: number;
  /** Nothing more was there. */
  readonly atEnd: boolean;
  /** Slots that could not be read. */
  readonly slotsMissing: number;
}

/** Ends with the logs. Throws as the export does. */
export async function* auditOfAll(
  { operator, context }: { readonly operator: OperatorApi; context(): RequestContext },
  { sinceMs, untilMs = Number.POSITIVE_INFINITY, ...filter }: AuditOfAllQuery,
): AsyncGenerator<AuditOfAllPart, void, undefined> {
  const fits = auditMatcher(filter) ?? (() => true);
  let before: string | undefined;
  let isLast = false;
  while (!isLast) {
    const start = before === undefined ? { since: sinceMs } : { cursor: before };
    const { items, cursor, atEnd, slotsMissing } = await operator.exportAuditLog(context(), start);
    const entries = items.filter((item) => item.atMs >= sinceMs && item.atMs < untilMs && fits(item));
    // Slots that cannot be read stay behind, and the others have nothing more.
    isLast = atEnd || cursor === before;
    yield { entries, read: items.length, atEnd, slotsMissing };
    before = cursor;
  }
}
