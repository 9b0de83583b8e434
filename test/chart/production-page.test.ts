// The page that leads platform teams to production: its values install, and its commands create what the values name.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { useDirectory } from '../kit/directory.ts';
import { shellBlocks } from '../kit/shell-blocks.ts';
import { CHART, type KubernetesObject, missingHelm, RELEASE, render } from './support/helm.ts';
import { findSecurityViolations, podsOf } from './support/pods.ts';
import { findSchemaViolations } from './support/schemas.ts';

const PAGE = 'docs/operating/production-in-an-hour.md';
const missing = await missingHelm('the page for platform teams');
const text = readFileSync(join(import.meta.dirname, '..', '..', PAGE), 'utf8');
const commands = shellBlocks(PAGE).join('\n').replaceAll('\\\n', ' ');

describe('the page for platform teams', { skip: missing ?? false }, () => {
  const directory = useDirectory();
  let rendered: Promise<KubernetesObject[]> | undefined;
  const objects = (): Promise<KubernetesObject[]> => {
    const [, values = ''] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? [];
    writeFileSync(join(directory, 'page-values.yaml'), values);
    rendered ??= render({ ci: relative(join(CHART, 'ci'), join(directory, 'page')) });
    return rendered;
  };

  it('has values that the chart takes and Kubernetes accepts, for pods of the restricted standard', async () => {
    const found = await objects();
    assert.deepEqual(found.flatMap(findSchemaViolations), []);
    assert.deepEqual(podsOf(found).flatMap(findSecurityViolations), []);
    const kinds = new Set(found.map(({ kind }) => kind));
    for (const kind of ['Ingress', 'Certificate', 'NetworkPolicy', 'PodMonitor', 'PrometheusRule', 'ConfigMap']) {
      assert.ok(kinds.has(kind), kind);
    }
  });

  it('creates each Secret that its pods mount and nothing else makes, with the keys that they read', async () => {
    const found = await objects();
    type Items = readonly { readonly key: string }[];
    interface Source {
      readonly secret?: { readonly name?: string; readonly secretName?: string; readonly items?: Items };
      readonly projected?: { readonly sources: readonly Source[] };
    }
    const flat = (source: Source): readonly Source[] => [source, ...(source.projected?.sources.flatMap(flat) ?? [])];
    const wanted = new Map<string, Set<string>>();
    for (const { spec } of podsOf(found)) {
      for (const { secret } of ((spec.volumes ?? []) as readonly Source[]).flatMap(flat)) {
        const name = secret?.secretName ?? secret?.name;
        if (name === undefined) continue;
        wanted.set(name, wanted.get(name) ?? new Set());
        for (const { key } of secret?.items ?? []) wanted.get(name)?.add(key);
      }
    }
    const made = new Map(
      [...commands.matchAll(/create secret generic (\S+)(.*)$/gm)].map(([, name = '', rest = '']) => [
        name,
        new Set([...rest.matchAll(/--from-(?:literal|file)=([\w.-]+)=/g)].map(([, key = '']) => key)),
      ]),
    );
    assert.equal(made.size, 5);
    for (const [name, keys] of made) {
      const read = wanted.get(name);
      assert.ok(read !== undefined, `no pod mounts ${name}`);
      assert.deepEqual(
        [...read].filter((key) => !keys.has(key)),
        [],
        name,
      );
    }
    // cert-manager and the Job of the chart make these.
    const others = [...wanted.keys()].filter((name) => !made.has(name));
    assert.deepEqual(
      others.filter((name) => !new RegExp(`^${RELEASE}-(?:operator|tls-\\w+|\\w+-tls)$`).test(name)),
      [],
    );
  });

  it('names objects that the release has', async () => {
    const found = await objects();
    const names = [...commands.matchAll(/\b(deployment|service)\/([\w-]+)/g)];
    assert.ok(names.length >= 2);
    for (const [, kind = '', name] of names) {
      assert.ok(
        found.some((object) => object.kind.toLowerCase() === kind && object.metadata.name === name),
        `${kind}/${name}`,
      );
    }
    const shards = found.find(({ kind }) => kind === 'StatefulSet');
    assert.match(commands, new RegExp(`delete pod ${shards?.metadata.name}-0 `));
    for (const kind of ['podmonitor', 'prometheusrule']) assert.match(commands, new RegExp(`\\b${kind}\\b`));
  });

  it('adds up to no more than an hour', () => {
    const minutes = [...text.matchAll(/^\| \[\d\. .*\| (\d+) min +\|$/gm)].map(([, each]) => Number(each));
    const steps = [...text.matchAll(/^## \d\. /gm)];
    assert.equal(minutes.length, steps.length);
    assert.ok(minutes.reduce((sum, each) => sum + each, 0) <= 60);
  });
});
