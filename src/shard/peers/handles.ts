// The handles of one connection. A front holds the id of a handle in place of an authenticated key. Invariants: a
// connection never gives an id to another key; a handle is valid only in its tenure, and dies with its key; a
// connection has one handle for each key, and the number of handles of all connections is bounded. The operator's
// handles have a right that no key has.

import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { ALL_SCOPES, type ScopeMask, scopeMask, scopesOf } from '../../core/scopes.ts';
import type { ServedTenure } from '../log/tenure.ts';
import type { HandleIssuer, HandleState, KeyUse, TenantMemory } from '../memory/tenant-memory.ts';
import type { ReaderChoice } from '../readers/reader-choice.ts';
import type { TenantReader } from '../readers/tenant-reader.ts';
import { type HandleRight, type IssuedHandle, ShardFailure, type TenantSettings } from '../shard.ts';
import { yieldTurn } from '../store-calls.ts';

/**
 * Handles of one connection, twice the keys that a front knows. Beyond this the oldest is dropped, and its front
 * authenticates again.
 */
const HANDLES_MAX = 200_000;
/** Over all connections of a shard: about 500 bytes each, so 200 MB. */
const ALL_HANDLES_MAX = 400_000;
/** A bit that no key has: only handles on a console's connection have it. */
const OPERATOR: ScopeMask = ALL_SCOPES + 1;
const OPERATOR_SCOPES: ScopeMask = ALL_SCOPES | OPERATOR;

/** The bits that a handle needs. */
const MASKS: Readonly<Record<HandleRight, ScopeMask>> = Object.freeze({
  handle: 0,
  'check:read': scopeMask(['check:read']),
  'grant:write': scopeMask(['grant:write']),
  admin: scopeMask(['admin']),
  'operator-handle': OPERATOR,
});
export const CHECK_READ = MASKS['check:read'];

/** Handles of a closed connection that are dropped in one step. */
const ENDED_PER_STEP = 5000;

/** The one error for all forged ids: a stack trace would cost the shard more than it costs the sender. */
const UNKNOWN_HANDLE = new ShardFailure('handle-unknown', 'The handle is unknown.');

export interface Handle extends HandleState {
  readonly tenure: ServedTenure;
  /** Undefined: the handle is at the owner. */
  readonly reader: TenantReader | undefined;
  readonly memory: TenantMemory;
  /** Key id, or `operator:<name>`. */
  readonly actor: string;
  readonly suspended: boolean;
  /** The scopes of the key; an operator handle has an additional bit. */
  readonly scopes: ScopeMask;
  readonly expiresAtMs: number | undefined;
  /** Undefined: an operator handle. */
  readonly use: KeyUse | undefined;
}

/** A handle as its connection keeps it. A class, so that V8 keeps all of it in one object. */
class KeptHandle implements Handle {
  readonly tenure: ServedTenure;
  readonly memory: TenantMemory;
  readonly use: KeyUse | undefined;
  readonly reader: TenantReader | undefined;
  readonly expiresAtMs: number | undefined;
  readonly scopes: ScopeMask;
  readonly suspended: boolean;
  dead = false;
  readonly id: number;
  readonly keyId: string;
  readonly actor: string;
  /** The same for each authentication of a key, at the owner or at the reader. */
  readonly claim: string;
  readonly issuer: HandleIssuer;

  constructor(of: Omit<Handle, 'dead'> & { readonly claim: string }) {
    this.tenure = of.tenure;
    this.memory = of.memory;
    this.use = of.use;
    this.reader = of.reader;
    this.expiresAtMs = of.expiresAtMs;
    this.scopes = of.scopes;
    this.suspended = of.suspended;
    this.id = of.id;
    this.keyId = of.keyId;
    this.actor = of.actor;
    this.claim = of.claim;
    this.issuer = of.issuer;
  }
}

/** A handle at a reader, as the calls of one message see it: by the time of the position that the message brought. */
class HandleAtPosition implements Handle {
  readonly tenure: ServedTenure;
  readonly #of: Handle;

  constructor(of: Handle, tenure: ServedTenure) {
    this.#of = of;
    this.tenure = tenure;
  }

  get id(): number {
    return this.#of.id;
  }

  get dead(): boolean {
    return this.#of.dead;
  }

  get keyId(): string {
    return this.#of.keyId;
  }

  get issuer(): HandleIssuer {
    return this.#of.issuer;
  }

  get reader(): TenantReader | undefined {
    return this.#of.reader;
  }

  get memory(): TenantMemory {
    return this.#of.memory;
  }

  get actor(): string {
    return this.#of.actor;
  }

  get suspended(): boolean {
    return this.#of.suspended;
  }

  get scopes(): ScopeMask {
    return this.#of.scopes;
  }

  get expiresAtMs(): number | undefined {
    return this.#of.expiresAtMs;
  }

  get use(): KeyUse | undefined {
    return this.#of.use;
  }
}

export const atPosition = (handle: Handle, at: ServedTenure): Handle =>
  at === handle.tenure ? handle : new HandleAtPosition(handle, at);

