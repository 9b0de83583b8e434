// Outcomes of operations by operation id, in little memory: the content of one generation of the operation memory. It
// keeps: a stored outcome is found again unchanged, and `bytes` counts all the memory in use.
//
// A single write takes 36 bytes in a hash table of typed arrays (open addressing with linear probing; Knuth, The Art of
// Computer Programming, volume 3, section 6.4). Operations of one request that share a batch, such as the lines of an
// import, form a run: they take 16 bytes each under one entry. Anything else is stored as an object. The typed arrays
// do not grow; the table adds a larger one instead, so that no step copies existing content.

import { assertNever } from '../../../core/assert.ts';
import type { GrantdError } from '../../../core/errors.ts';
import { attributesOfId, isToldById } from '../../../core/grant-attributes.ts';
import { readUuidWords, UUID_WORDS, uuidTextOf } from '../../../core/ids.ts';
import type { BulkWriteResult } from '../../shard.ts';
import type { OperationResult } from '../write-decisions.ts';
import { PackedBulk } from './packed-bulk.ts';

/** The outcome of an operation. */
export type OperationOutcome = { readonly result: OperationResult } | { readonly error: GrantdError };

/** (requestId, index) is its id. */
export interface DecidedOperation {
  readonly requestId: string;
  readonly index: number;
  readonly outcome: OperationOutcome;
}

/** Operations of one request in one batch. Fewer than this take less memory in the hash table. */
const RUN_LENGTH_MIN = 16;
/** Slots of the first block and of the largest block of the hash table. */
const BLOCK_SLOTS_MIN = 16;
const BLOCK_SLOTS_MAX = 16_384;
const BLOCK_GROWTH = 4;
/** The layout of a slot: request id, index and kind, grant id. */
const INDEX_WORD = UUID_WORDS;
const GRANT_WORD = UUID_WORDS + 1;
const SLOT_WORDS = 2 * UUID_WORDS + 1;
/** An index and one of 256 kinds share a word; 0 marks an empty slot. */
const INDEX_MAX = 2 ** 24 - 2;
/**
 * Overhead of a typed array; of a run, with its request id and its map entries; of an outcome stored as an object,
 * without its strings; of an error with its stack.
 */
const ARRAY_BYTES = 250;
const RUN_BYTES = 600;
const OTHER_BYTES = 400;
const ERROR_BYTES = 2000;
/** Of a bulk write that is not packed: a grant as an object with its id; a revocation. */
const RECORD_BYTES = 140;
const FLAG_BYTES = 8;

const REQUEST_PREFIX = 'req_';
const GRANT_PREFIX = 'grt_';

/** Kinds of outcomes: two with a grant id, those shared by many operations, and those stored as objects. */
const CREATED = 0;
const EXISTS = 1;
const SHARED = 2;
const OTHER = 255;
const SHARED_MAX = OTHER - SHARED;

interface Block {
  readonly words: Uint32Array;
  readonly mask: number;
  used: number;
}

interface Run {
  readonly first: number;
  readonly kinds: Uint8Array;
  /** The grant ids of all operations of the run, if at least one has a grant id. */
  readonly grantIds: Uint32Array | undefined;
}

const scratch = new Uint32Array(2 * UUID_WORDS);
const REQUEST = 0;
const GRANT = UUID_WORDS;
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

/** The kind of an outcome whose grant id is now in `scratch`, or undefined. */
function grantKindOf(outcome: OperationOutcome): typeof CREATED | typeof EXISTS | undefined {
  if (!('result' in outcome) || outcome.result.kind !== 'grant') return undefined;
  const { grant } = outcome.result;
  if (grant.kind !== 'created' && grant.kind !== 'exists') return undefined;
  const { grantId } = grant;
  if (!grantId.startsWith(GRANT_PREFIX) || !isToldById(grant)) return undefined;
  if (!readUuidWords(grantId, GRANT_PREFIX.length, scratch, GRANT)) return undefined;
  return grant.kind === 'created' ? CREATED : EXISTS;
}

/** A name that equal outcomes share, for outcomes that are often the same; undefined: stored as an object. */
function sharedNameOf(outcome: OperationOutcome): string | undefined {
  if ('error' in outcome) {
    const { code, message, details } = outcome.error;
    return Object.keys(details).length > 0 ? undefined : `error ${code} ${message}`;
  }
  const { result } = outcome;
  if (result.kind === 'key-revoked') return result.kind;
  if (result.kind === 'revocation' && result.revoked === 0) return `revocation ${result.complete}`;
  if (result.kind === 'bulk') return sharedNameOfBulk(result.bulk);
  if (result.kind !== 'grant') return undefined;
  const { grant } = result;
  if (grant.kind === 'refused') return `refused ${grant.code} ${grant.message}`;
  return grant.kind === 'revoked' || grant.kind === 'not-found' ? grant.kind : undefined;
}

function sharedNameOfBulk(bulk: BulkWriteResult): string | undefined {
  if (bulk.kind === 'condition-not-met') return `condition ${bulk.condition}`;
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
    case 'tenant':
      return 2 * OTHER_BYTES + 2 * (result.tenant.name.length + result.tenant.plan.length);
    case 'bulk':
      return bytesOfBulk(result.bulk);
    case 'key-revoked':
    case 'revocation':
      return OTHER_BYTES;
    case 'grant':
      return OTHER_BYTES + (result.grant.kind === 'refused' ? 2 * result.grant.message.length : 0);
    default:
      return assertNever(result);
  }
}

function packedOf(outcome: OperationOutcome): PackedBulk | undefined {
  if (!('result' in outcome) || outcome.result.kind !== 'bulk') return undefined;
  const { bulk } = outcome.result;
  return bulk.kind === 'written' ? PackedBulk.of(bulk) : undefined;
}

