// Outcomes of operations by operation id, in little memory: the content of one generation of the operation memory.
// Invariants: a stored outcome is found again unchanged, and `bytes` counts all the memory in use.
//
// A single write takes 36 bytes in a hash table of typed arrays (`OperationBlocks`). Operations of one request that
// share a batch, such as the lines of an import, form a run: they take 17 bytes each under one entry. The result of a
// grant that expires takes 8 bytes more. Anything else is stored as an object.

import { assert, assertNever } from '../../../core/assert.ts';
import type { GrantdError } from '../../../core/errors.ts';
import {
  attributesOfId,
  type GrantAttributes,
  isTimedById,
  textOfTerms,
  withTerms,
} from '../../../core/grant-attributes.ts';
import { readUuidWords, UUID_WORDS, uuidTextOf } from '../../../core/ids.ts';
import type { BulkWriteResult, GrantResult } from '../../shard.ts';
import type { OperationResult } from '../write-decisions.ts';

export type OperationOutcome = { readonly result: OperationResult } | { readonly error: GrantdError };

/** (requestId, index) is its id. */
export interface DecidedOperation {
  readonly requestId: string;
  readonly index: number;
  readonly outcome: OperationOutcome;
}

/** Operations of one request in one batch. Fewer than this take less memory in the hash table. */
const RUN_LENGTH_MIN = 16;
/**
 * Overhead of a run, with its request id and its map entries; of an outcome stored as an object, without its strings;
 * of an error with its stack.
 */
const RUN_BYTES = 600;
const OTHER_BYTES = 400;
const ERROR_BYTES = 2000;
/** In a bulk write that is not packed: a grant as an object with its id; a revocation. */
const RECORD_BYTES = 160;
const FLAG_BYTES = 8;

/** An expiry in ms is below 2 ** 53. */
const EXPIRY_WORDS = 2;
const WORD_VALUES = 2 ** 32;

const REQUEST_PREFIX = 'req_';
const GRANT_PREFIX = 'grt_';

/** Outcomes with a grant. */
const GRANT_KINDS = ['created', 'changed', 'exists'] as const;
/**
 * Kinds of outcomes: those with a grant id, the same with an expiry too, those shared by many operations, and those
 * stored as objects.
 */
const EXPIRING = GRANT_KINDS.length;
const SHARED = 2 * GRANT_KINDS.length;
const OTHER = 255;
const SHARED_MAX = OTHER - SHARED;

interface Run {
  readonly first: number;
  readonly kinds: Uint8Array;
  /** The grant ids of all operations of the run, if at least one has a grant id. */
  readonly grantIds: Uint32Array | undefined;
  /** The expiries in the same way. */
  readonly expiries: Float64Array | undefined;
}

/** The index of the grant id of an outcome, if it has one. */
interface StoredGrant {
  readonly words: Uint32Array | undefined;
  readonly at: number;
  readonly expiresAtMs: number | undefined;
}

/** A request id, a grant id and an expiry. */
const scratch = new Uint32Array(2 * UUID_WORDS + EXPIRY_WORDS);
const REQUEST = 0;
const GRANT = UUID_WORDS;
const EXPIRY = 2 * UUID_WORDS;
/** The request id whose words are in `scratch`; mostly the next lookup needs the same one. */
let scratchRequestId = '';

/** Parses a request id into `scratch`; false: the id does not have our format. */
function readRequestId(requestId: string): boolean {
  if (requestId === scratchRequestId) return true;
  scratchRequestId = '';
  if (!requestId.startsWith(REQUEST_PREFIX)) return false;
  if (!readUuidWords(requestId, REQUEST_PREFIX.length, scratch, REQUEST)) return false;
  scratchRequestId = requestId;
  return true;
}

