// Registries on loopback, with the packages of this repository as a release publishes them: npm's, an index of PyPI,
// and a module proxy of Go in a folder.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../kit/source-tree.ts';
import type { PackedPackage } from './client-packages.ts';

const run = promisify(execFile);

export interface Registry {
  readonly url: string;
  close(): void;
}

type Respond = (path: string, url: string) => string | Buffer | undefined;

/** Serves what the function gives for a path; 404 for undefined. */
async function serve(respond: Respond, mediaType: string): Promise<Registry> {
  let url = '';
  const server = createServer((request, response) => {
    const body = respond(decodeURIComponent(request.url ?? ''), url);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': mediaType }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    url,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What npm asks for: the versions of a package with their manifests, and its tarball. */
export function startNpmRegistry(packed: readonly PackedPackage[], manifestOf: (name: string) => object) {
  const respond: Respond = (path, url) => {
    const tarball = packed.find((each) => path === `/-/${basename(each.path)}`);
    if (tarball !== undefined) return readFileSync(tarball.path);
    const found = packed.find(({ name }) => path === `/${name}`);
    if (found === undefined) return undefined;
    const manifest = manifestOf(found.name) as { readonly version: string };
    const integrity = `sha512-${createHash('sha512').update(readFileSync(found.path)).digest('base64')}`;
    const dist = { tarball: `${url}/-/${basename(found.path)}`, integrity };
    const versions = { [manifest.version]: { ...manifest, dist } };
    return JSON.stringify({ name: found.name, 'dist-tags': { latest: manifest.version }, versions });
  };
  return serve(respond, 'application/json');
}

/** A simple index (PEP 503) with the wheels of a folder. */
export function startPythonIndex(wheels: string): Promise<Registry> {
  const respond: Respond = (path) => {
    const files = globSync('*.whl', { cwd: wheels });
    const file = files.find((each) => path === `/files/${each}`);
    if (file !== undefined) return readFileSync(join(wheels, file));
    const [, name] = /^\/simple\/([a-z0-9-]+)\/$/.exec(path) ?? [];
    if (name === undefined) return undefined;
    const links = files.filter((each) => each.startsWith(`${name}-`));
    return links.map((each) => `<a href="/files/${each}">${each}</a>\n`).join('');
  };
  return serve(respond, 'text/html');
}

/** Writes files into a zip, each with a prefix in front of its name. */
const ZIP = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for file in sys.argv[3:]: archive.write(file, sys.argv[2] + file)`;

/** A folder as the address of a module proxy: `file://…`. */
export async function makeGoProxy(directory: string, version: string): Promise<string> {
  const path = 'github.com/grantd/grantd/clients/go';
  const source = join(ROOT, 'clients', 'go');
  const versions = join(directory, path, '@v');
  mkdirSync(versions, { recursive: true });
  writeFileSync(join(versions, 'list'), `${version}\n`);
  writeFileSync(join(versions, `${version}.info`), JSON.stringify({ Version: version }));
  cpSync(join(source, 'go.mod'), join(versions, `${version}.mod`));
  // A module within the module is not of it.
  const files = globSync('**/*', { cwd: source, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => relative(source, join(each.parentPath, each.name)))
    .filter((file) => !file.startsWith('grantdotel'));
  const zip = join(versions, `${version}.zip`);
  await run('python3', ['-c', ZIP, zip, `${path}@${version}/`, ...files], { cwd: source });
  return `file://${directory}`;
}
