// How discovery by Kubernetes finds and enters the API server: credentials and authorities are read again for every
// request, none of them is ever in a log, and where nothing is configured it says what is missing.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it, type TestContext } from 'node:test';
import type { LoadKubeConfig } from '../../../src/discovery/kubernetes/api-server.ts';
import { createAuthority } from '../../kit/certificates.ts';
import { useDirectory } from '../../kit/directory.ts';
import { FakeApiServer } from './kubernetes-api/fake-api-server.ts';
import { kubeConfigText, loadFromText, plainCluster } from './kubernetes-api/kube-configs.ts';
import { type WatchedDiscovery, watchDiscovery } from './kubernetes-api/watched-discovery.ts';

const TARGET = { namespace: 'grantd', service: 'shards' };
const SLICE = { namespace: 'grantd', name: 'a', service: 'shards', hosts: ['10.0.0.1'] };
const SECRET = 'a-secret-that-nobody-may-read';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the access of discovery by Kubernetes', () => {
  let server: FakeApiServer;
  let discovery: WatchedDiscovery;
  beforeEach(() => {
    server = new FakeApiServer();
    server.write(SLICE);
  });
  afterEach(async () => {
    discovery.stop();
    await server.close();
    const log = discovery.logged.join('\n');
    assert.ok(!log.includes(SECRET), log);
  });

  const watch = (load: LoadKubeConfig | undefined): WatchedDiscovery => {
    discovery = watchDiscovery(load, TARGET);
    return discovery;
  };
  const failsWith = (message: RegExp): Promise<void> =>
    discovery.until(`${message}`, () => discovery.warnings().some((line) => message.test(line)));
  /** The environment of the process until the test ends; undefined: unset. */
  const setEnvironment = (t: TestContext, values: Readonly<Record<string, string | undefined>>): void => {
    for (const [name, value] of Object.entries(values)) {
      const before = process.env[name];
      const put = (text: string | undefined): void => {
        if (text === undefined) delete process.env[name];
        else process.env[name] = text;
      };
      put(value);
      t.after(() => put(before));
    }
  };

  it('reads the token for every request, since it is replaced while the process runs', async () => {
    const path = join(useDirectory(), 'token');
    await writeFile(path, `${SECRET}-1\n`);
    const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile: path } } };
    watch(loadFromText(kubeConfigText(plainCluster(await server.listen()), user)));
    await discovery.untilWithoutTime('the watch to stand', () => server.watchers === 1);
    await writeFile(path, `${SECRET}-2\n`);
    await discovery.clock.advance(2000);
    server.endWatches();
    await discovery.until('the next watch', () => server.watches.length === 2);
    assert.deepEqual(
      server.requests.map(({ token }) => token),
      [`${SECRET}-1`, `${SECRET}-1`, `${SECRET}-2`],
    );
  });

  it('says so where the credentials are not accepted, and shows none', async () => {
    server.trouble = { list: 401 };
    watch(loadFromText(kubeConfigText(plainCluster(await server.listen()), { token: SECRET })));
    await failsWith(/rejects the credentials; keeping the known addresses/);
    assert.equal(discovery.failures[0], 'forbidden');
  });

  it('does not show a token that cannot be sent', async () => {
    watch(loadFromText(kubeConfigText(plainCluster(await server.listen()), { token: `${SECRET}\nand more` })));
    await failsWith(/Invalid character in header content/);
  });

  it('does not show a kubeconfig that cannot be read', async () => {
    watch(loadFromText(`users:\n- token: ${SECRET}\n  - [`));
    await failsWith(/Kubernetes client configuration is not usable: YAMLException/);
    assert.equal(discovery.failures[0], 'invalid');
  });

  it('does not show what a credential helper writes', async () => {
    const address = await server.listen();
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', env: [], interactiveMode: 'Never' };
    let args = ['-c', `echo ${SECRET} >&2; exit 1`];
    watch(loadFromText(() => kubeConfigText(plainCluster(address), { exec: { ...exec, args } })));
    await failsWith(/Kubernetes client configuration is not usable: Error/);
    const credential = { apiVersion: exec.apiVersion, kind: 'ExecCredential', status: { token: SECRET } };
    args = ['-c', `echo '${JSON.stringify(credential)}'`];
    await discovery.untilToldInTime('10.0.0.1:8082');
    assert.equal(server.requests.at(-1)?.token, SECRET);
  });

  it('does not wait for credentials for ever', async () => {
    const load = loadFromText(kubeConfigText(plainCluster(await server.listen()), { token: SECRET }));
    let stuck = true;
    watch(() => (stuck ? new Promise(() => {}) : load()));
    await discovery.clock.advance(11_000);
    await discovery.until('it to be given up', () => discovery.failures.includes('unreachable'));
    stuck = false;
    await discovery.untilToldInTime('10.0.0.1:8082');
  });

  it('trusts the authority it is given and no other, and takes a new one', async () => {
    const [authority, other] = [await createAuthority(), await createAuthority()];
    const leaf = await authority.issue('kube-apiserver', ['DNS:kubernetes.default.svc']);
    await server.close();
    server = new FakeApiServer(leaf);
    server.write(SLICE);
    const address = await server.listen();
    let ca = other.ca;
    const cluster = () => ({
      server: `https://${address}`,
      'tls-server-name': 'kubernetes.default.svc',
      'certificate-authority-data': base64(ca),
    });
    watch(loadFromText(() => kubeConfigText(cluster(), { token: SECRET })));
    await failsWith(/certificate/);
    assert.deepEqual(server.requests, []);
    ca = authority.ca;
    await discovery.untilToldInTime('10.0.0.1:8082');
  });

  it('finds a server behind a path', async () => {
    const address = await server.listen();
    watch(
      loadFromText(
        kubeConfigText({ ...plainCluster(address), server: `http://${address}/clusters/one/` }, { token: SECRET }),
      ),
    );
    await discovery.until('a request', () => server.requests.length > 0);
    assert.equal(server.requests[0]?.path, '/clusters/one/apis/discovery.k8s.io/v1/namespaces/grantd/endpointslices');
  });

  it('takes KUBECONFIG of the surroundings', async (t) => {
    const path = join(useDirectory(), 'kubeconfig');
    await writeFile(path, kubeConfigText(plainCluster(await server.listen()), { token: SECRET }));
    setEnvironment(t, { KUBECONFIG: path });
    await watch(undefined).untilTold('10.0.0.1:8082');
    assert.equal(server.requests[0]?.token, SECRET);
  });

  it('says what is missing where the surroundings have neither', async (t) => {
    const home = useDirectory();
    await mkdir(join(home, 'empty'));
    setEnvironment(t, { KUBECONFIG: undefined, HOME: home });
    watch(undefined);
    await failsWith(/No service account token is mounted, and KUBECONFIG is not set/);
  });
});
