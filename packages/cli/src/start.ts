#!/usr/bin/env node
// The entry point of the package. Invariant: a Node that is too old gets two lines, and loads nothing of the program.

import packageFile from '../package.json' with { type: 'json' };

const oldest = Number(/\d+/.exec(packageFile.engines.node));
if (Number.parseInt(process.versions.node, 10) < oldest) {
  process.stderr.write(
    `grantd: This is Node ${process.versions.node}, and the command line needs Node ${oldest} or later.\n`,
  );
  process.stderr.write('  Install a newer Node (https://nodejs.org), or run the image of grantd.\n');
  process.exitCode = 1;
} else {
  await import('./main.ts');
}