/** The kind of an outcome whose grant id and expiry are now in `scratch`, or undefined. */
function grantKindOf(outcome: OperationOutcome): number | undefined {
  if (!('result' in outcome) || outcome.result.kind !== 'grant') return undefined;
  const { grant } = outcome.result;
  if (!('grantId' in grant)) return undefined;
  const kind = GRANT_KINDS.indexOf(grant.kind);
  const { grantId, expiresAtMs } = grant;
  if (textOfTerms(grant) !== '') return undefined;
  if (!grantId.startsWith(GRANT_PREFIX) || !isTimedById(grant)) return undefined;
  if (!readUuidWords(grantId, GRANT_PREFIX.length, scratch, GRANT) || (expiresAtMs ?? 1) <= 0) return undefined;
  if (expiresAtMs === undefined) return kind;
  scratch[EXPIRY] = expiresAtMs % WORD_VALUES;
  scratch[EXPIRY + 1] = Math.floor(expiresAtMs / WORD_VALUES);
  return EXPIRING + kind;
}

const expires = (kind: number): boolean => kind >= EXPIRING && kind < SHARED;

const expiryAt = (words: Uint32Array, at: number): number => (words[at] ?? 0) + WORD_VALUES * (words[at + 1] ?? 0);

function grantOutcome(kind: number, grantId: string, expiresAtMs: number | undefined): OperationOutcome {
  const attributes = withTerms(attributesOfId(grantId), { expiresAtMs: expiresAtMs ?? null });
  const grantKind = GRANT_KINDS[kind % EXPIRING];
  assert(grantKind !== undefined, 'a kind with a grant has its name');
  return { result: { kind: 'grant', grant: { kind: grantKind, ...attributes } } };
}

/** A name that equal outcomes share, for outcomes that are often the same; undefined: stored as an object. */
function sharedNameOf(outcome: OperationOutcome): string | undefined {
  if ('error' in outcome) {
    const { code, message, details } = outcome.error;
    return Object.keys(details).length > 0 ? undefined : `error ${code} ${message}`;
  }
  const { result } = outcome;
  if (result.kind === 'key-revoked' || result.kind === 'rules-written') return result.kind;
  if (result.kind === 'revocation' && result.revoked === 0) return `revocation ${result.complete}`;
  if (result.kind === 'bulk') return sharedNameOfBulk(result.bulk);
  if (result.kind !== 'grant') return undefined;
  const { grant } = result;
  if (grant.kind === 'refused') return `refused ${grant.code} ${grant.message}`;
  return grant.kind === 'revoked' || grant.kind === 'not-found' ? grant.kind : undefined;
}

function sharedNameOfBulk(bulk: BulkWriteResult): string | undefined {
  if (bulk.kind === 'precondition-not-met') return `precondition ${bulk.precondition}`;
  return bulk.kind === 'refused' ? `bulk refused ${bulk.code} ${bulk.message}` : undefined;
}

/** A lower bound for the memory of an outcome that is stored as an object. */
function bytesOf(outcome: OperationOutcome): number {
  if ('error' in outcome) return ERROR_BYTES;
  const { result } = outcome;
  switch (result.kind) {
    case 'namespace':
      return OTHER_BYTES + 2 * result.namespace.name.length;
    case 'key':
      return 2 * OTHER_BYTES + 2 * result.key.name.length;
    case 'key-rotated':
      return 4 * OTHER_BYTES + 2 * result.key.name.length;
    case 'tenant':
      return 2 * OTHER_BYTES + 2 * (result.tenant.name.length + result.tenant.plan.length);
    case 'bulk':
      return bytesOfBulk(result.bulk);
    case 'key-revoked':
    case 'rules-written':
    case 'collected':
    case 'revocation':
      return OTHER_BYTES;
    case 'grant':
      return OTHER_BYTES + bytesOfGrant(result.grant);
    default:
      return assertNever(result);
  }
}

function bytesOfGrant(grant: GrantResult): number {
  if (grant.kind === 'refused') return 2 * grant.message.length;
  return 'grantId' in grant ? conditionBytes(grant) : 0;
}

const conditionBytes = ({ condition = '' }: GrantAttributes): number => 2 * condition.length;

function packedOf(outcome: OperationOutcome): PackedBulk | undefined {
  if (!('result' in outcome) || outcome.result.kind !== 'bulk') return undefined;
  const { bulk } = outcome.result;
  return bulk.kind === 'written' ? PackedBulk.of(bulk) : undefined;
}

