// The operator's commands against the operator's API on a front in memory: what they print, say and exit with.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { CliFailure, EXIT } from '../../../packages/cli/src/failures.ts';
import { createApiKey, parseApiKey } from '../../../src/core/api-keys.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { parseTenantId } from '../../../src/core/ids.ts';
import { systemRandom } from '../../../src/roles/process/system.ts';
import { type CliRun, useOperatorCli } from './cli-run.ts';

const NOBODY = 'ten_00000000000000000000000000';
const { service, grantd, createTenant } = await useOperatorCli();

describe('tenants', () => {
  test('are made, shown, listed and changed', async () => {
    const made = await grantd(['tenants', 'create', 'Ann & Co', '--plan', 'standard']);
    assert.equal(made.code, 0, made.stderr);
    const id = /tenant_id +(ten_[0-9a-z]{26})/.exec(made.stdout)?.[1] ?? '';
    assert.match(made.stdout, /name +Ann & Co\nplan +standard\nstate +active\n/);
    assert.match((await grantd(['tenants', 'list'])).stdout, new RegExp(`${id} +Ann & Co +standard +active +0 `));
    const updated = await grantd(['tenants', 'update', id, '--plan', 'scale', '--name', 'Ann & Sons']);
    assert.match(updated.stdout, /name +Ann & Sons\nplan +scale\n/);
    assert.match((await grantd(['tenants', 'suspend', id])).stdout, /state +suspended/);
    assert.match((await grantd(['tenants', 'resume', id])).stdout, /state +active/);
    const shown = await grantd(['tenants', 'show', id, '--json']);
    assert.deepEqual(
      [JSON.parse(shown.stdout).plan, JSON.parse(shown.stdout).state, shown.stderr],
      ['scale', 'active', ''],
    );
  });

  test('have as many readers as their plan says, unless they are given a number', async () => {
    const id = await createTenant();
    const readers = async (text: string): Promise<unknown> => {
      const { code, stdout, stderr } = await grantd(['tenants', 'update', id, '--readers', text, '--json']);
      assert.equal(code, 0, stderr);
      const shown = JSON.parse((await grantd(['tenants', 'show', id, '--json'])).stdout);
      assert.equal(JSON.parse(stdout).readers, shown.readers);
      return [shown.readers, shown.effective_readers];
    };
    assert.deepEqual(await readers('16'), [16, 16]);
    assert.deepEqual(await readers('auto'), ['auto', 0]);
    assert.deepEqual(await readers('plan'), [null, 0]);
    const before = service.operator.calls.length;
    for (const args of [['--readers', '17'], ['--readers=-1'], ['--readers', '1.5'], ['--readers', ''], []]) {
      const { code, stderr } = await grantd(['tenants', 'update', id, ...args]);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, args.length === 0 ? /--name, --plan and --readers/ : /from 0 to 16, "auto" or "plan"/);
    }
    assert.equal(service.operator.calls.length, before);
  });

  test('a listing says where it goes on', async () => {
    await createTenant();
    await createTenant();
    const first = await grantd(['tenants', 'list', '--limit', '1', '--json']);
    const [tenant] = JSON.parse(first.stdout);
    const cursor = /--cursor (\S+)/.exec(first.stderr)?.[1] ?? '';
    const rest = await grantd(['tenants', 'list', '--cursor', cursor, '--json']);
    assert.ok(JSON.parse(rest.stdout).length >= 1);
    assert.doesNotMatch(rest.stdout, new RegExp(tenant.tenant_id));
    assert.equal(rest.stderr, '');
  });

  test('are deleted only when that was confirmed', async () => {
    const id = await createTenant();
    const unasked = await grantd(['tenants', 'delete', id]);
    assert.deepEqual([unasked.code, unasked.stdout], [2, '']);
    assert.match(unasked.stderr, /--yes/);
    const declined = await grantd(['tenants', 'delete', id], { terminal: true, stdin: 'yes\n' });
    assert.equal(declined.code, 1);
    assert.match(declined.stderr, /Nothing was deleted/);
    assert.match((await grantd(['tenants', 'show', id])).stdout, /active/);
    const confirmed = await grantd(['tenants', 'delete', id], { terminal: true, stdin: `${id}\n` });
    assert.match(confirmed.stdout, /state +deleting/);
    const other = await createTenant();
    assert.match((await grantd(['tenants', 'delete', other, '--yes'])).stdout, /deleting/);
  });
});

