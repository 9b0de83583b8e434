// How the parts of the chart behave together: what a change rolls and what not, how pods stop, what they may do, and
// which of them make what.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SETTINGS } from '../../src/config/settings.ts';
import {
  CI_VALUES,
  type KubernetesObject,
  missingHelm,
  type RenderOptions,
  render,
  renderNotes,
} from './support/helm.ts';
import { containersOf, type Pod, podsOf } from './support/pods.ts';

const missing = await missingHelm('the workloads of the chart');
const minimal = (set: NonNullable<RenderOptions['set']> = {}): RenderOptions => ({ ci: 'minimal', set });

const WITHOUT_TLS = { 'tls.enabled': false, 'tls.allowInsecure': true };

const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind}/${metadata.name}`;
const hookOf = ({ metadata }: KubernetesObject): string | undefined => metadata.annotations?.['helm.sh/hook'];
const namesOf = (objects: readonly KubernetesObject[], kind: string): string[] =>
  objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);

async function podOf(options: RenderOptions, component: string): Promise<Pod> {
  const pod = podsOf(await render(options)).find((each) => each.component === component);
  return pod ?? assert.fail(`There is no pod of ${component}.`);
}

async function objectOf<Shape = KubernetesObject>(options: RenderOptions, kind: string, name: string): Promise<Shape> {
  const object = (await render(options)).find((each) => each.kind === kind && each.metadata.name === name);
  // What a test looks at is asserted there.
  return (object ?? assert.fail(`There is no ${kind} ${name}.`)) as Shape;
}

const jobOf = async (options: RenderOptions, component: string): Promise<string> =>
  namesOf(await render(options), 'Job').find((name) => name.includes(`-${component}-`)) ?? 'none';

describe('the Jobs of the chart', { skip: missing }, () => {
  it('have another name whenever they would run something else', async () => {
    const before = await jobOf(minimal(), 'migrate');
    assert.match(before, /^grantd-migrate-[0-9a-f]{10}$/);
    for (const set of [
      { 'image.tag': '9.9.9' },
      { 'cassandra.keyspace': 'other' },
      { 'migration.credentials.existingSecret': 'x' },
      { 'pod.nodeSelector': { a: 'b' } },
      { 'migration.backoffLimit': 7 },
    ]) {
      assert.notEqual(await jobOf(minimal(set), 'migrate'), before, JSON.stringify(set));
    }
  });

  it('keep their name when something else changes', async () => {
    const set = { 'front.replicas': 9, 'shard.pageCacheBytes': '300MiB', 'migration.annotations': { a: 'b' } };
    for (const component of ['migrate', 'secrets']) {
      assert.equal(await jobOf(minimal(set), component), await jobOf(minimal(), component));
    }
  });

  it('need no hook, but for what makes Secrets', async () => {
    for (const ci of CI_VALUES) {
      const hooked = (await render({ ci })).filter((object) => hookOf(object) !== undefined);
      for (const { kind, metadata } of hooked) {
        assert.match(`${kind}/${metadata.name}`, /^Pod\/grantd-test$|\/grantd-secrets(-[0-9a-f]{10})?$/, ci);
      }
    }
  });

  it('make certificates and a token only where nobody gave them', async () => {
    const argsOf = async (options: RenderOptions): Promise<string> =>
      (await podOf(options, 'secrets')).spec.containers[0]?.args?.join(' ') ?? '';
    assert.match(await argsOf(minimal()), /--operator-token --shard-names=grantd-shards\.authorization\.svc,/);
    assert.doesNotMatch(await argsOf(minimal(WITHOUT_TLS)), /shard-names/);
    assert.doesNotMatch(await argsOf(minimal({ 'operator.existingSecret': 'x' })), /--operator-token/);
    assert.doesNotMatch(await argsOf({ ci: 'standalone' }), /shard-names/);
    assert.equal(await jobOf({ ci: 'external-secrets' }, 'secrets'), 'none');
    assert.deepEqual(namesOf(await render({ ci: 'external-secrets' }), 'Secret'), []);
  });
});

describe('the watch of a shard', { skip: missing }, () => {
  const initContainersOf = async (options: RenderOptions) => (await podOf(options, 'shard')).spec.initContainers;

  it('is a sidecar with the settings and files of the shard, and small', async () => {
    for (const ci of CI_VALUES) {
      const pod = podsOf(await render({ ci })).find(({ component }) => component === 'shard');
      if (pod === undefined) continue;
      const watch = pod.spec.initContainers?.find(({ name }) => name === 'watch') ?? assert.fail(ci);
      const [shard] = pod.spec.containers;
      assert.equal(watch.restartPolicy, 'Always', ci);
      assert.deepEqual(watch.args, ['watch'], ci);
      assert.deepEqual(
        [watch.image, watch.env, watch.volumeMounts, watch.securityContext],
        [shard?.image, shard?.env, shard?.volumeMounts, shard?.securityContext],
        ci,
      );
    }
    const watch = (await initContainersOf(minimal()))?.find(({ name }) => name === 'watch');
    assert.deepEqual(watch?.resources, { requests: { cpu: '10m', memory: '48Mi' }, limits: { memory: '160Mi' } });
  });

  it('is left out by one value', async () => {
    assert.equal(await initContainersOf(minimal({ 'shard.watch.enabled': false })), undefined);
  });
});

describe('the Job that makes Secrets', { skip: missing }, () => {
  const PARTS = ['NetworkPolicy', 'ServiceAccount', 'Role', 'RoleBinding', 'Job'] as const;

  it('runs before the rest, and its account and rights go with it', async () => {
    const options = minimal({ 'networkPolicy.enabled': true });
    const hooked = (await render(options)).filter((object) => hookOf(object) === 'pre-install,pre-upgrade');
    assert.deepEqual(hooked.map(({ kind }) => kind).sort(), [...PARTS].sort());
    for (const { kind, metadata } of hooked) {
      const { annotations = {} } = metadata;
      assert.equal(annotations['helm.sh/hook-delete-policy'], 'before-hook-creation,hook-succeeded', kind);
      assert.equal(Number(annotations['helm.sh/hook-weight']) < 0, kind !== 'Job', kind);
    }
  });

  it('leaves no right to make or read a Secret behind in any example', async () => {
    for (const ci of CI_VALUES) {
      for (const object of await render({ ci })) {
        if (object.kind !== 'Role' || !JSON.stringify(object).includes('"secrets"')) continue;
        assert.match(object.metadata.annotations?.['helm.sh/hook-delete-policy'] ?? '', /hook-succeeded/, ci);
      }
    }
  });

  it('keeps the annotations that are given, and needs nothing that the installation makes', async () => {
    const set = {
      'serviceAccounts.secrets.annotations': { team: 'a' },
      'secretsJob.annotations': { team: 'b' },
      'priorityClass.create': true,
      'networkPolicy.enabled': true,
    };
    const options = minimal(set);
    const account = await objectOf(options, 'ServiceAccount', 'grantd-secrets');
    const job = await objectOf(options, 'Job', await jobOf(options, 'secrets'));
    assert.deepEqual([account.metadata.annotations?.team, job.metadata.annotations?.team], ['a', 'b']);
    assert.equal(hookOf(account), hookOf(job));
    const { spec } = await podOf(options, 'secrets');
    assert.equal('priorityClassName' in spec, false);
    const made = new Set((await render(options)).filter((object) => hookOf(object) === undefined).map(keyOf));
    const names = ['ServiceAccount', 'Role', 'NetworkPolicy'].map((kind) => `${kind}/grantd-secrets`);
    assert.deepEqual(
      names.filter((name) => made.has(name)),
      [],
    );
    assert.equal(
      (await podOf(minimal({ ...set, 'pod.priorityClassName': 'mine' }), 'secrets')).spec.priorityClassName,
      'mine',
    );
  });
});

describe('the image', { skip: missing }, () => {
  it('is the one of the digest, in every container, whatever the tag says', async () => {
    const digest = `sha256:${'ab'.repeat(32)}`;
    const set = { 'image.digest': digest, 'image.tag': '9.9.9', 'image.registry': 'registry.example.com' };
    for (const ci of CI_VALUES) {
      const containers = podsOf(await render({ ci, set })).flatMap(containersOf);
      assert.ok(containers.length > 0);
      for (const { image, name } of containers) {
        assert.match(
          image ?? '',
          new RegExp(`^registry\\.example\\.com/(platform/)?grantd@${digest}$`),
          `${ci}: ${name}`,
        );
      }
    }
  });
});

describe('gRPC without TLS', { skip: missing }, () => {
  const insecureIn = async (options: RenderOptions, component: string): Promise<string | undefined> =>
    (await podOf(options, component)).spec.containers[0]?.env?.find(({ name }) => name === 'GRANTD_RPC_INSECURE')
      ?.value;

  it('is what shards are told only where both values say so', async () => {
    const off = { 'tls.enabled': false, 'tls.allowInsecure': true };
    assert.equal(await insecureIn(minimal(off), 'shard'), 'true');
    assert.equal(await insecureIn(minimal(), 'shard'), undefined);
    assert.equal(await insecureIn(minimal({ 'tls.allowInsecure': true }), 'shard'), undefined);
    assert.equal(await insecureIn({ ci: 'standalone', set: off }, 'standalone'), undefined);
  });
});

describe('the network policies', { skip: missing }, () => {
  interface Rule {
    readonly ports: readonly { readonly port: string | number }[];
    readonly from?: readonly { readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> } }[];
    readonly to?: Rule['from'];
  }
  interface Policy {
    readonly spec: { readonly ingress: readonly Rule[]; readonly egress?: readonly Rule[] };
  }
  const rulesOf = async (component: string): Promise<Policy['spec']> =>
    (await objectOf<Policy>({ ci: 'high-availability' }, 'NetworkPolicy', `grantd-${component}`)).spec;
  const componentsOf = (rules: readonly Rule[] | undefined, port: string | number): string[] =>
    (rules ?? [])
      .filter(({ ports }) => ports.some((each) => each.port === port))
      .flatMap(({ from, to }) => from ?? to ?? [])
      .map(({ podSelector }) => podSelector?.matchLabels['app.kubernetes.io/component'] ?? 'others');

  it('are on where the example is one of production', async () => {
    const policies = namesOf(await render({ ci: 'high-availability' }), 'NetworkPolicy');
    assert.deepEqual(
      policies.sort(),
      ['console', 'front', 'migrate', 'secrets', 'shard'].map((component) => `grantd-${component}`),
    );
  });

  it('let in to shards whoever calls them, and nobody else', async () => {
    assert.deepEqual(componentsOf((await rulesOf('shard')).ingress, 'rpc'), ['front', 'console', 'shard']);
    for (const caller of ['front', 'console', 'shard']) {
      assert.deepEqual(componentsOf((await rulesOf(caller)).egress, 8082), ['shard'], caller);
    }
    assert.deepEqual(componentsOf((await rulesOf('migrate')).egress, 8082), []);
  });

  it('let helm test in to fronts and console, and backups to the console, whoever else may come', async () => {
    assert.deepEqual(componentsOf((await rulesOf('front')).ingress, 'http'), ['test', 'others']);
    assert.deepEqual(componentsOf((await rulesOf('console')).ingress, 'http'), ['test', 'backup', 'others']);
    const { spec } = await objectOf<Policy>(
      minimal({ 'networkPolicy.enabled': true }),
      'NetworkPolicy',
      'grantd-console',
    );
    assert.deepEqual(componentsOf(spec.ingress, 'http'), ['test']);
  });

  it('name ports that the pods have', async () => {
    for (const component of ['front', 'shard', 'console']) {
      const { spec } = await podOf({ ci: 'high-availability' }, component);
      const has = spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name));
      const named = (await rulesOf(component)).ingress.flatMap(({ ports }) => ports.map(({ port }) => port));
      assert.deepEqual(named.sort(), has.sort(), component);
    }
  });

  it('let out to the identity provider only the console, and only if there is one', async () => {
    const portsOf = async (component: string, issuer: string): Promise<readonly unknown[]> => {
      const set = {
        'networkPolicy.enabled': true,
        'networkPolicy.egress.enabled': true,
        'networkPolicy.egress.oidcPorts': [8443],
        'operator.oidc.issuer': issuer,
      };
      const { spec } = await objectOf<Policy>(minimal(set), 'NetworkPolicy', `grantd-${component}`);
      return (spec.egress ?? []).flatMap((rule) => rule.ports.map(({ port }) => port));
    };
    assert.ok((await portsOf('console', 'https://id.example.com')).includes(8443));
    assert.ok(!(await portsOf('console', '')).includes(8443));
    for (const other of ['front', 'shard']) {
      assert.ok(!(await portsOf(other, 'https://id.example.com')).includes(8443), other);
    }
  });

  it('let out to the API server whoever asks it', async () => {
    const askers = [];
    for (const component of ['front', 'console', 'secrets', 'shard', 'migrate']) {
      const ports = (await rulesOf(component)).egress?.flatMap((rule) => rule.ports.map(({ port }) => port)) ?? [];
      if (ports.includes(6443)) askers.push(component);
      assert.ok(ports.includes(53), component);
    }
    const tokens = podsOf(await render({ ci: 'high-availability' })).filter(
      ({ spec }) => spec.automountServiceAccountToken !== false,
    );
    assert.deepEqual(askers.sort(), tokens.map(({ component }) => component).sort());
  });
});

describe('the pods of the chart', { skip: missing }, () => {
  it('have more time to stop than the process takes at most', async () => {
    for (const component of ['front', 'shard', 'console', 'standalone']) {
      for (const set of [{}, { [`${component}.drainSeconds`]: 40, [`${component}.shutdownSeconds`]: 60 }]) {
        const { spec } = await podOf(minimal({ ...set, 'standalone.enabled': component === 'standalone' }), component);
        const env = new Map(spec.containers[0]?.env?.map(({ name, value }) => [name, Number(value)]));
        const drainSeconds = env.get('GRANTD_DRAIN_SECONDS') ?? 0;
        const shutdownSeconds = env.get('GRANTD_SHUTDOWN_SECONDS') ?? 0;
        assert.ok(drainSeconds > 0 && shutdownSeconds > drainSeconds);
        assert.ok((spec.terminationGracePeriodSeconds ?? 0) > drainSeconds + shutdownSeconds, component);
      }
    }
  });

  it('stop as the program does unless told otherwise', async () => {
    for (const component of ['front', 'shard', 'console'] as const) {
      const { spec } = await podOf(minimal(), component);
      const drain = spec.containers[0]?.env?.find(({ name }) => name === 'GRANTD_DRAIN_SECONDS')?.value;
      assert.equal(drain, SETTINGS.drainSeconds.defaults[component]);
    }
  });

  it('are asked by HTTP on the ops port, and none that only waits is restarted', async () => {
    for (const component of ['front', 'shard', 'console']) {
      const { spec } = await podOf(minimal(), component);
      const container = spec.containers[0] as unknown as Record<string, { httpGet: { path: string; port: string } }>;
      assert.deepEqual(container.startupProbe?.httpGet, { path: '/livez', port: 'ops' });
      assert.deepEqual(container.livenessProbe?.httpGet, { path: '/livez', port: 'ops' });
      assert.deepEqual(container.readinessProbe?.httpGet, { path: '/readyz', port: 'ops' });
    }
  });

  it('are probed as the values say, each component for itself', async () => {
    interface Probe {
      readonly periodSeconds: number;
      readonly timeoutSeconds: number;
      readonly failureThreshold: number;
    }
    const set = { 'probes.readiness.failureThreshold': 7, 'shard.probes.startup': { failureThreshold: 300 } };
    const probesOf = async (component: string): Promise<number[][]> => {
      const { spec } = await podOf(minimal(set), component);
      const container = spec.containers[0] as unknown as Readonly<Record<string, Probe>>;
      return ['startupProbe', 'livenessProbe', 'readinessProbe'].map((kind) => {
        const probe = container[kind];
        return [probe?.periodSeconds ?? 0, probe?.timeoutSeconds ?? 0, probe?.failureThreshold ?? 0];
      });
    };
    assert.deepEqual(await probesOf('front'), [
      [1, 5, 60],
      [10, 5, 6],
      [1, 5, 7],
    ]);
    assert.deepEqual(await probesOf('shard'), [
      [1, 5, 300],
      [10, 5, 6],
      [1, 5, 7],
    ]);
  });

  it('keep as many revisions as the values say', async () => {
    for (const ci of ['minimal', 'standalone']) {
      const objects = await render({ ci, set: { revisionHistoryLimit: 0 } });
      const workloads = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
      assert.ok(workloads.length > 0);
      for (const { metadata, spec } of workloads) {
        assert.equal((spec as { revisionHistoryLimit: number }).revisionHistoryLimit, 0, metadata.name);
      }
    }
  });

  it('ask for memory, and have a bound of it', async () => {
    for (const ci of CI_VALUES) {
      for (const pod of podsOf(await render({ ci }))) {
        for (const { name, resources } of containersOf(pod)) {
          assert.ok('memory' in (resources?.requests ?? {}) && 'memory' in (resources?.limits ?? {}), `${ci}: ${name}`);
        }
      }
    }
  });

  it('have a token of the API server only where they need one', async () => {
    for (const ci of CI_VALUES) {
      const pods = podsOf(await render({ ci }));
      const withToken = pods.filter(({ spec }) => spec.automountServiceAccountToken !== false);
      const allowed = ['front', 'console', 'secrets'];
      assert.deepEqual(
        withToken.map(({ component }) => component).filter((each) => !allowed.includes(each)),
        [],
        ci,
      );
      for (const { spec } of pods) assert.equal(spec.enableServiceLinks, false);
    }
  });

  it('roll when a setting, the plans or a password of the chart changes, and only where it is read', async () => {
    const templates = async (set: NonNullable<RenderOptions['set']>): Promise<Map<string, string>> =>
      new Map(
        podsOf(await render({ ci: 'high-availability', set })).map((pod) => [
          pod.component,
          JSON.stringify(pod.object.spec),
        ]),
      );
    const before = await templates({});
    const rolledBy = async (set: NonNullable<RenderOptions['set']>): Promise<string[]> => {
      const after = await templates(set);
      return ['front', 'shard', 'console'].filter((component) => after.get(component) !== before.get(component));
    };
    assert.deepEqual(await rolledBy({ 'image.tag': '9.9.9' }), ['front', 'shard', 'console']);
    assert.deepEqual(await rolledBy({ plans: { gold: { requests: 1, window_seconds: 1 } } }), [
      'front',
      'shard',
      'console',
    ]);
    assert.deepEqual(await rolledBy({ 'cassandra.credentials.password': 'another' }), ['shard']);
    assert.deepEqual(await rolledBy({ 'redis.password': 'another' }), ['front']);
    assert.deepEqual(await rolledBy({ trustedProxies: ['loopback'] }), ['front', 'console']);
    assert.deepEqual(await rolledBy({ 'service.port': 8080, 'monitoring.podMonitor.enabled': false }), []);
  });

  it('take what is laid over them, each component for itself', async () => {
    const set = { 'pod.labels': { team: 'a', tier: 'b' }, 'shard.pod.labels': { team: 'c' } };
    const front = await podOf(minimal(set), 'front');
    const shard = await podOf(minimal(set), 'shard');
    assert.deepEqual([front.labels.team, front.labels.tier], ['a', 'b']);
    assert.deepEqual([shard.labels.team, shard.labels.tier], ['c', 'b']);
  });

  it('advertise an address that IPv6 can dial too', async () => {
    const advertised = async (ipFamily: string): Promise<string | undefined> =>
      (await podOf(minimal({ ipFamily }), 'shard')).spec.containers[0]?.env?.find(
        ({ name }) => name === 'GRANTD_RPC_ADVERTISE',
      )?.value;
    assert.equal(await advertised('IPv4'), '$(POD_IP):8082');
    assert.equal(await advertised('IPv6'), '[$(POD_IP)]:8082');
  });
});

describe('the rest of the chart', { skip: missing }, () => {
  interface Role {
    readonly rules: readonly {
      readonly resources: string[];
      readonly verbs: string[];
      readonly resourceNames?: string[];
    }[];
  }

  it('gives no right but to read EndpointSlices, and to make the Secrets that nobody gave', async () => {
    for (const ci of CI_VALUES) {
      const roles = (await render({ ci })).filter(({ kind }) => kind.endsWith('Role'));
      for (const { kind, metadata } of roles) {
        assert.equal(kind, 'Role');
        const { rules } = await objectOf<Role>({ ci }, 'Role', metadata.name);
        for (const { resources, verbs, resourceNames = [] } of rules) {
          if (resources.join() === 'endpointslices') assert.deepEqual(verbs, ['get', 'list', 'watch']);
          else if (verbs.join() === 'create') assert.deepEqual(resources, ['secrets']);
          else {
            assert.deepEqual(resources, ['secrets']);
            assert.ok(resourceNames.length > 0);
            if (verbs.join() !== 'get') {
              assert.deepEqual(verbs, ['update']);
              for (const name of resourceNames) assert.match(name, /-tls-(shard|front|console)$/);
            }
          }
        }
      }
    }
  });

  it('leaves the number of pods to the autoscaler where there is one', async () => {
    type Scaled = { readonly spec: { readonly replicas?: number } };
    const scaled = await objectOf<Scaled>({ ci: 'high-availability' }, 'Deployment', 'grantd-front');
    const fixed = await objectOf<Scaled>(minimal(), 'Deployment', 'grantd-front');
    assert.equal(scaled.spec.replicas, undefined);
    assert.equal(fixed.spec.replicas, 2);
  });

  it('lets fronts find shards that are not ready', async () => {
    type Service = {
      readonly spec: {
        readonly clusterIP: string;
        readonly publishNotReadyAddresses: boolean;
        readonly ports: { name: string }[];
      };
    };
    const { spec } = await objectOf<Service>(minimal(), 'Service', 'grantd-shards');
    assert.deepEqual([spec.clusterIP, spec.publishNotReadyAddresses, spec.ports[0]?.name], ['None', true, 'rpc']);
    const { spec: front } = await podOf(minimal(), 'front');
    const discovery = front.containers[0]?.env?.find(({ name }) => name === 'GRANTD_DISCOVERY')?.value;
    assert.equal(discovery, 'kubernetes:authorization/grantd-shards:rpc');
  });

  it('knows the console and the shards by names that no front has, and that of no other release', async () => {
    type Certificate = { readonly spec: { readonly dnsNames: readonly string[]; readonly usages: readonly string[] } };
    const options = { ci: 'tls-everywhere' };
    const certificate = async (component: string): Promise<Certificate['spec']> =>
      (await objectOf<Certificate>(options, 'Certificate', `grantd-tls-${component}`)).spec;
    const dnsNames = async (component: string) => (await certificate(component)).dnsNames;
    const { spec } = await podOf(options, 'shard');
    const [shard] = spec.containers;
    const console = shard?.env?.find(({ name }) => name === 'GRANTD_RPC_TLS_CONSOLE_NAMES')?.value;
    assert.deepEqual(await dnsNames('console'), [console]);
    assert.equal(console, 'grantd-console.authorization.svc');
    for (const name of await dnsNames('front')) assert.ok(name !== console && !name.startsWith(`${console}.`));
    const { spec: front } = await podOf(options, 'front');
    const server = front.containers[0]?.env?.find(({ name }) => name === 'GRANTD_RPC_TLS_SERVER_NAME')?.value;
    assert.ok((await dnsNames('shard')).includes(server ?? ''));
    // A shard is a client of other shards, by the name that fronts know it by.
    assert.equal(shard?.env?.find(({ name }) => name === 'GRANTD_RPC_TLS_SHARD_NAMES')?.value, server);
    for (const other of ['front', 'console']) assert.ok(!(await dnsNames(other)).includes(server ?? ''), other);
    assert.deepEqual((await certificate('shard')).usages, ['digital signature', 'server auth', 'client auth']);
  });

  it('warns after an installation where TLS is off', async () => {
    assert.doesNotMatch(await renderNotes(minimal()), /tls\.enabled/);
    assert.match(
      await renderNotes(minimal(WITHOUT_TLS)),
      /tls\.enabled is false: anyone who can reach port 8082 of a shard can read and change the data of every tenant/,
    );
  });
});
