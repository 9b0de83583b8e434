// The number of a tenant's live grants, also by own relation and by condition, and their bytes. All are derived from
// the log, change by change from the creation of the tenant on, so every owner that reads the same log has the same
// count. The applier writes the count with the entries that changed it, so the stored row is never behind the
// checkpoint. It may be ahead: its seq says which entries of a replay it already includes.

import type { GrantAttributes } from '../../core/grant-attributes.ts';
import type { TenantId } from '../../core/ids.ts';
import { isRelationName, type Relation, type Tuple } from '../../core/tuples.ts';
import type { CountKey, GrantCountRow } from '../../store/store.ts';
import { countDifferences, endsGrant, type GrantChange, grantDifference } from '../log-changes.ts';
import type { TenantGrants } from '../shard.ts';

/** What a grant adds to the bytes of its tenant: its three strings in UTF-8. */
export const bytesOfGrant = ({ subject, relation, object }: Tuple): number =>
  Buffer.byteLength(subject) + relation.length + Buffer.byteLength(object);

const NO_RELATIONS: readonly Relation[] = Object.freeze([]);

const RELATION_KEY = 'relation:';

function relationIn(key: CountKey): readonly Relation[] {
  const name = key.slice(RELATION_KEY.length);
  return key.startsWith(RELATION_KEY) && isRelationName(name) ? [name] : NO_RELATIONS;
}

export class GrantCount {
  #grants = 0;
  #bytes = 0;
  /** Those without a grant left out; undefined: there never were any. */
  #byKey: Map<CountKey, number> | undefined;
  /** The seq of the loaded row: the count includes the entries up to here. */
  #loadedSeq = 0;
  /**
   * Every grant of the tenant that expires no later is collected. As the base of an entry: less what time is behind
   * bases, it is the time up to which that holds, also after time was set back. Undefined: none ever had an expiry.
   * Stored with the next change of the count.
   */
  collectedToBaseMs: number | undefined;

  get grants(): number {
    return this.#grants;
  }

  get total(): TenantGrants {
    return { grants: this.#grants, bytes: this.#bytes };
  }

  /** The own relations that have grants. Rules declare each of them. */
  get ownRelations(): readonly Relation[] {
    return this.#byKey === undefined ? NO_RELATIONS : [...this.#byKey.keys()].flatMap(relationIn);
  }

  get hasConditions(): boolean {
    return this.#byKey?.keys().some((key) => key.startsWith('condition:')) ?? false;
  }

  countOf(key: CountKey): number {
    return this.#byKey?.get(key) ?? 0;
  }

  /** Continues from a stored row, before any entry is replayed. */
  load(row: GrantCountRow): void {
    this.#grants = row.grants;
    this.#bytes = row.bytes;
    this.#byKey = row.byKey && new Map(row.byKey.map(({ key, grants }) => [key, grants]));
    this.#loadedSeq = row.seq;
    this.collectedToBaseMs = row.collectedToBaseMs;
  }

  /** Applies a committed change, in log order. Returns whether the row must be written with the entry. */
  commit(change: GrantChange, seq: number): boolean {
    if (seq <= this.#loadedSeq) return false;
    const grants = grantDifference(change);
    this.#grants += grants;
    this.#bytes += grants * bytesOfGrant(change.grant);
    const recounted = this.#recount(change);
    const expires = !endsGrant(change) && this.#expires(change.grant);
    return grants !== 0 || recounted || expires;
  }

  /** Whether this is the first grant of the tenant that expires. */
  #expires({ expiresAtMs }: GrantAttributes): boolean {
    if (expiresAtMs === undefined || this.collectedToBaseMs !== undefined) return false;
    this.collectedToBaseMs = 0;
    return true;
  }

  /** Returns whether the counts by key have changed. */
  #recount(change: GrantChange): boolean {
    const differences = countDifferences(change);
    for (const { key, grants } of differences) {
      const count = this.countOf(key) + grants;
      this.#byKey ??= new Map();
      if (count === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, count);
    }
    return differences.length > 0;
  }

  /** The row as of `seq`, the last committed entry. */
  row(tenantId: TenantId, seq: number): GrantCountRow {
    const byKey = Array.from(this.#byKey ?? [], ([key, grants]) => ({ key, grants }));
    return {
      tenantId,
      seq,
      grants: this.#grants,
      bytes: this.#bytes,
      ...(byKey.length === 0 ? {} : { byKey }),
      ...(this.collectedToBaseMs === undefined ? {} : { collectedToBaseMs: this.collectedToBaseMs }),
    };
  }
}
