// `grantd import` and `grantd export` against the operator's API on a front in memory.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { useOperatorCli } from '../cli-run.ts';

const { service, grantd, createTenant } = await useOperatorCli();
const directory = useDirectory();

const importText = (tenant: string, stdin: string | Readable, ...rest: string[]) =>
  grantd(['import', '-', '--tenant', tenant, ...rest], { stdin });
const exportText = async (tenant: string) => (await grantd(['export', '--tenant', tenant])).stdout;
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => `user:${index % 7}\tviewer\tdoc:${index}\n`);
const writeCalls = () => service.operator.calls.filter(({ name }) => name === 'writeGrants').length;

describe('import', () => {
  test('creates what is not there, in batches, and says so', async () => {
    const tenant = await createTenant();
    const callsBefore = writeCalls();
    const lines = rows(2500);
    const first = await importText(tenant, lines.join(''));
    assert.equal(first.code, 0, first.stderr);
    assert.match(
      first.stdout,
      /^2,500 lines in [\d.]+ s \([\d,]+ lines\/s\): 2,500 created, 0 changed, 0 unchanged, 0 refused\n$/,
    );
    assert.equal(writeCalls() - callsBefore, 3);
    const second = await importText(tenant, lines.join(''));
    assert.match(second.stdout, /: 0 created, 0 changed, 2,500 unchanged, 0 refused\n$/);
    const exported = await exportText(tenant);
    assert.equal(exported, lines.toSorted().join(''));
  });

  test('reports every refused line by its number, and the others stand', async () => {
    const tenant = await createTenant();
    const file = join(directory, 'mixed.tsv');
    const refused = join(directory, 'refused.txt');
    await writeFile(
      file,
      Buffer.concat([
        Buffer.from('user:a\tviewer\tdoc:a\n'),
        Buffer.from('user:a\tviewer\n'),
        Buffer.from('\n'),
        Buffer.from('user:a\tviewer\tdoc:b\textra\n'),
        Buffer.from([0x75, 0x3a, 0xff, 0x0a]),
        Buffer.from('nobody\tviewer\tdoc:c\n'),
        Buffer.from('user:a\treader\tdoc:d\n'),
        Buffer.from(`user:a\tviewer\tdoc:${'x'.repeat(200_000)}\n`),
        Buffer.from('user:a\tviewer\tdoc:e\n'),
      ]),
    );
    const run = await grantd(['import', file, '--tenant', tenant, '--refused', refused]);
    assert.equal(run.code, 4);
    assert.match(run.stdout, /^8 lines .*: 2 created, 0 changed, 0 unchanged, 6 refused\n$/);
    assert.match(run.stderr, /^Refused lines:\n/);
    for (const pattern of [
      /line 2: invalid-request: The line has 2 columns/,
      /line 4: invalid-request: "expires_at" must be an ISO 8601 timestamp/,
      /line 5: invalid-request: The line is not valid UTF-8/,
      /line 6: invalid-subject: /,
      /line 7: invalid-relation: /,
      /line 8: invalid-request: The line is longer than 128 KiB/,
    ]) {
      assert.match(run.stderr, pattern);
    }
    const written = await readFile(refused);
    const numbers = written
      .toString('latin1')
      .split('\n')
      .filter((line) => line !== '');
    assert.deepEqual(numbers.map((line) => Number(line.split('\t')[0])).toSorted(), [2, 4, 5, 6, 7, 8]);
    assert.ok(written.includes(Buffer.from([0x75, 0x3a, 0xff, 0x0a])), 'the line itself is kept byte for byte');
    assert.equal(await exportText(tenant), 'user:a\tviewer\tdoc:a\nuser:a\tviewer\tdoc:e\n');
  });

  test('prints the first 20 refused lines and counts the rest', async () => {
    const tenant = await createTenant();
    const run = await importText(tenant, 'nonsense\n'.repeat(3000));
    assert.match(run.stdout, /3,000 refused/);
    assert.deepEqual(
      [...run.stderr.matchAll(/line (\d+):/g)].map((match) => Number(match[1])),
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    assert.match(run.stderr, /… and 2,980 more/);
  });

  test('reads NDJSON, whole records of an export too', async () => {
    const tenant = await createTenant();
    await importText(tenant, 'user:a\tviewer\tdoc:a\nuser:b\tviewer\tdoc:\u{1f98a}\n');
    const exported = await grantd(['export', '--tenant', tenant, '--format', 'ndjson']);
    const file = join(directory, 'grants.ndjson');
    await writeFile(file, exported.stdout);
    const other = await createTenant();
    const run = await grantd(['import', file, '--tenant', other, '--json']);
    const { seconds, ...summary } = JSON.parse(run.stdout);
    assert.equal(typeof seconds, 'number');
    const counts = { lines: 2, created: 2, changed: 0, unchanged: 0, expired: 0, refused: 0 };
    assert.deepEqual(summary, { complete: true, ...counts, first_refused: [] });
    assert.equal(await exportText(other), await exportText(tenant));
    const broken = await importText(other, '{"subject":\n  \n[]\n', '--format', 'ndjson');
    assert.equal(broken.code, 4);
    assert.match(broken.stderr, /line 1: invalid-request: .*JSON.*\n {2}line 3: invalid-request/);
  });

  const CASES = {
    tsv: (object: string, end: string, limit: number) => `user:a\tviewer\t${object}\t${end}\tcapped {"limit":${limit}}`,
    csv: (object: string, end: string, limit: number) => `user:a,viewer,${object},${end},"capped {""limit"":${limit}}"`,
    ndjson: (object: string, end: string, limit: number) =>
      JSON.stringify({
        ...{ subject: 'user:a', relation: 'viewer', object, expires_at: end },
        condition: { name: 'capped', context: { limit } },
      }),
  };
  for (const [format, line] of Object.entries(CASES)) {
    test(`as ${format}, grants that exist stay as they are unless they are replaced, and the counts say so`, async () => {
      const tenant = await createTenant();
      const rules = {
        conditions: [{ name: 'capped', parameters: { limit: 'int' }, expression: 'limit > 5' }],
        rules: [],
      };
      await grantd(['rules', 'set', '-', '--tenant', tenant, '--yes'], { stdin: JSON.stringify(rules) });
      const [soon, late] = ['2090-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'];
      const before = `user:a\tviewer\tdoc:1\t${soon}\tcapped {"limit":10}\nuser:a\tviewer\tdoc:2\nuser:a\tviewer\tdoc:3\n`;
      const first = await importText(tenant, before);
      assert.match(first.stdout, /: 3 created, 0 changed, 0 unchanged, 0 refused\n$/, first.stderr);
      const file = [line('doc:1', late, 1000), line('doc:2', soon, 1), line('doc:4', late, 1), 'x'].join('\n');
      const kept = await importText(tenant, file, '--format', format);
      assert.match(kept.stdout, /: 1 created, 0 changed, 2 unchanged, 1 refused\n$/);
      assert.equal(await exportText(tenant), `${before}${CASES.tsv('doc:4', late, 1)}\n`);
      const replaced = await importText(tenant, file, '--format', format, '--replace', '--json');
      const { created, changed, unchanged, refused } = JSON.parse(replaced.stdout);
      assert.deepEqual([created, changed, unchanged, refused], [0, 2, 1, 1]);
      const rows = [CASES.tsv('doc:1', late, 1000), CASES.tsv('doc:2', soon, 1), 'user:a\tviewer\tdoc:3'];
      assert.equal(await exportText(tenant), `${rows.join('\n')}\n${CASES.tsv('doc:4', late, 1)}\n`);
      // What the file lacks is lost: the grants are those of the file, as after a restore.
      const restored = await importText(tenant, before, '--replace');
      assert.match(restored.stdout, /: 0 created, 2 changed, 1 unchanged, 0 refused\n$/);
      assert.equal(await exportText(tenant), `${before}${CASES.tsv('doc:4', late, 1)}\n`);
    });
  }

  test('restores an export whole, with the grants that its rules exclude and keep, if it is told to', async () => {
    const rules = {
      relations: ['blocked'],
      rules: [{ namespace: 'doc', name: 'can_read', any_of: [{ any_of: ['viewer'], but_not: ['blocked'] }] }],
    };
    const typed = { ...rules, types: [{ namespace: 'doc', relation: 'blocked', subjects: ['user'] }] };
    const setRules = (tenant: string, to: object, ...rest: readonly string[]) =>
      grantd(['rules', 'set', '-', '--tenant', tenant, '--yes', ...rest], { stdin: JSON.stringify(to) });
    const tenant = await createTenant();
    const untyped = await setRules(tenant, rules);
    assert.equal(untyped.code, 0, untyped.stderr);
    const grants = 'bot:crawler\tblocked\tdoc:1\nbot:crawler\tviewer\tdoc:1\nuser:eve\tblocked\tdoc:1\n';
    assert.equal((await importText(tenant, grants)).code, 0);
    assert.equal((await setRules(tenant, typed)).code, 1, 'a grant is outside the types');
    assert.equal((await setRules(tenant, typed, '--outside-types', 'keep')).code, 0);
    const { stdout: file } = await grantd(['export', '--tenant', tenant, '--format', 'ndjson']);
    const restored = await createTenant();
    const asNdjson = ['--format', 'ndjson'];
    const reads = async () =>
      (await grantd(['check', 'bot:crawler', 'can_read', 'doc:1', '--tenant', restored])).stdout.trim();
    const partial = await importText(restored, file, ...asNdjson);
    assert.equal(partial.code, 4);
    assert.match(partial.stdout, /: 3 created, 0 changed, 0 unchanged, 1 refused\n$/);
    assert.match(partial.stderr, /line 3: type-not-allowed: .*\n.*to restore it whole.*--outside-types keep/);
    assert.equal(await reads(), 'authorized true');
    for (const [options, counts] of [
      [[], /: 1 created, 0 changed, 3 unchanged, 0 refused\n$/],
      [[], /: 0 created, 0 changed, 4 unchanged, 0 refused\n$/],
      [['--replace'], /: 0 created, 0 changed, 4 unchanged, 0 refused\n$/],
    ] as const) {
      const whole = await importText(restored, file, ...asNdjson, '--outside-types', 'keep', ...options);
      assert.equal(whole.code, 0, whole.stderr);
      assert.match(whole.stdout, counts);
    }
    assert.equal(await exportText(restored), grants);
    assert.equal(await reads(), 'authorized false');
  });

  test('refuses an export that was cut, wherever it was, before anything is written', async () => {
    const tenant = await createTenant();
    const rules = { rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }] };
    await grantd(['rules', 'set', '-', '--tenant', tenant, '--yes'], { stdin: JSON.stringify(rules) });
    await importText(tenant, rows(3).join(''));
    const { stdout } = await grantd(['export', '--tenant', tenant, '--format', 'ndjson']);
    const lines = stdout.split('\n');
    const file = join(directory, 'cut.ndjson');
    const other = await createTenant();
    const exported = () => grantd(['export', '--tenant', other, '--format', 'ndjson']);
    const before = await exported();
    // Wherever else it is cut: test/unit/core/export-frame.test.ts.
    const texts = [lines.slice(0, 4).join('\n'), stdout.slice(0, -3), lines.slice(1).join('\n')];
    for (const text of texts) {
      await writeFile(file, text);
      const run = await grantd(['import', file, '--tenant', other]);
      assert.deepEqual([run.code, run.stdout], [1, ''], text);
      assert.match(run.stderr, /cut\.ndjson is incomplete\. .* Nothing was imported\. .*--allow-incomplete/);
    }
    assert.deepEqual(await exported(), before);

    const cut = lines.slice(0, 4).join('\n');
    await writeFile(file, cut);
    const told = await grantd(['import', file, '--tenant', other, '--allow-incomplete']);
    assert.deepEqual([told.code, /Warning: .*cut behind 2 grants/.test(told.stderr)], [0, true], told.stderr);
    // Standard input is read only once: what came is there, and the command says that it was not all.
    const again = await createTenant();
    const read = await importText(again, cut, '--format', 'ndjson');
    assert.deepEqual([read.code, /3 created/.test(read.stdout)], [1, true]);
    assert.match(read.stderr, /Standard input is incomplete\. Line 1 .*cut behind 2 grants\. What it has is imported/);
    assert.equal((await importText(again, cut, '--format', 'ndjson', '--allow-incomplete')).code, 0);
  });

  test('counts grants that have expired apart, in every format: they are not lost', async () => {
    const past = '2020-01-01T00:00:00Z';
    const texts = {
      tsv: `user:a\tviewer\tdoc:a\t${past}\nuser:b\tviewer\tdoc:b\n`,
      csv: `user:a,viewer,doc:a,${past}\nuser:b,viewer,doc:b\n`,
      ndjson: `{"subject":"user:a","relation":"viewer","object":"doc:a","expires_at":"${past}"}\n{"subject":"user:b","relation":"viewer","object":"doc:b"}\n`,
    };
    for (const [format, text] of Object.entries(texts)) {
      const tenant = await createTenant();
      const run = await importText(tenant, text, '--format', format);
      assert.equal(run.code, 0, run.stderr);
      assert.match(run.stdout, /^2 lines .*: 1 created, 0 changed, 0 unchanged, 1 expired, 0 refused\n$/);
      const again = JSON.parse((await importText(tenant, text, '--format', format, '--json')).stdout);
      assert.deepEqual([again.unchanged, again.expired, again.refused], [1, 1, 0]);
      assert.equal(await exportText(tenant), 'user:b\tviewer\tdoc:b\n');
      // A grant that exists would keep other terms than the line has.
      const replacing = await importText(tenant, text, '--format', format, '--replace');
      assert.equal(replacing.code, 4);
      assert.match(replacing.stdout, /1 unchanged, 1 refused/);
    }
  });

  test('of two lines for one grant, the order of the file decides, whichever batch is faster', async () => {
    const first = 'user:x\tviewer\tdoc:x\t2090-01-01T00:00:00.000Z\n';
    const last =
      ' {"relation":"viewer","object":"doc:x","subject":"user:\\u0078","expires_at":"2091-01-01T00:00:00.000Z"}\n';
    for (const [options, format, year, counts] of [
      [[], 'tsv', 2090, /: 2,001 created, 0 changed, 1 unchanged/],
      [['--replace'], 'tsv', 2091, /: 2,001 created, 1 changed, 0 unchanged/],
      [['--replace'], 'ndjson', 2091, /: 2,001 created, 1 changed, 0 unchanged/],
    ] as const) {
      const tenant = await createTenant();
      let imports = 0;
      /** The first batch arrives after all that is sent without waiting for it. */
      const slowFirst: typeof fetch = async (...parameters) => {
        if (String(parameters[0]).includes('/import?') && imports++ === 0) {
          for (let turn = 0; turn < 1000; turn += 1) await new Promise(setImmediate);
        }
        return fetch(...parameters);
      };
      const asJson = (row: string): string => {
        const [subject, relation, object, end] = row.trim().split('\t');
        return `${JSON.stringify({ subject, relation, object, ...(end && { expires_at: end }) })}\n`;
      };
      const fill = rows(2000);
      const text =
        format === 'tsv'
          ? [first, ...fill, first.replace('2090', '2091')].join('')
          : [...[first, ...fill].map(asJson), last].join('');
      const run = await grantd(['import', '-', '--tenant', tenant, '--format', format, ...options], {
        stdin: text,
        fetch: slowFirst,
      });
      assert.match(run.stdout, counts, run.stderr);
      assert.match(await exportText(tenant), new RegExp(`user:x\tviewer\tdoc:x\t${year}-`));
    }
  });

  test('keeps its memory bounded: the source is not read ahead of the service', async () => {
    const tenant = await createTenant();
    let produced = 0;
    let answered = 0;
    let leadMax = 0;
    async function* source() {
      for (const line of rows(20_000)) {
        produced += 1;
        leadMax = Math.max(leadMax, produced - answered);
        yield Buffer.from(line);
      }
    }
    const counting: typeof fetch = async (...parameters) => {
      const response = await fetch(...parameters);
      if (String(parameters[0]).includes('/import?')) answered += 1000;
      return response;
    };
    const args = ['import', '-', '--tenant', tenant];
    const run = await grantd(args, { stdin: Readable.from(source(), { highWaterMark: 16 }), fetch: counting });
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, /20,000 created/);
    assert.ok(leadMax <= 7000, `${leadMax} lines were read ahead`);
  });

  test('tries again where the service has no capacity or breaks off, and counts each line once', async () => {
    const tenant = await createTenant();
    let imports = 0;
    const flaky: typeof fetch = async (...parameters) => {
      if (!String(parameters[0]).includes('/import?')) return fetch(...parameters);
      imports += 1;
      if (imports === 1) throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
      if (imports === 2) return new Response('busy', { status: 503, headers: { 'Retry-After': '0' } });
      // The answer is lost after the service has done its part.
      if (imports === 3) {
        await fetch(...parameters);
        throw new TypeError('terminated');
      }
      return fetch(...parameters);
    };
    const run = await grantd(['import', '-', '--tenant', tenant], { stdin: rows(10).join(''), fetch: flaky });
    assert.equal(run.code, 0, run.stderr);
    assert.equal(imports, 4);
    assert.match(run.stdout, /^10 lines .*: 0 created, 0 changed, 10 unchanged, 0 refused/);
    assert.match(run.stderr, /ECONNREFUSED.* Retrying in/);
  });

  test('a failure that repeating does not mend ends it, with what stands', async () => {
    const tenant = await createTenant();
    let imports = 0;
    const failing: typeof fetch = (...parameters) => {
      if (String(parameters[0]).includes('/import?')) {
        imports += 1;
        if (imports === 2) service.operator.faults.push(new GrantdError('internal', 'Broken.'));
      }
      return fetch(...parameters);
    };
    const run = await grantd(['import', '-', '--tenant', tenant], { stdin: rows(20_000).join(''), fetch: failing });
    assert.equal(run.code, 1);
    assert.match(run.stderr, /Broken\..*\n.*internal/);
    assert.match(run.stderr, /stopped early\. The grants counted above are stored\. .*is safe/);
    assert.ok(imports < 20);
    const stands = Number(/^([\d,]+) lines/.exec(run.stdout)?.[1]?.replaceAll(',', ''));
    assert.equal((await exportText(tenant)).split('\n').length - 1, stands);
  });

  test('what cannot be read, written or told apart is said before anything is sent', async () => {
    const tenant = await createTenant();
    const callsBefore = writeCalls();
    const missing = await grantd(['import', join(directory, 'missing.tsv'), '--tenant', tenant]);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /Cannot read .*missing\.tsv: ENOENT/);
    assert.equal((await grantd(['import', directory, '--format', 'tsv', '--tenant', tenant])).code, 1);
    const unnamed = await grantd(['import', join(directory, 'grants.txt'), '--tenant', tenant]);
    assert.deepEqual([unnamed.code, /--format/.test(unnamed.stderr)], [2, true]);
    const unwritable = await importText(tenant, 'a:b\towner\tc:d\n', '--refused', join(directory, 'no', 'file'));
    assert.deepEqual([unwritable.code, /Cannot write/.test(unwritable.stderr)], [1, true]);
    const nobody = await importText('ten_00000000000000000000000000', 'a:b\towner\tc:d\n');
    assert.deepEqual([nobody.code, /tenant-not-found/.test(nobody.stderr)], [1, true]);
    assert.equal(writeCalls(), callsBefore);
  });

  test('shows a bar on a terminal, and it ends', async () => {
    const tenant = await createTenant();
    const file = join(directory, 'bar.tsv');
    await writeFile(file, rows(1500).join(''));
    const run = await grantd(['import', file, '--tenant', tenant], { terminal: true });
    assert.equal(run.code, 0);
    assert.match(run.stdout, /1,500 created/);
  });
});

