// The banner that a start prints on standard output, once: the addresses of the service, and three requests to paste.
// Only a terminal gets the key itself and the log-in link. Output to files and pipes may be kept, so there the lines
// read the key from dev.json.

export interface BannerFacts {
  readonly version: string;
  readonly baseUrl: string;
  readonly opsUrl: string;
  readonly consoleUrl: string;
  /** Absolute. */
  readonly devFilePath: string;
  readonly demo: { readonly tenantId: string; readonly key: string } | undefined;
  readonly terminal: boolean;
  /** Logs in to the console, once; undefined if there is none. */
  readonly logInLink: string | undefined;
  /** The version of the machine's own Node, if it is another one. */
  readonly machineNode: string | undefined;
  readonly threads: number;
}

/** One word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const TUPLE = JSON.stringify({ subject: 'user:ada', relation: 'viewer', object: 'document:plan' });

/** The key once, then requests that take two lines each on a terminal. */
function requestLines(facts: BannerFacts, key: string): string[] {
  const shown = facts.terminal
    ? key
    : `$(sed -n 's/.*"key": "\\([^"]*\\)".*/\\1/p' ${quoteForShell(facts.devFilePath)})`;
  const request = (path: string): string =>
    `curl -sSw '\\n' ${quoteForShell(`${facts.baseUrl}${path}`)} -H "Authorization: Bearer $GRANTD_KEY"`;
  const withTuple = ` \\\n  -H 'Content-Type: application/json' -d '${TUPLE}'`;
  return [
    `GRANTD_KEY=${shown}`,
    `${request('/v1/grants')}${withTuple}`,
    `${request('/v1/check')}${withTuple}`,
    request('/v1/objects?subject=user:ada&relation=viewer'),
  ];
}

function consoleLine({ consoleUrl, devFilePath, logInLink }: BannerFacts): string {
  if (logInLink === undefined) return `  Console    ${consoleUrl}/ (log in with operator_token from ${devFilePath})`;
  return `  Console    ${logInLink}\n             (this link works once, for 10 minutes; later: ${consoleUrl}/ with operator_token from ${devFilePath})`;
}

export function renderBanner(facts: BannerFacts): string {
  const { demo, machineNode, threads } = facts;
  const lines = [
    '',
    `grantd ${facts.version} is ready`,
    '',
    `  API        ${facts.baseUrl}`,
    consoleLine(facts),
    `  Operator   ${facts.consoleUrl}/operator/v1/`,
    `  Ops        ${facts.opsUrl}/readyz`,
  ];
  if (threads > 1) lines.push(`  Threads    ${threads}`);
  if (machineNode !== undefined) {
    lines.push(
      `  Node       ${process.versions.node}, from node_modules (the Node of this machine, ${machineNode}, only runs npm)`,
    );
  }
  if (demo === undefined) {
    lines.push(
      '',
      'No demo tenant was created. Create a tenant and an API key:',
      '',
      'bin/grantd tenants create --help',
      'bin/grantd keys create --help',
    );
  } else {
    lines.push(
      `  Tenant     ${demo.tenantId}`,
      `  Key        ${facts.terminal ? 'below, stored' : 'stored'} in ${facts.devFilePath}`,
      '',
      'Create a grant, check it, list objects:',
      '',
      ...requestLines(facts, demo.key),
    );
  }
  return `${lines.join('\n')}\n\n`;
}
