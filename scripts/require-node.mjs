// Refuses a Node older than the code needs, in words instead of a syntax error. Loaded before anything else by the npm
// scripts, so it is plain JavaScript that every Node still in use can read.

const NEEDED = 26;
const major = Number(process.versions.node.split('.')[0]);
if (major < NEEDED) {
  process.stderr.write(
    `grantd needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.\n` +
      'On Linux (x64, arm64) "npm ci" brings it along, unless optional dependencies were left out. Elsewhere install it first.\n',
  );
  process.exit(1);
}
