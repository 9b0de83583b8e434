// From environment to configuration: defaults, every wrong setting named in one message, secrets never shown.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { describeConfig, readConfig, variableNames } from '../../../src/config/read-config.ts';
import type { Setting } from '../../../src/config/setting.ts';
import { SETTINGS } from '../../../src/config/settings.ts';
import { problemsOf, settingFiles } from './problems.ts';

const TOKEN = 'correct-horse-battery-staple-0123456789';

describe('readConfig', () => {
  const { directory, file } = settingFiles();

  it('reads for a role only what the role names', () => {
    assert.deepEqual(Object.keys(readConfig('cli', {})), [
      'dataDirectory',
      'operatorToken',
      'operatorUrl',
      'apiUrl',
      'apiKey',
      'contextName',
      'tenant',
    ]);
    assert.deepEqual(problemsOf({ GRANTD_SLOTS: 'many' }, 'cli'), []);
  });

  it('lists every wrong setting in one message', () => {
    const problems = problemsOf({
      GRANTD_HTTP_ADDRESS: '8080',
      GRANTD_DEMO: 'yes',
      GRANTD_SLOTS: '0',
      GRANTD_STORE: 'cassandra',
      GRANTD_LOG_LEVEL: 'loud',
      GRANTD_PAGE_CACHE_BYTES: '1GB',
      GRANTD_LOG_RETENTION_HOURS: '0',
      GRANTD_BASE_URL: 'ftp://example.com',
      GRANTD_TRUSTED_PROXIES: '10.0.0.0/8, nowhere',
      GRANTD_SHARD_NAME: 'Shard!',
      GRANTD_PLANS: '{',
      GRANTD_HTP_ADDRESS: '127.0.0.1:1',
    });
    for (const [index, start] of [
      /^GRANTD_HTTP_ADDRESS must be host:port.*"8080"/,
      /^GRANTD_SHARD_NAME must be .*"Shard!"/,
      /^GRANTD_STORE is cassandra, but grantd dev supports only the embedded store/,
      /^GRANTD_SLOTS must be a whole number from 1 to 4096; it is "0"/,
      /^GRANTD_PAGE_CACHE_BYTES must be from \d+ to \d+ bytes/,
      /^GRANTD_LOG_RETENTION_HOURS must be a whole number from 1/,
      /^GRANTD_DEMO must be true or false; it is "yes"/,
      /^GRANTD_PLANS must be JSON/,
      /^GRANTD_BASE_URL must be an http or https URL/,
      /^GRANTD_TRUSTED_PROXIES must be .*"nowhere" is not one/,
      /^GRANTD_LOG_LEVEL must be one of debug, info, warn, error, silent; it is "loud"/,
      /^GRANTD_HTP_ADDRESS is not a setting; did you mean GRANTD_HTTP_ADDRESS\?/,
    ].entries()) {
      assert.match(problems[index] ?? '', start);
    }
    assert.equal(problems.length, 12);
  });

  it('refuses an unknown variable, with the nearest known name where one is near', () => {
    assert.deepEqual(problemsOf({ GRANTD_DATADIR: 'x' }), [
      'GRANTD_DATADIR is not a setting; did you mean GRANTD_DATA_DIR?',
    ]);
    assert.deepEqual(problemsOf({ GRANTD_SOMETHING_ELSE_ENTIRELY: 'x' }), [
      'GRANTD_SOMETHING_ELSE_ENTIRELY is not a setting',
    ]);
    assert.equal(problemsOf({ GRANTD_DATADIR: 'x' }, 'cli').length, 1);
  });

  it('leaves alone what Kubernetes sets for a Service, and variables of others', () => {
    assert.deepEqual(
      problemsOf({
        GRANTD_SERVICE_HOST: '10.0.0.1',
        GRANTD_SERVICE_PORT: '8080',
        GRANTD_SERVICE_PORT_HTTP: '8080',
        GRANTD_PORT: 'tcp://10.0.0.1:8080',
        GRANTD_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
        GRANTD_PORT_8080_TCP_ADDR: '10.0.0.1',
        GRANTD_FRONT_SERVICE_HOST: '10.0.0.1',
        GRANTD_FRONT_PORT_8080_TCP_PROTO: 'tcp',
        GRANTD_TOOLS: '/cache',
        GRANTD_TESTING_URL: 'http://127.0.0.1:7411',
        PATH: '/bin',
        grantd_http_address: 'x',
      }),
      [],
    );
  });

  it('counts an empty variable as not set', () => {
    assert.equal(readConfig('dev', { GRANTD_SLOTS: '' }).slots, 256);
    assert.equal(
      readConfig('dev', { GRANTD_OPERATOR_TOKEN: '', GRANTD_OPERATOR_TOKEN_FILE: '' }).operatorToken,
      undefined,
    );
  });

  it('takes a secret from a file, without the line break at its end', () => {
    const config = readConfig('dev', { GRANTD_OPERATOR_TOKEN_FILE: file(`${TOKEN}\n`) });
    assert.equal(config.operatorToken?.reveal(), TOKEN);
  });

  it('says what is wrong with a file, by the variable that names it', () => {
    const missing = join(directory, 'missing');
    assert.deepEqual(problemsOf({ GRANTD_OPERATOR_TOKEN_FILE: missing }), [
      `GRANTD_OPERATOR_TOKEN_FILE names a file that cannot be read (ENOENT): ${missing}`,
    ]);
    assert.match(problemsOf({ GRANTD_PLANS_FILE: directory })[0] ?? '', /^GRANTD_PLANS_FILE names a file .*EISDIR/);
    assert.match(problemsOf({ GRANTD_OPERATOR_TOKEN_FILE: file('\n') })[0] ?? '', /names a file that is empty/);
    assert.match(problemsOf({ GRANTD_PLANS_FILE: file(' '.repeat(2_000_000)) })[0] ?? '', /more than 1048576 bytes/);
    assert.deepEqual(problemsOf({ GRANTD_OPERATOR_TOKEN: TOKEN, GRANTD_OPERATOR_TOKEN_FILE: file(TOKEN) }), [
      'GRANTD_OPERATOR_TOKEN and GRANTD_OPERATOR_TOKEN_FILE are both set; set only one of them',
    ]);
  });

  it('takes a file only where the table says so', () => {
    assert.equal(problemsOf({ GRANTD_SLOTS_FILE: file('256') }).length, 1);
  });

  it('never shows a secret: not in a message, a log or a dump', () => {
    const short = 'tooshort-secret';
    const spaced = `${TOKEN} with spaces`;
    for (const secret of [short, spaced]) {
      for (const environment of [{ GRANTD_OPERATOR_TOKEN: secret }, { GRANTD_OPERATOR_TOKEN_FILE: file(secret) }]) {
        const [problem = ''] = problemsOf(environment);
        assert.match(problem, /32 to 8192 printable ASCII characters/);
        assert.ok(!problem.includes(secret));
      }
    }
    const config = readConfig('dev', { GRANTD_OPERATOR_TOKEN: TOKEN });
    for (const shown of [
      inspect(config),
      JSON.stringify(config),
      `${config.operatorToken}`,
      JSON.stringify(describeConfig({ ...config })),
    ]) {
      assert.ok(!shown.includes(TOKEN), shown);
    }
    assert.equal(describeConfig({ ...config }).GRANTD_OPERATOR_TOKEN, 'set');
    assert.equal(describeConfig({ ...config }).GRANTD_SLOTS, 256);
  });
});

