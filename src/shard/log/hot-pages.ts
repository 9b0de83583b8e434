// The hot pages of one tenure. It counts the uses of pages, stores the names of the hottest, and preloads those that
// the previous owner stored, so that the first checks after a failover or handover find them in memory. A list that is
// missing, damaged or old costs time, never a wrong answer: pages are loaded the same way as for a call.

import type { Clock } from '../../core/async/clock.ts';
import type { TenantId } from '../../core/ids.ts';
import { isLeaving } from '../../core/tenants.ts';
import type { StateStore } from '../../store/store.ts';
import type { MemoryBudget, Preload } from '../memory/memory-budget.ts';
import { decodeHotPages, encodeHotPages, type NamedPage, PAGE_USES_BYTES, PageUses } from '../memory/page-uses.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { storeDeadline } from '../store-calls.ts';

/** A list is stored at most this often. An owner that dies leaves one of this age, in which little has changed. */
const WRITE_MS = 30_000;

/** The outcome of preloading a page. */
export type PreloadOutcome = 'loaded' | 'skipped' | 'failed';

/** See TenureDependencies in tenure.ts. */
interface HotPagesPorts {
  readonly store: Pick<StateStore, 'readHotPages' | 'writeHotPages'>;
  readonly clock: Clock;
  readonly budget: MemoryBudget;
  readonly hotPagesWriteMs?: number | undefined;
  readonly observePreload: (outcome: PreloadOutcome) => void;
}

/** The tenure: its slot, whether it accepts requests now, and its tenants. */
interface ServedSlot {
  readonly slot: number;
  readonly serving: boolean;
  readonly tenants: ReadonlyMap<TenantId, TenantMemory>;
}

export class HotPages {
  readonly #ports: HotPagesPorts;
  readonly #served: ServedSlot;
  /** Created at the first use. */
  #uses: PageUses | undefined;
  #stored = '';
  #writtenAtMs: number;
  #writing = false;
  #ended = false;

  constructor(ports: HotPagesPorts, served: ServedSlot) {
    this.#ports = ports;
    this.#served = served;
    this.#writtenAtMs = ports.clock.monotonicMs();
  }

  /** A sampled use of a page. */
  note(page: NamedPage): void {
    if (!this.#ended) this.#known().note(page);
  }

  /** Loads the pages that are stored as hot, in the background. Resolves when the list is read. */
  async preload(): Promise<void> {
    const { store, clock, budget } = this.#ports;
    // Without the list, pages are loaded on demand.
    const text = await store.readHotPages(this.#served.slot, storeDeadline(clock)).catch(() => undefined);
    const pages = text === undefined ? undefined : decodeHotPages(text);
    if (text === undefined || pages === undefined || pages.length === 0 || !this.#served.serving) return;
    this.#stored = text;
    // The first list of this tenure must not drop pages only because they have not been used again yet.
    for (const page of pages) this.note(page);
    budget.preloads.add(this.#preloads(pages));
  }

  /** Stores the hottest pages, if that is due and they have changed. */
  async store(): Promise<void> {
    if (this.#ports.clock.monotonicMs() - this.#writtenAtMs >= (this.#ports.hotPagesWriteMs ?? WRITE_MS))
      await this.storeNow();
  }

  /** The same, whether it is due or not. Never rejects: the list may be lost. */
  async storeNow(): Promise<void> {
    const { store, clock } = this.#ports;
    if (this.#uses === undefined || this.#writing) return;
    this.#writtenAtMs = clock.monotonicMs();
    const text = encodeHotPages(this.#present());
    if (text === this.#stored) return;
    this.#writing = true;
    try {
      await store.writeHotPages(this.#served.slot, text, clock.wallMs(), storeDeadline(clock));
      this.#stored = text;
    } catch {
      // Retried when it is due again.
    }
    this.#writing = false;
  }

  /** The tenure has ended. */
  end(): void {
    this.#ended = true;
    if (this.#uses !== undefined) this.#ports.budget.hold(-PAGE_USES_BYTES);
    this.#uses = undefined;
  }

  #known(): PageUses {
    if (this.#uses === undefined) {
      this.#uses = new PageUses();
      this.#ports.budget.hold(PAGE_USES_BYTES);
    }
    return this.#uses;
  }

  /** Without those of deleted tenants. */
  *#present(): Generator<NamedPage> {
    for (const page of this.#uses?.hottest() ?? []) if (this.#memoryOf(page) !== undefined) yield page;
  }

  #memoryOf({ tenantId }: NamedPage): TenantMemory | undefined {
    const memory = this.#served.tenants.get(tenantId);
    return memory === undefined || isLeaving(memory.tenant) ? undefined : memory;
  }

  /** Ends when the slot is lost or memory is short: pages that calls use are worth more than these. */
  *#preloads(pages: readonly NamedPage[]): Generator<Preload> {
    for (const page of pages) {
      if (!this.#served.serving || this.#ports.budget.isNearlyFull) return;
      yield () => this.#load(page);
    }
  }

  async #load(page: NamedPage): Promise<void> {
    const { budget, observePreload: observe } = this.#ports;
    const { tenantId, side, entity } = page;
    const memory = this.#memoryOf(page);
    if (memory === undefined) return;
    const pages = side === 'subject' ? memory.pages : memory.objectPages;
    if (pages.get(entity) !== undefined || !budget.loads.hasSpare(tenantId)) {
      observe('skipped');
      return;
    }
    try {
      await pages.load(entity);
      observe('loaded');
    } catch {
      observe('failed');
    }
  }
}
