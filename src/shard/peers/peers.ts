// The peers of a shard: one connection for each, and a notification of every change of the routes.

import type { ConsoleConnection, TenantConnection } from '../shard.ts';
import { HandleCalls } from './handle-calls.ts';
import { OperatorCalls, type OperatorCallsDependencies } from './operator-calls.ts';
import { TenantCalls, type TenantCallsDependencies } from './tenant-calls.ts';

type PeersDependencies = TenantCallsDependencies & OperatorCallsDependencies;

export class Peers {
  readonly #dependencies: PeersDependencies;
  readonly #connections = new Set<TenantCalls>();
  readonly #watchers = new Set<() => void>();

  constructor(dependencies: Omit<PeersDependencies, 'loads'>) {
    this.#dependencies = { ...dependencies, loads: () => Array.from(this.#connections, ({ load }) => load) };
  }

  connect(): TenantConnection {
    return this.#connectTenant(new HandleCalls(this.#dependencies));
  }

  connectConsole(): ConsoleConnection {
    const calls = new HandleCalls(this.#dependencies);
    return { tenant: this.#connectTenant(calls), operator: new OperatorCalls(this.#dependencies, calls) };
  }

  #connectTenant(calls: HandleCalls): TenantConnection {
    const connection = new TenantCalls(this.#dependencies, calls, () => this.#connections.delete(connection));
    this.#connections.add(connection);
    return connection;
  }

  watchRoutes(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  routesChanged(): void {
    for (const onChange of this.#watchers) onChange();
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}