describe('keys', () => {
  test('are made with their text once, listed without it, and revoked', async () => {
    const id = await createTenant();
    const scopes = ['--scope', 'check:read', '--scope', 'grant:write,admin'];
    const made = await grantd(['keys', 'create', '--tenant', id, ...scopes, '--name', 'ci', '--json']);
    assert.equal(made.code, 0, made.stderr);
    const { key, key_id, scopes: given } = JSON.parse(made.stdout);
    assert.match(key, /^gk1_/);
    assert.deepEqual(given, ['check:read', 'grant:write', 'admin']);
    const listed = await grantd(['keys', 'list', '--tenant', id]);
    assert.match(listed.stdout, new RegExp(`${key_id} +ci +check:read,grant:write,admin`));
    assert.doesNotMatch(listed.stdout, /gk1_/);
    const unasked = await grantd(['keys', 'revoke', '--tenant', id, key_id]);
    assert.deepEqual([unasked.code, unasked.stdout], [2, '']);
    assert.match(unasked.stderr, /--yes/);
    const revoke = ['keys', 'revoke', '--tenant', id, key_id];
    const declined = await grantd(revoke, { terminal: true, stdin: 'y\n' });
    assert.deepEqual([declined.code, declined.stdout], [1, '']);
    assert.match(declined.stderr, /permanently.*Nothing was revoked/s);
    assert.match((await grantd(['keys', 'list', '--tenant', id])).stdout, new RegExp(key_id));
    const left = await grantd(revoke, { terminal: true, stdin: '' });
    assert.deepEqual([left.code, left.stdout], [1, ''], 'the end of the input is a no');
    assert.match((await grantd(revoke, { terminal: true, stdin: 'yes\n' })).stdout, /revoked/);
    const again = await grantd([...revoke, '--yes']);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /key-not-found.*grantd keys list/s);
  });

  test('are rotated: only the new key is on standard output', async () => {
    const id = await createTenant();
    const create = ['keys', 'create', '--tenant', id, '--scope', 'check:read', '--name', 'ci', '--json'];
    const { key_id } = JSON.parse((await grantd(create)).stdout);
    const rotate = ['keys', 'rotate', '--tenant', id];
    const rotated = await grantd([...rotate, key_id]);
    assert.equal(rotated.code, 0, rotated.stderr);
    assert.match(rotated.stdout, /^gk1_[0-9A-Za-z]{81}\n$/);
    assert.match(
      rotated.stderr,
      new RegExp(`Save it now.*${key_id} works until .*keys revoke --tenant ${id} ${key_id}`, 's'),
    );
    assert.doesNotMatch(rotated.stderr, /gk1_/);
    const again = await grantd([...rotate, key_id]);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /key-not-rotatable/);
    const newId = parseApiKey(rotated.stdout.trim())?.keyId ?? '';
    assert.match((await grantd(['keys', 'list', '--tenant', id])).stdout, new RegExp(`${key_id}.* ${newId}`));
    const ended = JSON.parse((await grantd([...rotate, newId, '--grace', '0', '--json'])).stdout);
    assert.deepEqual([ended.former.key_id, ended.former.revoked], [newId, true]);
    for (const grace of ['24', '-1h', '31d', 'never']) {
      const refused = await grantd([...rotate, newId, `--grace=${grace}`]);
      assert.deepEqual([refused.code, refused.stdout], [2, ''], grace);
      assert.match(refused.stderr, /0 or a duration up to 30d/);
    }
  });

  test('are identified by their text, which is neither sent nor repeated', async () => {
    const id = await createTenant();
    const nowMs = () => Date.parse('2030-01-31T12:00:00Z');
    const create = ['keys', 'create', '--tenant', id, '--scope', 'check:read', '--name', 'ci', '--json'];
    const { key, key_id } = JSON.parse((await grantd(create, { nowMs })).stdout);
    const sent: string[] = [];
    const spy: typeof fetch = (input, init) => {
      sent.push(JSON.stringify([String(input), init?.headers, init?.body ?? null]));
      return fetch(input, init);
    };
    const identify = async (stdin: string) => grantd(['keys', 'identify', '--json'], { stdin, fetch: spy });
    const found = await identify(`  ${key}\n`);
    assert.equal(found.code, 0, found.stderr);
    const { created_at, ...rest } = JSON.parse(found.stdout);
    assert.deepEqual(rest, {
      tenant_id: id,
      tenant: 'Acme',
      tenant_state: 'active',
      key_id,
      name: 'ci',
      scopes: ['check:read'],
      expires_at: null,
      last_used_at: null,
      rotated_from: null,
      rotated_to: null,
      state: 'active',
      matches: true,
    });
    const tenantId = parseTenantId(id);
    assert.ok(tenantId !== undefined);
    const forged = createApiKey({ tenantId, keyId: key_id }, systemRandom);
    assert.equal(JSON.parse((await identify(forged)).stdout).matches, false);
    assert.match(
      (await grantd(['keys', 'identify'], { stdin: forged })).stderr,
      /a key with this ID, but not with this text/,
    );
    assert.match((await grantd(['keys', 'identify'], { stdin: key })).stderr, /It still works.*keys revoke --tenant/);
    assert.equal((await grantd(['keys', 'revoke', '--tenant', id, key_id, '--yes'])).code, 0);
    assert.equal(JSON.parse((await identify(key)).stdout).state, 'unknown');
    assert.match((await grantd(['keys', 'identify'], { stdin: key })).stderr, /no such key:/);
    const nobody = parseTenantId(NOBODY);
    assert.ok(nobody !== undefined);
    const elsewhere = createApiKey({ tenantId: nobody, keyId: key_id }, systemRandom);
    assert.equal(JSON.parse((await identify(elsewhere)).stdout).tenant_state, 'unknown');
    const swapped = `${key.slice(0, -2)}${key.slice(-1)}${key.slice(-2, -1)}`;
    for (const wrong of [
      '',
      'gk1_',
      key.slice(0, -1),
      `${key}\n${key}`,
      swapped === key ? 'x' : swapped,
      'x'.repeat(5000),
    ]) {
      const refused = await identify(wrong);
      assert.equal(refused.code, 2);
      assert.equal(refused.stdout, '');
      assert.doesNotMatch(refused.stderr, /gk1_[0-9A-Za-z]{10}|xxxx/);
    }
    assert.ok(sent.length > 0 && sent.every((text) => !text.includes('gk1_')));
  });

  test('end at a day, at a time, or after a while', async () => {
    const id = await createTenant();
    const nowMs = () => Date.parse('2030-01-31T12:00:00Z');
    for (const [text, expected] of [
      ['2031-01-01', '2031-01-01T00:00:00.000Z'],
      ['2031-01-01T06:30+02:00', '2031-01-01T04:30:00.000Z'],
      ['90d', '2030-05-01T12:00:00.000Z'],
    ] as const) {
      const create = ['keys', 'create', '--tenant', id, '--scope', 'admin', '--expires-at', text, '--json'];
      const made = await grantd(create, { nowMs });
      assert.equal(JSON.parse(made.stdout).expires_at, expected, made.stderr);
    }
  });

  test('need a tenant and a scope', async () => {
    const bare = await grantd(['keys', 'create', '--tenant', NOBODY]);
    assert.equal(bare.code, 2);
    assert.match(bare.stderr, /--scope/);
  });
});

