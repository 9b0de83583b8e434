// Reads a listing to its end, page by page, so that no response exceeds a few megabytes and the event loop is free in
// between.

import type { DeadlineMs } from '../../store.ts';
import type { Executor, Row, Value } from '../driver/executor.ts';

const ROWS_PER_PAGE = 2000;

/** For plain reads. The statement or the table bounds the number of rows. */
export async function readWhole(
  executor: Executor,
  query: string,
  params: readonly Value[],
  deadline: DeadlineMs,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let from: string | undefined;
  do {
    const page = await executor.read(query, params, deadline, {
      size: ROWS_PER_PAGE,
      ...(from === undefined ? {} : { from }),
    });
    rows.push(...page.rows);
    from = page.next;
  } while (from !== undefined);
  return rows;
}
