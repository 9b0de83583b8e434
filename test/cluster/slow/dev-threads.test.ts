// `grantd dev --threads`: everything that was acknowledged is asked for on many connections at once, whichever threads
// the kernel gives them to, and each answer knows it. No simulation has the ports between threads, the counts in shared
// memory, or the connections of SQLite with a snapshot each.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type DevProcess, readDevFacts, startDev } from '../../kit/dev-process.ts';
import { type Answer, type CallOptions, call } from '../../kit/http-client.ts';
import { linesOf } from '../../kit/shell-blocks.ts';

const THREADS = 3;
/** Some 30 s on two processors. */
const WRITES = 1500;
const REVOKED_KEYS = 40;
/** Connections that ask the same: with so many, a thread is missed by one in a hundred. */
const ASKED = 12;
const WRITERS = 3;
const OBJECTS = 5;

interface Tuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

describe(`${THREADS} threads`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-threads-'));
  let grantd: DevProcess;
  /** Over a connection of its own: the kernel chooses a thread. */
  const api = (options: CallOptions): Promise<Answer> => {
    const { base_url: url, key } = readDevFacts(directory);
    return call(url, { key, ...options });
  };
  const read = async (options: CallOptions): Promise<Record<string, unknown>> => {
    const { status, json, text } = await api(options);
    assert.equal(status, 200, text);
    return Object(json);
  };

  before(async () => {
    grantd = await startDev(directory, {
      args: ['--threads', String(THREADS)],
      environment: { GRANTD_LOG_LEVEL: 'debug' },
    });
  });
  after(async () => {
    await grantd.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  /** By each kind of read that a reader answers. */
  async function demand(tuple: Tuple, granted: boolean): Promise<void> {
    const { subject, relation, object } = tuple;
    const what = `${JSON.stringify(tuple)}, ${granted ? 'granted' : 'revoked'}`;
    const checks = Array.from({ length: 4 }, async () => {
      const { authorized } = await read({ method: 'POST', path: '/v1/check', body: tuple });
      assert.equal(authorized, granted, `a check of ${what}`);
    });
    const bulk = async (): Promise<void> => {
      const { results } = await read({ method: 'POST', path: '/v1/check/bulk', body: { checks: [tuple] } });
      assert.equal(
        Object(Array.isArray(results) ? results[0] : undefined).authorized,
        granted,
        `a bulk check of ${what}`,
      );
    };
    const listing = async (path: string, field: string, entity: string): Promise<void> => {
      const { [field]: listed } = await read({ method: 'GET', path });
      assert.equal(Array.isArray(listed) && listed.includes(entity), granted, `${path} after ${what}`);
    };
    await Promise.all([
      ...checks,
      bulk(),
      listing(`/v1/objects?subject=${subject}&relation=${relation}`, 'objects', object),
      listing(`/v1/subjects?object=${object}&relation=${relation}`, 'subjects', subject),
    ]);
  }

  it('know every write as soon as one of them has acknowledged it', async () => {
    let left = WRITES;
    // Each with a subject of its own, so that it knows what holds.
    const write = async (writer: number): Promise<void> => {
      const held = new Set<string>();
      while (left > 0) {
        left -= 1;
        const object = `document:${left % OBJECTS}`;
        const tuple = { subject: `user:${writer}`, relation: 'viewer', object };
        const revokes = held.has(object);
        const { status, text } = await api({ method: revokes ? 'DELETE' : 'POST', path: '/v1/grants', body: tuple });
        assert.ok(status < 300, text);
        if (revokes) held.delete(object);
        else held.add(object);
        await demand(tuple, !revokes);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  });

  it('refuse a key as soon as one of them has acknowledged its revocation', async () => {
    for (let index = 0; index < REVOKED_KEYS; index += 1) {
      const made = await api({
        method: 'POST',
        path: '/v1/keys',
        body: { name: `key ${index}`, scopes: ['check:read'] },
      });
      assert.equal(made.status, 201, made.text);
      const { key_id: keyId, key } = Object(made.json);
      const body = { subject: 'user:ada', relation: 'viewer', object: 'document:1' };
      const use = async (): Promise<number> => (await api({ method: 'POST', path: '/v1/check', body, key })).status;
      const useAll = (): Promise<number[]> => Promise.all(Array.from({ length: ASKED }, use));
      assert.deepEqual(new Set(await useAll()), new Set([200]));
      assert.equal((await api({ method: 'DELETE', path: `/v1/keys/${keyId}` })).status, 204);
      assert.deepEqual(new Set(await useAll()), new Set([401]), `key ${index} after its revocation`);
    }
  });

  it('have all answered', () => {
    const served = linesOf(grantd.stderr).filter((line) => line.includes('"status":200'));
    for (let thread = 2; thread <= THREADS; thread += 1) {
      assert.ok(
        served.some((line) => line.includes(`"thread":${thread}`)),
        `thread ${thread} has answered nothing`,
      );
    }
  });
});
