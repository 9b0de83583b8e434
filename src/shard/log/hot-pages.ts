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
import {
  ENTITIES_PER_READ,
  OBJECT_SIDE,
  type PageSide,
  ROW_BYTES,
  ROWS_OF_EACH,
  SUBJECT_SIDE,
} from '../memory/page-side.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { storeDeadline } from '../store-calls.ts';

/** A list is stored at most this often. An owner that dies leaves one of this age, in which little has changed. */
const WRITE_MS = 30_000;

/** Pages in memory at which one storing of a list looks: well within a millisecond. */
const LOOKED_MAX = 1024;

/** Samples 1 in 16 uses, so that sampling costs next to nothing. A power of two. */
const USES_PER_SAMPLE = 16;

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
  /** Uses until the next sample. */
  #unsampled = USES_PER_SAMPLE;
  #interval = 0;

  constructor(ports: HotPagesPorts, served: ServedSlot) {
    this.#ports = ports;
    this.#served = served;
    this.#writtenAtMs = ports.clock.monotonicMs();
  }

  /** A sampled use of a page. */
  note(page: NamedPage): void {
    if (this.#ended) return;
    this.#uses ??= new PageUses();
    const before = this.#uses.bytes;
    this.#uses.note(page);
    this.#ports.budget.hold(this.#uses.bytes - before);
  }

  /** A use of a page in an evaluation. */
  sample(tenantId: TenantId, side: PageSide['name'], entity: string): void {
    this.#unsampled -= 1;
    if (this.#unsampled > 0) return;
    // The intervals vary: evaluations may use the same number of pages each, in the same order.
    this.#interval = (5 * this.#interval + 3) % USES_PER_SAMPLE;
    this.#unsampled = USES_PER_SAMPLE / 2 + this.#interval;
    this.note({ tenantId, side, entity });
  }

  /**
   * Loads the pages that are stored as hot, in the background: first those of which many fit in one read. `known`: the
   * stored list, if it was read already.
   */
  preload(known?: string): void {
    if (known === undefined) void this.#preloadStored();
    else this.#preloadListed(known);
  }

  async #preloadStored(): Promise<void> {
    const { store, clock, budget } = this.#ports;
    // The store answers those who ask together with few statements.
    await budget.preloads.released();
    if (!this.#served.serving) return;
    // Without the list, pages are loaded on demand.
    const text = await store.readHotPages(this.#served.slot, storeDeadline(clock)).catch(() => undefined);
    if (text !== undefined && this.#served.serving) this.#preloadListed(text);
  }

  #preloadListed(text: string): void {
    const { budget } = this.#ports;
    const pages = decodeHotPages(text) ?? [];
    if (pages.length === 0) return;
    this.#stored = text;
    // The first list of this tenure must not drop pages only because they have not been used again yet.
    for (const page of pages) this.note(page);
    const loaded = new Set<string>();
    void budget.preloads
      .together(this.#together(pages, loaded))
      .then(() => budget.preloads.singly(this.#singly(pages, loaded)));
  }

  /** Stores the hottest pages, if that is due and they have changed. */
  async store(): Promise<void> {
    if (this.#ports.clock.monotonicMs() - this.#writtenAtMs >= (this.#ports.hotPagesWriteMs ?? WRITE_MS))
      await this.storeNow();
  }

  /** The same, whether it is due or not. Never rejects: the list may be lost. */
  async storeNow(): Promise<void> {
    const { store, clock } = this.#ports;
    if (this.#writing) return;
    this.#writtenAtMs = clock.monotonicMs();
    const text = encodeHotPages(this.#present());
    if (text === this.#stored || (this.#stored === '' && text === EMPTY_LIST)) return;
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
    this.#ports.budget.hold(-(this.#uses?.bytes ?? 0));
    this.#uses = undefined;
  }

  /** Without those of deleted tenants. */
  *#present(): Generator<NamedPage> {
    const listed = new Set<string>();
    for (const page of this.#uses?.hottest() ?? []) {
      if (this.#memoryOf(page) === undefined) continue;
      listed.add(pageKey(page));
      yield page;
    }
    // Samples know nothing of what is used seldom, as most is where there is little load.
    for (const page of this.#recent()) {
      if (listed.size >= AHEAD_PAGES_MAX) return;
      if (listed.has(pageKey(page))) continue;
      listed.add(pageKey(page));
      yield page;
    }
  }

  /** Of the first pages in memory, those that were used of late. */
  *#recent(): Generator<NamedPage> {
    let looked = 0;
    for (const [tenantId, memory] of this.#served.tenants) {
      if (isLeaving(memory.tenant)) continue;
      for (const [side, pages] of memory.sidesInUse) {
        for (const { entity, isRecent } of pages.entities()) {
          looked += 1;
          if (looked > LOOKED_MAX) return;
          if (isRecent) yield { tenantId, side, entity };
        }
      }
    }
  }

  #memoryOf({ tenantId }: Pick<NamedPage, 'tenantId'>): TenantMemory | undefined {
    const memory = this.#served.tenants.get(tenantId);
    return memory === undefined || isLeaving(memory.tenant) ? undefined : memory;
  }

  /** Whether pages are loaded: calls are worth more, and pages that calls use are worth more than these. */
  get #mayLoad(): boolean {
    return this.#served.serving && !this.#ports.budget.isNearlyFull;
  }

  /** The pages that have few rows, many at once. `loaded`: gets their keys. */
  *#together(pages: readonly NamedPage[], loaded: Set<string>): Generator<Preload> {
    const begun = new Set<TenantId>();
    for (const part of partsOf(pages)) {
      if (!this.#mayLoad) return;
      const isFirst = !begun.has(part.tenantId);
      begun.add(part.tenantId);
      yield async () => {
        const memory = this.#memoryOf(part);
        if (memory === undefined) return;
        const settings = isFirst ? memory.loadSettings() : undefined;
        await Promise.all([settings, this.#loadPart(memory, part, loaded)]);
      };
    }
  }

  async #loadPart(memory: TenantMemory, { tenantId, side, entities }: PagesPart, loaded: Set<string>): Promise<void> {
    const { budget, observePreload } = this.#ports;
    if (!budget.loads.hasSpare(tenantId)) return;
    // What fails is tried again singly.
    const pages = memory.pagesOf(side);
    for (const entity of await pages.loadTogether(entities).catch(() => [])) {
      loaded.add(pageKey({ tenantId, side, entity }));
      observePreload('loaded');
    }
  }

  /** The others. */
  *#singly(pages: readonly NamedPage[], loaded: ReadonlySet<string>): Generator<Preload> {
    for (const page of pages) {
      if (!this.#mayLoad) return;
      if (!loaded.has(pageKey(page))) yield () => this.#load(page);
    }
  }

  async #load(page: NamedPage): Promise<void> {
    const { budget, observePreload: observe } = this.#ports;
    const { tenantId, side, entity } = page;
    const memory = this.#memoryOf(page);
    if (memory === undefined) return;
    const pages = memory.pagesOf(side);
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

/** Pages of one tenant and side that are read together. */
interface PagesPart {
  readonly tenantId: TenantId;
  readonly side: PageSide['name'];
  readonly entities: string[];
}

/** The parts with the hottest pages first. */
function partsOf(pages: readonly NamedPage[]): readonly PagesPart[] {
  const parts: PagesPart[] = [];
  const open = new Map<string, PagesPart>();
  for (const { tenantId, side, entity } of pages) {
    const key = `${tenantId} ${side}`;
    let part = open.get(key);
    if (part === undefined || part.entities.length === ENTITIES_PER_READ) {
      part = { tenantId, side, entities: [] };
      parts.push(part);
      open.set(key, part);
    }
    part.entities.push(entity);
  }
  return parts;
}

// ---- counts of uses ----
//
// Which pages of a slot are used most, estimated from samples. Counts are kept for two generations, each of bounded
// size: once the younger one is full, it replaces the older one. So pages in frequent use stay known, and the estimate
// takes the same memory and time however many pages there are.

/** Pages counted in one generation: twice as many as a slot's list of hot pages may name, in both together. */
const PAGES_PER_GENERATION = 256;
/** Estimated bytes of a page in a generation, without the characters of its entity, which a page in memory shares. */
const USED_PAGE_BYTES = 64;

export interface NamedPage {
  readonly tenantId: TenantId;
  readonly side: PageSide['name'];
  readonly entity: string;
}

/** By tenant, then by side and entity. */
type Generation = Map<TenantId, Map<string, number>>;

/** Neither name of a side is the beginning of the other. */
const keyOf = (side: PageSide['name'], entity: string): string => `${side} ${entity}`;
const pageKey = ({ tenantId, side, entity }: NamedPage): string => `${tenantId} ${keyOf(side, entity)}`;

function pageOf(tenantId: TenantId, key: string): NamedPage {
  const space = key.indexOf(' ');
  return { tenantId, side: key.startsWith('object ') ? 'object' : 'subject', entity: key.slice(space + 1) };
}

export class PageUses {
  #young: Generation = new Map();
  #old: Generation = new Map();
  #youngPages = 0;
  #oldPages = 0;

  /** Estimated. */
  get bytes(): number {
    return (this.#youngPages + this.#oldPages) * USED_PAGE_BYTES;
  }

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
    this.#oldPages = this.#youngPages;
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

const EMPTY_LIST = encodeHotPages([]);

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

interface PageLookup {
  readonly tenure: { readonly hotPages: { note(page: NamedPage): void } };
  readonly memory: Pick<TenantMemory, 'tenantId' | 'pagesOf'>;
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
    if (this.#unsampled >= USES_PER_SAMPLE) this.#note(where, page.entity);
  }

  /** A kept answer served a check. Its pages were not used, but the next owner, which has no answers, needs them. */
  hitAnswer(where: PageLookup, subject: string, object: string): void {
    this.hits += 1;
    this.#unsampled += 1;
    if (this.#unsampled < USES_PER_SAMPLE) return;
    const { memory } = where;
    if (memory.pagesOf('subject').get(subject) !== undefined) this.#note(where, subject);
    if (memory.pagesOf('object').get(object) !== undefined) this.#note(where, object, 'object');
  }

  /** The lookups of a bulk call succeeded; `entityAt`: the subjects of their pages. */
  hitMany(where: PageLookup, count: number, entityAt: (index: number) => string | undefined): void {
    this.hits += count;
    this.#unsampled += count;
    // Each call is sampled once at most, at another place each time.
    if (this.#unsampled < USES_PER_SAMPLE) return;
    const entity = entityAt(this.hits % count);
    if (entity !== undefined) this.#note(where, entity);
  }

  #note({ tenure, memory: { tenantId } }: PageLookup, entity: string, side: PageSide['name'] = 'subject'): void {
    this.#unsampled = 0;
    tenure.hotPages.note({ tenantId, side, entity });
  }
}

// ---- before the slot is claimed ----
//
// The hot pages of a slot, read before the slot is claimed, so that a handover leaves nothing cold behind. Invariant:
// they are read after the checkpoint that the replay of the log begins with, so they lack nothing from before it, and
// the replay puts everything later over them. Bound: a few pages of a slot and a few rows of each, counted in the
// budget until they are disposed of. An opening waits for none of them.

/** The hottest pages of a slot, and their bytes; the others are loaded once it is served. */
const AHEAD_PAGES_MAX = 128;
const AHEAD_BYTES_MAX = 1024 * 1024;
/** Estimated bytes of a row that was read, without its characters. */
const HELD_ROW_BYTES = 200;

export interface PageAhead extends NamedPage {
  readonly rows: readonly PageRow[];
}

export interface PagesAheadPorts {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly budget: Pick<MemoryBudget, 'hold' | 'isNearlyFull' | 'loads' | 'preloads'>;
}

export class PagesAhead implements Disposable {
  readonly #ports: PagesAheadPorts;
  readonly #pages: PageAhead[] = [];
  #bytes = 0;
  #disposed = false;

  /** The stored list of hot pages, once it is read. */
  list: string | undefined;

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
    this.list = await store.readHotPages(slot, storeDeadline(clock));
    const named = (this.list === undefined ? undefined : decodeHotPages(this.list)) ?? [];
    await budget.preloads.together(this.#reads(named.slice(0, AHEAD_PAGES_MAX)));
  }

  *#reads(pages: readonly NamedPage[]): Generator<Preload> {
    for (const part of partsOf(pages)) {
      if (this.#disposed || this.#bytes >= AHEAD_BYTES_MAX || this.#ports.budget.isNearlyFull) return;
      yield () => this.#readPart(part).catch(() => {});
    }
  }

  async #readPart({ tenantId, side, entities }: PagesPart): Promise<void> {
    const { store, clock, budget } = this.#ports;
    const leave = budget.loads.tryEnter(tenantId, entities.length * ROWS_OF_EACH * ROW_BYTES);
    if (leave === undefined) return;
    try {
      const query = { entities, limit: ROWS_OF_EACH };
      const of = side === 'subject' ? SUBJECT_SIDE : OBJECT_SIDE;
      const read = await of.listRowsOfEach(store, tenantId, query, storeDeadline(clock));
      for (const [index, { rows, isAll }] of this.#disposed ? [] : read.entries()) {
        if (isAll) this.#add({ tenantId, side, entity: entities[index] ?? '', rows });
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

const bytesOf = ({ entity, rows }: PageAhead): number =>
  rows.reduce((sum, { counterpart }) => sum + HELD_ROW_BYTES + counterpart.length, HELD_ROW_BYTES + entity.length);