test('plans, slots and members are tables', async () => {
  assert.match(
    (await grantd(['plans'])).stdout,
    /PLAN +REQUESTS +PER SECONDS[^\n]*\nfree +600 +60 +1000 +1000 +1000000 +10 +0\n/,
  );
  assert.match((await grantd(['plans'])).stdout, /unlimited +unlimited +1 +1000 +1000 +unlimited +5000 +0\n/);
  const session = { incarnation: 'inc_a', shardName: 'shard-0', address: 'h:1', leaseLeftMs: 2499.5 };
  service.operator.members = [{ ...session, state: 'draining', heartbeat: 17, startedAtMs: 0, slotsOwned: 2 }];
  const members = (await grantd(['members'])).stdout;
  assert.match(members, /SHARD +STATE +SLOTS +LEASE LEFT +HEARTBEAT +STARTED +ADDRESS +INCARNATION\n/);
  assert.match(members, /shard-0 +draining +2 +2499 ms +17 +1970-01-01T00:00:00\.000Z +h:1 +inc_a\n/);
  assert.match(members, /\n1 member: 1 draining\n$/);
  const nobody = { incarnation: undefined, shardName: undefined, address: undefined, leaseLeftMs: undefined };
  const nothing = { logEnd: undefined, checkpoint: undefined, tenants: undefined, readers: [] };
  const counts = { epoch: 2, position: 1089, calls: 70, readIndexes: 9, handedOver: 3, begun: 2 };
  const readers = [{ tenantId: 'ten_a', shardName: 'shard-1', ...counts }];
  service.operator.slots = [
    { slot: 0, state: 'unowned', epoch: 3, ...nobody, ...nothing },
    { slot: 1, state: 'serving', epoch: 2, ...session, logEnd: 1090, checkpoint: 90, tenants: 4, readers },
    { slot: 2, state: 'serving', epoch: 2, ...session, logEnd: 9, checkpoint: 9, tenants: 0, readers: [] },
  ];
  const slots = (await grantd(['slots'])).stdout;
  assert.match(
    slots,
    /SLOT +STATE +SHARD +EPOCH +LEASE LEFT +TENANTS +LOG END +CHECKPOINT +LAG +ADDRESS +INCARNATION\n/,
  );
  assert.match(slots, /\n0 +unowned +- +3 +- +- +- +- +- +- +-\n/);
  assert.match(slots, /\n1 +serving +shard-0 +2 +2499 ms +4 +1090 +90 +1000 +h:1 +inc_a\n/);
  assert.match(slots, /\nSLOT +TENANT +READER +EPOCH +POSITION +CALLS +READ INDEXES +HANDED OVER +BEGUN\n/);
  assert.match(slots, /\n1 +ten_a +shard-1 +2 +1089 +70 +9 +3 +2\n/);
  assert.match(slots, /\n3 slots: 2 serving, 1 unowned; 1 shard; checkpoint lag up to 1,000\n$/);
  const json = JSON.parse((await grantd(['slots', '--json'])).stdout);
  assert.equal(json[1].checkpoint_lag, 1000);
  service.operator.slots = [];
  assert.deepEqual(JSON.parse((await grantd(['slots', '--json'])).stdout), []);
});

