// The example environment in k8s/ and the runbooks of the alerts: what is shown there fits Kubernetes, the chart and
// one another. Argo CD, Flux and the k6 operator cannot run here, so of their objects only the shape is looked at.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { readSettings } from '../../loadtest/settings.ts';
import { bytesParser } from '../../src/config/parsers.ts';
import { useDirectory } from '../kit/directory.ts';
import { buildKustomization, type KubernetesObject, missingHelm, missingKustomize, render } from './support/helm.ts';
import { findSecurityViolations, type PodSpec, podsOf } from './support/pods.ts';
import { findSchemaViolations } from './support/schemas.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = ['k8s', 'k8s/argo-cd', 'k8s/flux', 'k8s/k6', 'k8s/k8ssandra'] as const;
/** k8s/grantd-values.yaml, as it is named from the folder of the chart's own examples. */
const VALUES = '../../../k8s/grantd';
const RESTRICTED = 'pod-security.kubernetes.io/enforce';
const CUSTOM_GROUPS = new Set([
  'argoproj.io',
  'helm.toolkit.fluxcd.io',
  'source.toolkit.fluxcd.io',
  'k6.io',
  'k8ssandra.io',
]);

const readRoot = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const isCustom = ({ apiVersion }: KubernetesObject): boolean => CUSTOM_GROUPS.has(apiVersion.split('/')[0] ?? '');
// A Namespace has nothing but labels here, which the test of Pod Security reads.
const isCore = (object: KubernetesObject): boolean => !isCustom(object) && object.kind !== 'Namespace';

// The standard does not ask for it, and the stores' own images write where they like.
const standardViolations = (pod: Parameters<typeof findSecurityViolations>[0]): string[] =>
  findSecurityViolations(pod).filter((found) => !found.endsWith(': readOnlyRootFilesystem'));

const missing = await missingKustomize('the examples of k8s/');
const helmMissing = await missingHelm('the values of k8s/ and the runbooks');
const all = missing === undefined ? (await Promise.all(FOLDERS.map(buildKustomization))).flat() : [];

/** The object of that kind; `spec` as the caller knows it. */
function find<Spec>(kind: string, name: string): KubernetesObject & { readonly spec: Spec } {
  const found = all.find((object) => object.kind === kind && object.metadata.name === name);
  assert.ok(found !== undefined, `${kind} ${name}`);
  return found as KubernetesObject & { readonly spec: Spec };
}