describe('the table of settings', () => {
  const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);

  it('names a role once, and defaults and demands only for roles that read it', () => {
    for (const { name, roles, defaults, requiredBy } of rows) {
      assert.equal(new Set(roles).size, roles.length, name);
      for (const role of requiredBy) assert.ok(roles.includes(role) && !(role in defaults), name);
      for (const role of Object.keys(defaults))
        assert.ok(
          roles.some((each) => each === role),
          name,
        );
    }
  });

  it('has each name once, and none that clashes with a _FILE of another', () => {
    const names = variableNames();
    assert.equal(new Set(names).size, names.length);
    for (const name of names) assert.match(name, /^(GRANTD|OTEL)(_[A-Z]+)+$/);
  });

  it('lets every secret come from a file', () => {
    for (const row of rows) if (row.secret) assert.ok(row.file, row.name);
  });

  it('has a default that its own parser takes, or says what happens without one', () => {
    for (const row of rows) {
      for (const role of row.roles) {
        const text = row.defaults[role];
        if (text !== undefined) assert.doesNotThrow(() => row.parse(text, { role, path: undefined }), row.name);
        else assert.ok(row.requiredBy.includes(role) || (row.unset ?? '') !== '', `${row.name} in ${role}`);
      }
      assert.match(row.description, /\.$/);
    }
  });
});
