// `grantd changes`: the trail listed from either end, and followed over everything that can come between.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { systemClock, systemRandom } from '../../../src/roles/system.ts';
import { type CliRun, type CliRunOptions, runCli } from '../../support/cli-run.ts';
import { type ConsoleService, OPERATOR_TOKEN, startConsole } from '../../support/console-service.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: ConsoleService;

before(async () => {
  service = await startConsole({ clock: systemClock, random: systemRandom });
});
after(() => service.close());

const grantd = (args: readonly string[], options: Partial<CliRunOptions> = {}): Promise<CliRun> =>
  runCli(args, { target: { url: service.url, token: OPERATOR_TOKEN }, ...options });

async function createTenant(grants: number): Promise<string> {
  const id = JSON.parse((await grantd(['tenants', 'create', 'Acme', '--json'])).stdout).tenant_id;
  const lines = Array.from({ length: grants }, (_, index) => `user:ann\tviewer\tdoc:${index + 1}\n`);
  if (grants > 0) await grantd(['import', '-', '--tenant', id], { stdin: lines.join('') });
  return id;
}

const objectsOf = (stdout: string): readonly string[] => stdout.match(/doc:\d+/g) ?? [];

/** A command that runs until it is interrupted. */
function start(args: readonly string[], options: Partial<CliRunOptions> = {}) {
  let stop = (): void => {};
  let shown = '';
  const ended = grantd(args, {
    onInterrupt: (listener) => {
      stop = listener;
      return () => {};
    },
    onStdout: (text) => {
      shown = text;
    },
    ...options,
  });
  const waitToShow = (object: string): Promise<void> =>
    waitFor(`${object} to be shown`, () => objectsOf(shown).includes(object));
  return { ended, waitToShow, interrupt: () => stop() };
}

/** Looks of `--follow` at the service since the last call. */
const looks = (): number => {
  const count = service.operator.calls.filter(({ name }) => name === 'listTrail').length;
  service.operator.calls.length = 0;
  return count;
};

describe('a listing', () => {
  test('begins with the newest, or with the oldest', async () => {
    const id = await createTenant(3);
    const { stdout } = await grantd(['changes', '--tenant', id, '--oldest-first']);
    assert.match(stdout, /operator:alice +grant\.created +subject=user:ann relation=viewer object=doc:1 +req_/);
    assert.deepEqual(objectsOf(stdout), ['doc:1', 'doc:2', 'doc:3']);
    const last = await grantd(['changes', '--tenant', id, '--limit', '2']);
    assert.deepEqual(objectsOf(last.stdout), ['doc:3', 'doc:2']);
    const cursor = /--cursor (\S+)/.exec(last.stderr)?.[1] ?? '';
    const rest = await grantd(['changes', '--tenant', id, '--newest-first', '--cursor', cursor]);
    assert.deepEqual(objectsOf(rest.stdout), ['doc:1']);
    assert.equal(JSON.parse((await grantd(['changes', '--tenant', id, '--json', '--oldest-first'])).stdout)[0].seq, 1);
    assert.equal((await grantd(['changes', '--tenant', id, '--oldest-first', '--newest-first'])).code, 2);
  });

  test('is of a range of time where one is given', async () => {
    const id = await createTenant(1);
    const list = async (...range: string[]) => (await grantd(['changes', '--tenant', id, ...range])).stdout;
    assert.deepEqual(objectsOf(await list('--since', '2000-01-01', '--until', '2999-01-01T00:00Z')), ['doc:1']);
    assert.deepEqual(objectsOf(await list('--until', '2000-01-01')), []);
    assert.deepEqual(objectsOf(await list('--since', '2999-01-01')), []);
    assert.deepEqual(objectsOf(await list('--since', '1h')), ['doc:1']);
    assert.deepEqual(objectsOf(await list('--until', '1h')), []);
    assert.equal((await grantd(['changes', '--tenant', id, '--since', 'yesterday'])).code, 2);
    const reversed = await grantd(['changes', '--tenant', id, '--since', '2001-01-01', '--until', '2000-01-01']);
    assert.match(reversed.stderr, /invalid-request/);
  });
});

describe('followed', () => {
  test('it shows the last ones, then each new one once, and ends well when interrupted', async () => {
    const id = await createTenant(12);
    const { ended, waitToShow, interrupt } = start(['changes', '--tenant', id, '--follow', '--json']);
    await waitToShow('doc:12');
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:13', '--tenant', id]);
    await waitToShow('doc:13');
    looks();
    await waitFor('two more looks', () => service.operator.calls.filter(({ name }) => name === 'listTrail').length > 1);
    interrupt();
    const { code, stdout, stderr } = await ended;
    const changes = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      changes.map(({ change }) => change.object),
      Array.from({ length: 11 }, (_, index) => `doc:${index + 3}`),
    );
    assert.deepEqual([code, stderr], [130, '']);
  });

  test('with a time, it shows everything since then first', async () => {
    const id = await createTenant(12);
    const { ended, waitToShow, interrupt } = start(['changes', '--tenant', id, '-f', '--since', '2000-01-01']);
    await waitToShow('doc:12');
    interrupt();
    const { stdout } = await ended;
    assert.equal(objectsOf(stdout).length, 12);
    assert.match(
      stdout.split('\n')[0] ?? '',
      /^\S+Z {2}operator:alice {2}grant\.created {2}subject=user:ann .* req_\w{26}$/,
    );
  });

  test('it outlasts a service that is away, says so once, and misses nothing', async () => {
    const id = await createTenant(1);
    const { ended, waitToShow, interrupt } = start(['changes', '--tenant', id, '--follow']);
    await waitToShow('doc:1');
    const away = new GrantdError('unavailable', 'Not now.');
    service.operator.faults.push(away, away);
    await waitFor('the faults to be met', () => service.operator.faults.length === 0);
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:2', '--tenant', id]);
    await waitToShow('doc:2');
    interrupt();
    const { stdout, stderr } = await ended;
    assert.deepEqual(objectsOf(stdout), ['doc:1', 'doc:2']);
    assert.equal(stderr, 'Unavailable: Not now. Trying again until it is back.\nThe service is back.\n');
  });

  test('what is wrong from the start, or cannot mend, ends it', async () => {
    const away = await grantd(['changes', '--tenant', 'ten_x', '-f'], {
      target: { url: 'http://127.0.0.1:1', token: 't' },
    });
    assert.equal(away.code, 1);
    assert.match(away.stderr, /No answer .*\n {2}Does the service run there/);
    const unknown = await grantd(['changes', '--tenant', 'ten_00000000000000000000000000', '-f']);
    assert.match(unknown.stderr, /tenant-not-found/);
    const both = await grantd(['changes', '--tenant', 'ten_x', '-f', '--newest-first']);
    assert.deepEqual([both.code, both.stdout], [2, '']);
  });

  test('it ends with the deletion of the tenant', async () => {
    const pages = [
      {
        changes: [{ seq: 1, change: { action: 'tenant.updated', state: 'deleting' } }],
        next_cursor: null,
        resume_cursor: 'a',
      },
      {
        changes: [{ seq: 2, change: { action: 'tenant.updated', state: 'deleted' } }],
        next_cursor: null,
        resume_cursor: 'b',
      },
    ];
    const scripted: typeof fetch = async () => new Response(JSON.stringify(pages.shift()));
    const { code, stdout, stderr } = await grantd(['changes', '--tenant', 'ten_x', '-f', '--json'], {
      fetch: scripted,
    });
    assert.deepEqual([code, stdout.trimEnd().split('\n').length], [0, 2]);
    assert.match(stderr, /deleted: nothing more will come/);
  });
});
