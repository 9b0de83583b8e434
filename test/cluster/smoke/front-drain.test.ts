// Streams of changes at a front that is stopped: each client is told when to come back, comes back to another front,
// and has missed nothing.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../../tools/engines/free-port.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { type DevFacts, DevProcess, readDevFacts, startDev } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';

const FOLLOWERS = 40;
const LAST = 'document:last';

async function listening(service: DevProcess): Promise<{ url: string; ops: string }> {
  const pattern = /"url":"(?<url>[^"]+)","ops":"(?<ops>[^"]+)"/;
  await waitFor('its addresses', () => pattern.test(service.stderr) || service.hasEnded);
  const { url = '', ops = '' } = pattern.exec(service.stderr)?.groups ?? assert.fail(service.stderr);
  await waitFor('readiness', async () => (await fetch(`${ops}/readyz`)).status === 200);
  return { url, ops };
}

/** A client of server-sent events that connects again wherever it is told to. */
class Follower {
  readonly objects: string[] = [];
  /** What the ends of its streams have told it, in ms. */
  readonly retries: number[] = [];
  streams = 0;
  #lastId: string;
  readonly #key: string;

  constructor(key: string, cursor: string) {
    this.#key = key;
    this.#lastId = cursor;
  }

  /** Until it has seen the last change. Rejects if a stream breaks off. */
  async follow(url: () => string): Promise<void> {
    while (!this.objects.includes(LAST)) {
      const response = await fetch(`${url()}/v1/changes?action=grant.created`, {
        headers: {
          Authorization: `Bearer ${this.#key}`,
          Accept: 'text/event-stream',
          'Last-Event-ID': this.#lastId,
        },
      });
      assert.equal(response.status, 200);
      this.streams += 1;
      let text = '';
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) this.#take(event);
        if (this.objects.includes(LAST)) return;
      }
    }
  }

  #take(event: string): void {
    const fields = new Map(event.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
    const retry = fields.get('retry');
    if (retry !== undefined) this.retries.push(Number(retry));
    if (fields.get('event') === 'change') this.objects.push(JSON.parse(fields.get('data') ?? '').grant.object);
    this.#lastId = fields.get('id') ?? this.#lastId;
  }
}

describe('streams of changes at a front that is stopped', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-drain-'));
  let shards: DevProcess;
  let facts: DevFacts;
  let rpcPort: number;
  const fronts: DevProcess[] = [];

  const startFront = (): DevProcess => {
    const front = new DevProcess(['front'], {
      ...BARE_ENVIRONMENT,
      GRANTD_HTTP_ADDRESS: '127.0.0.1:0',
      GRANTD_OPS_ADDRESS: '127.0.0.1:0',
      GRANTD_BASE_URL: 'https://grantd.example.com',
      GRANTD_DISCOVERY: `static:127.0.0.1:${rpcPort}`,
    });
    fronts.push(front);
    return front;
  };

  before(async () => {
    rpcPort = await freePort();
    shards = await startDev(directory, {
      args: ['--shards', '1'],
      environment: { GRANTD_RPC_ADDRESS: `127.0.0.1:${rpcPort}` },
    });
    facts = readDevFacts(directory);
  });
  after(async () => {
    for (const each of fronts) if (!each.hasEnded) await each.stop('SIGKILL');
    await shards.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  it('end with a time to come back, and resume at another front without a gap', async () => {
    const leaving = startFront();
    const [old, next] = await Promise.all([listening(leaving), listening(startFront())]);
    const authorization = `Bearer ${facts.key}`;
    const written: string[] = [];
    const grant = async (object: string): Promise<void> => {
      const response = await fetch(`${next.url}/v1/grants`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ subject: 'user:ada', relation: 'viewer', object }),
      });
      assert.equal(response.status, 201);
      written.push(object);
    };
    const page = await fetch(`${next.url}/v1/changes?since=now`, { headers: { authorization } });
    const { next_cursor: cursor } = (await page.json()) as { next_cursor: string };
    const followers = Array.from({ length: FOLLOWERS }, () => new Follower(facts.key, cursor));
    let { url } = old;
    const followed = Promise.all(followers.map((follower) => follower.follow(() => url)));
    let ended = false;
    // Resolves with them: a stream that breaks off fails the test at once.
    const writing = (async () => {
      for (let count = 0; !ended; count += 1) await grant(`document:${count}`);
      await grant(LAST);
    })();
    await waitFor('changes on every stream', () => followers.every(({ objects }) => objects.length > 3));
    url = next.url;
    leaving.child.kill('SIGTERM');
    try {
      await Promise.race([
        followed,
        waitFor('every client at the other front', () => followers.every(({ streams }) => streams === 2)),
      ]);
    } finally {
      ended = true;
    }
    await writing;
    await followed;
    for (const follower of followers) {
      assert.deepEqual(follower.objects, written);
      assert.deepEqual([follower.streams, follower.retries.length], [2, 1]);
      assert.ok(follower.retries.every((ms) => ms >= 500 && ms <= 3000));
    }
    assert.ok(new Set(followers.flatMap(({ retries }) => retries)).size > FOLLOWERS / 4, 'not all at once');
    const { code, stderr } = await leaving.ended;
    assert.equal(code, 0, stderr);
  });
});
