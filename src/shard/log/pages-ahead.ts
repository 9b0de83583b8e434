// The hot pages of a slot, read before the slot is claimed, so that a handover leaves nothing cold behind. Invariant:
// they are read after the checkpoint that the replay of the log begins with, so they lack nothing from before it, and
// the replay puts everything later over them. Bound: a few subjects of a slot and a few rows of each, counted in the
// budget until they are disposed of. An opening waits for none of them.

import type { Clock } from '../../core/async/clock.ts';
import type { TenantId } from '../../core/ids.ts';
import type { StateStore } from '../../store/store.ts';
import type { PageRow } from '../memory/grant-page.ts';
import type { MemoryBudget } from '../memory/memory-budget.ts';
import { ENTITIES_PER_READ, ROW_BYTES, ROWS_OF_EACH, SUBJECT_SIDE } from '../memory/page-side.ts';
import { decodeHotPages } from '../memory/page-uses.ts';
import { storeDeadline } from '../store-calls.ts';

/** The hottest subjects of a slot; the others are loaded once it is served. */
const SUBJECTS_MAX = 128;
/** Estimated bytes of a row that was read, without its characters. */
const HELD_ROW_BYTES = 200;

export interface PageAhead {
  readonly tenantId: TenantId;
  readonly subject: string;
  readonly rows: readonly PageRow[];
}

export interface PagesAheadPorts {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly budget: Pick<MemoryBudget, 'hold' | 'isNearlyFull' | 'loads'>;
}

export class PagesAhead implements Disposable {
  readonly #ports: PagesAheadPorts;
  readonly #pages: PageAhead[] = [];
  #bytes = 0;
  #disposed = false;

  /** Begins to read, in the background. What cannot be read now is loaded later. */
  constructor(ports: PagesAheadPorts, slot: number) {
    this.#ports = ports;
    void this.#read(slot).catch(() => {});
  }

  /** Those that have been read by now. */
  get pages(): readonly PageAhead[] {
    return this.#pages;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#ports.budget.hold(-this.#bytes);
    this.#bytes = 0;
    this.#pages.length = 0;
  }

  async #read(slot: number): Promise<void> {
    const { store, clock, budget } = this.#ports;
    const text = await store.readHotPages(slot, storeDeadline(clock));
    const named = (text === undefined ? undefined : decodeHotPages(text)) ?? [];
    const hottest = named.filter(({ side }) => side === 'subject').slice(0, SUBJECTS_MAX);
    for (const [tenantId, ofTenant] of Map.groupBy(hottest, (page) => page.tenantId)) {
      for (let start = 0; start < ofTenant.length; start += ENTITIES_PER_READ) {
        const subjects = ofTenant.slice(start, start + ENTITIES_PER_READ).map(({ entity }) => entity);
        if (this.#disposed || budget.isNearlyFull) return;
        await this.#readSome(tenantId, subjects);
      }
    }
  }

  async #readSome(tenantId: TenantId, entities: readonly string[]): Promise<void> {
    const { store, clock, budget } = this.#ports;
    const leave = budget.loads.tryEnter(tenantId, entities.length * ROWS_OF_EACH * ROW_BYTES);
    if (leave === undefined) return;
    try {
      const query = { entities, limit: ROWS_OF_EACH };
      const read = (await SUBJECT_SIDE.listRowsOfEach?.(store, tenantId, query, storeDeadline(clock))) ?? [];
      for (const [index, { rows, isAll }] of this.#disposed ? [] : read.entries()) {
        const page = { tenantId, subject: entities[index] ?? '', rows };
        if (isAll) this.#add(page);
      }
    } finally {
      leave();
    }
  }

  #add(page: PageAhead): void {
    const bytes = bytesOf(page);
    this.#bytes += bytes;
    this.#ports.budget.hold(bytes);
    this.#pages.push(page);
  }
}

const bytesOf = ({ subject, rows }: PageAhead): number =>
  rows.reduce((sum, { counterpart }) => sum + HELD_ROW_BYTES + counterpart.length, HELD_ROW_BYTES + subject.length);
