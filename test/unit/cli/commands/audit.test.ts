// `grantd audit-log`: the audit log listed from either end, and followed over everything that can come between.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { UNKNOWN_TENANT } from '../../../kit/console-service.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { useOperatorCli } from '../cli-run.ts';

const cli = await useOperatorCli();
const { service, grantd, start } = cli;
const createTenant = (grants: number) =>
  cli.createTenant('Acme', Array.from({ length: grants }, (_, at) => `user:ann\tviewer\tdoc:${at + 1}\n`).join(''));

const objectsOf = (stdout: string): readonly string[] => stdout.match(/doc:\d+/g) ?? [];

/** Looks of `--follow` at the service since the last call. */
const looks = (): number => {
  const count = service.operator.calls.filter(({ name }) => name === 'listAuditLog').length;
  service.operator.calls.length = 0;
  return count;
};

describe('a listing', () => {
  test('begins with the newest, or with the oldest', async () => {
    const id = await createTenant(3);
    const { stdout } = await grantd(['audit-log', '--tenant', id, '--oldest-first']);
    assert.match(
      stdout,
      /operator:alice +grant\.created +subject=user:ann relation=viewer object=doc:1 grant_id=grt_\w+ +req_/,
    );
    assert.deepEqual(objectsOf(stdout), ['doc:1', 'doc:2', 'doc:3']);
    const last = await grantd(['audit-log', '--tenant', id, '--limit', '2']);
    assert.deepEqual(objectsOf(last.stdout), ['doc:3', 'doc:2']);
    const cursor = /--cursor (\S+)/.exec(last.stderr)?.[1] ?? '';
    const rest = await grantd(['audit-log', '--tenant', id, '--newest-first', '--cursor', cursor]);
    assert.deepEqual(objectsOf(rest.stdout), ['doc:1']);
    const { stdout: json } = await grantd(['audit-log', '--tenant', id, '--json', '--oldest-first']);
    assert.equal(JSON.parse(json)[0].change.action, 'tenant.created');
    assert.equal((await grantd(['audit-log', '--tenant', id, '--oldest-first', '--newest-first'])).code, 2);
  });

  test('is of a range of time where one is given', async () => {
    const id = await createTenant(1);
    const list = async (...range: string[]) => (await grantd(['audit-log', '--tenant', id, ...range])).stdout;
    assert.deepEqual(objectsOf(await list('--since', '2000-01-01', '--until', '2999-01-01T00:00Z')), ['doc:1']);
    assert.deepEqual(objectsOf(await list('--until', '2000-01-01')), []);
    assert.deepEqual(objectsOf(await list('--since', '1h')), ['doc:1']);
    assert.equal((await grantd(['audit-log', '--tenant', id, '--since', 'yesterday'])).code, 2);
  });
});

describe('a filter', () => {
  test('leaves what fits in all of its fields, over pages that are short', async () => {
    const id = await createTenant(12);
    await grantd(['grants', 'add', 'user:bob', 'viewer', 'doc:99', '--tenant', id]);
    await grantd(['grants', 'revoke', 'user:ann', 'viewer', 'doc:7', '--tenant', id]);
    const list = async (...filter: string[]) => (await grantd(['audit-log', '--tenant', id, ...filter])).stdout;
    service.operator.rowsPerAuditLogPage = 1;
    try {
      assert.deepEqual(objectsOf(await list('--object', 'doc:7')), ['doc:7', 'doc:7']);
    } finally {
      service.operator.rowsPerAuditLogPage = Number.POSITIVE_INFINITY;
    }
    assert.deepEqual(objectsOf(await list('--action', 'grant.revoked')), ['doc:7']);
    assert.deepEqual(objectsOf(await list('--subject', 'user:bob')), ['doc:99']);
    assert.deepEqual(objectsOf(await list('--actor', 'system')), []);
    const [last] = JSON.parse(await list('--limit', '1', '--json'));
    assert.deepEqual(objectsOf(await list('--request-id', last.request_id)), ['doc:7']);
  });

  test('that cannot be is refused, and says what can be', async () => {
    const id = await createTenant(0);
    const action = await grantd(['audit-log', '--tenant', id, '--action', 'granted']);
    assert.equal(action.code, 2);
    assert.match(action.stderr, /grant\.created, grant\.expired, grant\.revoked, grant\.updated, key\.created/);
    const actor = await grantd(['audit-log', '--tenant', id, '--actor', 'alice']);
    assert.match(actor.stderr, /"actor" must be operator:NAME/);
    assert.notEqual(actor.code, 0);
  });

  test('holds for what is followed: the last ones that fit, however far back, and each new one', async () => {
    const id = await createTenant(12);
    const more = Array.from({ length: 20 }, (_, index) => `user:bob\tviewer\tdoc:${index + 100}\n`);
    await grantd(['import', '-', '--tenant', id], { stdin: more.join('') });
    service.operator.rowsPerAuditLogPage = 3;
    try {
      const followed = ['audit-log', '--tenant', id, '--follow', '--subject', 'user:ann', '--limit', '5'];
      const { ended, waitToShow, interrupt } = start(followed);
      await waitToShow('doc:12');
      for (const [subject, object] of [
        ['user:bob', 'doc:13'],
        ['user:ann', 'doc:14'],
      ]) {
        await grantd(['grants', 'add', subject ?? '', 'viewer', object ?? '', '--tenant', id]);
      }
      await waitToShow('doc:14');
      interrupt();
      const { stdout } = await ended;
      assert.deepEqual(objectsOf(stdout), ['doc:8', 'doc:9', 'doc:10', 'doc:11', 'doc:12', 'doc:14']);
    } finally {
      service.operator.rowsPerAuditLogPage = Number.POSITIVE_INFINITY;
    }
  });
});

