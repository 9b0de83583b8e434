// The story of an operator who moves the roles of a container platform in: external ids with colons, slashes and stars,
// imported, checked line by line and crosswise, listed, exported and imported again. A real service, real HTTP;
// commands are processes where a pipe, a signal or the exit code of one is looked at.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type DevProcess, readDevFacts, startDev } from '../kit/dev-process.ts';
import { waitFor } from '../kit/wait-for.ts';
import { type CommandResult, runCommand, startCommand } from './support/commands.ts';

/** subject → relation → objects. Who holds which role, and what a role may do: `verb:group/resource`. */
const ROLES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'group:system:masters': { member: ['role:cluster-admin'] },
  'group:system:authenticated': { member: ['role:system:discovery', 'role:system:basic-user'] },
  'group:system:unauthenticated': { member: ['role:system:public-info-viewer'] },
  'group:system:serviceaccounts': { member: ['role:system:service-account-issuer-discovery'] },
  'user:system:kube-scheduler': { member: ['role:system:kube-scheduler', 'role:system:volume-scheduler'] },
  'serviceaccount:kube-system:node-controller': { member: ['role:system:controller:node-controller'] },
  'role:cluster-admin': { owner: ['permission:*:*/*', 'url:*:*'] },
  'role:system:discovery': { viewer: ['url:get:/api', 'url:get:/api/*', 'url:get:/apis', 'url:get:/apis/*'] },
  'role:system:basic-user': { editor: ['permission:create:authorization.k8s.io/selfsubjectaccessreviews'] },
  'role:system:public-info-viewer': { viewer: ['url:get:/healthz', 'url:get:/livez', 'url:get:/version/'] },
  'role:system:kube-scheduler': {
    viewer: ['permission:list:/nodes', 'permission:watch:/nodes', 'permission:get:coordination.k8s.io/leases'],
    editor: ['permission:create:/pods/binding', 'permission:patch:/pods/status', 'permission:patch:/events'],
  },
  'role:system:volume-scheduler': {
    viewer: ['permission:list:storage.k8s.io/*', 'permission:list:/persistentvolumes'],
    editor: ['permission:patch:/persistentvolumes'],
  },
  'role:system:controller:node-controller': {
    viewer: ['permission:list:/nodes', 'permission:list:/pods'],
    editor: ['permission:patch:/nodes/status', 'permission:patch:/events'],
    manager: ['permission:delete:/nodes', 'permission:delete:/pods'],
  },
};

interface Tuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

const tuples: readonly Tuple[] = Object.entries(ROLES).flatMap(([subject, relations]) =>
  Object.entries(relations).flatMap(([relation, objects]) => objects.map((object) => ({ subject, relation, object }))),
);
const lineOf = ({ subject, relation, object }: Tuple): string => `${subject}\t${relation}\t${object}`;
const lines = tuples.map(lineOf);
const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
const sortedText = lines
  .toSorted(byBytes)
  .map((line) => `${line}\n`)
  .join('');

let directory: string;
let service: DevProcess;
let tenant: string;
let key: string;
let file: string;

const grantd = (args: readonly string[], stdin?: string): Promise<CommandResult> => runCommand(directory, args, stdin);

async function get(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${readDevFacts(directory).base_url}${path}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  assert.equal(response.status, 200);
  return JSON.parse(await response.text());
}

/** The answers to any number of checks, in their order. */
async function checkAll(checks: readonly Tuple[]): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (let start = 0; start < checks.length; start += 100) {
    const response = await fetch(`${readDevFacts(directory).base_url}/v1/check/bulk`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ checks: checks.slice(start, start + 100) }),
    });
    assert.equal(response.status, 200);
    const { results } = JSON.parse(await response.text());
    answers.push(...results.map(({ authorized }: { authorized: boolean }) => authorized));
  }
  return answers;
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'grantd-rbac-'));
  file = join(directory, 'rbac.tsv');
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  service = await startDev(directory);
  const made = await grantd(['tenants', 'create', 'Cluster roles', '--plan', 'unlimited', '--json']);
  assert.equal(made.code, 0, made.stderr);
  tenant = JSON.parse(made.stdout).tenant_id;
  const minted = await grantd(['keys', 'create', '--tenant', tenant, '--scope', 'check:read', '--json']);
  assert.equal(minted.code, 0, minted.stderr);
  key = JSON.parse(minted.stdout).key;
});