function bytesOfBulk(bulk: BulkWriteResult): number {
  if (bulk.kind === 'refused') return OTHER_BYTES + 2 * bulk.message.length;
  if (bulk.kind === 'precondition-not-met') return OTHER_BYTES;
  const conditions = bulk.grants.reduce((sum, grant) => sum + conditionBytes(grant), 0);
  return 2 * OTHER_BYTES + RECORD_BYTES * bulk.grants.length + FLAG_BYTES * bulk.revoked.length + conditions;
}

const nameOf = (requestId: string, index: number): string => `${requestId}/${index}`;

export class OperationTable {
  #bytes = 0;
  readonly #blocks = new OperationBlocks(UUID_WORDS);
  /** Blocks for grants that expire. */
  readonly #expiringBlocks = new OperationBlocks(UUID_WORDS + EXPIRY_WORDS);
  readonly #runs = new Map<string, Run[]>();
  readonly #shared: OperationOutcome[] = [];
  readonly #sharedKinds = new Map<string, number>();
  readonly #others = new Map<string, OperationOutcome | PackedBulk>();

  get bytes(): number {
    return this.#bytes + this.#blocks.bytes + this.#expiringBlocks.bytes;
  }

  /** Adds the outcomes of one batch. The table must not contain any of them yet. */
  add(operations: readonly DecidedOperation[]): void {
    if (operations.length < RUN_LENGTH_MIN) {
      for (const operation of operations) this.#addOne(operation);
      return;
    }
    // Requests of several tenants alternate in a batch.
    const byRequest = new Map<string, DecidedOperation[]>();
    for (const operation of operations) {
      const ofRequest = byRequest.get(operation.requestId);
      if (ofRequest === undefined) byRequest.set(operation.requestId, [operation]);
      else ofRequest.push(operation);
    }
    for (const ofRequest of byRequest.values()) this.#addOfRequest(ofRequest);
  }

