// The log: JSON lines on standard error at the level asked for, secrets redacted by the name of their field.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const MODULE = join(import.meta.dirname, '..', '..', '..', 'src', 'telemetry', 'log.ts');

/** Runs statements over `log` in a process of its own, which ends at once, as after a failure. */
function run(options: string, statements: string): { stdout: string; stderr: string } {
  const program = `import { openLog } from ${JSON.stringify(MODULE)}; const log = await openLog(${options}); ${statements}; process.exit(3);`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  assert.equal(status, 3, stderr);
  return { stdout, stderr };
}

describe('the log', () => {
  it('is one JSON object per line on standard error, whole even where the process ends at once', () => {
    const { stdout, stderr } = run(
      "{ level: 'info', pretty: false }",
      "log.debug('a'); log.info({ slot: 1 }, 'b'); log.error({ err: new Error('c') }, 'd')",
    );
    assert.equal(stdout, '');
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [
        ['info', 'b'],
        ['error', 'd'],
      ],
    );
    assert.equal(lines[0].slot, 1);
    assert.match(lines[0].time, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.match(lines[1].err.stack, /Error: c/);
  });

  it('redacts what carries a secret, at the top and one level down', () => {
    for (const pretty of [false, true]) {
      const { stderr } = run(
        `{ level: 'info', pretty: ${pretty} }`,
        "log.info({ key: 'S3', token: 'S3', hash: 'S3', request: { authorization: 'S3', password: 'S3', key: 'S3' } }, 'x')",
      );
      assert.ok(!stderr.includes('S3'), stderr);
      assert.match(stderr, /\[redacted\]/);
    }
  });

  it('never has an API key in a line, whatever field, message or error it stands in', () => {
    const key = `gk1_${'a9Z'.repeat(27)}`;
    for (const pretty of [false, true]) {
      const { stderr } = run(
        `{ level: 'info', pretty: ${pretty} }`,
        `const key = '${key}';
         log.info({ call: { authenticate: { claim: key } } }, 'x');
         log.warn('refused ' + key + key);
         log.error({ err: new Error('no such key: ' + key, { cause: { deep: [{ key }] } }) }, 'y');
         log.child({ peer: key }).info('z')`,
      );
      assert.ok(!stderr.includes(key), stderr);
      assert.match(stderr, /refused \[redacted\]\[redacted\]/);
    }
  });

  it('is silent where it is told to be', () => {
    assert.equal(run("{ level: 'silent', pretty: false }", "log.error('x')").stderr, '');
  });
});
