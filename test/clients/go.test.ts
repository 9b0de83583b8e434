// The Go client: its own tests, the contract on a real service behind the fault proxy and on its fake, the program of
// its examples, and a README whose code is that of the examples.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { reportMissing } from '../../tools/engines/engine-script.ts';
import { findGo } from '../../tools/engines/go.ts';
import type { HttpService } from '../kit/http-service.ts';
import { shellBlocks } from '../kit/shell-blocks.ts';
import { ROOT } from '../kit/source-tree.ts';
import { checkApplication } from './support/application.ts';
import { runContract, startContractService } from './support/contract.ts';
import { makeGoProxy } from './support/registries.ts';

const run = promisify(execFile);
const CLIENT = join(ROOT, 'clients', 'go');
const go = await findGo('the Go client');

const APPLICATION = `package main

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

/** Without indentation and empty lines. */
const linesOf = (code: string): string =>
  code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

describe('the Go client', { skip: go === undefined }, () => {
  let directory: string;
  let service: HttpService;
  const program = (name: string): string => join(directory, name);

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'grantd-go-'));
    service = await startContractService();
    await go?.run(['build', '-o', `${directory}/`, './internal/contract', './examples/documents'], CLIENT);
  });

  after(async () => {
    await service?.stop();
    rmSync(directory, { recursive: true });
  });

  it('has no findings of vet, passes its tests, and needs nothing but the standard library', async () => {
    await go?.run(['vet', './...'], CLIENT);
    await go?.run(['test', './...'], CLIENT);
    assert.doesNotMatch(readFileSync(join(CLIENT, 'go.mod'), 'utf8'), /require/);
  });

  it('makes spans of OpenTelemetry, in a module of its own', async (t: TestContext) => {
    const module = join(CLIENT, 'grantdotel');
    // The first run downloads what it requires; an empty text is the default of Go.
    const online = { GOPROXY: process.env.GOPROXY ?? '' };
    const downloaded = go?.run(['mod', 'download'], module, online);
    const missing = await downloaded?.then(
      () => undefined,
      (error: unknown) => reportMissing('the tracing of the Go client', String(error)),
    );
    if (missing !== undefined) return t.skip(missing);
    await go?.run(['vet', './...'], module);
    await go?.run(['test', './...'], module);
  });

  it('keeps the contract on a real service', () =>
    runContract({ on: 'server', service, command: [program('contract')] }));

  it('keeps the contract on its fake', () => runContract({ on: 'fake', command: [program('contract')] }));

  it('has a README whose code is that of the examples, which its tests run', () => {
    const examples = linesOf(readFileSync(join(CLIENT, 'example_test.go'), 'utf8'));
    const blocks = [...readFileSync(join(CLIENT, 'README.md'), 'utf8').matchAll(/^```go\n(.*?)^```$/gms)];
    assert.ok(blocks.length >= 8);
    for (const [, code = ''] of blocks) assert.ok(examples.includes(linesOf(code)), `no example has\n${code}`);
  });

  it('is installed as README.md says, from a checkout and from a module proxy', async () => {
    const [fromCheckout = '', fromProxy = '', ...others] = shellBlocks('clients/go/README.md');
    assert.deepEqual(others, []);
    const proxy = await makeGoProxy(join(directory, 'proxy'), 'v0.2.0');
    const { key } = await service.createTenant();
    const settings = { GRANTD_URL: service.baseUrl, GRANTD_KEY: key };
    for (const [name, commands] of [
      ['checkout', fromCheckout],
      ['proxy', fromProxy],
    ] as const) {
      const folder = join(directory, name, 'app');
      mkdirSync(folder, { recursive: true });
      symlinkSync(ROOT, join(directory, name, 'grantd'));
      writeFileSync(join(folder, 'main.go'), APPLICATION);
      writeFileSync(join(folder, 'go.mod'), 'module app\n\ngo 1.24\n');
      const cache = { GOMODCACHE: join(directory, name, 'cache'), GOFLAGS: '-modcacherw -buildvcs=false' };
      const goSettings = { GOPROXY: name === 'proxy' ? proxy : 'off', GOSUMDB: 'off', GOTOOLCHAIN: 'local', ...cache };
      const env = { ...process.env, ...settings, ...goSettings };
      const { stdout } = await run('bash', ['-euc', `${commands}\ngo run .`], { cwd: folder, env });
      assert.equal(stdout, 'false\n');
    }
  });

  it('guards handlers of net/http in an application', () => checkApplication(service, [program('documents')]));
});
