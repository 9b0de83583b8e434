// API keys that are rotated, in a tenant of their own, and the rules for them. Owners die and slots move while a key is
// rotated and used: a new key works from the answer on; the former one works until its end, by any clock, and never
// afterwards; one that was revoked by its rotation is refused from the answer on; no key is rotated twice. The store
// alone has to know all of that in the end.

import type { KeyId } from '../../src/core/ids.ts';
import type { AuditRecord, ListedKey, RotatedKey } from '../../src/shard/shard.ts';
import { Caller, operated, type WorkloadPorts, type WorkloadTenant } from './caller.ts';
import type { Answer } from './requests.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RunningFront } from './simulated-cluster.ts';
import { WALL_START_MS } from './simulated-process.ts';

const NEVER_MS = Number.POSITIVE_INFINITY;
const OPERATOR = { operator: 'rotation' };
/** How often a rotation is asked for whose outcome is not known. */
const TRIES_MAX = 6;

/** Of one owner: its clock tells whole milliseconds. */
const OWNER_MS = 5;

interface Life {
  readonly keyId: KeyId;
  readonly text: string;
  /** A rotation was asked for. */
  rotated: boolean;
  /** No clock reaches its end before this time of the world. */
  endsFromMs: number;
  /** Every clock has reached its end by this time of the world. */
  endedByMs: number;
  /** As its rotation was answered, if it was. */
  told: RotatedKey | undefined;
  /** When a client was first told that it has ended. */
  refusedAtMs: number;
}

export class KeyRotations extends Caller {
  readonly #tenant: WorkloadTenant;
  readonly #lives: Life[] = [];
  #made = 0;
  answered = 0;

  constructor(tenant: WorkloadTenant, ports: WorkloadPorts, random: SeededRandom) {
    super('rotation', 'console', ports, random);
    this.#tenant = tenant;
    const text = tenant.key.text;
    this.#add({ keyId: tenant.key.keyId as KeyId, text });
  }

  run(endMs: number): Promise<void> {
    return this.repeat(endMs, [1, 300]);
  }