describe('the example environment', { skip: missing ?? false }, () => {
  it('passes the strict schemas of Kubernetes', () => {
    const core = all.filter(isCore);
    assert.ok(core.length >= 8);
    assert.deepEqual(core.flatMap(findSchemaViolations), []);
  });

  it('has namespaces that enforce the Pod Security Standard "restricted", and no object outside them', () => {
    const namespaces = all.filter(({ kind }) => kind === 'Namespace');
    const names = namespaces.map(({ metadata }) => metadata.name);
    assert.deepEqual(names.sort(), ['grantd', 'grantd-load', 'grantd-stores']);
    for (const { metadata } of namespaces) assert.equal(metadata.labels?.[RESTRICTED], 'restricted', metadata.name);
    for (const object of all.filter(isCore)) assert.ok(names.includes(object.metadata.namespace ?? ''), object.kind);
  });

  it('has pods that pass "restricted"', () => {
    const pods = podsOf(all);
    assert.deepEqual(pods.map(({ object }) => object.metadata.name).sort(), ['cassandra', 'redis']);
    assert.deepEqual(pods.flatMap(standardViolations), []);
    const [pod] = pods;
    assert.ok(pod !== undefined);
    const careless = { ...pod, spec: { ...pod.spec, securityContext: { runAsNonRoot: true } } };
    assert.match(standardViolations(careless).join(), /seccompProfile/);
  });

  it('lets through its network policies what has to come through, by ports that the pods have', () => {
    type Policy = { podSelector: { matchLabels?: object }; ingress?: { ports: { port: string }[] }[] };
    const policies = all.filter(({ kind }) => kind === 'NetworkPolicy') as (KubernetesObject & { spec: Policy })[];
    assert.equal(policies.length, 3);
    for (const { metadata, spec } of policies) {
      if (spec.ingress === undefined) continue;
      const pod = podsOf(all).find(({ object }) => object.metadata.name === metadata.name);
      assert.deepEqual(spec.podSelector.matchLabels, pod?.labels);
      const containers = pod?.spec.containers ?? [];
      const names = containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name));
      for (const { ports } of spec.ingress) for (const { port } of ports) assert.ok(names.includes(port), port);
    }
  });

  it('sets nodes of Cassandra to a durable commit log and paxos v2, whatever their file had', () => {
    const { spec } = find<{ template: { spec: PodSpec } }>('StatefulSet', 'cassandra');
    const [configure] = (spec.template.spec.initContainers ?? []) as readonly { command?: readonly string[] }[];
    const directory = useDirectory();
    for (const name of ['image', 'copy']) mkdirSync(join(directory, name));
    const given = `cluster_name: 'Test Cluster'\ncommitlog_sync: periodic\ncommitlog_sync_period: 10000ms\npaxos_variant: v1\n# commitlog_sync_group_window: 1000ms\nnum_tokens: 16`;
    writeFileSync(join(directory, 'image', 'cassandra.yaml'), given);
    writeFileSync(join(directory, 'image', 'jvm-server.options'), '-ea\n');
    const [shell = '', ...rest] = configure?.command ?? [];
    const script = rest.map((text) =>
      text.replaceAll('/etc/cassandra', join(directory, 'image')).replaceAll('/config/', `${join(directory, 'copy')}/`),
    );
    execFileSync(shell, script);
    assert.deepEqual(parse(readFileSync(join(directory, 'copy', 'cassandra.yaml'), 'utf8')), {
      cluster_name: 'Test Cluster',
      num_tokens: 16,
      commitlog_sync: 'batch',
      paxos_variant: 'v2',
    });
    assert.ok(existsSync(join(directory, 'copy', 'jvm-server.options')));
  });

  it('tells the chart where each node of Cassandra is', () => {
    const { metadata, spec } = find<{ replicas: number; serviceName: string }>('StatefulSet', 'cassandra');
    const domain = `${find<object>('Service', spec.serviceName).metadata.name}.${metadata.namespace}.svc.cluster.local`;
    const nodes = Array.from({ length: spec.replicas }, (_, number) => `${metadata.name}-${number}.${domain}`);
    assert.deepEqual(parse(readRoot('k8s/grantd-values.yaml')).cassandra.contactPoints, nodes);
    const text = JSON.stringify(spec);
    assert.ok(text.includes(`{"name":"CASSANDRA_SEEDS","value":"${nodes[0]}"}`));
  });
});

