// The spans of a write at its owner: the append, from the queue to the answer, one for each call; and the group commit,
// which carries the appends of many calls. It stands in the trace of the first of them and is linked with all.

import { runInSpan, runTraced, type TraceSpan } from '../../telemetry/spans.ts';

/** All operations of one call, until they are durable. */
export function appendTraced<Result>(operations: number, append: () => Promise<Result>): Promise<Result> {
  return runTraced('append', 'internal', { 'grantd.operations': operations }, append);
}

/** `spans`: the appends in the batch that are traced. */
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
