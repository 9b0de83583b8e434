// `grantd mcp` on streams: every request that is read gets one answer, whatever surrounds it, and the input is read as
// strictly as the HTTP API reads bodies (test/unit/cli/strict-reading.test.ts).

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { serveMcp } from '../../packages/cli/src/mcp/serve.ts';
import { ServiceClient } from '../../packages/cli/src/service-client.ts';
import { waitFor } from '../kit/wait-for.ts';

const so = (condition: () => boolean): Promise<void> => waitFor('the session gets so far', condition);

const VERSION = '2025-06-18';
const WITH_BATCHES = '2025-03-26';
const QUESTION = { subject: 'user:ann', relation: 'viewer', object: 'document:plan' };

interface Response {
  readonly id: unknown;
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly text: string }[];
    readonly structuredContent?: Readonly<Record<string, unknown>>;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

const messageOf = (id: unknown, method: string, params: object): object => ({ jsonrpc: '2.0', id, method, params });
const initialize = (version = VERSION): object =>
  messageOf('init', 'initialize', {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
const check = (id: unknown, input: object = QUESTION): object =>
  messageOf(id, 'tools/call', { name: 'check', arguments: input });
const lineOf = (message: object): string => `${JSON.stringify(message)}\n`;

/** A session with a service that answers each check with true, as long as it is not held back. */
class Session {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  readonly bodies: string[] = [];
  readonly notes: string[] = [];
  readonly served: Promise<void>;
  warning = '';
  #text = '';
  #release: () => void = () => {};
  #held: Promise<void> = Promise.resolve();

  constructor(version: string | undefined = VERSION) {
    const client = new ServiceClient(
      { api: 'public', url: 'http://service.invalid', secret: 'gk1_a' },
      {
        onWarning: (text) => this.notes.push(`Warning: ${text}`),
        fetch: async (_, init) => {
          this.bodies.push(String(init?.body));
          await this.#held;
          return Response.json(
            { authorized: true, checked_at: '2030-01-01T00:00:00.000Z' },
            { headers: { 'x-service-warning': this.warning } },
          );
        },
      },
    );
    this.output.setEncoding('utf8').on('data', (text: string) => {
      this.#text += text;
    });
    this.served = serveMcp(
      { stdin: this.input, stdout: this.output, note: (text) => void this.notes.push(text) },
      client,
      { allowWrites: true, version: '1.0.0' },
    );
    if (version !== undefined) this.send(initialize(version));
  }

  /** Calls of the service wait from here on. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#held, this.#release] = [promise, resolve];
  }

  release(): void {
    this.#release();
  }

  send(...messages: readonly (object | string)[]): this {
    for (const each of messages) this.input.write(typeof each === 'string' ? `${each}\n` : lineOf(each));
    return this;
  }

  /** The lines of the output so far. */
  get lines(): readonly unknown[] {
    return this.#text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** All responses but that to `initialize`, after the end of the input. */
  async end(): Promise<readonly Response[]> {
    this.input.end();
    await this.served;
    await so(() => this.#text.endsWith('\n') || this.#text === '');
    return (this.lines.flat() as Response[]).filter(({ id }) => id !== 'init');
  }
}

const isRight = ({ result }: Response): boolean => result?.structuredContent?.authorized === true;

describe('a message that is no request', () => {
  const ERRORS: readonly (readonly [what: string, line: string, id: unknown, code: number, message: RegExp])[] = [
    ['no JSON', '{this is not json', null, -32700, /line 1, column 2/],
    ['two values', '{} {}', null, -32700, /unexpected character/],
    ['params null', '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":null}', 2, -32602, /"params"/],
    ['params in a list', '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":[]}', 2, -32602, /"params"/],
    ['a method that is a number', '{"jsonrpc":"2.0","id":2,"method":5}', 2, -32600, /"method"/],
    ['no method', '{"jsonrpc":"2.0","id":"a"}', 'a', -32600, /"method"/],
    ['no jsonrpc', '{"id":2,"method":"ping"}', 2, -32600, /"jsonrpc"/],
    ['another jsonrpc', '{"jsonrpc":"1.0","id":2,"method":"ping"}', 2, -32600, /"jsonrpc"/],
    ['an id that is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600, /"id"/],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"ping"}', null, -32600, /"id"/],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32600, /"id"/],
    ['a text', '"ping"', null, -32600, /object/],
    ['a malformed _meta', '{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":5}}', 2, -32602, /members/],
    [
      'too many levels',
      `{"jsonrpc":"2.0","id":2,"method":"ping","params":${'['.repeat(40)}${']'.repeat(40)}}`,
      2,
      -32600,
      /deep/,
    ],
    ['an empty batch', '[]', null, -32600, /batch|no batches/],
    [
      'the tool "constructor"',
      lineOf(messageOf(2, 'tools/call', { name: 'constructor' })),
      2,
      -32602,
      /Tool constructor not found/,
    ],
    [
      'a tool that nobody has',
      lineOf(messageOf(2, 'tools/call', { name: 'nothing' })),
      2,
      -32602,
      /Tool nothing not found/,
    ],
  ];
  for (const [what, line, id, code, message] of ERRORS) {
    it(`gets an error, and so does nothing else: ${what}`, async () => {
      const session = new Session().send(line.trimEnd(), check(7));
      const responses = await session.end();
      const [error] = responses.filter((each) => each.error !== undefined);
      assert.deepEqual([error?.id, error?.error?.code], [id, code]);
      assert.match(error?.error?.message ?? '', message);
      assert.ok(responses.some((each) => each.id === 7 && isRight(each)));
      assert.equal(responses.length, 2);
      assert.equal(session.bodies.length, 1);
    });
  }

  it('gets nothing if it is a notification or an empty line', async () => {
    const responses = await new Session()
      .send({ jsonrpc: '2.0', method: 'notifications/initialized' }, '', '  ', '\r', check(7))
      .end();
    assert.deepEqual(
      responses.map(({ id }) => id),
      [7],
    );
  });
});

describe('a line that is too long', () => {
  it('is an error, and loses neither the calls in flight nor those behind it', async () => {
    const session = new Session().send(check(1));
    session.hold();
    session.send(check(2, { ...QUESTION, subject: `user:${'a'.repeat(2 ** 20)}` }), check(3));
    await so(() => session.bodies.length === 2);
    session.release();
    const responses = await session.end();
    assert.deepEqual(
      responses
        .filter(isRight)
        .map(({ id }) => id)
        .toSorted(),
      [1, 3],
    );
    const [error] = responses.filter((each) => each.error !== undefined);
    assert.deepEqual([error?.id, error?.error?.code], [null, -32700]);
    assert.match(error?.error?.message ?? '', /1048576 bytes at most/);
  });

  it('is told at once, even if it never ends', async () => {
    const session = new Session();
    for (let count = 0; count < 40; count += 1) session.input.write('a'.repeat(2 ** 16));
    await so(() => session.lines.length === 2);
    assert.equal((await session.end()).length, 1);
  });
});

describe('a batch', () => {
  it('is answered in one line, under a version that has batches', async () => {
    const session = new Session(WITH_BATCHES);
    session.send([check(1), { jsonrpc: '2.0', method: 'notifications/initialized' }, check(2), { id: 3 }]);
    session.send([initialize(WITH_BATCHES), check(4)]);
    session.send([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
    const responses = await session.end();
    const batches = session.lines.filter((line) => Array.isArray(line));
    assert.deepEqual(
      batches.map((batch) => batch.map(({ id }) => id).toSorted()),
      [
        [1, 2, 3],
        [4, 'init'],
      ],
    );
    assert.deepEqual(
      responses
        .filter(isRight)
        .map(({ id }) => id)
        .toSorted(),
      [1, 2, 4],
    );
  });

  it('is refused under a later version', async () => {
    const session = new Session();
    await so(() => session.lines.length === 1);
    const [error, ...others] = await session.send([check(1)]).end();
    assert.deepEqual([error?.id, error?.error?.code, others.length], [null, -32600, 0]);
    assert.match(error?.error?.message ?? '', /2025-06-18 of the protocol has no batches/);
  });
});

describe('the end', () => {
  it('of the input loses no answer: all that was read is answered first', async () => {
    const session = new Session();
    session.hold();
    session.send(check(1), check(2));
    session.input.end(JSON.stringify(check(3)));
    await so(() => session.bodies.length === 3);
    session.release();
    assert.deepEqual(
      (await session.end())
        .filter(isRight)
        .map(({ id }) => id)
        .toSorted(),
      [1, 2, 3],
    );
  });

  it('of the input does not wait for a request that is cancelled', async () => {
    const session = new Session();
    session.hold();
    session.send(check(1));
    await so(() => session.bodies.length === 1);
    session.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    assert.deepEqual(await session.end(), []);
    session.release();
  });

  it('of the reader ends the server, without an error', async () => {
    const session = new Session();
    await so(() => session.lines.length === 1);
    session.output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await session.served;
    assert.ok(session.input.destroyed);
  });

  it('of a session without a request is silent', async () => {
    assert.deepEqual(await new Session().end(), []);
  });
});

describe('a request', () => {
  it('with the id of one that is not answered yet is refused', async () => {
    const session = new Session();
    session.hold();
    session.send(check(1), check(1));
    await so(() => session.bodies.length === 1);
    session.release();
    const responses = await session.end();
    assert.deepEqual(
      responses.map(({ id, error }) => [id, error?.code]),
      [
        [1, -32600],
        [1, undefined],
      ],
    );
  });

  it('that is one of many is told so, and nothing is lost', async () => {
    const session = new Session();
    session.hold();
    session.send(...Array.from({ length: 20 }, (_, id) => check(id)));
    await so(() => session.bodies.length === 16);
    session.release();
    const responses = await session.end();
    assert.deepEqual([responses.length, responses.filter(isRight).length], [20, 16]);
  });

  it('gets the warnings of the service in its result', async () => {
    const session = new Session();
    session.warning = 'unknown-namespace; namespace=dcoument';
    const [first, second] = await session.send(check(1), check(2)).end();
    const warnings = ['The tenant has no grant, rule or namespace "dcoument".'];
    for (const each of [first, second]) {
      assert.deepEqual(each?.result?.structuredContent?.warnings, warnings);
      assert.deepEqual(JSON.parse(each?.result?.content?.[0]?.text ?? ''), each?.result?.structuredContent);
    }
    assert.deepEqual(session.notes, []);
  });
});
