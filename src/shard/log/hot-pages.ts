// The hot pages of one tenure. It counts the uses of pages, stores the names of the hottest, and preloads those that
// the previous owner stored, so that the first checks after a failover or handover find them in memory. A list that is
// missing, damaged or old costs time, never a wrong answer: pages are loaded the same way as for a call.

import { z } from 'zod';
import type { Clock } from '../../core/async/clock.ts';
import { parseTenantId, type TenantId } from '../../core/ids.ts';
import { isLeaving } from '../../core/tenants.ts';
import type { StateStore } from '../../store/store.ts';
import type { PageRow } from '../memory/grant-page.ts';
import type { MemoryBudget, Preload } from '../memory/memory-budget.ts';
import { ENTITIES_PER_READ, type PageSide, ROW_BYTES, ROWS_OF_EACH, SUBJECT_SIDE } from '../memory/page-side.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { storeDeadline } from '../store-calls.ts';

/** A list is stored at most this often. An owner that dies leaves one of this age, in which little has changed. */
const WRITE_MS = 30_000;

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

  /** Loads the pages that are stored as hot, in the background. */
  preload(): void {
    this.#ports.budget.preloads.add([() => this.#preloadListed()]);
  }

  async #preloadListed(): Promise<void> {
    const { store, clock, budget } = this.#ports;
    if (!this.#served.serving) return;
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

// ---- counts of uses ----
//
// Which pages of a slot are used most, estimated from samples. Counts are kept for two generations, each of bounded
// size: once the younger one is full, it replaces the older one. So pages in frequent use stay known, and the estimate
// takes the same memory and time however many pages there are.

/** Pages counted in one generation: twice as many as a slot's list of hot pages may name, in both together. */
const PAGES_PER_GENERATION = 256;
/** Estimated bytes of both generations, without the characters of entities, which pages in memory share. */
export const PAGE_USES_BYTES = 2 * PAGES_PER_GENERATION * 64;

export interface NamedPage {
  readonly tenantId: TenantId;
  readonly side: PageSide['name'];
  readonly entity: string;
}

/** By tenant, then by side and entity. */
type Generation = Map<TenantId, Map<string, number>>;

/** Neither name of a side is the beginning of the other. */
const keyOf = (side: PageSide['name'], entity: string): string => `${side} ${entity}`;

function pageOf(tenantId: TenantId, key: string): NamedPage {
  const space = key.indexOf(' ');
  return { tenantId, side: key.startsWith('object ') ? 'object' : 'subject', entity: key.slice(space + 1) };
}

export class PageUses {
  #young: Generation = new Map();
  #old: Generation = new Map();
  #youngPages = 0;

  /** A sampled use. */
  note({ tenantId, side, entity }: NamedPage): void {
    let pages = this.#young.get(tenantId);
    if (pages === undefined) {
      pages = new Map();
      this.#young.set(tenantId, pages);
    }
    const key = keyOf(side, entity);
    const uses = pages.get(key);
    pages.set(key, (uses ?? 0) + 1);
    if (uses !== undefined) return;
    this.#youngPages += 1;
    if (this.#youngPages < PAGES_PER_GENERATION) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngPages = 0;
  }

  /** The most used pages first, tenants in turn: no tenant takes the places of the others. */
  *hottest(): Generator<NamedPage> {
    const ranked = this.#ranked();
    for (let rank = 0, found = true; found; rank += 1) {
      found = false;
      for (const [tenantId, keys] of ranked) {
        const key = keys[rank];
        if (key === undefined) continue;
        found = true;
        yield pageOf(tenantId, key);
      }
    }
  }

  #ranked(): [TenantId, string[]][] {
    const tenants = new Set([...this.#young.keys(), ...this.#old.keys()]);
    return Array.from(tenants, (tenantId) => {
      const uses = new Map(this.#old.get(tenantId));
      for (const [key, count] of this.#young.get(tenantId) ?? []) uses.set(key, count + (uses.get(key) ?? 0));
      const byUse = [...uses].sort(([, left], [, right]) => right - left);
      return [tenantId, byUse.map(([key]) => key)];
    });
  }
}

// ---- the stored list ----
//
// It names the hot pages of a slot, which a new owner loads first. It has no grants, so it cannot make an answer wrong.
// Invariant: a list has bounded size, and a text that is not a valid list counts as none.

/** Enough for the pages that get most checks; a successor loads them within a second or so. */
export const HOT_PAGES_MAX = 256;
/** Characters of the stored text, so that one list is a small row. */
const LIST_LENGTH_MAX = 32 * 1024;
/** Characters of a page in the list, without its entity. */
const ENTRY_LENGTH = 24;

/** Version 1: tenants, and for each page the index of its tenant, its side and its entity, hottest first. */
const listSchema = z.object({
  version: z.literal(1),
  tenants: z.array(z.string()).max(HOT_PAGES_MAX),
  pages: z.array(z.tuple([z.int().nonnegative(), z.enum(['subject', 'object']), z.string().min(1)])).max(HOT_PAGES_MAX),
});

/** The first of the pages, as many as a list takes. */
export function encodeHotPages(pages: Iterable<NamedPage>): string {
  const tenants = new Map<TenantId, number>();
  const listed: z.infer<typeof listSchema>['pages'] = [];
  let length = 0;
  for (const { tenantId, side, entity } of pages) {
    // Escaped, a character may take six.
    length += ENTRY_LENGTH + JSON.stringify(entity).length + (tenants.has(tenantId) ? 0 : tenantId.length + 3);
    if (listed.length === HOT_PAGES_MAX || length > LIST_LENGTH_MAX - ENTRY_LENGTH) break;
    const index = tenants.get(tenantId) ?? tenants.size;
    tenants.set(tenantId, index);
    listed.push([index, side, entity]);
  }
  return JSON.stringify({ version: 1, tenants: [...tenants.keys()], pages: listed });
}

/** Undefined: the text is not a list of this version. */
export function decodeHotPages(text: string): readonly NamedPage[] | undefined {
  if (text.length > LIST_LENGTH_MAX) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { data } = listSchema.safeParse(content);
  if (data === undefined) return undefined;
  const tenants = data.tenants.map(parseTenantId);
  return data.pages.flatMap(([index, side, entity]) => {
    const tenantId = tenants[index];
    return tenantId === undefined ? [] : [{ tenantId, side, entity }];
  });
}

// ---- lookups ----

/** Samples 1 in 16 lookups, so that sampling costs next to nothing. */
const LOOKUPS_PER_SAMPLE = 16;

interface PageLookup {
  readonly tenure: { readonly hotPages: { note(page: NamedPage): void } };
  readonly memory: Pick<TenantMemory, 'tenantId'>;
}

/** Lookups of subjects in memory: counts of hits and misses, and a sample of the pages used. */
export class Lookups {
  /** Since the metrics were last read. */
  hits = 0;
  misses = 0;
  #unsampled = 0;

  /** A lookup found the page of the subject. */
  hit(where: PageLookup, page: { referenced: boolean; readonly entity: string }): void {
    page.referenced = true;
    this.hits += 1;
    this.#unsampled += 1;
    if (this.#unsampled >= LOOKUPS_PER_SAMPLE) this.#note(where, page.entity);
  }

  /** The lookups of a bulk call succeeded; `entityAt`: the subjects of their pages. */
  hitMany(where: PageLookup, count: number, entityAt: (index: number) => string | undefined): void {
    this.hits += count;
    this.#unsampled += count;
    // Each call is sampled once at most, at another place each time.
    if (this.#unsampled < LOOKUPS_PER_SAMPLE) return;
    const entity = entityAt(this.hits % count);
    if (entity !== undefined) this.#note(where, entity);
  }

  #note({ tenure, memory: { tenantId } }: PageLookup, entity: string): void {
    this.#unsampled = 0;
    tenure.hotPages.note({ tenantId, side: 'subject', entity });
  }
}

// ---- before the slot is claimed ----
//
// The hot pages of a slot, read before the slot is claimed, so that a handover leaves nothing cold behind. Invariant:
// they are read after the checkpoint that the replay of the log begins with, so they lack nothing from before it, and
// the replay puts everything later over them. Bound: a few subjects of a slot and a few rows of each, counted in the
// budget until they are disposed of. An opening waits for none of them.

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

  /** Resolves when it has read what it can. What cannot be read now is loaded later. */
  readonly read: Promise<void>;

  constructor(ports: PagesAheadPorts, slot: number) {
    this.#ports = ports;
    this.read = this.#read(slot).catch(() => {});
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