  protected override async step(): Promise<void> {
    const life = this.random.pick(this.#lives);
    if (!life.rotated && this.random.chance(0.5)) return this.#rotateInUse(life);
    const recent = this.#lives.slice(-4);
    await this.#use(this.random.chance(0.7) ? this.random.pick(recent) : life, this.#someFront());
  }

  #add({ keyId, text }: Pick<Life, 'keyId' | 'text'>): void {
    this.#lives.push({
      keyId,
      text,
      rotated: false,
      endsFromMs: NEVER_MS,
      endedByMs: NEVER_MS,
      told: undefined,
      refusedAtMs: NEVER_MS,
    });
  }

  get #nowMs(): number {
    return this.ports.cluster.scheduler.nowMs;
  }

  /** How far apart the clocks are that may decide about a key: those of owners, one after the other. */
  get #skewMs(): number {
    const { ownerSpared, wallSkewMs } = this.ports.profile;
    return ownerSpared ? OWNER_MS : wallSkewMs;
  }

  /** What the clock that decides shows at the beginning of the world. */
  get #wallStartMs(): number {
    const { profile, cluster } = this.ports;
    const owner = profile.ownerSpared ? cluster.ownerOf(0) : undefined;
    return owner === undefined ? WALL_START_MS : owner.process.clock.wallMs() - this.#nowMs;
  }

  #someFront(): RunningFront | undefined {
    const fronts = [...this.ports.cluster.fronts.values()].filter(({ name }) => name !== 'console');
    return fronts.length === 0 ? undefined : this.random.pick(fronts);
  }

  // ---- calls ----

  /** While calls of the key are on their way, and afterwards. */
  async #rotateInUse(life: Life): Promise<void> {
    const { scheduler } = this.ports.cluster;
    const graceMs = this.random.pick([0, 0, 300, 1500, 4000]);
    const withinMs = this.random.pick([3, 30, 1500, graceMs + 1000]);
    const uses = Array.from({ length: this.random.whole(2, 4) }, async () => {
      await scheduler.sleep(this.random.between(0, withinMs));
      await this.#use(life, this.#someFront());
    });
    await scheduler.sleep(this.random.between(0, Math.min(withinMs, 100)));
    await this.#rotate(life, graceMs);
    const successor = this.#lives.at(-1);
    await Promise.all([
      ...uses,
      this.#use(life, this.#someFront()),
      successor && this.#use(successor, this.#someFront()),
    ]);
    // At one front, which has to have a handle at a reader first.
    const front = this.#someFront();
    await Promise.all(
      Array.from({ length: this.ports.profile.keysUsedAtEnd }, async () => {
        await scheduler.sleep(Math.max(0, graceMs + this.random.between(-2500, 800)));
        await this.#use(life, front, { reads: true });
      }),
    );
    // A front or an owner that has missed the nearer end still serves the key.
    await scheduler.sleep(graceMs + 2 * this.#skewMs);
    await this.#use(life, this.#someFront());
    if (!this.#lives.some(({ rotated }) => !rotated)) await this.#make();
  }

  async #rotate(life: Life, graceMs: number): Promise<void> {
    const skewMs = this.#skewMs;
    this.#made += 1;
    const idempotencyKey = `rotation-${this.#made}`;
    life.rotated = true;
    const startMs = this.#nowMs;
    // Clocks of two processes: the one that decided, and the one that refuses.
    life.endsFromMs = graceMs === 0 ? startMs : startMs + graceMs - 2 * skewMs;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const answer = await this.ask(this.#tenant, OPERATOR, (session, context) =>
        operated(session).rotateKey(context, { keyId: life.keyId, graceMs }, idempotencyKey),
      );
      const decided = answer.kind === 'value' || (answer.kind === 'error' && answer.error.code === 'already-created');
      if (decided) {
        this.answered += 1;
        life.endedByMs = graceMs === 0 ? this.#nowMs : this.#nowMs + graceMs + 2 * skewMs;
        if (answer.kind === 'value') this.#told(life, answer.value, { startMs, graceMs });
        return;
      }
      if (answer.kind === 'error') this.undone(answer.error, 'rotate-key', this.#tenant.index);
    }
  }

  #told(
    life: Life,
    told: RotatedKey & { text: string },
    { startMs, graceMs }: { startMs: number; graceMs: number },
  ): void {
    const { key, former, revoked, text } = told;
    const skewMs = this.#skewMs;
    life.told = told;
    const endsAtMs = (former.expiresAtMs ?? NEVER_MS) - this.#wallStartMs;
    const isInTime = endsAtMs >= startMs + graceMs - skewMs - 1 && endsAtMs <= this.#nowMs + graceMs + skewMs;
    if (!isInTime || former.keyId !== life.keyId || revoked !== (graceMs === 0)) {
      this.ports.report(`the rotation of ${life.keyId} is answered with an end that it cannot have: ${endsAtMs}`);
    }
    // What the owner decided, on its clock, is known now; all others are as far from it as clocks are apart.
    if (!revoked) life.endedByMs = endsAtMs + skewMs;
    this.#add({ keyId: key.keyId, text });
  }

  async #make(): Promise<void> {
    this.#made += 1;
    const fields = { name: `rotated-${this.#made}`, scopes: 7, expiresAtMs: undefined };
    const answer = await this.ask(this.#tenant, OPERATOR, (session, context) => session.createKey(context, fields));
    if (answer.kind === 'value') this.#add({ keyId: answer.value.record.keyId, text: answer.value.text });
  }

  /** `isHeir`: an owner decides whose clock may be off by any time. What has ended once stays so all the same. */
  async #use(
    life: Life,
    front: RunningFront | undefined,
    { isHeir = false, reads = false }: { readonly isHeir?: boolean; readonly reads?: boolean } = {},
  ): Promise<void> {
    const startMs = this.#nowMs;
    const tuple = this.tuple(this.#tenant);
    const writes = !reads && this.random.chance(0.3);
    const answer: Answer<unknown> = await this.ask<unknown>(
      this.#tenant,
      life,
      (session, context) =>
        writes ? session.call('writeGrants', context, [{ ...tuple, revoke: false }]) : session.check(context, tuple),
      front,
    );
    if (answer.kind === 'none') return;
    this.answered += 1;
    if (answer.kind === 'value') {
      if (startMs > life.endedByMs && !isHeir) {
        this.ports.report(`the key ${life.keyId} is served at ${startMs}, and had ended by ${life.endedByMs}`);
      }
      if (startMs > life.refusedAtMs) {
        this.ports.report(`the key ${life.keyId} is served at ${startMs}, and was refused at ${life.refusedAtMs}`);
      }
    } else if (answer.error.code !== 'unauthorized') this.undone(answer.error, 'use-key', this.#tenant.index);
    else if (this.#nowMs >= life.endsFromMs || isHeir) life.refusedAtMs = Math.min(life.refusedAtMs, this.#nowMs);
    else {
      this.ports.report(
        `the key ${life.keyId} is refused by ${this.#nowMs}, and does not end before ${life.endsFromMs}`,
      );
    }
  }

  // ---- the end ----

  /** Every key once more, at every front. `isHeir`: as in `#use`. */
  async useAll(isHeir = false): Promise<void> {
    for (const front of this.ports.cluster.fronts.values()) {
      if (front.name === 'console') continue;
      for (const life of this.#lives) await this.#use(life, front, { isHeir });
    }
  }

  /** A key ends, and nothing else is written before its owner dies: the next one has to know. */
  async endOne(): Promise<void> {
    const life = this.#lives.find(({ rotated }) => !rotated);
    if (life === undefined) return;
    const graceMs = 300;
    await this.#rotate(life, graceMs);
    await this.ports.cluster.scheduler.sleep(graceMs + 2 * this.#skewMs);
    await this.#use(life, this.#someFront());
  }

  /** What is listed, and told in the audit log, is what the rotations were answered with. */
  compare(listed: readonly ListedKey[], rows: readonly AuditRecord[]): void {
    const keys = new Map(listed.map((key) => [key.keyId, key]));
    const rotations = rows.map(({ change }) => JSON.parse(change));
    for (const { keyId, told } of this.#lives) {
      const entries = rotations.filter((change) => change.former_key_id === keyId);
      if (entries.length > 1) this.ports.report(`the audit log tells ${entries.length} rotations of ${keyId}`);
      if (told === undefined) continue;
      const { key, former, revoked } = told;
      if (entries[0]?.key_id !== key.keyId) this.ports.report(`the audit log lacks the rotation of ${keyId}`);
      const present = keys.get(keyId);
      const stays = present?.expiresAtMs === former.expiresAtMs && present?.rotatedTo === key.keyId;
      if (revoked ? present !== undefined : !stays) {
        this.ports.report(`the rotation of ${keyId} is lost: it is listed as ${JSON.stringify(present)}`);
      }
      if (keys.has(key.keyId) && keys.get(key.keyId)?.rotatedFrom !== keyId) {
        this.ports.report(`the key ${key.keyId} does not tell that it was rotated from ${keyId}`);
      }
    }
  }
}
