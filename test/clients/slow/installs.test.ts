// The clients as their READMEs say to install them, each from an empty folder, with registries on loopback and no other
// network: from a checkout, from what a build makes, and from a registry.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import packageFile from '../../../package.json' with { type: 'json' };
import { reportMissing } from '../../../tools/engines/engine-script.ts';
import { findGo } from '../../../tools/engines/go.ts';
import { installPythonTool, PYTHON_CLIENT } from '../../../tools/engines/python-tool.ts';
import type { HttpService } from '../../kit/http-service.ts';
import { shellBlocks } from '../../kit/shell-blocks.ts';
import { ROOT } from '../../kit/source-tree.ts';
import { buildClientPackages, type ClientPackages } from '../support/client-packages.ts';
import { startContractService } from '../support/contract.ts';
import { makeGoProxy, type Registry, startNpmRegistry, startPythonIndex } from '../support/registries.ts';

const run = promisify(execFile);
const { version } = packageFile;
const TYPESCRIPT = `import { Grantd } from '@grantd/client';

const question = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
console.log(await new Grantd().check(question));
`;
const PYTHON = 'import grantd; print(grantd.Grantd().check("user:ada", "viewer", "document:plan"))';
const GO = `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/grantd/grantd/clients/go"
)

func main() {
	client, err := grantd.New(grantd.Config{})
	if err != nil {
		log.Fatal(err)
	}
	allowed, err := client.Check(context.Background(), "user:ada", "viewer", "document:plan")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(allowed)
}
`;

/** Where the libraries of the Python client are. */
const LIBRARIES = 'import os, h11; print(os.path.dirname(os.path.dirname(h11.__file__)))';

let service: HttpService;
let directory = '';
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'grantd-installs-'));
  service = await startContractService();
});
after(async () => {
  await service.stop();
  rmSync(directory, { recursive: true });
});

/** Of a new tenant. */
async function settings(): Promise<Readonly<Record<string, string>>> {
  const { key } = await service.createTenant();
  return { GRANTD_URL: service.baseUrl, GRANTD_KEY: key };
}

describe('the TypeScript client', () => {
  const [fromCheckout = '', fromTarball = '', fromRegistry = '', ...others] =
    shellBlocks('clients/typescript/README.md');
  let packages: ClientPackages;
  let registry: Registry;
  before(async () => {
    packages = await buildClientPackages();
    registry = await startNpmRegistry(packages.packed, (name) =>
      JSON.parse(readFileSync(join(packages.directory, 'node_modules', name, 'package.json'), 'utf8')),
    );
  });
  after(() => {
    registry.close();
    packages.remove();
  });

  /** In a new application beside the checkout, whose client is built. */
  async function install(name: string, commands: string): Promise<void> {
    const folder = join(packages.directory, 'installs', name);
    const client = join(folder, 'grantd', 'clients', 'typescript', 'dist');
    mkdirSync(client, { recursive: true });
    cpSync(join(packages.directory, 'built', 'client'), join(client, 'client'), { recursive: true });
    // Without it, npm would install into a folder further up, and remove what it does not know there.
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    writeFileSync(join(folder, 'app.mjs'), TYPESCRIPT);
    const offline = { npm_config_registry: registry.url, npm_config_cache: join(folder, 'cache'), HOME: folder };
    const env = { PATH: process.env.PATH, ...(await settings()), ...offline, npm_config_update_notifier: 'false' };
    // The checkout has its libraries, and has built the client.
    const script = `npm() { if [ "$1" != --prefix ]; then command npm "$@"; fi; }\n${commands}`;
    await run('bash', ['-euc', script], { cwd: folder, env });
    const { stdout } = await run(process.execPath, ['app.mjs'], { cwd: folder, env });
    assert.equal(stdout, 'false\n');
  }

  it('works from a checkout, from a tarball, and from a registry', async () => {
    assert.deepEqual(others, []);
    await Promise.all([
      install('checkout', fromCheckout),
      install('tarball', fromTarball),
      install('registry', fromRegistry),
    ]);
  });
});

describe('the Python client', () => {
  it('works from a checkout, from a wheel and from an index', async (t: TestContext) => {
    const tool = await installPythonTool(PYTHON_CLIENT).catch((error: unknown) => {
      t.skip(reportMissing('the Python client', String(error)));
    });
    if (tool === undefined) return;
    const [fromCheckout = '', fromWheel = '', fromIndex = '', ...others] = shellBlocks('clients/python/README.md');
    assert.deepEqual(others, []);
    const index = await startPythonIndex(join(directory, 'python', 'wheel', 'wheels'));
    // The libraries of the client, and what builds it, are installed already.
    const { stdout: libraries } = await run(tool.command, ['-c', LIBRARIES], {
      env: { ...process.env, ...tool.environment },
    });
    try {
      for (const [name, commands] of [
        ['checkout', fromCheckout],
        ['wheel', fromWheel],
        ['index', fromIndex],
      ] as const) {
        const folder = join(directory, 'python', name);
        await run(tool.command, ['-m', 'venv', '--without-pip', join(folder, 'venv')]);
        const script = `${commands}\npython -c '${PYTHON}'`;
        const path = `${join(folder, 'venv', 'bin')}:${process.env.PATH}`;
        cpSync(join(ROOT, 'clients', 'python'), join(folder, 'grantd', 'clients', 'python'), { recursive: true });
        const [site = ''] = globSync('venv/lib/python*/site-packages', { cwd: folder });
        writeFileSync(join(folder, site, 'libraries.pth'), libraries);
        const pip = {
          PIP_INDEX_URL: `${index.url}/simple`,
          PIP_NO_BUILD_ISOLATION: '0',
          PIP_CACHE_DIR: join(folder, 'cache'),
        };
        const env = { ...(await settings()), ...pip, PATH: path, HOME: folder, PIP_DISABLE_PIP_VERSION_CHECK: '1' };
        const { stdout } = await run('bash', ['-euc', `pip() { python -m pip "$@" >&2; }\n${script}`], {
          cwd: folder,
          env,
        });
        assert.equal(stdout, 'False\n');
      }
    } finally {
      index.close();
    }
  });
});

describe('the Go client', () => {
  it('works from a checkout and from a module proxy', async (t: TestContext) => {
    const go = await findGo('the Go client');
    if (go === undefined) return t.skip('There is no Go.');
    const [fromCheckout = '', fromProxy = '', ...others] = shellBlocks('clients/go/README.md');
    assert.deepEqual(others, []);
    const proxy = await makeGoProxy(join(directory, 'modules'), `v${version}`);
    for (const [name, commands] of [
      ['checkout', fromCheckout],
      ['proxy', fromProxy],
    ] as const) {
      const folder = join(directory, 'go', name, 'app');
      mkdirSync(folder, { recursive: true });
      symlinkSync(ROOT, join(directory, 'go', name, 'grantd'));
      writeFileSync(join(folder, 'main.go'), GO);
      writeFileSync(join(folder, 'go.mod'), 'module app\n\ngo 1.24\n');
      const cache = { GOMODCACHE: join(directory, 'go', name, 'cache'), GOFLAGS: '-modcacherw -buildvcs=false' };
      const goSettings = { GOPROXY: name === 'proxy' ? proxy : 'off', GOSUMDB: 'off', GOTOOLCHAIN: 'local', ...cache };
      const env = { ...process.env, ...(await settings()), ...goSettings };
      const { stdout } = await run('bash', ['-euc', `${commands}\ngo run .`], { cwd: folder, env });
      assert.equal(stdout, 'false\n');
    }
  });
});