  #addOfRequest(operations: readonly DecidedOperation[]): void {
    let start = 0;
    for (let end = 1; end <= operations.length; end += 1) {
      const last = operations[end - 1];
      if (last !== undefined && operations[end]?.index === last.index + 1) continue;
      const consecutive = operations.slice(start, end);
      if (consecutive.length >= RUN_LENGTH_MIN) this.#addRun(consecutive);
      else for (const operation of consecutive) this.#addOne(operation);
      start = end;
    }
  }

  #addRun(operations: readonly DecidedOperation[]): void {
    const [first] = operations;
    if (first === undefined) return;
    const kinds = new Uint8Array(operations.length);
    let grantIds: Uint32Array | undefined;
    let expiries: Float64Array | undefined;
    for (const [position, operation] of operations.entries()) {
      const kind = this.#kindOf(operation);
      kinds[position] = kind;
      if (kind >= SHARED) continue;
      if (expires(kind)) {
        expiries ??= new Float64Array(operations.length);
        expiries[position] = expiryAt(scratch, EXPIRY);
      }
      grantIds ??= new Uint32Array(UUID_WORDS * operations.length);
      for (let word = 0; word < UUID_WORDS; word += 1) {
        grantIds[UUID_WORDS * position + word] = scratch[GRANT + word] ?? 0;
      }
    }
    const run = { first: first.index, kinds, grantIds, expiries };
    const runs = this.#runs.get(first.requestId);
    // A string of a request may share the memory of the whole message that contained it.
    if (runs === undefined) this.#runs.set(Buffer.from(first.requestId).toString(), [run]);
    else runs.push(run);
    this.#bytes += RUN_BYTES + kinds.byteLength + (grantIds?.byteLength ?? 0) + (expiries?.byteLength ?? 0);
  }

  #addOne(operation: DecidedOperation): void {
    const { requestId, index } = operation;
    if (index > INDEX_MAX || !readRequestId(requestId)) {
      this.#addOther(operation);
      return;
    }
    const kind = this.#kindOf(operation);
    (expires(kind) ? this.#expiringBlocks : this.#blocks).add(scratch, index, kind);
  }

  /** For kinds below `SHARED` the grant is in `scratch` afterwards. Stores an outcome of kind `OTHER` as an object. */
  #kindOf(operation: DecidedOperation): number {
    const { outcome } = operation;
    const kind = grantKindOf(outcome);
    if (kind !== undefined) return kind;
    const name = sharedNameOf(outcome);
    const shared = name === undefined ? undefined : (this.#sharedKinds.get(name) ?? this.#share(name, outcome));
    if (shared === undefined) this.#addOther(operation);
    return shared ?? OTHER;
  }

  #share(name: string, outcome: OperationOutcome): number | undefined {
    if (this.#shared.length >= SHARED_MAX) return undefined;
    const kind = SHARED + this.#shared.length;
    this.#shared.push(outcome);
    this.#sharedKinds.set(name, kind);
    this.#bytes += bytesOf(outcome);
    return kind;
  }

  #addOther({ requestId, index, outcome }: DecidedOperation): void {
    const packed = packedOf(outcome);
    this.#others.set(nameOf(requestId, index), packed ?? outcome);
    this.#bytes += packed === undefined ? bytesOf(outcome) : OTHER_BYTES + packed.bytes;
  }

  #findOther(requestId: string, index: number): OperationOutcome | undefined {
    const found = this.#others.get(nameOf(requestId, index));
    return found instanceof PackedBulk ? { result: { kind: 'bulk', bulk: found.unpack() } } : found;
  }

  find(requestId: string, index: number): OperationOutcome | undefined {
    if (this.bytes > 0 && index <= INDEX_MAX && readRequestId(requestId)) {
      const found = this.#blocks.find(scratch, index) ?? this.#expiringBlocks.find(scratch, index);
      if (found !== undefined) {
        const { kind, words, at } = found;
        const expiresAtMs = expires(kind) ? expiryAt(words, at + UUID_WORDS) : undefined;
        return this.#outcomeOf(kind, requestId, index, { words, at, expiresAtMs });
      }
    }
    const runs = this.#runs.size === 0 ? undefined : this.#runs.get(requestId);
    for (const run of runs ?? []) {
      const position = index - run.first;
      const kind = position < 0 ? undefined : run.kinds[position];
      if (kind === undefined) continue;
      const expiresAtMs = expires(kind) ? run.expiries?.[position] : undefined;
      const at = UUID_WORDS * position;
      return this.#outcomeOf(kind, requestId, index, { words: run.grantIds, at, expiresAtMs });
    }
    return this.#others.size === 0 ? undefined : this.#findOther(requestId, index);
  }

  #outcomeOf(
    kind: number,
    requestId: string,
    index: number,
    { words, at, expiresAtMs }: StoredGrant,
  ): OperationOutcome | undefined {
    if (kind === OTHER) return this.#findOther(requestId, index);
    if (kind >= SHARED || words === undefined) return this.#shared[kind - SHARED];
    return grantOutcome(kind, GRANT_PREFIX + uuidTextOf(words, at), expiresAtMs);
  }
}

// ---- bulk writes ----

type Written = Extract<BulkWriteResult, { kind: 'written' }>;

/** Overhead of the object and its three arrays; of the array of expiries. */
const OVERHEAD_BYTES = 900;
const EXPIRIES_BYTES = 250;
/** In place of an expiry. */
const NEVER = 0;

export /**
 * The result of a bulk write in little memory: 17 bytes for a grant, 25 if any grant of the call expires, and one for a
 * revocation. Unpacking returns exactly what was packed.
 */
class PackedBulk {
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
      if (grant.expiresAtMs === NEVER || textOfTerms(grant) !== '') return undefined;
      if (!grant.grantId.startsWith(GRANT_PREFIX) || !isTimedById(grant)) return undefined;
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
      ...withTerms(attributesOfId(GRANT_PREFIX + uuidTextOf(this.#ids, UUID_WORDS * index)), {
        expiresAtMs: this.#expiries?.[index] || null,
      }),
    }));
    return { kind: 'written', grants, revoked: Array.from(this.#revoked, (ended) => ended === 1) };
  }
}

