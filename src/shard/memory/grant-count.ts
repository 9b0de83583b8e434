// The number of a tenant's live grants, and their bytes. Both are derived from the log, change by change, so every
// owner that reads the same log has the same count. The applier writes the count with the entries that changed it, so
// the stored row is never behind the checkpoint. It may be ahead: its seq says which entries of a replay it already
// includes.
//
// For a tenant that is older than these counts, a walk counts in the background (grant-walk.ts), in the order of
// bucket, subject, relation, object. Until it is done a commit at or before the walk's position changes the count. A
// commit after it does not, since the walk has yet to get there.

import { z } from 'zod';
import type { TenantId } from '../../core/ids.ts';
import { bucketOfSubject, SUBJECT_BUCKETS } from '../../core/slots.ts';
import { compareUtf8, RELATIONS, type Relation, type Tuple } from '../../core/tuples.ts';
import type { GrantCountRow } from '../../store/store.ts';
import type { Change } from '../log-changes.ts';
import type { TenantGrants } from '../shard.ts';

/** A subject in counting order. */
export interface SubjectPlace {
  readonly bucket: number;
  /** Empty: before the first subject of the bucket. */
  readonly subject: string;
}

/** Everything up to here is counted. */
export interface CountPosition extends SubjectPlace {
  /** The last counted grant of the subject; undefined: all are counted. */
  readonly grant: { readonly relation: Relation; readonly object: string } | undefined;
}

const START: CountPosition = Object.freeze({ bucket: 0, subject: '', grant: undefined });

export const comparePlaces = (left: SubjectPlace, right: SubjectPlace): number =>
  left.bucket - right.bucket || compareUtf8(left.subject, right.subject);

type GrantPlace = NonNullable<CountPosition['grant']>;

export const compareGrants = (left: GrantPlace, right: GrantPlace): number =>
  compareUtf8(left.relation, right.relation) || compareUtf8(left.object, right.object);

/** What a grant adds to the bytes of its tenant: its three strings in UTF-8. */
export const bytesOfGrant = ({ subject, relation, object }: Tuple): number =>
  Buffer.byteLength(subject) + relation.length + Buffer.byteLength(object);

/**
 * Bucket, subject, relation, object. Without a relation, the last element is the seq up to which the search has come.
 */
const positionSchema = z.tuple([
  z
    .int()
    .min(0)
    .max(SUBJECT_BUCKETS - 1),
  z.string(),
  z.enum(RELATIONS).nullable(),
  z.string().nullable(),
]);

interface Progress {
  readonly position: CountPosition;
  readonly searchedTo: number | undefined;
}

/** Nothing is counted during the search. An older version reads this as the beginning. */
function encodeProgress({ position: { bucket, subject, grant }, searchedTo }: Progress): string {
  const last = searchedTo === undefined ? (grant?.object ?? null) : String(searchedTo);
  return JSON.stringify([bucket, subject, grant?.relation ?? null, last]);
}

function decodeProgress(text: string): Progress {
  const [bucket, subject, relation, last] = positionSchema.parse(JSON.parse(text));
  const grant = relation === null || last === null ? undefined : { relation, object: last };
  const searchedTo = relation === null && last !== null ? z.coerce.number().int().parse(last) : undefined;
  return { position: { bucket, subject, grant }, searchedTo };
}

export class GrantCount {
  #grants = 0;
  #bytes = 0;
  /** The seq of the loaded row: the count includes the entries up to here. */
  #loadedSeq = 0;
  #steps = 0;
  /** Undefined: all grants are counted. */
  #position: CountPosition | undefined = START;
  #searchedTo: number | undefined;
  /** Whether the tenant has a row. Without one, nothing of it is stored by object. */
  #hasRow = false;
  /** Whether the walk has advanced since the row was last saved. */
  unsaved = false;
  /** Set during a walk; receives subjects after the position that were given grants. */
  #onCreated: ((subject: string) => void) | undefined;

