// The chart against the table of settings: what it sets exists for the process that it sets it for, with a value that
// the program takes; and what a process can be told, the chart can tell it.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/read-config.ts';
import type { Role } from '../../src/config/setting.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { useDirectory } from '../kit/directory.ts';
import { CI_VALUES, missingHelm, type RenderOptions, render } from './support/helm.ts';
import { type Container, containersOf, podsOf } from './support/pods.ts';

const missing = await missingHelm('the settings in the chart');
const ROLES: readonly Role[] = ['dev', 'front', 'shard', 'console', 'migrate'];
const REDIS = ['GRANTD_REDIS_URL', 'GRANTD_REDIS_PASSWORD', 'GRANTD_REDIS_SENTINEL_PASSWORD', 'GRANTD_REDIS_TLS_CA'];
/** The values have the same in another form. */
const TRACES = ['OTEL_SDK_DISABLED', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_SERVICE_NAME'];
const TELEMETRY = ['OTEL_SDK_DISABLED', 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', ...TRACES.slice(1)];
/**
 * What nobody needs to say by a value of its own; `pod.extraEnv` can. Of a standalone pod, what concerns several
 * processes.
 */
const LEFT_TO_EXTRA_ENV: Partial<Record<Role, readonly string[]>> = {
  dev: ['GRANTD_RPC_ADDRESS', 'GRANTD_RPC_INSECURE', 'GRANTD_SHARD_NAME', ...REDIS, ...TELEMETRY],
  front: TELEMETRY,
  shard: TRACES,
  console: TRACES,
};
/** What no example of its own needs, but somebody may. */
const MORE: readonly RenderOptions[] = [
  {
    ci: 'minimal',
    set: { 'tls.enabled': false, 'tls.allowInsecure': true, clusterId: 'clu_01jd9xk2m4fq0b4t8zj6c5v7wn' },
  },
  {
    ci: 'standalone',
    set: {
      plans: { partner: { requests: 5, window_seconds: 1 } },
      errorsBase: 'https://docs.example.com/errors',
      clusterName: 'production eu',
      dashboardUrl: 'https://grafana.example.com/d/grantd?orgId=1',
      'monitoring.prometheusRule.runbookUrl': 'https://docs.example.com/monitoring',
      trustedProxies: ['10.0.0.0/8'],
      'operator.namedTokens.existingSecret': 'operators',
      'operator.oidc.issuer': 'https://id.example.com',
      'operator.oidc.clientId': 'grantd-console',
      'operator.oidc.consoleUrl': 'https://console.example.com',
      'operator.oidc.existingSecret': 'operators',
      'operator.oidc.audience': 'https://grantd.example.com/operator',
      'operator.oidc.requiredGroups': ['staff'],
      'cassandra.slots': 64,
      'tracing.endpoint': 'http://collector:4318',
      'tracing.existingSecret': 'collector',
      'decisionLog.output': 'stdout',
      'decisionLog.tenants': ['ten_01jhm9r0g0e8xsg4k6t2v8w0yc'],
    },
  },
];
const PEM = (kind: string): string => `-----BEGIN ${kind}-----\nAAAA\n-----END ${kind}-----\n`;
const FILES: Readonly<Record<string, string>> = {
  'tls/tls.crt': PEM('CERTIFICATE'),
  'tls/tls.key': PEM('PRIVATE KEY'),
  'tls/ca.crt': PEM('CERTIFICATE'),
  'cassandra-tls/tls.crt': PEM('CERTIFICATE'),
  'cassandra-tls/tls.key': PEM('PRIVATE KEY'),
  'cassandra-tls/ca.crt': PEM('CERTIFICATE'),
  'cassandra-credentials/username': 'role',
  'cassandra-credentials/password': 'secret',
  'redis/url': 'rediss+sentinel://cache/grantd',
  'redis/password': 'secret',
  'redis/sentinel-password': 'secret',
  'redis-tls/ca.crt': PEM('CERTIFICATE'),
  'tracing/headers': 'authorization=Bearer%20secret',
  'operator/token': 'a-token-of-more-than-32-characters-for-sure',
  'operator-tokens/tokens': `ann:${'0'.repeat(64)}`,
  'oidc/client-secret': 'secret',
  'plans/plans.json': '{}',
};
const MOUNT = '/etc/grantd/';
const directory = useDirectory();
for (const [name, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), text);
}

function roleOf({ args: [command] = [] }: Container): Role {
  // It has the settings of the shard that it watches.
  return command === 'watch' ? 'shard' : (ROLES.find((role) => role === command) ?? 'cli');
}

/** Every container that the chart makes of a role, in every example. */
const rendered = Promise.all(
  [...CI_VALUES.map((ci): RenderOptions => ({ ci })), ...MORE].map(async (options) =>
    podsOf(await render({ ...options, set: { 'pod.extraEnv': [], ...options.set } })).flatMap((pod) =>
      containersOf(pod).map((container) => ({ ...container, ci: options.ci, role: roleOf(container) })),
    ),
  ),
).then((lists) => lists.flat());
// Where Helm is missing there is nothing to await.
rendered.catch(() => {});

const namesOf = ({ env = [] }: Container): string[] =>
  env.map(({ name }) => name).filter((name) => /^(?:GRANTD|OTEL)_/.test(name));
const settingOf = (variable: string) =>
  Object.values(SETTINGS).find(({ name, file }) => name === variable || (file && `${name}_FILE` === variable));

/** As the kubelet would give it to the process, with the files of the test in place of the mounted ones. */
function environmentOf({ env = [] }: Container): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { name, value } of env) {
    const text = value ?? (name === 'POD_IP' ? '10.0.0.1' : 'grantd-shard-0');
    values[name] = text
      .replaceAll(/\$\((\w+)\)/g, (_, other: string) => values[other] ?? assert.fail(`${name}: ${other} comes later`))
      .replace(MOUNT, `${directory}/`);
  }
  return values;
}

