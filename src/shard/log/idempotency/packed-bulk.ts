// The result of a bulk write in little memory: 17 bytes for a grant, 25 in one whose grants expire, and one for a
// revocation. It keeps: what is unpacked equals what was packed.

import { attributesOfId, isToldById, withExpiry } from '../../../core/grant-attributes.ts';
import { readUuidWords, UUID_WORDS, uuidTextOf } from '../../../core/ids.ts';
import type { BulkWriteResult } from '../../shard.ts';

type Written = Extract<BulkWriteResult, { kind: 'written' }>;

const GRANT_PREFIX = 'grt_';
/** Overhead of the object and its three arrays; of the array of expiries. */
const OVERHEAD_BYTES = 900;
const EXPIRIES_BYTES = 250;
/** In place of an expiry. */
const NEVER = 0;

export class PackedBulk {
  readonly #created: Uint8Array;
  readonly #ids: Uint32Array;
  readonly #revoked: Uint8Array;
  readonly #expiries: Float64Array | undefined;

  private constructor({ grants, revoked }: Written, ids: Uint32Array) {
    this.#created = Uint8Array.from(grants, ({ created }) => (created ? 1 : 0));
    this.#ids = ids;
    this.#revoked = Uint8Array.from(revoked, (ended) => (ended ? 1 : 0));
    this.#expiries = grants.some(({ expiresAtMs }) => expiresAtMs !== undefined)
      ? Float64Array.from(grants, ({ expiresAtMs }) => expiresAtMs ?? NEVER)
      : undefined;
  }

  /** Undefined: an attribute of a grant is not determined by its id. */
  static of(written: Written): PackedBulk | undefined {
    const { grants } = written;
    const ids = new Uint32Array(UUID_WORDS * grants.length);
    for (const [index, grant] of grants.entries()) {
      if (grant.expiresAtMs === NEVER) return undefined;
      if (!grant.grantId.startsWith(GRANT_PREFIX) || !isToldById(grant)) return undefined;
      if (!readUuidWords(grant.grantId, GRANT_PREFIX.length, ids, UUID_WORDS * index)) return undefined;
    }
    return new PackedBulk(written, ids);
  }

  get bytes(): number {
    const ofExpiries = this.#expiries === undefined ? 0 : EXPIRIES_BYTES + this.#expiries.byteLength;
    return OVERHEAD_BYTES + this.#created.byteLength + this.#ids.byteLength + this.#revoked.byteLength + ofExpiries;
  }

  unpack(): Written {
    const grants = Array.from(this.#created, (created, index) => ({
      created: created === 1,
      ...withExpiry(
        attributesOfId(GRANT_PREFIX + uuidTextOf(this.#ids, UUID_WORDS * index)),
        this.#expiries?.[index] || undefined,
      ),
    }));
    return { kind: 'written', grants, revoked: Array.from(this.#revoked, (ended) => ended === 1) };
  }
}