  /** Undefined while the count is in progress. */
  get total(): TenantGrants | undefined {
    return this.#position === undefined ? { grants: this.#grants, bytes: this.#bytes } : undefined;
  }

  /** Undefined while the count is in progress. */
  get grants(): number | undefined {
    return this.#position === undefined ? this.#grants : undefined;
  }

  get position(): CountPosition | undefined {
    return this.#position;
  }

  /**
   * Set before the walk may begin: the audit log has to be searched from this seq on, for revocations that a version
   * without rows by object made (revocation-search.ts).
   */
  get searchedTo(): number | undefined {
    return this.#searchedTo;
  }

  /** Whether a walk has advanced the position, in this tenure or an earlier one. */
  get begun(): boolean {
    return this.#position !== START;
  }

  /** Whether the row that is written next is the tenant's first. True once. */
  isFirstRow(): boolean {
    const isFirst = !this.#hasRow;
    this.#hasRow = true;
    return isFirst;
  }

  /**
   * Continues from a stored row, before any entry is replayed. If it is not right, since a version that keeps none has
   * owned the slot after it was written, the count starts over. A search that was not finished goes on.
   */
  load(row: GrantCountRow, isRight: boolean): void {
    const progress = row.position === undefined ? undefined : decodeProgress(row.position);
    this.#hasRow = true;
    if (!isRight) {
      this.#searchedTo = progress?.searchedTo ?? 0;
      return;
    }
    this.#position = progress?.position;
    this.#searchedTo = progress?.searchedTo;
    this.#grants = row.grants;
    this.#bytes = row.bytes;
    this.#steps = row.steps;
    this.#loadedSeq = row.seq;
  }

  /**
   * Applies a committed change, in log order. Returns whether the row must be written with the entry. That is also the
   * case if the change is not counted yet, so that a late row of an earlier owner does not pass for the latest.
   */
  commit(change: Change, seq: number): boolean {
    if (seq <= this.#loadedSeq) return false;
    switch (change.kind) {
      case 'tenant-created':
        // A new tenant has no grants to count.
        this.#position = undefined;
        return true;
      case 'grant-created':
        this.#add(change.grant, 1);
        return true;
      case 'grant-revoked':
        this.#add(change.grant, -1);
        return true;
      default:
        return false;
    }
  }

  #add(grant: Tuple, sign: 1 | -1): void {
    if (this.#position !== undefined && !isCounted(this.#position, grant)) {
      if (sign > 0) this.#onCreated?.(grant.subject);
      return;
    }
    this.#grants += sign;
    this.#bytes += sign * bytesOfGrant(grant);
  }

  /** The row as of `seq`, the last committed entry. */
  row(tenantId: TenantId, seq: number): GrantCountRow {
    const position = this.#position && encodeProgress({ position: this.#position, searchedTo: this.#searchedTo });
    return { tenantId, seq, grants: this.#grants, bytes: this.#bytes, position, steps: this.#steps };
  }

  /** The row is stored. */
  saved(row: GrantCountRow): void {
    this.#hasRow = true;
    if (row.steps === this.#steps) this.unsaved = false;
  }

  /** A walk begins, or ends (undefined). */
  watchCreated(onCreated: ((subject: string) => void) | undefined): void {
    this.#onCreated = onCreated;
  }

  /** The audit log is searched up to this seq; undefined: to its end. */
  searched(seq: number | undefined): void {
    this.#searchedTo = seq;
    this.#steps += 1;
    this.unsaved = true;
  }

  /** The walk has counted everything between the position and this one; undefined: everything. */
  advance(position: CountPosition | undefined, found: TenantGrants): void {
    this.#grants += found.grants;
    this.#bytes += found.bytes;
    this.#position = position;
    this.#steps += 1;
    this.unsaved = true;
  }
}

function isCounted(position: CountPosition, { subject, relation, object }: Tuple): boolean {
  const order = comparePlaces({ bucket: bucketOfSubject(subject), subject }, position);
  if (order !== 0) return order < 0;
  return position.grant === undefined || compareGrants({ relation, object }, position.grant) <= 0;
}
