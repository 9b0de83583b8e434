// The wire of `grantd mcp`: one JSON-RPC message in each line of two streams. Invariant: each request that is read is
// answered once, by its result or by an error that says what is wrong with it. The end of the input loses no answer,
// and a line that is too long loses nothing but itself. Input is read as strictly as the HTTP API reads it.

import type { Readable, Writable } from 'node:stream';
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../../../../src/core/limits.ts';
import { JsonScanner } from '../../../../src/core/text/json-scanner.ts';

/** A rule set has 64 KiB at most, and is the largest that a tool takes. */
const LINE_BYTES_MAX = 1024 * 1024;
const LF = 0x0a;
/** Those of a request to the service, and of what is around it: the message, its params, a tool's arguments. */
const BOUNDS = { depthMax: JSON_DEPTH_MAX + 3, valuesMax: JSON_VALUES_MAX + 32 };
/** Later ones have no batches. */
const VERSIONS_WITH_BATCHES: ReadonlySet<string> = new Set(['2024-11-05', '2025-03-26']);

/** Several messages in one line. Their responses go out in one line, too, once all are there. */
interface Batch {
  waiting: number;
  readonly responses: unknown[];
}

interface Refusal {
  readonly code: number;
  readonly message: string;
}

const parseError = (message: string): Refusal => ({ code: PARSE_ERROR, message });
const invalidRequest = (message: string): Refusal => ({ code: INVALID_REQUEST, message });
const invalidParams = (message: string): Refusal => ({ code: INVALID_PARAMS, message });

const isRequestId = (id: unknown): id is RequestId => typeof id === 'string' || Number.isSafeInteger(id);

/** Null: it is unknown which request it would answer. */
function idOf(value: unknown): RequestId | null {
  const id = isJsonObject(value) ? value.id : undefined;
  return isRequestId(id) ? id : null;
}

/** The libraries behind leave out a member of this name. */
function hasProto(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto);
}

