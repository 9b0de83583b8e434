// `kill -9` of the whole process in the middle of writes, bulk writes and revocations by a filter, again and again.
// Each writer moves its grants from one set to the next in a single call, so after every restart exactly one of its
// sets is there, whole: that of the last acknowledged call or, if the kill cut a call off, perhaps that of this call.

import assert from 'node:assert/strict';
import { type DevFacts, type DevProcess, readDevFacts, startDev } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';

/** These exchange one set for another in a bulk write. */
const MOVERS = 8;
/** These create a set in a bulk write, and revoke it by its subject or by its object. */
const REVOKERS = 4;
/** These create one grant, and revoke it. */
const SINGLES = 16;
/** So that a bulk write of a mover has 100 changes. */
const GRANTS_PER_SET = 50;
const ACKNOWLEDGED_PER_ROUND = 60;
const ANSWER_MS_MAX = 20_000;

interface Tuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

const textOf = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

const tupleOf = (subject: string, object: string): Tuple => ({ subject, relation: 'viewer', object });
const tuples = (subject: (index: number) => string, object: (index: number) => string): readonly Tuple[] =>
  Array.from({ length: GRANTS_PER_SET }, (_, index) => tupleOf(subject(index), object(index)));

interface Writer {
  readonly sets: readonly [readonly Tuple[], readonly Tuple[]];
  /** What revokes the second set, which the first follows; undefined: a bulk write. */
  readonly filter: { readonly subject: string } | { readonly object: string } | undefined;
  /** The one grant of the second set, written without a bulk write. */
  readonly single?: Tuple;
  /** Of the last acknowledged call, or as the restart settled it: which of the sets. */
  at: 0 | 1;
  /** A call to the other set got no answer. */
  open: boolean;
}

const mover = (name: string): Writer => ({
  sets: [
    tuples(
      (index) => `user:${name}-${index % 7}`,
      (index) => `document:${name}-${index}`,
    ),
    tuples(
      (index) => `user:${name}-${index % 5}`,
      (index) => `document:${name}-new-${index}`,
    ),
  ],
  filter: undefined,
  at: 0,
  open: false,
});

function revoker(name: string, bySubject: boolean): Writer {
  const [one, many] = [() => `document:${name}`, (index: number) => `user:${name}-${index}`];
  const set = bySubject ? tuples(one, many) : tuples(many, one);
  return { sets: [[], set], filter: bySubject ? { subject: one() } : { object: one() }, at: 0, open: false };
}

function single(name: string): Writer {
  const tuple = tupleOf(`user:${name}`, `document:${name}`);
  return { sets: [[], [tuple]], filter: undefined, single: tuple, at: 0, open: false };
}

