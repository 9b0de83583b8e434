// The statements by which an application asks a mirror in a file of SQLite. Invariant: they answer from a state in
// which the mirror has everything that their caller has to see, or fail with the name of what it lacks.

import type { Join } from '../../../src/rules/join.ts';
import { JoinSql, SQLITE } from './join-sql.ts';
import { momentOf, refusalsBy } from './refusals.ts';

/** All objects, each with 2 (it is held) or 1 (undecided); and the value of `:object`, 0 if it is not held. */
export function sqliteStatements(join: Join): { readonly objects: string; readonly value: string } {
  const sql = new JoinSql(join, SQLITE);
  const refusals = refusalsBy(':through', momentOf(':at_seq', ':at_time'), ':revision').map(
    ({ name, needs, why }) => `\n    WHEN (${needs}) IS NOT TRUE THEN '${name}: ${why}'`,
  );
  // The only errors that a query can raise by a text of its own are those about paths.
  const isReady = `json_extract('{}', CASE${refusals.join('')} END) IS NULL`;
  return {
    objects: `SELECT answer.object, answer.value FROM grantd_place AS p CROSS JOIN (\n${sql.objects()}) AS answer\n  WHERE ${isReady}`,
    value: `SELECT ${sql.value(':object', 'up')} AS value FROM grantd_place AS p\n  WHERE ${isReady}`,
  };
}