describe('the custom resources of the examples', { skip: missing ?? false }, () => {
  it('of Argo CD name the chart and the values (their shape only: no Argo CD runs here)', () => {
    type Helm = { releaseName: string; valueFiles: string[] };
    type Application = { source: { path: string; helm: Helm }; destination: { namespace: string } };
    const { apiVersion, spec } = find<Application>('Application', 'grantd');
    assert.equal(apiVersion, 'argoproj.io/v1alpha1');
    assert.deepEqual(Object.keys(spec).sort(), ['destination', 'project', 'source', 'syncPolicy']);
    const { path, helm } = spec.source;
    assert.ok(existsSync(join(ROOT, path, 'Chart.yaml')));
    assert.equal(join(path, helm.valueFiles[0] ?? ''), 'k8s/grantd-values.yaml');
    assert.deepEqual([helm.releaseName, spec.destination.namespace], ['grantd', 'grantd']);
  });

  it('of Flux name the chart, the values and their source (their shape only: no Flux runs here)', () => {
    type Reference = { kind: string; name: string };
    type Chart = { chart: string; sourceRef: Reference; valuesFiles: string[]; reconcileStrategy: string };
    const { apiVersion, spec } = find<{ releaseName: string; chart: { spec: Chart } }>('HelmRelease', 'grantd');
    assert.equal(apiVersion, 'helm.toolkit.fluxcd.io/v2');
    const known = ['chart', 'install', 'interval', 'releaseName', 'timeout', 'upgrade'];
    assert.deepEqual(Object.keys(spec).sort(), known);
    const { chart, sourceRef, valuesFiles } = spec.chart.spec;
    assert.equal(find<object>(sourceRef.kind, sourceRef.name).apiVersion, 'source.toolkit.fluxcd.io/v1');
    assert.ok(existsSync(join(ROOT, chart, 'Chart.yaml')));
    assert.deepEqual(valuesFiles, ['./charts/grantd/values.yaml', './k8s/grantd-values.yaml']);
    for (const file of valuesFiles) assert.ok(existsSync(join(ROOT, file)), file);
  });

  it('of the k6 operator run the script in pods that pass "restricted" (their shape only: no operator runs here)', () => {
    type K6Pod = { securityContext: object; containerSecurityContext: object };
    type TestRun = { parallelism: number; script: { configMap: { name: string; file: string } } };
    type Runner = K6Pod & { env: { name: string; value: string }[]; volumeMounts: { mountPath: string }[] };
    type Pods = { runner: Runner; starter: K6Pod };
    const object = find<TestRun & Pods>('TestRun', 'checks');
    assert.equal(object.apiVersion, 'k6.io/v1alpha1');
    const { spec } = object;
    assert.deepEqual(Object.keys(spec).sort(), ['parallelism', 'runner', 'script', 'starter']);
    const { name, file } = spec.script.configMap;
    const scripts = find<undefined>('ConfigMap', name).data as Record<string, string>;
    // A scenario imports its neighbours, so all have to be there.
    const written = readdirSync(join(ROOT, 'loadtest')).filter((each) => each.endsWith('.ts'));
    assert.deepEqual(Object.keys(scripts).sort(), written.sort());
    for (const each of written) assert.equal(scripts[each], readRoot(`loadtest/${each}`));
    assert.ok(written.includes(file));
    const settings = Object.fromEntries(spec.runner.env.map((each) => [each.name, each.value]));
    const { values, problems } = readSettings('check', settings);
    assert.deepEqual(problems, []);
    assert.equal(dirname(values.tenantsFile ?? ''), spec.runner.volumeMounts[0]?.mountPath);
    for (const [component, { securityContext, containerSecurityContext }] of Object.entries({
      runner: spec.runner,
      starter: spec.starter,
    })) {
      const container = { name: component, securityContext: containerSecurityContext };
      const podSpec = { serviceAccountName: '', automountServiceAccountToken: true, securityContext };
      const pod = { component, object, labels: {}, spec: { ...podSpec, containers: [container] } };
      assert.deepEqual(standardViolations(pod), []);
    }
  });

  it('of K8ssandra set nodes as the guide wants them (their shape only: no K8ssandra runs here)', () => {
    type Config = { cassandraYaml: Record<string, string> };
    type Datacenter = {
      metadata: { name: string };
      size: number;
      storageConfig: object;
      resources: object;
      config: Config;
    };
    type Cluster = { cassandra: { serverVersion: string; datacenters: Datacenter[] } };
    const { apiVersion, metadata, spec } = find<Cluster>('K8ssandraCluster', 'grantd');
    assert.equal(apiVersion, 'k8ssandra.io/v1alpha1');
    assert.deepEqual(Object.keys(spec.cassandra).sort(), ['datacenters', 'serverVersion']);
    const [datacenter] = spec.cassandra.datacenters;
    const { commitlog_sync: sync, paxos_variant: paxos, ...rest } = datacenter?.config.cassandraYaml ?? {};
    assert.deepEqual([sync, paxos, rest], ['batch', 'v2', { commitlog_sync_period: '0ms' }]);
    const { cassandra } = parse(readRoot('k8s/k8ssandra/grantd-values.yaml'));
    const name = datacenter?.metadata.name;
    assert.deepEqual(cassandra.contactPoints, [
      `${metadata.name}-${name}-service.${metadata.namespace}.svc.cluster.local`,
    ]);
    assert.deepEqual([cassandra.localDatacenter, cassandra.replicationFactor], [name, datacenter?.size]);
    assert.match(
      readRoot('k8s/README.md'),
      new RegExp(`create secret generic ${cassandra.credentials.existingSecret} `),
    );
  });
});