/** What is wrong with a message before anyone looks at its method. */
function refusalOf(value: unknown): Refusal | undefined {
  if (!isJsonObject(value)) return invalidRequest('A message must be a JSON object.');
  if (hasProto(value)) return invalidRequest('No member may have the name "__proto__".');
  if (value.jsonrpc !== '2.0') return invalidRequest('"jsonrpc" must be "2.0".');
  if ('id' in value && !isRequestId(value.id)) return invalidRequest('"id" must be a string or a whole number.');
  const isResponse = !('method' in value) && ('result' in value || 'error' in value);
  if (isResponse) return undefined;
  if (typeof value.method !== 'string') return invalidRequest('"method" must be a string.');
  if ('params' in value && !isJsonObject(value.params)) return invalidParams('"params" must be an object.');
  return undefined;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when the input has ended and all that was read is answered, or when the answers are no longer read. */
  readonly ended: Promise<void>;

  readonly #input: Readable;
  readonly #output: Writable;
  readonly #refusalOf: (request: JSONRPCRequest) => string | undefined;
  readonly #end: () => void;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The line that is being read. */
  #parts: Buffer[] = [];
  #bytes = 0;
  readonly #pending = new Map<RequestId, Batch | undefined>();
  #version: string | undefined;
  #isInputEnded = false;
  #isClosed = false;

  /** `refusalOf`: why a well-formed request has parameters that are invalid, if so. */
  constructor(input: Readable, output: Writable, refusalOf: (request: JSONRPCRequest) => string | undefined) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#input = input;
    this.#output = output;
    this.#refusalOf = refusalOf;
    this.#end = resolve;
  }

  setProtocolVersion = (version: string): void => {
    this.#version = version;
  };

  async start(): Promise<void> {
    this.#output.on('error', this.#onOutputError).on('drain', this.#onDrain);
    this.#input.on('end', this.#onInputEnd).on('close', this.#onInputEnd).on('error', this.#onInputEnd);
    this.#input.on('data', this.#onData);
    if (this.#input.readableEnded || this.#input.destroyed) this.#onInputEnd();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const id = 'id' in message && !('method' in message) ? message.id : undefined;
    if (id === undefined) return this.#write(message);
    const batch = this.#pending.get(id);
    this.#pending.delete(id);
    this.#answer(message, batch);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off('data', this.#onData);
    this.#input.off('end', this.#onInputEnd).off('close', this.#onInputEnd);
    // An open input would keep the process from ending.
    this.#input.destroy();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer | string): void => {
    const data = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let start = 0;
    for (let end = data.indexOf(LF); end !== -1; end = data.indexOf(LF, start)) {
      this.#append(data.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#append(data.subarray(start));
  };

  readonly #onInputEnd = (): void => {
    if (this.#isInputEnded) return;
    this.#endLine();
    this.#isInputEnded = true;
    this.#endIfAnswered();
  };

  readonly #onOutputError = (): void => this.#end();
  readonly #onDrain = (): void => void this.#input.resume();

  #append(part: Buffer): void {
    const wasTooLong = this.#bytes > LINE_BYTES_MAX;
    this.#bytes += part.length;
    if (this.#bytes <= LINE_BYTES_MAX) {
      this.#parts.push(part);
    } else if (!wasTooLong) {
      this.#parts = [];
      this.#refuse(null, parseError(`A message may have ${LINE_BYTES_MAX} bytes at most; this line is longer.`));
    }
  }

  #endLine(): void {
    const line = this.#bytes > LINE_BYTES_MAX ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (line !== undefined) this.#readLine(line);
  }

  #readLine(line: Buffer): void {
    let text: string;
    try {
      text = this.#decoder.decode(line);
    } catch {
      this.#refuse(null, parseError('The message is not UTF-8.'));
      return;
    }
    if (text.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(text);
      new JsonScanner(text, BOUNDS, 'The message').step(text.length);
    } catch (error) {
      this.#refuse(idOf(value), {
        code: value === undefined ? PARSE_ERROR : INVALID_REQUEST,
        message: this.#whyNoJson(text, error),
      });
      return;
    }
    if (Array.isArray(value)) this.#readBatch(value);
    else this.#readMessage(value, undefined);
  }

  /** The scanner says where, which the parser does not always do. */
  #whyNoJson(text: string, error: unknown): string {
    try {
      new JsonScanner(text, BOUNDS, 'The message').step(text.length);
    } catch (refusal) {
      return reasonOf(refusal);
    }
    return reasonOf(error);
  }

  #readBatch(messages: readonly unknown[]): void {
    if (this.#version !== undefined && !VERSIONS_WITH_BATCHES.has(this.#version)) {
      this.#refuse(null, invalidRequest(`Version ${this.#version} of the protocol has no batches.`));
    } else if (messages.length === 0) {
      this.#refuse(null, invalidRequest('A batch must have a message.'));
    } else {
      const batch: Batch = { waiting: 1, responses: [] };
      for (const each of messages) this.#readMessage(each, batch);
      this.#settle(batch);
    }
  }

  #readMessage(value: unknown, batch: Batch | undefined): void {
    const message = this.#messageIn(value, batch !== undefined);
    if (batch !== undefined && ('code' in message || isJSONRPCRequest(message))) batch.waiting += 1;
    if ('code' in message) {
      this.#refuse(idOf(value), message, batch);
      return;
    }
    if (isJSONRPCRequest(message)) this.#pending.set(message.id, batch);
    this.onmessage?.(message);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      this.#cancel(message.params?.requestId);
  }

  #messageIn(value: unknown, isInBatch: boolean): JSONRPCMessage | Refusal {
    const refusal = refusalOf(value);
    if (refusal !== undefined) return refusal;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      return invalidParams('The message has members that the protocol does not allow.');
    }
    if (!isJSONRPCRequest(message)) return message;
    if (this.#pending.has(message.id)) return invalidRequest('A request with this "id" is not answered yet.');
    if (isInBatch && message.method === 'initialize')
      return invalidRequest('The request "initialize" may not be part of a batch.');
    const invalid = this.#refusalOf(message);
    return invalid === undefined ? message : invalidParams(invalid);
  }

  /** A request that is cancelled gets no response. */
  #cancel(id: unknown): void {
    if (!isRequestId(id) || !this.#pending.has(id)) return;
    const batch = this.#pending.get(id);
    this.#pending.delete(id);
    if (batch !== undefined) this.#settle(batch);
    this.#endIfAnswered();
  }

  #refuse(id: RequestId | null, error: Refusal, batch?: Batch): void {
    this.#answer({ jsonrpc: '2.0', id, error }, batch);
  }

  #answer(response: unknown, batch: Batch | undefined): void {
    if (batch === undefined) {
      this.#write(response);
    } else {
      batch.responses.push(response);
      this.#settle(batch);
    }
    this.#endIfAnswered();
  }

  #settle(batch: Batch): void {
    batch.waiting -= 1;
    if (batch.waiting === 0 && batch.responses.length > 0) this.#write(batch.responses);
  }

  /** While the output is not taken, no more input is read. */
  #write(message: unknown): void {
    if (this.#isClosed) return;
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) this.#input.pause();
  }

  #endIfAnswered(): void {
    if (this.#isInputEnded && this.#pending.size === 0) this.#end();
  }
}