after(async () => {
  await service?.stop();
  await rm(directory, { recursive: true, force: true });
});

describe('an import of roles', () => {
  test('creates every line', async () => {
    const run = await grantd(['import', file, '--tenant', tenant]);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, new RegExp(`: ${lines.length} created, 0 changed, 0 unchanged, 0 refused\n$`));
  });

  test('every line then checks true', async () => {
    assert.deepEqual(
      await checkAll(tuples),
      tuples.map(() => true),
    );
    const [{ subject, relation, object } = { subject: '', relation: '', object: '' }] = tuples;
    const yes = await grantd(['check', subject, relation, object, '--tenant', tenant]);
    assert.deepEqual([yes.code, yes.stdout], [0, 'authorized true\n']);
    const no = await startCommand(directory, ['check', subject, 'guest', object, '--tenant', tenant]).result;
    assert.deepEqual([no.code, no.stdout], [3, 'authorized false\n']);
  });

  test('a line with its relation or object swapped for another is true only if it is a line too', async () => {
    const relations = new Set(tuples.map(({ relation }) => relation));
    const objects = new Set(tuples.map(({ object }) => object));
    const swapped = tuples.flatMap((tuple) => [
      ...Array.from(relations, (relation) => ({ ...tuple, relation })),
      ...Array.from(objects, (object) => ({ ...tuple, object })),
    ]);
    const known = new Set(lines);
    assert.deepEqual(
      await checkAll(swapped),
      swapped.map((tuple) => known.has(lineOf(tuple))),
    );
  });

  test('the listing of each subject and relation is that of the file, whatever the page', async () => {
    const expected = Map.groupBy(tuples, ({ subject, relation }) => `${subject}\t${relation}`);
    for (const [pair, group] of expected) {
      const [subject = '', relation = ''] = pair.split('\t');
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const query = new URLSearchParams({
          subject,
          relation,
          limit: '2',
          ...(cursor === undefined ? {} : { cursor }),
        });
        const { objects, next_cursor } = await get(`/v1/objects?${query}`);
        assert.ok(Array.isArray(objects) && objects.length <= 2);
        seen.push(...objects);
        cursor = typeof next_cursor === 'string' ? next_cursor : undefined;
      } while (cursor !== undefined);
      assert.deepEqual(seen, group.map(({ object }) => object).toSorted(byBytes), pair);
    }
  });

  test('the export is the import, sorted', async () => {
    const tsv = await startCommand(directory, ['export', '--tenant', tenant]).result;
    assert.deepEqual(tsv, { code: 0, stdout: sortedText, stderr: '' });
    const ndjson = await grantd(['export', '--tenant', tenant, '--format', 'ndjson']);
    const records = ndjson.stdout
      .trimEnd()
      .split('\n')
      .slice(1, -1)
      .map((line): Tuple => JSON.parse(line));
    assert.equal(records.map((record) => `${lineOf(record)}\n`).join(''), sortedText);
  });

  test('a second import finds everything there', async () => {
    const run = await startCommand(directory, ['import', '-', '--tenant', tenant], sortedText).result;
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, new RegExp(`: 0 created, 0 changed, ${lines.length} unchanged, 0 refused\n$`));
    assert.equal((await grantd(['export', '--tenant', tenant])).stdout, sortedText);
  });

  test('refused lines are named by their numbers and change nothing', async () => {
    const bad = [lines[0], 'group:a\tmember', 'group:a\tchief\trole:b', '', 'a b\tmember\trole:b', `${lines[1]}\t\t\t`];
    const run = await grantd(['import', '-', '--tenant', tenant], bad.join('\n'));
    assert.equal(run.code, 4);
    assert.match(run.stdout, /^5 lines .*: 0 created, 0 changed, 1 unchanged, 4 refused\n$/);
    assert.deepEqual(
      [...run.stderr.matchAll(/line (\d+): ([a-z-]+):/g)].map((match) => [Number(match[1]), match[2]]),
      [
        [2, 'invalid-request'],
        [3, 'invalid-relation'],
        [5, 'invalid-subject'],
        [6, 'invalid-request'],
      ],
    );
    assert.equal((await grantd(['export', '--tenant', tenant])).stdout, sortedText);
  });

  test('the audit log tells of every grant and who made it', async () => {
    const run = await grantd(['audit-log', '--tenant', tenant, '--limit', '1000', '--json']);
    assert.equal(run.code, 0, run.stderr);
    const changes: { actor: string; change: { action: string } }[] = JSON.parse(run.stdout);
    const created = changes.filter(({ change }) => change.action === 'grant.created');
    assert.equal(created.length, lines.length);
    assert.deepEqual([...new Set(created.map(({ actor }) => actor))], ['operator:operator']);
  });
});

