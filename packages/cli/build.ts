// Makes the package @grantd/cli, ready for `npm publish`, in a folder: `node build.ts FOLDER`.

import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleProgram } from '../../scripts/packages/bundled-program.ts';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');

function writeManifest(directory: string): void {
  const { private: _, devDependencies: __, ...manifest } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
  const published = {
    ...manifest,
    repository: { type: 'git', url: 'git+https://github.com/grantd/grantd.git', directory: 'packages/cli' },
    keywords: ['authorization', 'permissions', 'rebac', 'mcp', 'grantd'],
    bin: { grantd: 'dist/grantd.js' },
    files: ['dist', 'THIRD-PARTY-LICENSES.txt'],
  };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
}

async function buildPackage(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await bundleProgram(directory, HERE, [
    {
      entryPoints: { grantd: 'packages/cli/src/start.ts' },
      target: 'node22',
      // Only a job in a cluster writes keys into a Secret, and it runs the image. It is larger than all the rest.
      external: ['@kubernetes/client-node'],
    },
  ]);
  chmodSync(join(directory, 'dist', 'grantd.js'), 0o755);
  writeManifest(directory);
  cpSync(join(HERE, 'README.md'), join(directory, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(directory, 'LICENSE'));
}

await buildPackage(process.argv[2] ?? join(HERE, 'dist'));