function bytesOfBulk(bulk: BulkWriteResult): number {
  if (bulk.kind === 'refused') return OTHER_BYTES + 2 * bulk.message.length;
  if (bulk.kind === 'condition-not-met') return OTHER_BYTES;
  return 2 * OTHER_BYTES + RECORD_BYTES * bulk.grants.length + FLAG_BYTES * bulk.revoked.length;
}

const nameOf = (requestId: string, index: number): string => `${requestId}/${index}`;

export class OperationTable {
  #bytes = 0;
  readonly #blocks: Block[] = [];
  readonly #runs = new Map<string, Run[]>();
  readonly #shared: OperationOutcome[] = [];
  readonly #sharedKinds = new Map<string, number>();
  readonly #others = new Map<string, OperationOutcome | PackedBulk>();

  get bytes(): number {
    return this.#bytes;
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
    for (const [position, operation] of operations.entries()) {
      const kind = this.#kindOf(operation);
      kinds[position] = kind;
      if (kind > EXISTS) continue;
      grantIds ??= new Uint32Array(UUID_WORDS * operations.length);
      for (let word = 0; word < UUID_WORDS; word += 1) {
        grantIds[UUID_WORDS * position + word] = scratch[GRANT + word] ?? 0;
      }
    }
    const run = { first: first.index, kinds, grantIds };
    const runs = this.#runs.get(first.requestId);
    // A string of a request may share the memory of the whole message that contained it.
    if (runs === undefined) this.#runs.set(Buffer.from(first.requestId).toString(), [run]);
    else runs.push(run);
    this.#bytes += RUN_BYTES + kinds.byteLength + (grantIds?.byteLength ?? 0);
  }

  #addOne(operation: DecidedOperation): void {
    const { requestId, index } = operation;
    if (index > INDEX_MAX || !readRequestId(requestId)) {
      this.#addOther(operation);
      return;
    }
    const kind = this.#kindOf(operation);
    const { words, mask } = this.#blockWithSpace();
    let slot = slotOf(index) & mask;
    while (words[SLOT_WORDS * slot + INDEX_WORD] !== 0) slot = (slot + 1) & mask;
    const at = SLOT_WORDS * slot;
    for (let word = 0; word < UUID_WORDS; word += 1) words[at + word] = scratch[REQUEST + word] ?? 0;
    words[at + INDEX_WORD] = ((index + 1) << 8) | kind;
    if (kind > EXISTS) return;
    for (let word = 0; word < UUID_WORDS; word += 1) words[at + GRANT_WORD + word] = scratch[GRANT + word] ?? 0;
  }

  /** At most three of four slots are used. */
  #blockWithSpace(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && 4 * (last.used + 1) <= 3 * (last.mask + 1)) {
      last.used += 1;
      return last;
    }
    const slots = last === undefined ? BLOCK_SLOTS_MIN : Math.min(BLOCK_GROWTH * (last.mask + 1), BLOCK_SLOTS_MAX);
    const block = { words: new Uint32Array(SLOT_WORDS * slots), mask: slots - 1, used: 1 };
    this.#blocks.push(block);
    this.#bytes += ARRAY_BYTES + block.words.byteLength;
    return block;
  }

  /** For kinds 0 and 1 the grant id is in `scratch` afterwards. Stores an outcome of kind `OTHER` as an object. */
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
    if (this.#blocks.length > 0 && index <= INDEX_MAX && readRequestId(requestId)) {
      const found = this.#findInBlocks(requestId, index);
      if (found !== undefined) return found;
    }
    const runs = this.#runs.size === 0 ? undefined : this.#runs.get(requestId);
    for (const run of runs ?? []) {
      const position = index - run.first;
      const kind = position < 0 ? undefined : run.kinds[position];
      if (kind === undefined) continue;
      return this.#outcomeOf(kind, requestId, index, run.grantIds, UUID_WORDS * position);
    }
    return this.#others.size === 0 ? undefined : this.#findOther(requestId, index);
  }

  #findInBlocks(requestId: string, index: number): OperationOutcome | undefined {
    const [first, second, third, fourth] = [scratch[0], scratch[1], scratch[2], scratch[3]];
    for (const { words, mask } of this.#blocks) {
      for (let slot = slotOf(index) & mask; ; slot = (slot + 1) & mask) {
        const at = SLOT_WORDS * slot;
        const indexAndKind = words[at + INDEX_WORD] ?? 0;
        if (indexAndKind === 0) break;
        if (
          indexAndKind >>> 8 === index + 1 &&
          words[at + 3] === fourth &&
          words[at + 2] === third &&
          words[at + 1] === second &&
          words[at] === first
        ) {
          return this.#outcomeOf(indexAndKind & 255, requestId, index, words, at + GRANT_WORD);
        }
      }
    }
    return undefined;
  }

  #outcomeOf(
    kind: number,
    requestId: string,
    index: number,
    words: Uint32Array | undefined,
    at: number,
  ): OperationOutcome | undefined {
    if (kind === OTHER) return this.#findOther(requestId, index);
    if (kind >= SHARED || words === undefined) return this.#shared[kind - SHARED];
    const attributes = attributesOfId(GRANT_PREFIX + uuidTextOf(words, at));
    return { result: { kind: 'grant', grant: { kind: kind === CREATED ? 'created' : 'exists', ...attributes } } };
  }
}

/**
 * The slot at which the search for the request id in `scratch` and an index starts. The last word of a UUIDv7 is
 * random.
 */
const slotOf = (index: number): number => (scratch[REQUEST + UUID_WORDS - 1] ?? 0) ^ Math.imul(index, 0x9e3779b1);
