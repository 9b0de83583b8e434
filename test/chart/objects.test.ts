// Whatever the chart renders is taken by the API server as it stands: every object of every example against the strict
// schemas of the real versions. That the schemas bite is shown too.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CI_VALUES, type KubernetesObject, lint, missingHelm, NAMESPACE, render, renderText } from './support/helm.ts';
import { findSecurityViolations, type Pod, podsOf } from './support/pods.ts';
import { findSchemaViolations, KNOWN_KINDS } from './support/schemas.ts';

const missing = await missingHelm('the objects of the chart');
const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
const all = async (): Promise<KubernetesObject[]> => (await Promise.all(CI_VALUES.map((ci) => render({ ci })))).flat();

describe('the objects of the chart', { skip: missing }, () => {
  for (const ci of CI_VALUES) {
    describe(ci, () => {
      it('pass helm lint --strict', () => lint(ci));

      it('fit the strict schemas of Kubernetes 1.35', async () => {
        const objects = await render({ ci });
        assert.ok(objects.length > 5);
        assert.deepEqual(objects.flatMap(findSchemaViolations), []);
      });

      it('are each there once, in the namespace of the release', async () => {
        const objects = await render({ ci });
        assert.equal(new Set(objects.map(keyOf)).size, objects.length);
        for (const { kind, metadata } of objects.filter(({ kind }) => kind !== 'PriorityClass')) {
          if (metadata.name.endsWith('-note')) continue;
          assert.equal(metadata.namespace, NAMESPACE, `${kind}/${metadata.name}`);
        }
      });

      it('fulfil the Pod Security Standard "restricted"', async () => {
        const pods = podsOf(await render({ ci }));
        assert.ok(pods.length >= 3);
        assert.deepEqual(pods.flatMap(findSecurityViolations), []);
      });

      it('are the same at every rendering, so nothing is made up by a template, and end no line with blanks', async () => {
        const text = await renderText({ ci });
        assert.equal(text, await renderText({ ci }));
        assert.doesNotMatch(text, /[ \t]$/m);
      });
    });
  }

  it('are of every kind that there is a schema of', async () => {
    const made = new Set((await all()).map(({ apiVersion, kind }) => `${apiVersion}/${kind}`));
    assert.deepEqual([...made].sort(), [...KNOWN_KINDS].sort());
  });

  it('keep their names below 63 characters, however long the release is called', async () => {
    const release = 'a'.repeat(53);
    for (const { kind, metadata } of await render({ ci: 'high-availability', release })) {
      assert.ok(metadata.name.length <= 63, `${kind}/${metadata.name}`);
    }
  });
});

describe('the schemas', { skip: missing }, () => {
  type Change = readonly [what: string, kind: string, change: (object: Record<string, never>) => void, found: RegExp];
  const set = (object: object, path: string, value: unknown): void => {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const parent = keys.reduce<Record<string, never>>((each, key) => each[key] ?? {}, object as never);
    Object.assign(parent, { [last]: value });
  };
  const MUTATIONS: readonly Change[] = [
    [
      'a field that is misspelt',
      'Deployment',
      (each) => set(each, 'spec.template.spec.containers.0.imagePullPolcy', 'x'),
      /imagePullPolcy/,
    ],
    ['a text where a number belongs', 'Service', (each) => set(each, 'spec.ports.0.port', 'eighty'), /must be integer/],
    [
      'a field that is missing',
      'HorizontalPodAutoscaler',
      (each) => set(each, 'spec.maxReplicas', undefined),
      /maxReplicas/,
    ],
    ['a misspelt field of a custom resource', 'HTTPRoute', (each) => set(each, 'spec.hostname', ['x']), /hostname/],
    ['a misspelt field of a name', 'ConfigMap', (each) => set(each, 'metadata.label', {}), /label/],
    ['a kind that nobody knows', 'Secret', (each) => set(each, 'apiVersion', 'v2'), /no schema of v2\/Secret/],
  ];
  for (const [what, kind, change, found] of MUTATIONS) {
    it(`refuse ${what}`, async () => {
      const object = structuredClone((await all()).find((each) => each.kind === kind));
      assert.ok(object !== undefined);
      change(object as never);
      // As it would be read from YAML: what is undefined is not there.
      assert.match(findSchemaViolations(JSON.parse(JSON.stringify(object))).join('\n'), found);
    });
  }

  it('of security find a pod that may do more', async () => {
    const [pod] = podsOf(await render({ ci: 'minimal', set: { 'pod.containerSecurityContext': null } }));
    assert.ok(pod !== undefined);
    assert.match(findSecurityViolations(pod).join('\n'), /allowPrivilegeEscalation/);
    const rootly: Pod = { ...pod, spec: { ...pod.spec, securityContext: { runAsUser: 0 } } };
    assert.match(findSecurityViolations(rootly).join('\n'), /runAsNonRoot[\s\S]*runAsUser[\s\S]*seccompProfile/);
  });
});