/** What the pods of these objects request together, all of those of a workload at once. */
function requestsOf(objects: readonly KubernetesObject[]): { readonly cpus: number; readonly gibibytes: number } {
  let [cpus, gibibytes] = [0, 0];
  const memory = bytesParser(1, Number.MAX_SAFE_INTEGER);
  for (const { object, spec } of podsOf(objects)) {
    if (!['Deployment', 'StatefulSet'].includes(object.kind)) continue;
    const { replicas } = object.spec as { replicas: number };
    for (const { resources } of spec.containers) {
      const requests = resources?.requests as { cpu: string; memory: string };
      cpus += replicas * (requests.cpu.endsWith('m') ? Number.parseInt(requests.cpu, 10) / 1000 : Number(requests.cpu));
      gibibytes += (replicas * memory(requests.memory)) / 1024 ** 3;
    }
  }
  return { cpus, gibibytes };
}

describe('the values of the examples', { skip: helmMissing ?? missing ?? false }, () => {
  it('and the stores request what the README says', async () => {
    const stores = requestsOf(all);
    const grantd = requestsOf(await render({ ci: VALUES }));
    const text = readRoot('k8s/README.md').replaceAll(/\s+/g, ' ');
    const pattern =
      /request (\S+) GiB of memory and (\S+) CPUs: (\S+) GiB and (\S+) CPUs for the stores, (\S+) GiB and (\S+) CPUs for grantd/;
    const sum = { cpus: stores.cpus + grantd.cpus, gibibytes: stores.gibibytes + grantd.gibibytes };
    assert.deepEqual(
      pattern.exec(text)?.slice(1),
      [sum, stores, grantd].flatMap(({ cpus, gibibytes }) => [gibibytes.toFixed(1), cpus.toFixed(1)]),
    );
  });

  it('install on the Cassandra of an operator too', async () => {
    const objects = await render({ ci: '../../../k8s/k8ssandra/grantd' });
    assert.deepEqual(objects.flatMap(findSchemaViolations), []);
  });

  it('install a cluster whose public Service the load test asks', async () => {
    const objects = await render({ ci: VALUES });
    assert.deepEqual(objects.flatMap(findSchemaViolations), []);
    const kinds = new Set(objects.map(({ kind }) => kind));
    for (const kind of ['StatefulSet', 'Deployment', 'Service', 'NetworkPolicy', 'Job'])
      assert.ok(kinds.has(kind), kind);
    const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'grantd');
    assert.deepEqual(
      (service?.spec as { ports?: { port: number }[] } | undefined)?.ports?.map(({ port }) => port),
      [80],
    );
    assert.match(readRoot('k8s/k6/test-run.yaml'), /value: http:\/\/grantd\.grantd\.svc$/m);
  });
});

describe('kind', () => {
  it('makes three nodes beside the control plane (the shape only: no Docker runs here)', () => {
    const { kind, apiVersion, nodes } = parse(readRoot('k8s/kind/cluster.yaml'));
    assert.deepEqual([kind, apiVersion], ['Cluster', 'kind.x-k8s.io/v1alpha4']);
    const roles = nodes.map(({ role }: { role: string }) => role);
    assert.deepEqual(roles, ['control-plane', 'worker', 'worker', 'worker']);
  });

  it('runs the steps of the README every night', () => {
    const { kind } = parse(readRoot('.github/workflows/nightly.yaml')).jobs;
    const [step] = kind.steps.filter(({ run = '' }: { run?: string }) => run.startsWith('kind create'));
    const steps = /^## Steps\n(.*?)^### /ms.exec(readRoot('k8s/README.md'))?.[1] ?? '';
    const commands = [...steps.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('');
    assert.equal(step?.run, commands);
  });
});
