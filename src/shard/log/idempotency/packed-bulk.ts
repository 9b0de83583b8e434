// The result of a bulk write in little memory: 17 bytes for a grant and one for a revocation. It keeps: what is
// unpacked equals what was packed.

import { attributesOfId, isToldById } from '../../../core/grant-attributes.ts';
import { readUuidWords, UUID_WORDS, uuidTextOf } from '../../../core/ids.ts';
import type { BulkWriteResult } from '../../shard.ts';

type Written = Extract<BulkWriteResult, { kind: 'written' }>;

const GRANT_PREFIX = 'grt_';
/** Overhead of the object and its three arrays. */
const OVERHEAD_BYTES = 900;

export class PackedBulk {
  readonly #created: Uint8Array;
  readonly #ids: Uint32Array;
  readonly #revoked: Uint8Array;

  private constructor(created: Uint8Array, ids: Uint32Array, revoked: Uint8Array) {
    this.#created = created;
    this.#ids = ids;
    this.#revoked = revoked;
  }

  /** Undefined: an attribute of a grant is not determined by its id. */
  static of({ grants, revoked }: Written): PackedBulk | undefined {
    const ids = new Uint32Array(UUID_WORDS * grants.length);
    for (const [index, grant] of grants.entries()) {
      if (!grant.grantId.startsWith(GRANT_PREFIX) || !isToldById(grant)) return undefined;
      if (!readUuidWords(grant.grantId, GRANT_PREFIX.length, ids, UUID_WORDS * index)) return undefined;
    }
    const created = Uint8Array.from(grants, (grant) => (grant.created ? 1 : 0));
    return new PackedBulk(
      created,
      ids,
      Uint8Array.from(revoked, (ended) => (ended ? 1 : 0)),
    );
  }

  get bytes(): number {
    return OVERHEAD_BYTES + this.#created.byteLength + this.#ids.byteLength + this.#revoked.byteLength;
  }

  unpack(): Written {
    const grants = Array.from(this.#created, (created, index) => ({
      created: created === 1,
      ...attributesOfId(GRANT_PREFIX + uuidTextOf(this.#ids, UUID_WORDS * index)),
    }));
    return { kind: 'written', grants, revoked: Array.from(this.#revoked, (ended) => ended === 1) };
  }
}
