// `kill -9` of the whole process in the middle of writes, again and again: what was acknowledged is there after the
// restart, and what was not is there whole or not at all. Each tuple has one writer at a time, so the test knows what
// every answer must be; a call without an answer leaves two possibilities, which the restart must settle for good.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DevFacts, type DevProcess, readDevFacts, startDev } from '../../kit/dev-process.ts';

const WRITERS = 16;
const OBJECTS_PER_WRITER = 12;
const ACKNOWLEDGED_PER_ROUND = 250;
/** Only what hangs takes so long. */
const CALL_MS_MAX = 300_000;
const RELATIONS = ['viewer', 'editor'];

interface Tracked {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  /** Undefined: the last call got no answer. */
  granted: boolean | undefined;
  /** Of the grant that was acknowledged last, while it stands. */
  grantId: string | undefined;
}

const createTracked = (): Tracked[][] =>
  Array.from({ length: WRITERS }, (_, writer) =>
    Array.from({ length: OBJECTS_PER_WRITER }, (_unused, index) => ({
      subject: `user:writer-${writer}`,
      relation: RELATIONS[index % RELATIONS.length] ?? '',
      object: `document:${writer}-${index}`,
      granted: false,
      grantId: undefined,
    })),
  );

const tupleOf = ({ subject, relation, object }: Tracked) => ({ subject, relation, object });
const textOf = ({ subject, relation, object }: Tracked): string => `${subject} ${relation} ${object}`;

function request(facts: DevFacts, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${facts.base_url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${facts.key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_MS_MAX),
  });
}

/** One write. True: it was acknowledged. */
async function write(facts: DevFacts, tuple: Tracked): Promise<boolean> {
  const [before, revoke] = [tuple.granted, Math.random() < 0.45];
  tuple.granted = undefined;
  let status: number;
  let grantId: string | undefined;
  try {
    const response = await request(facts, revoke ? 'DELETE' : 'POST', '/v1/grants', tupleOf(tuple));
    status = response.status;
    if (!revoke) grantId = Object(await response.json()).grant_id;
    else await response.arrayBuffer();
  } catch {
    return false;
  }
  // The answer also tells whether the service had the tuple as acknowledged before.
  const expected = revoke ? (before ? 204 : 404) : before ? 200 : 201;
  if (status === 503) return false;
  assert.equal(status, expected, textOf(tuple));
  if (!revoke && before) assert.equal(grantId, tuple.grantId, 'an existing grant keeps its id');
  tuple.granted = !revoke;
  tuple.grantId = revoke ? undefined : grantId;
  return true;
}

/** Writes until enough was acknowledged, kills in the middle, and waits for every writer to notice. */
async function writeAndKill(process_: DevProcess, facts: DevFacts, tracked: Tracked[][]): Promise<number> {
  let acknowledged = 0;
  let killed = false;
  const enough = ACKNOWLEDGED_PER_ROUND + Math.floor(Math.random() * ACKNOWLEDGED_PER_ROUND);
  const writers = tracked.map(async (tuples) => {
    while (!killed) {
      const tuple = tuples[Math.floor(Math.random() * tuples.length)];
      assert.ok(tuple !== undefined);
      if (tuple.granted === undefined) continue;
      if (!(await write(facts, tuple))) return;
      acknowledged += 1;
      if (acknowledged >= enough && !killed) {
        killed = true;
        process_.child.kill('SIGKILL');
      }
    }
  });
  await Promise.all(writers);
  assert.ok(killed, 'no writer failed before the kill');
  assert.equal((await process_.ended).signal, 'SIGKILL');
  return acknowledged;
}

async function readChecks(facts: DevFacts, tracked: Tracked[][]): Promise<Map<string, boolean>> {
  const all = tracked.flat();
  const answers = new Map<string, boolean>();
  for (let start = 0; start < all.length; start += 100) {
    const part = all.slice(start, start + 100);
    const response = await request(facts, 'POST', '/v1/check/bulk', { checks: part.map(tupleOf) });
    assert.equal(response.status, 200);
    const { results } = Object(await response.json());
    for (const [index, tuple] of part.entries()) answers.set(textOf(tuple), results[index].authorized);
  }
  return answers;
}

async function readListings(facts: DevFacts, tracked: Tracked[][]): Promise<Set<string>> {
  const listed = new Set<string>();
  for (const [{ subject } = { subject: '' }] of tracked) {
    for (const relation of RELATIONS) {
      const response = await request(facts, 'GET', `/v1/objects?subject=${subject}&relation=${relation}&limit=1000`);
      assert.equal(response.status, 200);
      for (const object of Object(await response.json()).objects) listed.add(`${subject} ${relation} ${object}`);
    }
  }
  return listed;
}

async function readExport(facts: DevFacts): Promise<Set<string>> {
  const response = await fetch(`${facts.console_url}/operator/v1/tenants/${facts.tenant_id}/export`, {
    headers: { Authorization: `Bearer ${facts.operator_token}` },
  });
  assert.equal(response.status, 200);
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  const grants = lines.map((line): Tracked => JSON.parse(line)).filter(({ subject }) => subject !== undefined);
  return new Set(grants.map(textOf));
}

/** Everything the service says agrees, and with all that it had acknowledged. Settles what was open. */
async function verify(facts: DevFacts, tracked: Tracked[][]): Promise<{ open: number; granted: number }> {
  const [checks, listed, exported] = [
    await readChecks(facts, tracked),
    await readListings(facts, tracked),
    await readExport(facts),
  ];
  let open = 0;
  let granted = 0;
  for (const tuple of tracked.flat()) {
    const text = textOf(tuple);
    const answer = checks.get(text);
    assert.equal(listed.has(text), answer, `the listing agrees with the check of ${text}`);
    assert.equal(exported.has(text), answer, `the export agrees with the check of ${text}`);
    if (tuple.granted === undefined) open += 1;
    else assert.equal(answer, tuple.granted, `what was acknowledged of ${text} is there`);
    if (tuple.granted === undefined && answer) {
      const again = await request(facts, 'POST', '/v1/grants', tupleOf(tuple));
      assert.equal(again.status, 200, 'a grant that is there is there whole');
      tuple.grantId = Object(await again.json()).grant_id;
    }
    tuple.granted = answer;
    if (answer) granted += 1;
  }
  assert.equal(exported.size, granted, 'the export holds nothing else');
  return { open, granted };
}

/** Writes and kills so often. Returns what it saw in a line. */
export async function killInWrites(kills: number): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-kill-'));
  const tracked = createTracked();
  let grantd: DevProcess | undefined;
  let acknowledged = 0;
  let open = 0;
  try {
    for (let round = 0; round < kills; round += 1) {
      grantd = await startDev(directory, { environment: { GRANTD_LOG_LEVEL: 'warn' } });
      const facts = readDevFacts(directory);
      if (round > 0) open += (await verify(facts, tracked)).open;
      acknowledged += await writeAndKill(grantd, facts, tracked);
    }
    grantd = await startDev(directory);
    const last = await verify(readDevFacts(directory), tracked);
    open += last.open;
    assert.equal((await grantd.stop()).code, 0);
    assert.ok(acknowledged >= kills * ACKNOWLEDGED_PER_ROUND);
    assert.ok(open > 0, 'the kills came in the middle of writes');
    return `${acknowledged} writes acknowledged, ${open} cut off by the kills, ${last.granted} grants at the end`;
  } finally {
    await grantd?.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  }
}
