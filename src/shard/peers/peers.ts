// The peers of a shard: one connection for each, and a notification of every change of the routes.

import { parseTenantId } from '../../core/ids.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import { kindOf, type TenantReader } from '../readers/tenant-reader.ts';
import {
  type AnswerOf,
  type CallerOf,
  type CheckAnswer,
  type ConsoleConnection,
  type FrontReport,
  type HandleRight,
  type LogPositions,
  type RequestOf,
  readAtOf,
  type ShardConnection,
  ShardFailure,
  type TenantCalls,
  type TenantConnection,
  type TenantSettings,
} from '../shard.ts';
import { check } from './checks.ts';
import { INTER_SHARD_HANDLERS, OPERATOR_HANDLERS, TENANT_HANDLERS } from './handlers.ts';
import { HandleBudget } from './handles.ts';
import { LoadWindow } from './load.ts';
import { unknownNamespaces } from './namespaces.ts';
import { Peer, type ShardParts } from './peer.ts';
import { checkKnown } from './ruled-checks.ts';

class PeerConnection implements TenantConnection {
  readonly load = new LoadWindow();
  readonly name: string | undefined;
  /** Whether it has sent a report, as fronts do every two seconds. Links of shards do not, which look like fronts. */
  reports = false;
  readonly #peer: Peer;
  readonly #onClose: () => void;

  constructor(peer: Peer, name: string | undefined, onClose: () => void) {
    this.name = name;
    this.#peer = peer;
    this.#onClose = onClose;
  }

  answerAt(positions: LogPositions): void {
    this.#peer.positions = positions;
  }

  check(handle: number, subject: string, relation: number, object: string): CheckAnswer | Promise<CheckAnswer> {
    return check(this.#peer, handle, subject, relation, object);
  }

  checkKnown(handle: number, check: NamedTuple): CheckAnswer | undefined {
    return checkKnown(this.#peer, handle, check);
  }

  call<Name extends keyof TenantCalls>(
    name: Name,
    caller: CallerOf<Name>,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    const reader = 'handle' in caller ? this.#peer.handles.readerOf(caller.handle) : undefined;
    if (reader === undefined) return TENANT_HANDLERS[name](this.#peer, caller, request);
    if (readAtOf(name) === undefined) {
      return Promise.reject(new ShardFailure('wrong-owner', 'A reader only answers checks and listings.'));
    }
    const at = reader.at(this.#peer.positions);
    if (at === undefined) return reader.confirmed().then(() => this.#answer(reader, name, caller, request));
    return this.#peer.handles.beginAt(at, () => this.#answer(reader, name, caller, request));
  }

  #answer<Name extends keyof TenantCalls>(
    reader: TenantReader,
    name: Name,
    caller: CallerOf<Name>,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    reader.tally.answers(kindOf(name));
    return TENANT_HANDLERS[name](this.#peer, caller, request);
  }

  unknownNamespaces(handle: number, namespaces: readonly string[]): readonly string[] {
    const memory = this.#peer.handles.memoryOf(handle);
    return memory === undefined ? [] : unknownNamespaces(memory, namespaces);
  }

  tenantOf(handle: number): string {
    return this.#peer.handles.tenantOf(handle);
  }

  serves(text: string): boolean {
    const tenantId = parseTenantId(text);
    if (tenantId === undefined) return false;
    try {
      return this.#peer.tenureOf(tenantId).tenants.get(tenantId) !== undefined;
    } catch {
      // Another shard owns its slot.
      return false;
    }
  }

  demandRight(handle: number, right: HandleRight): void {
    this.#peer.handles.demandRight(handle, right);
  }

  watchSettings(onChange: () => void): void {
    this.#peer.handles.onSettings = onChange;
  }

  takeSettings(countMax: number): readonly TenantSettings[] {
    return this.#peer.handles.takeSettings(countMax);
  }

  settingsOf(handle: number): TenantSettings | undefined {
    return this.#peer.handles.settingsOf(handle);
  }

  endWaits(): void {
    this.#peer.waits.end();
  }

  report({ load, usage, problems, asked, awaited }: FrontReport): void {
    this.reports = true;
    const { clock, tenures, openFirst } = this.#peer.shard;
    if (awaited.length > 0) openFirst?.(awaited);
    if (load !== undefined) this.load.add(load, clock.monotonicMs());
    if (usage.length + problems.length + asked.length === 0) return;
    const nowMs = clock.wallMs();
    const bySlot = tenures();
    // A tenant is only kept under its own slot. So a report with a wrong slot, or of a tenant that is not here, finds
    // nothing.
    const memoryOf = (each: { readonly slot: number; readonly tenantId: string }) => {
      const tenantId = parseTenantId(each.tenantId);
      return tenantId === undefined ? undefined : bySlot.get(each.slot)?.tenants.get(tenantId);
    };
    for (const each of usage) memoryOf(each)?.addUsage(each, nowMs);
    for (const each of problems) memoryOf(each)?.problems.add(each, nowMs);
    for (const each of asked) memoryOf(each)?.addAsked(each.names, nowMs);
  }

  close(): void {
    this.#peer.waits.end();
    this.#peer.handles.close();
    this.#onClose();
  }
}

const namesOf = (connections: readonly PeerConnection[]): string[] =>
  connections.map(({ name }) => name).filter((name) => name !== undefined);

export class Peers {
  readonly #shard: ShardParts;
  readonly #connections = new Set<PeerConnection>();
  readonly #watchers = new Set<() => void>();

  constructor(parts: Omit<ShardParts, 'loads' | 'handleBudget'>) {
    const handleBudget = new HandleBudget();
    this.#shard = { ...parts, handleBudget, loads: () => Array.from(this.#connections, ({ load }) => load) };
  }

  connect(name?: string): TenantConnection {
    return this.#connect(new Peer(this.#shard), name);
  }

  /** The names of the peers that are connected, neither consoles nor shards that have proved it. */
  names(): string[] {
    return namesOf([...this.#connections]);
  }

  /** Those that are fronts. */
  fronts(): string[] {
    return namesOf([...this.#connections].filter(({ reports }) => reports));
  }

  connectConsole(): ConsoleConnection {
    const peer = new Peer(this.#shard);
    return {
      tenant: this.#connect(peer),
      operator: { call: (name, caller, request) => OPERATOR_HANDLERS[name](peer, caller, request) },
    };
  }

  connectShard(): ShardConnection {
    const peer = new Peer(this.#shard);
    return {
      tenant: this.#connect(peer),
      shard: { call: (name, caller, request) => INTER_SHARD_HANDLERS[name](peer, caller, request) },
    };
  }

  #connect(peer: Peer, name?: string): TenantConnection {
    const connection = new PeerConnection(peer, name, () => this.#connections.delete(connection));
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
