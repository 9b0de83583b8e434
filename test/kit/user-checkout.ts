// A checkout as somebody has it who builds the client for TypeScript and tries an example with it: the files that
// this takes, and the libraries of this repository in place of those of the registry. Invariant: the repository stays
// as it is.

import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from './source-tree.ts';

const COPIED: readonly string[] = ['clients/typescript', 'examples/docs-app', 'examples/lists-app'];
const LINKED = [
  'LICENSE',
  'bin',
  'docs',
  'node_modules',
  'package.json',
  'packages',
  'proto',
  'scripts',
  'src',
  'tsconfig.json',
];
const MADE = new Set(['dist', 'node_modules']);

/** Makes the folder, which must not exist yet. */
export function makeUserCheckout(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const path of COPIED) {
    cpSync(join(ROOT, path), join(directory, path), {
      recursive: true,
      filter: (source) => !MADE.has(basename(source)),
    });
  }
  for (const path of LINKED) symlinkSync(join(ROOT, path), join(directory, path));
}

/** For a script: `npm install` that gives an application its libraries, and the client built in the checkout. */
export const linkedInstall = (directory: string): string => `npm() {
  if [ "$1" != install ]; then command npm "$@"; return; fi
  mkdir -p node_modules/@grantd
  ln -sfn '${ROOT}/node_modules/express' '${ROOT}/node_modules/pg' node_modules
  ln -sfn '${directory}/clients/typescript/dist/client' node_modules/@grantd/client
  test -e node_modules/@grantd/client/package.json
}`;
