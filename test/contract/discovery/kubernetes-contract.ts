// What discovery by Kubernetes promises against any API server: what it tells, and that it keeps what it knows whatever
// becomes of the server. Every test uses a Service of its own, so that the suite can run on a server that others use.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { LoadKubeConfig } from '../../../src/discovery/kubernetes/api-server.ts';
import type { TcpLink } from '../../kit/tcp-link.ts';
import type { SliceFixture } from './kubernetes-api/slice-fixture.ts';
import { type WatchedDiscovery, watchDiscovery } from './kubernetes-api/watched-discovery.ts';

export interface KubernetesUnderTest {
  readonly namespace: string;
  /** Another one, which the client may not look into. */
  readonly otherNamespace: string;
  /** Of a client that may list and watch the EndpointSlices of the namespace, through the link. */
  readonly loadKubeConfig: LoadKubeConfig;
  readonly link: TcpLink;
  /** Makes a slice or takes its place. */
  writeSlice(fixture: SliceFixture): Promise<void>;
  removeSlice(namespace: string, name: string): Promise<void>;
  /** Takes the right to list and watch away, for every request from now on. */
  deny(): Promise<void>;
  allow(): Promise<void>;
  close(): Promise<void>;
}

/** Longer than any watch may be silent. */
const SILENCE_MS = 150_000;