describe('the settings in the chart', { skip: missing }, () => {
  it('exist for the process that gets them', async () => {
    const found = (await rendered).flatMap((container) =>
      namesOf(container)
        // The operator's commands are run in the pods of the console.
        .filter((name) => {
          const roles: readonly Role[] = settingOf(name)?.roles ?? [];
          const runsCommands = container.role === 'console' || container.role === 'dev';
          return !roles.includes(container.role) && !(runsCommands && roles.includes('cli'));
        })
        .map((name) => `${container.ci}: ${container.name}: ${name}`),
    );
    assert.deepEqual(found, []);
  });

  for (const role of ROLES) {
    it(`are taken by grantd ${role}`, async () => {
      const containers = (await rendered).filter((container) => container.role === role);
      assert.ok(containers.length > 0);
      for (const container of containers) readConfig(role, environmentOf(container));
    });

    it(`are all that grantd ${role} can be told`, async () => {
      const containers = (await rendered).filter((container) => container.role === role);
      const set = new Set(containers.flatMap(namesOf).map((variable) => settingOf(variable)?.name));
      const others = Object.values(SETTINGS)
        .filter(({ roles, name }) => (roles as readonly Role[]).includes(role) && !set.has(name))
        .map(({ name }) => name);
      assert.deepEqual(others, LEFT_TO_EXTRA_ENV[role] ?? []);
    });
  }

  it('are taken by the commands of the operator in helm test', async () => {
    const containers = (await rendered).filter(({ name }) => name === 'test');
    assert.equal(containers.length, CI_VALUES.length + MORE.length);
    for (const container of containers) {
      const { operatorUrl, operatorToken } = readConfig('cli', environmentOf(container));
      assert.match(operatorUrl ?? '', /^http:\/\/grantd-console\.authorization\.svc:8090$/);
      assert.ok(operatorToken !== undefined);
    }
  });

  it('give way to those of extraEnv, which stand once', async () => {
    const set = { 'shard.pod.extraEnv': [{ name: 'GRANTD_LOG_LEVEL', value: 'debug' }] };
    for (const pod of podsOf(await render({ ci: 'minimal', set }))) {
      for (const { env = [] } of containersOf(pod)) {
        const levels = env.filter(({ name }) => name === 'GRANTD_LOG_LEVEL');
        if (pod.component === 'shard') assert.deepEqual(levels, [{ name: 'GRANTD_LOG_LEVEL', value: 'debug' }]);
        else assert.notEqual(levels[0]?.value, 'debug');
      }
    }
  });

  it('of secrets are paths of files, never their text', async () => {
    const found = (await rendered).flatMap((container) =>
      (container.env ?? [])
        .filter(({ name }) => settingOf(name)?.secret === true && !name.endsWith('_FILE'))
        .map(({ name }) => `${container.ci}: ${container.name}: ${name}`),
    );
    assert.deepEqual(found, []);
  });

  it('name only files that are mounted', async () => {
    const found = (await rendered).flatMap((container) =>
      (container.env ?? [])
        .filter(({ value = '' }) => value.startsWith(MOUNT))
        .filter(({ value }) => !container.volumeMounts?.some(({ mountPath }) => dirname(value ?? '') === mountPath))
        .map(({ name }) => `${container.ci}: ${container.name}: ${name}`),
    );
    assert.deepEqual(found, []);
  });
});