test('a check answers with its exit code', async () => {
  const id = await createTenant();
  await grantd(['import', '-', '--tenant', id], { stdin: 'user:ann\tviewer\tdoc:a\n' });
  const yes = await grantd(['check', 'user:ann', 'viewer', 'doc:a', '--tenant', id]);
  assert.deepEqual([yes.code, yes.stdout], [0, 'authorized true\n']);
  const no = await grantd(['check', 'user:ann', 'editor', 'doc:a', '--tenant', id]);
  assert.deepEqual([no.code, no.stdout], [3, 'authorized false\n']);
  const json = await grantd(['check', 'user:ann', 'viewer', 'doc:a', '--tenant', id, '--json']);
  assert.equal(JSON.parse(json.stdout).authorized, true);
  const bad = await grantd(['check', 'ann', 'viewer', 'doc:a', '--tenant', id]);
  assert.deepEqual([bad.code, bad.stdout], [1, '']);
  assert.match(bad.stderr, /^grantd: Invalid subject: .*\n {2}status 400, invalid-subject\n {2}request req_/);
  assert.equal((await grantd(['check', 'user:ann', 'viewer'])).code, 2);
});

test('a check explains itself: its grants, or what it lacks', async () => {
  const id = await createTenant();
  const grants = 'user:ann\tviewer\tfolder:a\nfolder:a\tparent\tdoc:a\n';
  await grantd(['import', '-', '--tenant', id], { stdin: grants });
  const rules = '{"rules":[{"namespace":"doc","name":"can_read","any_of":["editor","viewer from parent"]}]}';
  assert.equal((await grantd(['rules', 'set', '-', '--tenant', id, '--yes'], { stdin: rules })).code, 0);
  const explain = (subject: string, ...more: readonly string[]) =>
    grantd(['check', subject, 'can_read', 'doc:a', '--explain', '--tenant', id, ...more]);
  const yes = await explain('user:ann');
  assert.equal(yes.stdout, 'authorized true\nuser:ann viewer folder:a\nfolder:a parent doc:a\n');
  const no = await explain('user:bob');
  assert.equal(
    no.stdout,
    'authorized false\nNo grant leads from user:bob to can_read of doc:a; `user:bob editor doc:a` would suffice.\n',
  );
  assert.equal((await explain('user:bob', '--context-grant', 'user:bob editor doc:a')).code, 0);
  assert.equal(JSON.parse((await explain('user:ann', '--json')).stdout).because.length, 2);
  assert.match((await explain('user:bob', '--context-grant', 'user:bob editor')).stderr, /is not a grant: write/);
  assert.equal((await grantd(['check', '-f', 'x.csv', '--explain', '--tenant', id])).code, 2);
});