describe('followed', () => {
  test('it shows the last ones, then each new one once, and ends well when interrupted', async () => {
    const id = await createTenant(12);
    const { ended, waitToShow, interrupt } = start(['audit-log', '--tenant', id, '--follow', '--json']);
    await waitToShow('doc:12');
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:13', '--tenant', id]);
    await waitToShow('doc:13');
    looks();
    await waitFor(
      'two more looks',
      () => service.operator.calls.filter(({ name }) => name === 'listAuditLog').length > 1,
    );
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
    const { ended, waitToShow, interrupt } = start(['audit-log', '--tenant', id, '-f', '--since', '2000-01-01']);
    await waitToShow('doc:12');
    interrupt();
    const { stdout } = await ended;
    assert.equal(objectsOf(stdout).length, 12);
    assert.match(stdout, /^\S+Z {2}operator:alice {2}grant\.created {2}subject=user:ann .* req_\w{26}$/m);
  });

  test('it outlasts a service that is away or out of reach, says so once, and misses nothing', async () => {
    const id = await createTenant(1);
    let fails = 0;
    const restarting: typeof fetch = async (...parameters) => {
      if (fails === 0) return fetch(...parameters);
      fails -= 1;
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    };
    const { ended, waitToShow, interrupt } = start(['audit-log', '--tenant', id, '--follow'], { fetch: restarting });
    await waitToShow('doc:1');
    const away = new GrantdError('unavailable', 'Not now.');
    service.operator.faults.push(away, away);
    await waitFor('the faults to be met', () => service.operator.faults.length === 0);
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:2', '--tenant', id]);
    await waitToShow('doc:2');
    fails = 2;
    await waitFor('the refusals to be met', () => fails === 0);
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:3', '--tenant', id]);
    await waitToShow('doc:3');
    interrupt();
    const { stdout, stderr } = await ended;
    assert.deepEqual(objectsOf(stdout), ['doc:1', 'doc:2', 'doc:3']);
    assert.match(
      stderr,
      /^Unavailable: Not now\. (Retrying until it responds\.\nThe service responds again\.\n)No response .*ECONNREFUSED.* \1$/,
    );
  });

  test('what is wrong from the start, or cannot mend, ends it', async () => {
    const away = await grantd(['audit-log', '--tenant', 'ten_x', '-f'], {
      target: { url: 'http://127.0.0.1:1', token: 't' },
    });
    assert.equal(away.code, 1);
    assert.match(away.stderr, /No response .*\n {2}Is the service running/);
    const unknown = await grantd(['audit-log', '--tenant', UNKNOWN_TENANT, '-f']);
    assert.match(unknown.stderr, /tenant-not-found/);
    const both = await grantd(['audit-log', '--tenant', 'ten_x', '-f', '--newest-first']);
    assert.deepEqual([both.code, both.stdout], [2, '']);
  });

  test('it ends with the deletion of the tenant', async () => {
    const pages = [
      {
        entries: [{ seq: 1, change: { action: 'tenant.updated', state: 'deleting' } }],
        next_cursor: null,
        resume_cursor: 'a',
      },
      {
        entries: [{ seq: 2, change: { action: 'tenant.updated', state: 'deleted' } }],
        next_cursor: null,
        resume_cursor: 'b',
      },
    ];
    const scripted: typeof fetch = async () => new Response(JSON.stringify(pages.shift()));
    const { code, stdout, stderr } = await grantd(['audit-log', '--tenant', 'ten_x', '-f', '--json'], {
      fetch: scripted,
    });
    assert.deepEqual([code, stdout.trimEnd().split('\n').length], [0, 2]);
    assert.match(stderr, /deleted: its audit log has ended/);
  });

  test('it ends with the deletion of the tenant also where a filter leaves that out', async () => {
    const id = await createTenant(2);
    const { ended, waitToShow } = start(['audit-log', '--tenant', id, '-f', '--subject', 'user:ann']);
    await waitToShow('doc:2');
    await grantd(['tenants', 'delete', id, '--yes']);
    await service.operator.finishDeletions();
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, objectsOf(stdout)], [0, ['doc:1', 'doc:2']]);
    assert.match(stderr, /deleted: its audit log has ended/);
  });
});
