// Refuses a Node that is too old, with a message instead of a syntax error. The npm scripts load it first, so it is
// plain JavaScript that every Node still in use can read.

const NEEDED = 26;
const major = Number(process.versions.node.split('.')[0]);
if (major < NEEDED) {
  process.stderr.write(
    `grantd needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.\n` +
      'On Linux (x64, arm64), "npm ci" installs it, unless optional dependencies are omitted. On other systems, install it yourself.\n',
  );
  process.exit(1);
}