test('listings with a context and grants that count for the call', async () => {
  const id = await createTenant();
  await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:a', '--tenant', id]);
  const sent = ['--context-grant', 'user:ann viewer doc:b', '--context-grant', 'user:bob viewer doc:a'];
  const listed = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse((await grantd([...args, '--json', '--tenant', id])).stdout);
  assert.deepEqual(await listed('objects', 'user:ann', 'viewer'), ['doc:a']);
  assert.deepEqual(await listed('objects', 'user:ann', 'viewer', ...sent), ['doc:a', 'doc:b']);
  assert.deepEqual(await listed('subjects', 'viewer', 'doc:a', ...sent), ['user:ann', 'user:bob']);
  assert.deepEqual(await listed('subjects', 'viewer', 'doc:a', '--context', '{"hour":9}'), ['user:ann']);
  // Groups come first in the order of the service, and people are what one looks for.
  const rules = '{"rules":[],"groups":true}';
  assert.equal((await grantd(['rules', 'set', '-', '--tenant', id, '--yes'], { stdin: rules })).code, 0);
  const group = ['--context-grant', 'team:eng#member viewer doc:a'];
  const shown = await grantd(['subjects', 'viewer', 'doc:a', ...group, '--tenant', id]);
  assert.equal(shown.stdout, 'SUBJECT\nuser:ann\nteam:eng#member\n');
  assert.deepEqual(await listed('subjects', 'viewer', 'doc:a', ...group), ['team:eng#member', 'user:ann']);
  assert.equal((await grantd(['subjects', '--context', '{}', '--tenant', id])).code, 2);
  assert.match(
    (await grantd(['objects', 'user:ann', 'viewer', '--context', '[]', '--tenant', id])).stderr,
    /JSON object/,
  );
});

