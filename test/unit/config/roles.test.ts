// The settings of the parts of a cluster: what each demands, its defaults, and what must hold between settings.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeConfig, type Environment, readConfig } from '../../../src/config/read-config.ts';
import { problemsOf, settingFiles } from './problems.ts';

const TOKEN = 'correct-horse-battery-staple-0123456789';
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';
const PRIVATE_KEY = '-----BEGIN PRIVATE KEY-----\nMIIB-very-secret\n-----END PRIVATE KEY-----';

const CASSANDRA: Environment = {
  GRANTD_STORE: 'cassandra',
  GRANTD_CASSANDRA_CONTACT_POINTS: 'cassandra-1, cassandra-2:9043',
  GRANTD_CASSANDRA_LOCAL_DATACENTER: 'dc1',
};
const MINIMAL = {
  front: { GRANTD_DISCOVERY: 'dns:shards:8082', GRANTD_BASE_URL: 'https://grantd.example.com' },
  shard: { ...CASSANDRA, GRANTD_RPC_INSECURE: 'true' },
  console: {
    GRANTD_DISCOVERY: 'static:10.0.0.1:8082',
    GRANTD_OPERATOR_TOKEN: TOKEN,
    GRANTD_BASE_URL: 'https://grantd.example.com',
  },
  migrate: CASSANDRA,
} satisfies Record<string, Environment>;

describe('the settings of the parts of a cluster', () => {
  for (const [role, problems] of [
    [
      'front',
      [/^GRANTD_DISCOVERY is not set; grantd front needs it/, /^GRANTD_BASE_URL is not set; grantd front needs/],
    ],
    [
      'shard',
      [
        /^GRANTD_STORE is not set; grantd shard needs it \(cassandra; sqlite in dev\)/,
        /^GRANTD_CASSANDRA_CONTACT_POINTS is not set/,
        /^GRANTD_CASSANDRA_LOCAL_DATACENTER is not set/,
        /^GRANTD_RPC_TLS_CERT, GRANTD_RPC_TLS_KEY and GRANTD_RPC_TLS_CA are not set, and GRANTD_RPC_ADDRESS \(0\.0\.0\.0:8082 unless set\) is not loopback/,
      ],
    ],
    [
      'console',
      [
        /^GRANTD_DISCOVERY is not set; grantd console needs it/,
        /^GRANTD_OPERATOR_TOKEN or GRANTD_OPERATOR_TOKENS_FILE must be set/,
        /^GRANTD_BASE_URL or GRANTD_ERRORS_BASE must be set/,
      ],
    ],
    [
      'migrate',
      [
        /^GRANTD_STORE is not set; grantd migrate needs it/,
        /^GRANTD_CASSANDRA_CONTACT_POINTS is not set/,
        /^GRANTD_CASSANDRA_LOCAL_DATACENTER is not set/,
      ],
    ],
  ] as const) {
    it(`${role}: lists all that is missing in one message`, () => {
      const found = problemsOf({}, role);
      assert.equal(found.length, problems.length, found.join('\n'));
      for (const [index, pattern] of problems.entries()) assert.match(found[index] ?? '', pattern);
    });
  }

  it('refuses the embedded store where processes would have to share it, and Cassandra in dev', () => {
    for (const role of ['shard', 'migrate'] as const) {
      assert.match(
        problemsOf({ ...CASSANDRA, GRANTD_STORE: 'sqlite' }, role)[0] ?? '',
        new RegExp(`^GRANTD_STORE is sqlite, the embedded store, .* for grantd ${role}, set cassandra`),
      );
    }
    assert.match(
      problemsOf({ GRANTD_STORE: 'cassandra' }, 'dev')[0] ?? '',
      /run grantd migrate, shard, front and console/,
    );
    assert.match(
      problemsOf({ GRANTD_STORE: 'postgres' }, 'dev')[0] ?? '',
      /must be sqlite or cassandra; it is "postgres"/,
    );
  });

  it('lets a role be given the settings of the others', () => {
    const all = { ...MINIMAL.front, ...MINIMAL.shard, ...MINIMAL.console };
    for (const role of ['front', 'shard', 'console', 'migrate', 'cli'] as const)
      assert.deepEqual(problemsOf(all, role), []);
  });
});

