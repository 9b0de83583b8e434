// The wire of `grantd mcp`: one JSON-RPC message in each line of two streams. Invariant: each request that is read is
// answered once, by its result or by an error that says what is wrong with it. The end of the input loses no answer,
// and a line that is too long loses nothing but itself.

import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import {
  idOf,
  invalidParams,
  invalidRequest,
  isRequestId,
  MESSAGE_BYTES_MAX,
  parseError,
  type Refusal,
  readText,
  refusalOf,
} from './messages.ts';

const LF = 0x0a;
/** Later ones have no batches. */
const VERSIONS_WITH_BATCHES: ReadonlySet<string> = new Set(['2024-11-05', '2025-03-26']);

/** Several messages in one line. Their responses go out in one line, too, once all are there. */
interface Batch {
  waiting: number;
  readonly responses: unknown[];
}

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when the input has ended and all that was read is answered, or when the answers are no longer read. */
  readonly ended: Promise<void>;

  readonly #input: Readable;
  readonly #output: Writable;
  readonly #end: () => void;
  /** The line that is being read. */
  #parts: Buffer[] = [];
  #bytes = 0;
  readonly #pending = new Map<RequestId, Batch | undefined>();
  #version: string | undefined;
  #isInputEnded = false;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#input = input;
    this.#output = output;
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
    const wasTooLong = this.#bytes > MESSAGE_BYTES_MAX;
    this.#bytes += part.length;
    if (this.#bytes <= MESSAGE_BYTES_MAX) {
      this.#parts.push(part);
    } else if (!wasTooLong) {
      this.#parts = [];
      this.#refuse(null, parseError(`A message may have ${MESSAGE_BYTES_MAX} bytes at most; this line is longer.`));
    }
  }

  #endLine(): void {
    const line = this.#bytes > MESSAGE_BYTES_MAX ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (line !== undefined) this.#readLine(line);
  }

  #readLine(line: Buffer): void {
    const read = readText(line);
    if (read.kind === 'blank') return;
    if (read.kind === 'refused') this.#refuse(read.id, read.refusal);
    else if (Array.isArray(read.value)) this.#readBatch(read.value);
    else this.#readMessage(read.value, undefined);
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
    return message;
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