describe('export', () => {
  test('an export that breaks off fails and says that it is incomplete', async () => {
    const tenant = await createTenant();
    // Long enough that what precedes the fault has left the service.
    const lines = Array.from({ length: 3000 }, (_, index) => `user:a\tviewer\tdoc:${'x'.repeat(200)}${index}\n`);
    await importText(tenant, lines.join(''));
    // After those that read the rules, and the first page.
    service.operator.faults.push(
      undefined,
      undefined,
      undefined,
      undefined,
      new GrantdError('unavailable', 'The owner has gone.'),
    );
    const run = await grantd(['export', '--tenant', tenant]);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /The export is incomplete: it stopped after/);
    assert.ok(run.stdout.split('\n').length < 3000);
  });

  test('one without its end line fails, although the service breaks nothing off', async () => {
    const tenant = await createTenant();
    await importText(tenant, rows(3).join(''));
    const cutting: typeof fetch = async (...parameters) => {
      const response = await fetch(...parameters);
      if (!String(parameters[0]).includes('/export')) return response;
      const text = await response.text();
      return new Response(text.slice(0, text.indexOf('{"end"')), response);
    };
    const run = await grantd(['export', '--tenant', tenant, '--format', 'ndjson'], { fetch: cutting });
    assert.equal(run.code, 1);
    assert.match(run.stderr, /The export is incomplete: it stopped after 4 lines \(it has no end line\)/);
  });

  test('one that never began says why', async () => {
    const run = await grantd(['export', '--tenant', 'ten_00000000000000000000000000']);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /tenant-not-found/);
    assert.doesNotMatch(run.stderr, /incomplete/);
  });

  test('an empty tenant exports nothing', async () => {
    assert.deepEqual(await grantd(['export', '--tenant', await createTenant()]), { code: 0, stdout: '', stderr: '' });
  });
});
