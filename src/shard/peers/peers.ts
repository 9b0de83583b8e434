// The peers of a shard: one connection each, and word of every change of the routes.

import type { ShardConnection } from '../shard.ts';
import { Connection, type ConnectionDependencies } from './connection.ts';

export class Peers {
  readonly #dependencies: ConnectionDependencies;
  readonly #connections = new Set<Connection>();
  readonly #watchers = new Set<() => void>();

  constructor(dependencies: Omit<ConnectionDependencies, 'loads'>) {
    this.#dependencies = { ...dependencies, loads: () => Array.from(this.#connections, ({ load }) => load) };
  }

  connect(kind: 'front' | 'console'): ShardConnection {
    const connection = new Connection(this.#dependencies, kind, () => this.#connections.delete(connection));
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