test('a refusal of a relation names it, every failure begins alike, and help says what may be asked', async () => {
  const id = await createTenant();
  const refused = await grantd(['grants', 'add', 'user:ann', 'can_read', 'doc:a', '--tenant', id]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /^grantd: .*it is "can_read", which is not one of them; names that rules define .* cannot be granted/,
  );
  for (const args of [['grants', 'add'], ['check', '--nonsense'], ['nonsense']]) {
    const { code, stderr } = await grantd(args);
    assert.equal(code, 2);
    assert.match(stderr, /^grantd: /, args.join(' '));
  }
  for (const command of ['check', 'objects', 'subjects']) {
    assert.match(
      (await grantd([command, '--help'])).stdout,
      /or a\s+name\s+that\s+the\s+rules\s+of\s+the\s+tenant\s+define/,
      command,
    );
  }
  const { stdout } = await grantd(['audit-log', '--help']);
  assert.equal(stdout.split('grant.created').length, 2, 'each action is listed once');
  const created = await grantd(['tenants', 'create', 'Acme']);
  assert.doesNotMatch(created.stdout, /counts +-/);
});

describe('the tenant', () => {
  test('of a command that is given none is that of the settings', async () => {
    const id = await createTenant();
    const other = await createTenant();
    const options = { tenant: id };
    const grant = ['user:ann', 'viewer', 'doc:a'];
    assert.equal((await grantd(['grants', 'add', ...grant], options)).code, 0);
    assert.equal((await grantd(['check', ...grant], options)).code, 0);
    assert.equal((await grantd(['check', ...grant, '--tenant', other], options)).code, 3);
    assert.equal((await grantd(['export'], options)).stdout, 'user:ann\tviewer\tdoc:a\n');
    assert.equal((await grantd(['tenants', 'list'], options)).code, 0);
  });

  test('that is missing, or set wrong, is wrong usage, and nothing is asked of the service', async () => {
    const fetch = (): never => assert.fail('a request was sent');
    for (const command of [['grants', 'list', 'user:ann'], ['usage'], ['audit-log', '--follow']]) {
      const missing = await grantd(command, { fetch });
      assert.equal(missing.code, 2);
      assert.equal(missing.stderr, "grantd: The tenant is missing: pass '--tenant <id>' or set GRANTD_TENANT.\n");
    }
    const chooseService = (): never => {
      throw new CliFailure('GRANTD_TENANT is wrong', EXIT.usage);
    };
    const wrong = await grantd(['grants', 'list', 'user:ann'], { fetch, chooseService });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /GRANTD_TENANT is wrong/);
  });
});

describe('on a terminal', () => {
  test('a table is cut to its width, from the widest column; JSON and a pipe get everything', async () => {
    const name = 'x'.repeat(220);
    const id = await createTenant(name);
    const lines = (await grantd(['tenants', 'list', '--name', id], { columns: 100 })).stdout.trimEnd().split('\n');
    for (const line of lines) assert.ok([...line].length <= 100, line);
    assert.match(lines[1] ?? '', new RegExp(`^${id} {2}x+… {2}free `));
    assert.equal((lines[1] ?? '').length, 100, 'the width is used');
    const narrow = (await grantd(['tenants', 'list', '--name', id], { columns: 80 })).stdout.split('\n')[1] ?? '';
    assert.match(narrow, new RegExp(`^${id} {2}x+… .*…$`), 'an id is kept whole, and a time is cut before it');
    assert.ok([...narrow].length <= 80);
    assert.match((await grantd(['tenants', 'list', '--name', id])).stdout, new RegExp(name));
    assert.match((await grantd(['tenants', 'list', '--name', id], { columns: 400 })).stdout, new RegExp(name));
    assert.match((await grantd(['tenants', 'list', '--json'], { columns: 100 })).stdout, new RegExp(name));
    assert.equal((await grantd(['tenants', 'list', '--name', id], { columns: 1 })).code, 0);
  });
});

