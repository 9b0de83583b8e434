// Lookups of subjects in memory: counts of hits and misses, and a sample of the pages used.

import type { NamedPage } from './page-uses.ts';
import type { TenantMemory } from './tenant-memory.ts';

/** Samples 1 in 16 lookups, so that sampling costs next to nothing. */
const LOOKUPS_PER_SAMPLE = 16;

interface LookedUp {
  readonly tenure: { readonly hotPages: { note(page: NamedPage): void } };
  readonly memory: Pick<TenantMemory, 'tenantId'>;
}

export class Lookups {
  /** Since the metrics were last read. */
  hits = 0;
  misses = 0;
  #unsampled = 0;

  /** A lookup found the page of the subject. */
  hit(where: LookedUp, page: { referenced: boolean; readonly entity: string }): void {
    page.referenced = true;
    this.hits += 1;
    this.#unsampled += 1;
    if (this.#unsampled >= LOOKUPS_PER_SAMPLE) this.#note(where, page.entity);
  }

  /** The lookups of a bulk call succeeded; `entityAt`: the subjects of their pages. */
  hitMany(where: LookedUp, count: number, entityAt: (index: number) => string | undefined): void {
    this.hits += count;
    this.#unsampled += count;
    // Each call is sampled once at most, at another place each time.
    if (this.#unsampled < LOOKUPS_PER_SAMPLE) return;
    const entity = entityAt(this.hits % count);
    if (entity !== undefined) this.#note(where, entity);
  }

  #note({ tenure, memory: { tenantId } }: LookedUp, entity: string): void {
    this.#unsampled = 0;
    tenure.hotPages.note({ tenantId, side: 'subject', entity });
  }
}