describe('settings that stand together', () => {
  const { file } = settingFiles();

  it('wants all three parts of TLS between fronts and shards, or none', () => {
    const tls = { GRANTD_RPC_TLS_CERT: CERTIFICATE, GRANTD_RPC_TLS_KEY: PRIVATE_KEY, GRANTD_RPC_TLS_CA: CERTIFICATE };
    for (const role of ['front', 'shard', 'console'] as const) {
      assert.deepEqual(problemsOf({ ...MINIMAL[role], ...tls }, role), []);
      for (const left of Object.keys(tls)) {
        assert.match(problemsOf({ ...MINIMAL[role], ...tls, [left]: '' }, role)[0] ?? '', /set all three or none$/);
      }
    }
  });

  it('shard and dev: no gRPC beyond loopback without mutual TLS, unless told so', () => {
    const tls = { GRANTD_RPC_TLS_CERT: CERTIFICATE, GRANTD_RPC_TLS_KEY: PRIVATE_KEY, GRANTD_RPC_TLS_CA: CERTIFICATE };
    const insecure = { GRANTD_RPC_INSECURE: 'true' };
    for (const address of ['10.0.0.1:8082', '[::]:8082', 'shard-1:8082']) {
      const at = { GRANTD_RPC_ADDRESS: address };
      for (const refused of [
        problemsOf({ ...CASSANDRA, ...at }, 'shard'),
        problemsOf({ ...CASSANDRA, ...at, GRANTD_RPC_INSECURE: 'false' }, 'shard'),
        problemsOf(at, 'dev'),
      ]) {
        assert.equal(refused.length, 1, address);
        assert.match(refused[0] ?? '', /GRANTD_RPC_ADDRESS.* is not loopback.*GRANTD_RPC_INSECURE=true/);
      }
      assert.deepEqual(problemsOf({ ...CASSANDRA, ...at, ...tls }, 'shard'), []);
      assert.deepEqual(problemsOf({ ...CASSANDRA, ...at, ...insecure }, 'shard'), []);
      assert.deepEqual(problemsOf({ ...at, ...insecure }, 'dev'), []);
    }
    for (const address of ['127.0.0.1:8082', '[::1]:0', 'localhost:8082']) {
      assert.deepEqual(problemsOf({ ...CASSANDRA, GRANTD_RPC_ADDRESS: address }, 'shard'), [], address);
      assert.deepEqual(problemsOf({ GRANTD_RPC_ADDRESS: address }, 'dev'), [], address);
    }
  });

  it('keeps the path of a certificate that is read again when it changes, and looks at what is in it now', () => {
    const paths = {
      GRANTD_RPC_TLS_CERT_FILE: file(CERTIFICATE),
      GRANTD_RPC_TLS_KEY_FILE: file(PRIVATE_KEY),
      GRANTD_RPC_TLS_CA_FILE: file(CERTIFICATE),
    };
    const config = readConfig('shard', { ...MINIMAL.shard, ...paths });
    assert.equal(config.rpcTlsCert, paths.GRANTD_RPC_TLS_CERT_FILE);
    assert.equal(config.rpcTlsKey?.reveal(), paths.GRANTD_RPC_TLS_KEY_FILE);
    const [problem = ''] = problemsOf(
      {
        ...MINIMAL.shard,
        ...paths,
        GRANTD_RPC_TLS_KEY_FILE: file('x'),
      },
      'shard',
    );
    assert.equal(problem, 'GRANTD_RPC_TLS_KEY_FILE must be a private key in PEM form');
  });

  it('never shows a key or a password', () => {
    const password = 'hunter2-hunter2';
    const environment = {
      ...MINIMAL.shard,
      GRANTD_CASSANDRA_USERNAME: 'grantd',
      GRANTD_CASSANDRA_PASSWORD: password,
      GRANTD_RPC_TLS_CERT: CERTIFICATE,
      GRANTD_RPC_TLS_KEY: PRIVATE_KEY,
      GRANTD_RPC_TLS_CA: CERTIFICATE,
    };
    const config = readConfig('shard', environment);
    assert.equal(config.cassandraPassword?.reveal(), password);
    for (const text of [JSON.stringify(config), JSON.stringify(describeConfig({ ...config }))]) {
      assert.ok(!text.includes(password) && !text.includes('very-secret'), text);
    }
    // A key in the place of a certificate.
    const wrong = problemsOf({ ...environment, GRANTD_RPC_TLS_CERT: PRIVATE_KEY }, 'shard');
    assert.deepEqual(wrong, ['GRANTD_RPC_TLS_CERT must be a certificate in PEM form']);
  });

  it('wants name and password of Cassandra together, a client certificate with its key, and an authority for TLS', () => {
    for (const [environment, pattern] of [
      [{ GRANTD_CASSANDRA_USERNAME: 'grantd' }, /^GRANTD_CASSANDRA_USERNAME and .* set both or none$/],
      [{ GRANTD_CASSANDRA_PASSWORD: 'secret' }, /^GRANTD_CASSANDRA_USERNAME and .* set both or none$/],
      [
        { GRANTD_CASSANDRA_TLS_CA: CERTIFICATE, GRANTD_CASSANDRA_TLS_CERT: CERTIFICATE },
        /^GRANTD_CASSANDRA_TLS_CERT and .* set both or none$/,
      ],
      [
        { GRANTD_CASSANDRA_TLS_KEY: PRIVATE_KEY, GRANTD_CASSANDRA_TLS_CERT: CERTIFICATE },
        /^GRANTD_CASSANDRA_TLS_CERT needs GRANTD_CASSANDRA_TLS_CA/,
      ],
    ] as const) {
      const problems = problemsOf({ ...CASSANDRA, ...environment }, 'migrate');
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0] ?? '', pattern);
    }
  });

  it('wants a stop to be given more time than its drain', () => {
    assert.deepEqual(problemsOf({ ...MINIMAL.front, GRANTD_DRAIN_SECONDS: '25' }, 'front'), [
      'GRANTD_SHUTDOWN_SECONDS must be longer than GRANTD_DRAIN_SECONDS',
    ]);
  });

  it('does not ask what stands together where a part is wrong by itself', () => {
    assert.equal(problemsOf({ ...MINIMAL.front, GRANTD_DRAIN_SECONDS: 'long' }, 'front').length, 1);
  });
});