// ---- the hash table ----
//
// A hash table from operation ids to a few words each, in typed arrays (open addressing with linear probing; Knuth, The
// Art of Computer Programming, volume 3, section 6.4). The arrays do not grow; the table adds a larger one instead, so
// that no step copies existing content. Invariants: every added entry is found again, and `bytes` counts all the
// memory.

/** Slots of the first block and of the largest block. */
const BLOCK_SLOTS_MIN = 16;
const BLOCK_SLOTS_MAX = 16_384;
const BLOCK_GROWTH = 4;
/** The layout of a slot: request id, index and kind, content. */
const INDEX_WORD = UUID_WORDS;
const CONTENT_WORD = UUID_WORDS + 1;
/** An index and one of 256 kinds share a word; 0 marks an empty slot. */
export const INDEX_MAX = 2 ** 24 - 2;
/** Overhead of a typed array. */
const ARRAY_BYTES = 250;

interface Block {
  readonly words: Uint32Array;
  readonly mask: number;
  used: number;
}

/** An entry of the table. Its content begins at `at`, if entries of its kind have any. */
export interface FoundEntry {
  readonly kind: number;
  readonly words: Uint32Array;
  readonly at: number;
}

export class OperationBlocks {
  #bytes = 0;
  readonly #blocks: Block[] = [];
  readonly #slotWords: number;
  readonly #contentWords: number;

  constructor(contentWords: number) {
    this.#contentWords = contentWords;
    this.#slotWords = CONTENT_WORD + contentWords;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `source` has the request id, then the content. */
  add(source: Uint32Array, index: number, kind: number): void {
    const { words, mask } = this.#blockWithSpace();
    let slot = slotOf(source, index) & mask;
    while (words[this.#slotWords * slot + INDEX_WORD] !== 0) slot = (slot + 1) & mask;
    const at = this.#slotWords * slot;
    for (let word = 0; word < UUID_WORDS; word += 1) words[at + word] = source[word] ?? 0;
    words[at + INDEX_WORD] = ((index + 1) << 8) | kind;
    for (let word = 0; word < this.#contentWords; word += 1) {
      words[at + CONTENT_WORD + word] = source[UUID_WORDS + word] ?? 0;
    }
  }

  /** At most three of four slots are used. */
  #blockWithSpace(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && 4 * (last.used + 1) <= 3 * (last.mask + 1)) {
      last.used += 1;
      return last;
    }
    const slots = last === undefined ? BLOCK_SLOTS_MIN : Math.min(BLOCK_GROWTH * (last.mask + 1), BLOCK_SLOTS_MAX);
    const block = { words: new Uint32Array(this.#slotWords * slots), mask: slots - 1, used: 1 };
    this.#blocks.push(block);
    this.#bytes += ARRAY_BYTES + block.words.byteLength;
    return block;
  }

  /** `source` begins with the request id. */
  find(source: Uint32Array, index: number): FoundEntry | undefined {
    if (this.#bytes === 0) return undefined;
    const [first, second, third, fourth] = [source[0], source[1], source[2], source[3]];
    for (const { words, mask } of this.#blocks) {
      for (let slot = slotOf(source, index) & mask; ; slot = (slot + 1) & mask) {
        const at = this.#slotWords * slot;
        const indexAndKind = words[at + INDEX_WORD] ?? 0;
        if (indexAndKind === 0) break;
        if (
          indexAndKind >>> 8 === index + 1 &&
          words[at + 3] === fourth &&
          words[at + 2] === third &&
          words[at + 1] === second &&
          words[at] === first
        ) {
          return { kind: indexAndKind & 255, words, at: at + CONTENT_WORD };
        }
      }
    }
    return undefined;
  }
}

/** The slot at which the search for an id starts. The last word of a UUIDv7 is random. */
const slotOf = (source: Uint32Array, index: number): number =>
  (source[UUID_WORDS - 1] ?? 0) ^ Math.imul(index, 0x9e3779b1);
