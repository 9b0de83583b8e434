// The spans of a write at its owner. The append span covers one call, from the queue to the reply. The group commit
// span covers the appends of many calls; it is part of the first call's trace and links to all of them.

import { runInSpan, runTraced, type TraceSpan } from '../../telemetry/spans.ts';

/** Covers all operations of one call, until they are durable. */
export function appendTraced<Result>(operations: number, append: () => Promise<Result>): Promise<Result> {
  return runTraced('append', 'internal', { 'grantd.operations': operations }, append);
}

/** `spans`: the traced appends in the batch. */
export function commitTraced<Result>(
  batch: { readonly slot: number; readonly operations: readonly unknown[]; readonly spans: ReadonlySet<TraceSpan> },
  commit: () => Promise<Result>,
): Promise<Result> {
  const [first] = batch.spans;
  if (first === undefined) return commit();
  const attributes = { 'grantd.slot': batch.slot, 'grantd.operations': batch.operations.length };
  return runInSpan(first, () =>
    runTraced('group commit', 'internal', attributes, (span) => {
      for (const append of batch.spans) {
        if (span === undefined) break;
        append.link(span);
        span.link(append);
      }
      return commit();
    }),
  );
}