export function defineKubernetesContract(name: string, options: { open(): Promise<KubernetesUnderTest> }): void {
  describe(`discovery by Kubernetes: ${name}`, () => {
    let kubernetes: KubernetesUnderTest;
    let link: TcpLink;
    let namespace: string;
    let service: string;
    let discovery: WatchedDiscovery;
    before(async () => {
      kubernetes = await options.open();
      ({ link, namespace } = kubernetes);
    });
    after(() => kubernetes.close());
    beforeEach(() => {
      service = `shards-${randomBytes(4).toString('hex')}`;
    });
    afterEach(async () => {
      link.bringBack();
      discovery.stop();
      await discovery.untilWithoutTime('the connections to end', () => link.standing() === 0);
    });

    const watch = (): WatchedDiscovery => {
      discovery = watchDiscovery(kubernetes.loadKubeConfig, { namespace, service });
      return discovery;
    };
    /** The slice `part` of the Service. */
    const write = (part: string, hosts: readonly string[], fields: Partial<SliceFixture> = {}): Promise<void> =>
      kubernetes.writeSlice({ namespace, name: `${service}-${part}`, service, hosts, ...fields });
    const remove = (part: string): Promise<void> => kubernetes.removeSlice(namespace, `${service}-${part}`);

    it('tells the endpoints of every slice at once, ready or not, IPv6 in brackets', async () => {
      await write('a', ['10.0.0.2', '10.0.0.1']);
      await write('b', ['10.0.0.3', '10.0.0.1'], { ready: false });
      await write('c', ['fd00::1'], { addressType: 'IPv6' });
      await watch().untilTold('10.0.0.1:8082', '10.0.0.2:8082', '10.0.0.3:8082', '[fd00::1]:8082');
      assert.equal(discovery.told.length, 1);
      assert.equal(discovery.known(), 4);
      assert.deepEqual(discovery.failures, []);
    });

    it('tells what comes, changes and goes', async () => {
      await write('a', ['10.0.0.1']);
      await watch().untilTold('10.0.0.1:8082');
      await write('b', ['10.0.0.2']);
      await discovery.untilTold('10.0.0.1:8082', '10.0.0.2:8082');
      await write('a', ['10.0.0.3'], { ports: [{ name: 'rpc', port: 9000 }] });
      await discovery.untilTold('10.0.0.2:8082', '10.0.0.3:9000');
      await remove('b');
      await discovery.untilTold('10.0.0.3:9000');
      assert.equal(discovery.known(), 1);
      assert.deepEqual(discovery.failures, []);
    });

    it('tells nothing of other Services and other namespaces, nor what changes nothing', async () => {
      await write('a', ['10.0.0.1']);
      await watch().untilTold('10.0.0.1:8082');
      await kubernetes.writeSlice({ namespace, name: `${service}-x`, service: `${service}-x`, hosts: ['10.0.0.8'] });
      const other = { namespace: kubernetes.otherNamespace, name: `${service}-a` };
      await kubernetes.writeSlice({ ...other, service, hosts: ['10.0.0.9'] });
      await write('a', ['10.0.0.1'], { ready: false });
      await write('b', ['10.0.0.2']);
      await discovery.untilTold('10.0.0.1:8082', '10.0.0.2:8082');
      assert.equal(discovery.told.length, 2);
      await kubernetes.removeSlice(other.namespace, other.name);
    });

    it('keeps what it knows while the Service has no endpoints, and says so once', async () => {
      await write('a', ['10.0.0.1']);
      await watch().untilTold('10.0.0.1:8082');
      await write('a', []);
      await discovery.untilWithoutTime('the emptiness to be told', () => discovery.warnings().length > 0);
      await remove('a');
      await write('b', ['10.0.0.2']);
      await discovery.untilTold('10.0.0.2:8082');
      assert.deepEqual(discovery.told, [['10.0.0.1:8082'], ['10.0.0.2:8082']]);
      assert.equal(discovery.warnings().length, 1);
      assert.match(discovery.warnings()[0] ?? '', /has no endpoints; keeping the known addresses/);
    });

    it('waits for a Service that is not there yet', async () => {
      watch();
      await discovery.untilWithoutTime('the emptiness to be told', () => discovery.warnings().length > 0);
      await write('a', ['10.0.0.1']);
      await discovery.untilTold('10.0.0.1:8082');
      assert.deepEqual(discovery.failures, []);
    });

    it('keeps what it knows for an hour without an API server, then tells what has changed', async () => {
      await write('a', ['10.0.0.1']);
      await watch().untilTold('10.0.0.1:8082');
      link.takeAway();
      await write('b', ['10.0.0.2']);
      await remove('a');
      const opened = link.opened();
      for (let minute = 0; minute < 60; minute += 1) {
        await discovery.clock.advance(60_000);
        await discovery.until('the server to be looked for', () => true);
      }
      assert.ok(link.opened() > opened);
      assert.ok(link.opened() - opened <= 130, `looked for ${link.opened() - opened} times`);
      assert.deepEqual(discovery.told, [['10.0.0.1:8082']]);
      link.bringBack();
      await discovery.untilToldInTime('10.0.0.2:8082');
      assert.ok(discovery.failures.length > 1);
      assert.equal(discovery.known(), 1);
    });

    it('goes on when its connection is cut, and tells what it has missed', async () => {
      await write('a', ['10.0.0.1']);
      await watch().untilTold('10.0.0.1:8082');
      await discovery.untilWithoutTime('the watch to stand', () => link.standing() > 0);
      link.cut();
      await write('a', ['10.0.0.2']);
      await discovery.untilToldInTime('10.0.0.2:8082');
      await write('b', ['10.0.0.3']);
      await discovery.untilTold('10.0.0.2:8082', '10.0.0.3:8082');
    });

    it('notices a link that is dead and was never closed', async () => {
      await write('a', ['10.0.0.1']);
      await watch().untilTold('10.0.0.1:8082');
      // The watch goes on behind the list, so what it is told says that it is there.
      await write('b', ['10.0.0.2']);
      await discovery.untilTold('10.0.0.1:8082', '10.0.0.2:8082');
      link.swallow();
      await write('a', ['10.0.0.3']);
      await discovery.clock.advance(SILENCE_MS);
      await discovery.untilToldInTime('10.0.0.2:8082', '10.0.0.3:8082');
      assert.ok(discovery.failures.includes('interrupted'));
    });

    it('keeps what it knows while it may not list, says so once, and goes on when it may again', async () => {
      await write('a', ['10.0.0.1']);
      await watch().untilTold('10.0.0.1:8082');
      const forbidden = () => discovery.failures.filter((reason) => reason === 'forbidden').length;
      await kubernetes.deny();
      link.cut();
      await write('a', ['10.0.0.2']);
      await discovery.until('three refusals', () => forbidden() >= 3);
      const told = discovery.warnings().filter((line) => line.includes('may not list and watch EndpointSlices'));
      assert.equal(told.length, 1);
      assert.match(told[0] ?? '', new RegExp(`in namespace ${namespace}; keeping the known addresses`));
      assert.deepEqual(discovery.told, [['10.0.0.1:8082']]);
      await kubernetes.allow();
      await discovery.untilToldInTime('10.0.0.2:8082');
      await discovery.until('the recovery to be told', () =>
        discovery.logged.some((line) => line.includes('EndpointSlices works again')),
      );
    });

    it('leaves no connection and no timer once it is not watched, and says nothing more', async () => {
      await write('a', ['10.0.0.1']);
      await watch().untilTold('10.0.0.1:8082');
      await discovery.untilWithoutTime('the watch to stand', () => link.standing() > 0);
      discovery.stop();
      await discovery.untilWithoutTime('the connections to end', () => link.standing() === 0);
      assert.equal(discovery.clock.timers, 0);
      const opened = link.opened();
      await write('a', ['10.0.0.2']);
      await discovery.clock.advance(600_000);
      assert.equal(link.opened(), opened);
      assert.deepEqual(discovery.told, [['10.0.0.1:8082']]);
    });
  });
}
