// A process that ends while it keeps a mirror, as its database sees it.

import type { MirrorDatabase, SqlValue } from '../../packages/sync/src/sql-mirror.ts';

export class Killed extends Error {}

/** Fails at the n-th statement from now on, and at all after it, as for a process that has ended. */
export function killedAt(database: MirrorDatabase, count: number): MirrorDatabase {
  let left = count;
  const run = async (sql: string, ...values: readonly SqlValue[]) => {
    left -= 1;
    if (left < 0) throw new Killed();
    return database.run(sql, ...values);
  };
  return new Proxy(database, { get: (target, name) => (name === 'run' ? run : bound(target, name)) });
}

function bound(target: MirrorDatabase, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'function' ? value.bind(target) : value;
}