/** The answer, or undefined if there is none that says what was done. */
async function answerTo(
  facts: DevFacts,
  path: string,
  body: unknown,
  { method, status } = { method: 'POST', status: 200 },
): Promise<object | undefined> {
  // `AbortSignal.timeout` keeps no process running, and nothing else does once the service has been killed.
  const bound = new AbortController();
  const timer = setTimeout(() => bound.abort(), ANSWER_MS_MAX);
  try {
    const response = await fetch(`${facts.base_url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${facts.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: bound.signal,
    });
    const answer = await response.text();
    if (response.status === 503) return undefined;
    // It also tells whether the service had what was acknowledged before.
    assert.equal(response.status, status, answer);
    return Object(answer === '' ? {} : JSON.parse(answer));
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** One call. True: it was acknowledged. */
async function move(facts: DevFacts, writer: Writer): Promise<boolean> {
  const { sets, filter, at } = writer;
  const [from, to] = at === 0 ? sets : [sets[1], sets[0]];
  writer.open = true;
  if (writer.single !== undefined) {
    const way = at === 0 ? { method: 'POST', status: 201 } : { method: 'DELETE', status: 204 };
    if ((await answerTo(facts, '/v1/grants', writer.single, way)) === undefined) return false;
  } else if (filter !== undefined && at === 1) {
    const answer = await answerTo(facts, '/v1/grants/revoke', filter);
    if (answer === undefined) return false;
    assert.deepEqual(answer, { revoked: GRANTS_PER_SET, complete: true });
  } else {
    const [present, absent] = [from.slice(0, 1), to.slice(0, 1)];
    const conditions = [
      ...present.map((tuple) => ({ ...tuple, exists: true })),
      ...absent.map((tuple) => ({ ...tuple, exists: false })),
    ];
    const answer = await answerTo(facts, '/v1/grants/bulk', { grants: to, revocations: from, if: conditions });
    if (answer === undefined) return false;
    const { grants, revocations } = Object(answer);
    assert.ok(grants.every(({ created }: { created: boolean }) => created));
    assert.ok(revocations.every(({ revoked }: { revoked: boolean }) => revoked));
  }
  writer.at = at === 0 ? 1 : 0;
  writer.open = false;
  return true;
}

async function writeAndKill(grantd: DevProcess, facts: DevFacts, writers: readonly Writer[]): Promise<number> {
  let acknowledged = 0;
  let killed = false;
  const enough = ACKNOWLEDGED_PER_ROUND + Math.floor(Math.random() * ACKNOWLEDGED_PER_ROUND);
  await Promise.all(
    writers.map(async (writer) => {
      while (!killed && (await move(facts, writer))) {
        acknowledged += 1;
        if (acknowledged < enough || killed) continue;
        killed = true;
        // At any point of the calls of the others.
        setTimeout(() => grantd.child.kill('SIGKILL'), Math.random() * 5);
      }
    }),
  );
  assert.ok(killed, 'no writer failed before the kill');
  assert.equal((await grantd.ended).signal, 'SIGKILL');
  return acknowledged;
}

async function readExport(facts: DevFacts): Promise<Set<string>> {
  const response = await fetch(`${facts.console_url}/operator/v1/tenants/${facts.tenant_id}/export`, {
    headers: { Authorization: `Bearer ${facts.operator_token}` },
  });
  assert.equal(response.status, 200);
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  const grants = lines.map((line): Partial<Tuple> => JSON.parse(line));
  return new Set(
    grants.flatMap(({ subject, relation, object }) => {
      return subject === undefined || relation === undefined || object === undefined
        ? []
        : [textOf({ subject, relation, object })];
    }),
  );
}

/** Checks and listings say what the export does. */
async function compareReads(facts: DevFacts, writers: readonly Writer[], exported: Set<string>): Promise<void> {
  const all = writers.flatMap(({ sets }) => sets.flat());
  for (let start = 0; start < all.length; start += 100) {
    const checks = all.slice(start, start + 100);
    const { results } = Object(await answerTo(facts, '/v1/check/bulk', { checks }));
    for (const [index, tuple] of checks.entries()) {
      assert.equal(results[index].authorized, exported.has(textOf(tuple)), `the check of ${textOf(tuple)}`);
    }
  }
  for (const tuple of writers.flatMap((writer) => writer.single ?? [])) {
    const response = await fetch(`${facts.base_url}/v1/objects?subject=${tuple.subject}&relation=${tuple.relation}`, {
      headers: { Authorization: `Bearer ${facts.key}` },
    });
    const { objects } = Object(await response.json());
    assert.deepEqual(objects, exported.has(textOf(tuple)) ? [tuple.object] : [], `the listing of ${textOf(tuple)}`);
  }
}

/** Settles what was open. Returns how many calls were. */
async function verify(facts: DevFacts, writers: readonly Writer[]): Promise<number> {
  const exported = await readExport(facts);
  await compareReads(facts, writers, exported);
  let open = 0;
  let expected = 0;
  for (const writer of writers) {
    const held = writer.sets.map((set) => set.filter((tuple) => exported.has(textOf(tuple))).length);
    const whole = ([0, 1] as const).filter((at) => held[at] === writer.sets[at].length && held[1 - at] === 0);
    const [at] = whole;
    assert.ok(at !== undefined, `after the kill ${held.join(' and ')} of ${GRANTS_PER_SET} grants are there`);
    if (writer.open) open += 1;
    else assert.equal(at, writer.at, 'what was acknowledged is there');
    writer.at = at;
    writer.open = false;
    expected += writer.sets[at].length;
  }
  assert.equal(exported.size, expected, 'the export holds nothing else');
  return open;
}

/** Kills so many times, and says what happened. */
export async function killInWrites(kills: number): Promise<string> {
  const directory = useDirectory();
  const writers = [
    ...Array.from({ length: MOVERS }, (_, index) => mover(`m${index}`)),
    ...Array.from({ length: REVOKERS }, (_, index) => revoker(`r${index}`, index % 2 === 0)),
    ...Array.from({ length: SINGLES }, (_, index) => single(`s${index}`)),
  ];
  let grantd = await startDev(directory, { environment: { GRANTD_LOG_LEVEL: 'warn' } });
  try {
    for (const { sets } of writers.slice(0, MOVERS)) {
      assert.ok(await answerTo(readDevFacts(directory), '/v1/grants/bulk', { grants: sets[0] }));
    }
    let [acknowledged, open] = [0, 0];
    for (let round = 0; round < kills; round += 1) {
      acknowledged += await writeAndKill(grantd, readDevFacts(directory), writers);
      grantd = await startDev(directory, { environment: { GRANTD_LOG_LEVEL: 'warn' } });
      open += await verify(readDevFacts(directory), writers);
    }
    assert.ok(open > 0, 'the kills came in the middle of writes');
    return `${kills} kills, ${acknowledged} calls acknowledged, ${open} cut off`;
  } finally {
    await grantd.stop('SIGKILL');
  }
}