describe('other stories', () => {
  const many = Array.from({ length: 5000 }, (_, index) => `user:${index % 50}\tviewer\tdoc:${index}\n`);

  test('an interrupted import says what stands, and the same import finishes it', async () => {
    const id = JSON.parse((await grantd(['tenants', 'create', 'Interrupted', '--json'])).stdout).tenant_id;
    const { child, result } = startCommand(directory, ['import', '-', '--tenant', id]);
    child.stdin?.write(many.slice(0, 2500).join(''));
    const begun = async () => {
      const run = await grantd(['export', '--tenant', id]);
      return run.stdout.split('\n').length > 2000;
    };
    await waitFor('the first batches', begun);
    child.kill('SIGINT');
    const interrupted = await result;
    assert.equal(interrupted.code, 130, interrupted.stderr);
    assert.match(interrupted.stdout, /^2,000 lines .*: 2,000 created, 0 changed, 0 unchanged, 0 refused\n$/);
    assert.match(interrupted.stderr, /^Interrupted\. .*run the same import again; this is safe\.\n$/);
    const again = await grantd(['import', '-', '--tenant', id], many.join(''));
    assert.match(again.stdout, /: 3,000 created, 0 changed, 2,000 unchanged, 0 refused\n$/);

    const { child: reader, result: read } = startCommand(directory, ['export', '--tenant', id], '');
    reader.stdout?.once('data', () => reader.stdout?.destroy());
    const { code, stderr } = await read;
    assert.equal(code, 1, 'what its reader has got is no whole export');
    assert.match(stderr, /^grantd: The output is incomplete: its reader has left\.\n$/);
  });

  test('a suspended tenant is refused, a resumed one served, a deleted one gone', async () => {
    const id = JSON.parse((await grantd(['tenants', 'create', 'Short-lived', '--json'])).stdout).tenant_id;
    const minted = await grantd(['keys', 'create', '--tenant', id, '--scope', 'check:read', '--json']);
    const bearer = { Authorization: `Bearer ${JSON.parse(minted.stdout).key}` };
    await grantd(['import', '-', '--tenant', id], many.slice(0, 10).join(''));
    const status = async () =>
      (await fetch(`${readDevFacts(directory).base_url}/v1/namespaces`, { headers: bearer })).status;
    assert.equal(await status(), 200);
    assert.equal((await grantd(['tenants', 'suspend', id])).code, 0);
    assert.equal(await status(), 403);
    assert.equal((await grantd(['tenants', 'resume', id])).code, 0);
    assert.equal(await status(), 200);
    const deleted = await grantd(['tenants', 'delete', id, '--yes', '--json']);
    assert.equal(JSON.parse(deleted.stdout).state, 'deleting', deleted.stderr);
    assert.notEqual(await status(), 200);
    const gone = async () => /tenant-not-found/.test((await grantd(['tenants', 'show', id])).stderr);
    await waitFor('the end of the deletion', gone);
    assert.doesNotMatch((await grantd(['tenants', 'list'])).stdout, new RegExp(id));
  });

  test('every slot is served by a member', async () => {
    const slots: { slot: number; state: string; incarnation: string }[] = JSON.parse(
      (await grantd(['slots', '--json'])).stdout,
    );
    const members: { incarnation: string; state: string }[] = JSON.parse((await grantd(['members', '--json'])).stdout);
    const alive = new Set(members.filter(({ state }) => state === 'alive').map(({ incarnation }) => incarnation));
    assert.equal(new Set(slots.map(({ slot }) => slot)).size, 256);
    assert.ok(slots.every(({ state, incarnation }) => state === 'serving' && alive.has(incarnation)));
  });
});