export const sameHash = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

export const unauthorized = (): GrantdError => new GrantdError('unauthorized', 'The API key is not valid.');

/** The right to an operator call has no name, since no key can have it. */
function lacking(scope: ScopeMask): GrantdError {
  const [name] = scopesOf(scope);
  return new GrantdError(
    'insufficient-scope',
    name === undefined ? 'No API key may make this call.' : `The API key lacks the scope ${name}.`,
  );
}

/** Bounds the handles of all connections of a shard together. */
export class HandleBudget {
  readonly #handlesMax: number;
  readonly #tables = new Set<HandleTable>();
  #handles = 0;

  constructor(handlesMax = ALL_HANDLES_MAX) {
    this.#handlesMax = handlesMax;
  }

  /** A table has one more handle. Beyond the bound, the connection with the most loses its oldest. */
  add(table: HandleTable): void {
    this.#tables.add(table);
    this.#handles += 1;
    if (this.#handles <= this.#handlesMax) return;
    let largest = table;
    for (const each of this.#tables) if (each.size > largest.size) largest = each;
    largest.dropOldest();
  }

  remove(table: HandleTable, count = 1): void {
    this.#handles -= count;
    if (table.size === 0) this.#tables.delete(table);
  }
}

export class HandleTable {
  readonly #clock: Clock;
  readonly #readersOf: ReaderChoice['of'];
  readonly #budget: HandleBudget;
  readonly #handles = new Map<number, KeptHandle>();
  /** The handle of each key, operator or reader. */
  readonly #byClaim = new Map<string, KeptHandle>();
  /** Tenants whose settings the peer has to be told. */
  readonly #changed = new Set<TenantMemory>();
  /** One for all handles: there may be many. */
  readonly #issuer: HandleIssuer = {
    ended: (id) => this.#remove(id),
    settingsChanged: (id) => this.#noteChange(id),
  };
  #lastId = 0;
  #closed = false;
  #at: ServedTenure | undefined;
  /** `takeSettings` has something to tell. */
  onSettings: () => void = () => {};

  /** `readersOf`: how many readers a tenant has now. */
  constructor(clock: Clock, readersOf: ReaderChoice['of'], budget = new HandleBudget()) {
    this.#clock = clock;
    this.#readersOf = readersOf;
    this.#budget = budget;
  }

  issue(
    of: Pick<Handle, 'tenure' | 'memory' | 'keyId' | 'actor' | 'use' | 'expiresAtMs'> & Partial<Pick<Handle, 'reader'>>,
    scopes: ScopeMask,
  ): IssuedHandle {
    // The peer has disconnected in the meantime, so nothing would ever drop the handle.
    if (this.#closed) throw new ShardFailure('handle-unknown', 'The connection is closed.');
    const { tenant } = of.memory;
    const suspended = tenant.state === 'suspended' && of.use !== undefined;
    const held = of.use === undefined ? OPERATOR_SCOPES : scopes & ALL_SCOPES;
    const claim = `${of.reader === undefined ? 'owner' : 'reader'} ${tenant.tenantId} ${of.actor}`;
    const handle = this.#reuse({ reader: undefined, ...of, claim, suspended, scopes: held });
    return {
      handle: handle.id,
      keyId: of.keyId,
      scopes: held & ALL_SCOPES,
      expiresAtMs: of.expiresAtMs,
      nowMs: of.tenure.slotTime.nowMs,
      suspended,
      ...this.#settings(of.memory),
    };
  }

  #settings(memory: TenantMemory): TenantSettings {
    const { tenantId, plan } = memory.tenant;
    return { tenantId, plan, readers: this.#readersOf(memory) };
  }

  #noteChange(id: number): void {
    const handle = this.#handles.get(id);
    // What readers and consoles are told of a tenant does not count.
    if (handle === undefined || handle.reader !== undefined || handle.use === undefined) return;
    this.#changed.add(handle.memory);
    this.onSettings();
  }

  /** Of up to so many tenants, what has changed since it was taken. */
  takeSettings(countMax: number): readonly TenantSettings[] {
    const taken: TenantSettings[] = [];
    for (const memory of this.#changed) {
      if (taken.length === countMax) break;
      this.#changed.delete(memory);
      if (!memory.dropped) taken.push(this.#settings(memory));
    }
    return taken;
  }

  /** Of the tenant of a handle at the owner; undefined: there is no such handle. */
  settingsOf(id: number): TenantSettings | undefined {
    const handle = this.#handles.get(id);
    return handle === undefined || handle.reader !== undefined ? undefined : this.#settings(handle.memory);
  }

  /** The handle of the same claim, if nothing about it has changed; otherwise a new one takes its place. */
  #reuse(of: Omit<KeptHandle, 'id' | 'dead' | 'issuer'>): KeptHandle {
    const known = this.#byClaim.get(of.claim);
    const same =
      known !== undefined &&
      known.memory === of.memory &&
      known.tenure === of.tenure &&
      known.reader === of.reader &&
      known.use === of.use &&
      known.scopes === of.scopes &&
      known.suspended === of.suspended &&
      known.expiresAtMs === of.expiresAtMs;
    if (same) {
      this.#handles.delete(known.id);
      this.#handles.set(known.id, known);
      return known;
    }
    if (known !== undefined) this.#forget(known.id);
    this.#lastId += 1;
    const handle = new KeptHandle({ ...of, id: this.#lastId, issuer: this.#issuer });
    this.#handles.set(handle.id, handle);
    this.#byClaim.set(handle.claim, handle);
    handle.memory.addHandle(handle);
    this.#budget.add(this);
    if (this.#handles.size > HANDLES_MAX) this.dropOldest();
    return handle;
  }

  /** Its front authenticates again. */
  dropOldest(): void {
    const [oldest] = this.#handles.keys();
    if (oldest !== undefined) this.#forget(oldest);
  }

  /** Handles in use, each with what its tenure keeps in memory for it. */
  get size(): number {
    return this.#handles.size;
  }

  /** Undefined: the handle is unknown, or has ended. */
  memoryOf(id: number): TenantMemory | undefined {
    const handle = this.#handles.get(id);
    return handle?.dead === false ? handle.memory : undefined;
  }

  /** Empty if the handle is unknown. */
  tenantOf(id: number): string {
    return this.#handles.get(id)?.memory.tenantId ?? '';
  }

  /** The reader that the handle is at; undefined: the handle is at the owner, or unknown. */
  readerOf(id: number): TenantReader | undefined {
    return this.#handles.get(id)?.reader;
  }

  /** Passes an unknown handle: its call detects that. */
  demandRight(id: number, right: HandleRight): void {
    const mask = MASKS[right];
    const handle = this.#handles.get(id);
    if (handle === undefined || (handle.scopes & mask) === mask) return;
    // A reader does not know yet whether it is; its scopes never change.
    if (handle.reader === undefined) this.assertGood(handle);
    throw lacking(mask);
  }

  /** The handle, if a request under it that needs `scope` may be served now. */
  use(id: number, scope: ScopeMask = 0): Handle {
    const handle = this.find(id);
    this.assertMay(handle, scope);
    return handle;
  }

  /** The handle, whatever may be done under it now. */
  find(id: number): Handle {
    const handle = this.#handles.get(id);
    if (handle === undefined) throw UNKNOWN_HANDLE;
    return this.#at === undefined || handle.reader === undefined ? handle : atPosition(handle, this.#at);
  }

  /** The call of a reader that begins in `run` finds its handle as it is at a position: see `TenantReader.at`. */
  beginAt<Answer>(at: ServedTenure, run: () => Answer): Answer {
    this.#at = at;
    try {
      return run();
    } finally {
      this.#at = undefined;
    }
  }

  /** Whether a request under the handle that needs `scope` may be served now. */
  assertMay(handle: Handle, scope: ScopeMask): void {
    this.assertGood(handle);
    if ((handle.scopes & scope) !== scope) throw lacking(scope);
  }

  /** Whether a handle in use is still valid. Call this after the last await. */
  assertGood(handle: Handle): void {
    if (handle.dead) throw new ShardFailure('handle-unknown', 'The handle has ended.');
    handle.tenure.assertServing();
    const { use, expiresAtMs, tenure, reader } = handle;
    if (use !== undefined) {
      // The owner's time, at its readers too: whatever their clocks say, the key ends once. It is presented again, and
      // `authenticate` refuses it once the log has reached its end, so that no later owner takes it for valid.
      if (expiresAtMs !== undefined && expiresAtMs <= tenure.slotTime.nowMs) {
        throw new ShardFailure('handle-unknown', 'The key has ended.');
      }
      // What a front says of the time is not kept.
      use.usedAtMs = (reader ?? tenure).slotTime.nowMs;
      if (!use.listed) handle.memory.listUse(use);
    }
    if (handle.suspended) {
      throw new GrantdError('tenant-suspended', 'The operator of the service has suspended this tenant.');
    }
  }

  /** Ends every handle: immediately for its peer, and step by step in the memory of its tenant. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const handles = [...this.#handles.values()];
    this.#handles.clear();
    this.#byClaim.clear();
    this.#changed.clear();
    this.#budget.remove(this, handles.length);
    void this.#dropAll(handles);
  }

  async #dropAll(handles: readonly Handle[]): Promise<void> {
    for (const [index, handle] of handles.entries()) {
      handle.memory.removeHandle(handle);
      if ((index + 1) % ENDED_PER_STEP === 0) await yieldTurn(this.#clock);
    }
  }

  #forget(id: number): void {
    const handle = this.#handles.get(id);
    if (handle === undefined) return;
    handle.memory.removeHandle(handle);
    this.#remove(id);
  }

  #remove(id: number): void {
    const handle = this.#handles.get(id);
    if (handle === undefined) return;
    this.#handles.delete(id);
    if (this.#byClaim.get(handle.claim) === handle) this.#byClaim.delete(handle.claim);
    this.#budget.remove(this);
  }
}
