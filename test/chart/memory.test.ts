// One rule for page cache and memory: the program, the chart, its examples and the guides have the same.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoryFor } from '../../src/config/page-cache-memory.ts';
import { bytesParser } from '../../src/config/parsers.ts';
import { CI_VALUES, missingHelm, type RenderOptions, refusalOf, render } from './support/helm.ts';
import { podsOf } from './support/pods.ts';

const missing = await missingHelm('the memory in the chart');
const parseBytes = bytesParser(1, Number.MAX_SAFE_INTEGER);

const withCache = (cache: string | number, limit: string | number): RenderOptions => ({
  ci: 'minimal',
  set: { 'shard.pageCacheBytes': cache, 'shard.resources.limits.memory': limit },
});

describe('page cache and memory', { skip: missing }, () => {
  it('are refused by the chart exactly where the program refuses them', async () => {
    for (const cache of ['1Mi', '100MiB', '256Mi', 300_000_000, '3GiB', '64Gi']) {
      const needed = memoryFor(parseBytes(String(cache)));
      assert.match((await refusalOf(withCache(cache, needed - 1))) ?? 'taken', /shard\.resources\.limits\.memory/);
      assert.equal(await refusalOf(withCache(cache, needed)), undefined, String(cache));
    }
  });

  it('are compared whatever the form of the limit', async () => {
    const cases: readonly (readonly [enough: string | number, tooLittle: string | number])[] = [
      ['768Mi', '767Mi'],
      ['0.75Gi', '0.74Gi'],
      ['805.4M', '805M'],
      ['806000k', '805000k'],
      ['1G', '0.8G'],
      ['8.1e8', '8e8'],
      ['1Ti', '1Ki'],
      ['805306368000m', '805306367000m'],
    ];
    for (const [enough, tooLittle] of cases) {
      assert.equal(await refusalOf(withCache('256Mi', enough)), undefined, String(enough));
      assert.match((await refusalOf(withCache('256Mi', tooLittle))) ?? `${tooLittle} was taken`, /limits\.memory/);
    }
  });

  it('reach the program in a form that it takes', async () => {
    for (const [cache, bytes] of [
      ['256Mi', '268435456'],
      ['256MiB', '268435456'],
      [268_435_456, '268435456'],
    ] as const) {
      const pods = podsOf(await render(withCache(cache, '1Gi')));
      const env = pods.find(({ component }) => component === 'shard')?.spec.containers[0]?.env ?? [];
      assert.equal(env.find(({ name }) => name === 'GRANTD_PAGE_CACHE_BYTES')?.value, bytes);
    }
  });

  it('follow the rule in every example, requests too', async () => {
    for (const ci of [...CI_VALUES, '../../../k8s/grantd']) {
      const shard = podsOf(await render({ ci })).find(({ component }) => component === 'shard')?.spec.containers[0];
      if (shard === undefined) continue;
      const cache = Number(shard.env?.find(({ name }) => name === 'GRANTD_PAGE_CACHE_BYTES')?.value);
      const { requests, limits } = shard.resources as Record<'requests' | 'limits', { readonly memory: string }>;
      assert.ok(parseBytes(requests.memory) >= memoryFor(cache), `${ci}: ${requests.memory}`);
      assert.ok(parseBytes(limits.memory) >= parseBytes(requests.memory), `${ci}: ${limits.memory}`);
    }
  });
});
