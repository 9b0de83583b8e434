// What the tests of streams need: a session with a feed in memory, and a client that takes parts when the test says so.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { TenantSession } from '../../../../src/front/front.ts';
import type { ResponseStream, StreamListener, StreamPart } from '../../../../src/http/wire/response-stream.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import type { FakeChangeFeed } from '../fake-change-feed.ts';
import { FakeFront } from '../fake-front.ts';

/** A tenant of that plan, seen with a key that has expired from that time on. */
export async function openSession(
  plan = 'standard',
  front = new FakeFront(systemClock, systemRandom),
): Promise<{ readonly session: TenantSession; readonly feed: FakeChangeFeed; expire(): void }> {
  after(() => front.close());
  const { tenantId, key } = await front.createTenant(plan);
  const session = await front.authenticate(
    { requestId: 'req_01jhm9r0g0e8xsg4k6t2v8w0yb', deadlineMs: Number.MAX_SAFE_INTEGER },
    key,
  );
  let expired = false;
  const seen: TenantSession = {
    ...session,
    get expired() {
      return expired;
    },
  };
  return {
    session: seen,
    feed: front.feedOf(tenantId),
    expire() {
      expired = true;
    },
  };
}

export const textOf = ({ chunk, start, end }: StreamPart): string => chunk.toString('utf8', start, end);

/** The other end of a response. */
export class FakeClient implements ResponseStream {
  text = '';
  parts = 0;
  state: 'open' | 'ended' | 'cut' = 'open';
  /** Set by a test: parts wait until it takes them. */
  stalled = false;
  waiting = false;
  readonly #listener: StreamListener & { attach(response: ResponseStream): void };

  constructor(listener: StreamListener & { attach(response: ResponseStream): void }) {
    this.#listener = listener;
    listener.attach(this);
  }

  send(part: StreamPart): boolean {
    assert.equal(this.state, 'open', 'nothing is sent after the end');
    assert.ok(!this.waiting, 'one part waits at most');
    this.parts += 1;
    this.text += textOf(part);
    this.waiting = this.stalled;
    return !this.waiting;
  }

  /** Takes the part that waits. */
  take(): void {
    assert.ok(this.waiting);
    this.waiting = false;
    this.#listener.taken();
  }

  end(): void {
    assert.equal(this.state, 'open');
    this.state = 'ended';
  }

  cut(): void {
    this.state = 'cut';
  }

  leave(): void {
    this.#listener.closed();
  }

  /** What has come, line by line: `change c1`, `checkpoint c1`. */
  get events(): readonly string[] {
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { type, cursor } = JSON.parse(line);
        return `${type} ${cursor}`;
      });
  }
}
