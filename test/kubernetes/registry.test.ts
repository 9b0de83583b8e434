// A platform team begins with its own registry: image and chart are pushed there as the guide says, and the chart is
// installed from there. The nodes pull the image, nothing else is loaded into them. Then the commands of the notes.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import packageFile from '../../package.json' with { type: 'json' };
import { freePort } from '../../tools/engines/free-port.ts';
import { KubernetesCluster, missingKubernetes } from '../../tools/engines/kubernetes/cluster.ts';
import { buildImage } from '../../tools/engines/kubernetes/image.ts';
import { OciRegistry } from '../../tools/engines/oci-registry.ts';
import { packagingCommands } from '../chart/support/install-guide.ts';
import { waitFor } from '../kit/wait-for.ts';

const NAME = 'the chart from a registry on a real Kubernetes';
const ROOT = join(import.meta.dirname, '..', '..');
const NAMESPACE = 'grantd';
const { version } = packageFile;
const TEST_MS_MAX = 600_000;
const SERVED_MS_MAX = 60_000;

const missing = await missingKubernetes(NAME);

describe(NAME, { skip: missing ?? false }, () => {
  let kubernetes: KubernetesCluster;
  let registry: OciRegistry;
  let directory = '';
  let digest = '';
  let commands: readonly string[] = [];

  const helm = ([command = '', ...args]: readonly string[]): Promise<string> =>
    kubernetes.helm([command, '--namespace', NAMESPACE, ...args]);

  before(async () => {
    kubernetes = await KubernetesCluster.start({ nodes: 1 });
    const { host, port } = kubernetes.registry;
    registry = await OciRegistry.start(host, port);
    directory = join(kubernetes.directory, 'checkout');
    mkdirSync(directory);
    symlinkSync(join(ROOT, 'scripts'), join(directory, 'scripts'));
    const image = `${registry.address}/platform/grantd:${version}`;
    await registry.crane('push', await buildImage(version, kubernetes.directory), image);
    digest = await registry.crane('digest', image);
    await kubernetes.shell(packagingCommands(registry.address), directory);
    await kubernetes.kubectl(['create', 'namespace', NAMESPACE]);
    const label = 'pod-security.kubernetes.io/enforce=restricted';
    await kubernetes.kubectl(['label', 'namespace', NAMESPACE, label]);
  });
  after(async () => {
    await registry?.stop();
    await kubernetes?.stop();
  });

  it('is installed without the name of an image, and runs the one that was pushed', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const chart = `oci://${registry.address}/platform/charts/grantd`;
    const values = ['standalone.enabled=true', 'standalone.persistence.enabled=false'];
    const set = values.flatMap((each) => ['--set', each]);
    try {
      await helm(['install', 'grantd', chart, '--version', version, '--plain-http', ...set, '--wait', '--timeout=4m']);
      assert.match(await helm(['test', 'grantd', '--logs']), /grantd works as expected\./);
    } catch (error) {
      process.stderr.write(await kubernetes.kubectl(['describe', 'pods', '--namespace', NAMESPACE]).catch(String));
      throw error;
    }
    const { items } = await kubernetes.read(['pods', '--namespace', NAMESPACE]);
    const images = new Set(
      items.flatMap(({ status }: { status: { containerStatuses: { imageID: string }[] } }) =>
        status.containerStatuses.map(({ imageID }) => imageID),
      ),
    );
    assert.deepEqual([...images], [`${registry.address}/platform/grantd@${digest}`]);
  });

  it('prints notes whose commands work: the first tenant, its key, the token', async () => {
    const notes = await helm(['get', 'notes', 'grantd']);
    commands = [...notes.matchAll(/^ {5}((?:kubectl|helm) .+)$/gm)].map(([, command = '']) => command);
    const outputs: string[] = [];
    for (const command of commands.slice(0, -1)) {
      // The first ones are those of the test, which it has deleted.
      const tenant = [...outputs.join('\n').matchAll(/\bten_\w+/g)].at(-1)?.[0] ?? '';
      outputs.push(await kubernetes.shell(command.replace('TENANT_ID', tenant), directory));
    }
    assert.match(outputs.join('\n'), /\bgk1_\w+/);
    assert.match(outputs.at(-1) ?? '', /^[!-~]{32,}$/);
  });

  it('prints the command that opens the console on this machine', async () => {
    const command = commands.at(-1) ?? '';
    assert.match(command, / port-forward service\/grantd-console 8090:8090$/);
    const port = await freePort();
    const forwarded = kubernetes.shell(`timeout 60 ${command.replace('8090:', `${port}:`)}`, directory).catch(() => '');
    let last = '';
    const logIn = async (): Promise<boolean> => {
      last = await fetch(`http://127.0.0.1:${port}/`).then((response) => response.text(), String);
      return last.includes('type="password"');
    };
    await waitFor('the log-in page of the console', logIn, SERVED_MS_MAX, () => last);
    await kubernetes.kubectl(['delete', 'pod', '--namespace', NAMESPACE, '--all', '--grace-period=1']);
    await forwarded;
  });
});
