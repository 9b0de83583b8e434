#!/usr/bin/env node
// The program of the package: `grantd testing` without the rest of grantd. Invariant: a Node that is too old gets two
// lines, and loads nothing of it.

import packageFile from './package.json' with { type: 'json' };

const oldest = Number(/\d+/.exec(packageFile.engines.node));
if (Number.parseInt(process.versions.node, 10) < oldest) {
  process.stderr.write(
    `grantd: This is Node ${process.versions.node}, and the service for tests needs Node ${oldest} or later.\n`,
  );
  process.stderr.write('  Install a newer Node (https://nodejs.org), or run the image and set GRANTD_TESTING_URL.\n');
  process.exitCode = 1;
} else {
  await import('./main.ts');
}
