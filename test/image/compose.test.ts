// compose.yaml and compose.dev.yaml against the schema of the Compose Specification, and against the program: each
// service is started with settings that its role accepts, finds the others, and is reached from this machine alone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/read-config.ts';
import { readText } from '../kit/source-tree.ts';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
}

const text = readText('compose.yaml');
const read = (source: string): ComposeFile => parse(source, { merge: true });
const file = read(text);
const services = Object.entries(file.services);
const own = services.filter(([, { build }]) => build !== undefined);
const schema = JSON.parse(
  gunzipSync(readFileSync(join(import.meta.dirname, 'support', 'compose-spec.json.gz'))).toString(),
);
const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile({
  ...schema,
  $schema: undefined,
});

/** The environment of a service, with what a person exports. */
const environmentOf = ({ environment = {} }: Service): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.startsWith('${GRANTD_OPERATOR_TOKEN:?') ? 'x'.repeat(48) : value,
    ]),
  );

describe('compose.yaml', () => {
  it('is what the Compose Specification allows', () => {
    assert.equal(validate(file), true, JSON.stringify(validate.errors, undefined, 1));
    assert.equal(validate(read(text.replace('healthcheck: *ready', 'healthchecks: *ready'))), false);
  });

  it('starts migrate, three shards, two fronts and a console, each with settings that its role accepts', () => {
    const roles = own.map(([, { command }]) => command?.join(' '));
    assert.deepEqual(roles, ['migrate', 'shard', 'shard', 'shard', 'front', 'front', 'console']);
    for (const [name, service] of own) {
      const [role = ''] = service.command ?? [];
      assert.ok(role === 'migrate' || role === 'shard' || role === 'front' || role === 'console');
      assert.doesNotThrow(() => readConfig(role, environmentOf(service)), name);
    }
  });

  it('gives each shard its own name, and fronts and the console the addresses of all', () => {
    const shards = own.filter(([, { command }]) => command?.[0] === 'shard');
    const addresses = shards.map(([name, { environment = {} }]) => {
      assert.equal(environment.GRANTD_SHARD_NAME, name);
      assert.equal(environment.GRANTD_RPC_ADVERTISE, `${name}:8082`);
      return `${name}:8082`;
    });
    for (const [name, { command, environment = {} }] of own) {
      if (command?.[0] !== 'front' && command?.[0] !== 'console') continue;
      assert.equal(environment.GRANTD_DISCOVERY, `static:${addresses.join(',')}`, name);
    }
  });

  it('is reached from this machine alone, and the shards from nowhere', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
    assert.deepEqual(published, [
      'front-1 127.0.0.1:8080:8080',
      'front-2 127.0.0.1:8180:8080',
      'console 127.0.0.1:8090:8090',
    ]);
    assert.equal(file.networks.inside?.internal, true);
    for (const [name, { environment = {}, networks }] of services) {
      if (environment.GRANTD_RPC_INSECURE !== undefined) assert.deepEqual(networks, ['inside'], name);
    }
  });

  it('has no operator token of its own, which everybody would know', () => {
    const token = file.services.console?.environment?.GRANTD_OPERATOR_TOKEN ?? '';
    assert.match(token, /^\$\{GRANTD_OPERATOR_TOKEN:\?/);
  });
});

describe('compose.dev.yaml', () => {
  const dev = read(readText('compose.dev.yaml'));

  it('is what the Compose Specification allows', () => {
    assert.equal(validate(dev), true, JSON.stringify(validate.errors, undefined, 1));
  });

  it('runs the whole service in one container, which this machine alone reaches', () => {
    const [service, ...others] = Object.values(dev.services);
    assert.deepEqual(others, []);
    assert.deepEqual(service?.command, ['dev']);
    const config = readConfig('dev', service === undefined ? {} : environmentOf(service));
    assert.deepEqual(service?.ports, ['127.0.0.1:8080:8080', '127.0.0.1:8090:8090']);
    assert.deepEqual([config.httpAddress, config.consoleAddress], ['0.0.0.0:8080', '0.0.0.0:8090']);
    const folder = /GRANTD_DATA_DIR=(\S+)/.exec(readText('Dockerfile'))?.[1];
    assert.deepEqual(service?.volumes, [`data:${folder}`]);
  });
});

describe('the images of others', () => {
  it('are pinned by digest, the same ones in Docker and in Kubernetes', () => {
    const images = (path: string): string[] =>
      [...readText(path).matchAll(/^\s+image: (\S+)$/gm)].map(([, image = '']) => image);
    const ofCompose = images('compose.yaml').filter((image) => !image.startsWith('grantd:'));
    assert.equal(ofCompose.length, 2);
    for (const image of ofCompose) assert.match(image, /^[a-z]+:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
    const ofStores = ['k8s/stores/cassandra.yaml', 'k8s/stores/redis.yaml'].flatMap(images);
    assert.deepEqual([...new Set(ofStores)].toSorted(), ofCompose.toSorted());
  });
});