describe('failures', () => {
  test('under --json are one line of JSON on standard error', async () => {
    const errorOf = (run: CliRun) => {
      assert.equal(run.stdout, '');
      assert.equal(run.stderr.split('\n').length, 2, run.stderr);
      return JSON.parse(run.stderr).error;
    };
    const { request_id, ...refused } = errorOf(await grantd(['tenants', 'show', NOBODY, '--json']));
    assert.match(request_id, /^req_/);
    assert.deepEqual(refused, {
      message: `Tenant not found: ${refused.message.slice('Tenant not found: '.length)}`,
      exit_code: 1,
      status: 404,
      code: 'tenant-not-found',
      hint: '"grantd tenants list" shows the existing tenants.',
    });
    const away = errorOf(await grantd(['plans', '--json'], { target: { url: 'http://127.0.0.1:1/', token: 't' } }));
    assert.match(away.message, /No response/);
    for (const args of [
      ['tenants'],
      ['tenants', 'nonsense'],
      ['nonsense'],
      [],
      ['tenants', 'list', '--limit', '0'],
      ['export', '--foo'],
      ['check', 'user:ann', 'viewer', 'doc:a'],
    ]) {
      const run = await grantd([...args, '--json']);
      const usage = errorOf(run);
      assert.deepEqual([run.code, usage.exit_code], [2, 2], args.join(' '));
      assert.doesNotMatch(usage.message, /^error/);
    }
  });

  test('a wrong token and a service out of reach are told apart', async () => {
    const refused = await grantd(['plans'], { target: { url: service.url, token: 'wrong' } });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /Unauthorized/);
    assert.doesNotMatch(refused.stderr, /wrong/);
    const away = await grantd(['plans'], { target: { url: 'http://127.0.0.1:1/', token: 't' } });
    assert.equal(away.code, 1);
    assert.match(away.stderr, /No response from the operator's API at http:\/\/127\.0\.0\.1:1: /);
  });

  test('an answer from something else is not taken for one of the operator’s API', async () => {
    const other =
      (body: string, status: number): typeof fetch =>
      async () =>
        new Response(body, { status });
    assert.match(
      (await grantd(['plans'], { fetch: other('<html>', 502) })).stderr,
      /HTTP status 502: .*address correct/,
    );
    assert.match((await grantd(['plans'], { fetch: other('<html>', 200) })).stderr, /Unexpected response/);
    assert.match((await grantd(['plans'], { fetch: other('{"plans":3}', 200) })).stderr, /no array "plans"/);
  });

  test('a refusal that could be repeated is not repeated by a command that writes', async () => {
    service.operator.faults.push(new GrantdError('unavailable', 'Not now.'));
    const { code, stderr } = await grantd(['tenants', 'create', 'a']);
    assert.equal(code, 1);
    assert.match(stderr, /Not now/);
  });
});

describe('help', () => {
  const commands = [
    ...['create', 'list', 'show', 'update', 'suspend', 'resume', 'delete'].map((name) => ['tenants', name]),
    ...['create', 'list', 'rotate', 'identify', 'revoke'].map((name) => ['keys', name]),
    ...['list', 'add', 'revoke'].map((name) => ['grants', name]),
    ...['create', 'list'].map((name) => ['namespaces', name]),
    ...['plans', 'slots', 'members', 'loads', 'usage', 'check', 'objects', 'subjects'].map((name) => [name]),
    ...['audit-log', 'import', 'export', 'completion'].map((name) => [name]),
  ];
  for (const command of commands) {
    test(`${command.join(' ')} has examples`, async () => {
      const { code, stdout } = await grantd([...command, '--help']);
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`Examples:\\n.*grantd ${command.join(' ')}`, 's'));
    });
  }

  test('every command and every exit code is in the guide', async () => {
    const guide = await readFile(new URL('../../../docs/operating/cli.md', import.meta.url), 'utf8');
    for (const command of commands) {
      assert.match(guide, new RegExp(`^\\|[^|]*\`${command.join(' ')}\\b`, 'm'), command.join(' '));
    }
    const codes = [...guide.matchAll(/^\| (\d+) +\|/gm)].map((match) => Number(match[1]));
    assert.deepEqual(codes, Object.values(EXIT));
  });
});
