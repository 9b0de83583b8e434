// Values that cannot be meant are refused before anything is installed, with a message that says what is wrong.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { missingHelm, type RenderOptions, refusalOf } from './support/helm.ts';

const missing = await missingHelm('the values that the chart refuses');

type Case = readonly [what: string, set: NonNullable<RenderOptions['set']>, message: RegExp, ci?: string];

const CASES: readonly Case[] = [
  ['a misspelt value', { 'front.replica': 3 }, /'\/front': additional properties 'replica' not allowed/],
  [
    'a part that is not there',
    { 'memcached.url': 'memcached://cache' },
    /additional properties 'memcached' not allowed/,
  ],
  ['a misspelt value of a pod', { 'shard.pod.nodeSelectors': {} }, /'nodeSelectors' not allowed/],
  ['a text for a number', { 'shard.replicas': 'three' }, /'\/shard\/replicas': got string, want integer/],
  ['a number for a text', { 'image.tag': 1.5 }, /'\/image\/tag': got number, want string/],
  ['a text for a switch', { 'tls.enabled': 'no' }, /'\/tls\/enabled': got string, want boolean/],
  ['a choice that there is not', { 'tls.source': 'vault' }, /'\/tls\/source': value must be one of/],
  ['a number out of bounds', { 'cassandra.slots': 5000 }, /'\/cassandra\/slots': maximum: got 5,?000, want 4,?096/],
  ['a token that is too short', { 'operator.token': 'short' }, /'\/operator\/token'.*does not match pattern/],
  [
    'an unknown field of a plan',
    { plans: { gold: { requests: 1, window_seconds: 1, burst: 2 } } },
    /'burst' not allowed/,
  ],
  ['no Cassandra', { 'cassandra.contactPoints': [] }, /cassandra\.contactPoints must name Cassandra nodes/],
  ['no datacenter', { 'cassandra.localDatacenter': '' }, /cassandra\.localDatacenter must name/],
  [
    'a role without a password',
    { 'cassandra.credentials.username': 'x' },
    /cassandra\.credentials\.username and .*password go together/,
  ],
  [
    'TLS to Cassandra without authorities',
    { 'cassandra.tls.enabled': true },
    /cassandra\.tls\.existingSecret must name/,
  ],
  ['certificates of others that are not named', { 'tls.source': 'existing' }, /tls\.existingSecrets\.shard must name/],
  [
    'no TLS between fronts and shards, unless it is said twice',
    { 'tls.enabled': false },
    /with tls\.enabled=false, anyone who can reach port 8082 .* without a token; .*tls\.allowInsecure=true/,
  ],
  ['a digest that is none', { 'image.digest': 'sha256:abc' }, /'\/image\/digest'.*does not match pattern/],
  ['a digest with its tag', { 'image.digest': `1.0@sha256:${'a'.repeat(64)}` }, /'\/image\/digest'/],
  ['an address of Redis that is none', { 'redis.url': 'cache:6379' }, /'\/redis\/url'.*does not match pattern/],
  ['a password of no Redis', { 'redis.password': 'x' }, /redis\.url must be set, because/],
  ['Redis from two places', { 'redis.url': 'redis://cache' }, /redis\.existingSecret excludes/, 'external-secrets'],
  ['more than every trace', { 'tracing.samplerRatio': 2 }, /'\/tracing\/samplerRatio'/],
  ['a drain that outlasts the stop', { 'front.drainSeconds': 30 }, /front\.shutdownSeconds must be longer/],
  [
    'a maximum below the minimum',
    { 'shard.autoscaling.replicasMax': 1 },
    /shard\.autoscaling\.replicasMax/,
    'high-availability',
  ],
  [
    'no image, which a chart that was not released does not know',
    { 'image.repository': '' },
    /image\.repository must name the image, .* until you build and push it \(docs\/operating\/install\.md\)/,
  ],
  ['an Ingress of the console for no host', { 'console.ingress.enabled': true }, /console\.ingress\.hosts/],
  [
    'an Ingress of the console without TLS',
    { 'console.ingress': { enabled: true, hosts: ['console.example.com'] } },
    /console\.ingress\.tls must name the certificate/,
  ],
  [
    'an HTTPRoute of the console without a Gateway',
    { 'console.httpRoute.enabled': true },
    /console\.httpRoute\.parentRefs must name/,
  ],
  [
    'a way to the console that a network policy closes',
    { 'console.httpRoute': { enabled: true, parentRefs: [{ name: 'inside' }] }, 'networkPolicy.enabled': true },
    /networkPolicy\.consoleFrom must admit/,
  ],
  ['a probe that never fails', { 'front.probes.liveness.failureThreshold': 0 }, /minimum: got 0, want 1/],
  ['an Ingress for no host', { 'ingress.enabled': true }, /ingress\.hosts must name/],
  ['a route of no Gateway', { 'httpRoute.enabled': true }, /httpRoute\.parentRefs must name/],
  [
    'a decision log for a collector that is not named',
    { 'decisionLog.output': 'otlp' },
    /tracing\.endpoint must be set, because decisionLog\.output=otlp/,
  ],
  [
    'plans from two places',
    { plans: { gold: { requests: 1, window_seconds: 1 } } },
    /exclude each other/,
    'external-secrets',
  ],
  [
    'a cache that the memory cannot hold, with the numbers and both remedies',
    { 'shard.pageCacheBytes': '2Gi', 'shard.resources.limits.memory': '512Mi' },
    /is 2Gi, which needs 4352Mi of memory.* shard\.resources\.limits\.memory is 512Mi; raise it to 4352Mi, or set .* to 128Mi or less/,
  ],
  [
    'one that the standalone pod cannot hold',
    { 'standalone.resources.limits.memory': '0.5G' },
    /standalone\.resources\.limits\.memory is 0\.5G; raise it to 768Mi/,
    'standalone',
  ],
  ['a cache of no size', { 'shard.pageCacheBytes': '1Ki' }, /must be from 1Mi to 1024Gi; it is 1Ki/],
  ['a cache of a size that is none', { 'shard.pageCacheBytes': '256M' }, /'\/shard\/pageCacheBytes'/],
  [
    'both monitors at once',
    { 'monitoring.podMonitor.enabled': true, 'monitoring.serviceMonitor.enabled': true },
    /podMonitor and monitoring\.serviceMonitor exclude each other/,
  ],
  ['to be switched off by itself', { enabled: false }, /the condition of the dependency/],
];

describe('the chart refuses', { skip: missing }, () => {
  for (const [what, set, message, ci = 'minimal'] of CASES) {
    it(what, async () => {
      assert.match((await refusalOf({ ci, set })) ?? 'it was taken', message);
    });
  }

  it('all that is wrong at once', async () => {
    const set = { 'cassandra.contactPoints': [], 'cassandra.localDatacenter': '', 'ingress.enabled': true };
    const refusal = (await refusalOf({ ci: 'minimal', set })) ?? '';
    assert.match(refusal, /contactPoints[\s\S]*localDatacenter[\s\S]*ingress\.hosts/);
  });

  it('nothing of what stands in its examples', async () => {
    assert.equal(await refusalOf({ ci: 'minimal' }), undefined);
  });
});
