// What a start prints on standard output, once: where the service is, and three requests that work when pasted. The key
// itself stands there only on a terminal; a file or a pipe keeps what it gets, so there the lines read it from dev.json.

export interface BannerFacts {
  readonly version: string;
  readonly baseUrl: string;
  readonly opsUrl: string;
  readonly consoleUrl: string;
  /** Absolute. */
  readonly devFilePath: string;
  readonly demo: { readonly tenantId: string; readonly key: string } | undefined;
  readonly terminal: boolean;
}

/** One word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const TUPLE = JSON.stringify({ subject: 'user:ada', relation: 'viewer', object: 'document:plan' });

function curlLines(facts: BannerFacts, key: string): string[] {
  const secret = facts.terminal
    ? key
    : `$(sed -n 's/.*"key": "\\([^"]*\\)".*/\\1/p' ${quoteForShell(facts.devFilePath)})`;
  const request = (path: string, body?: string): string =>
    [
      'curl -sS',
      quoteForShell(`${facts.baseUrl}${path}`),
      `-H "Authorization: Bearer ${secret}"`,
      ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${body}'`]),
    ].join(' ');
  return [
    request('/v1/grants', TUPLE),
    request('/v1/check', TUPLE),
    request('/v1/objects?subject=user:ada&relation=viewer'),
  ];
}

export function renderBanner(facts: BannerFacts): string {
  const lines = [
    '',
    `grantd ${facts.version} is ready`,
    '',
    `  API        ${facts.baseUrl}`,
    `  Console    ${facts.consoleUrl}/ (log in with operator_token of ${facts.devFilePath})`,
    `  Operator   ${facts.consoleUrl}/operator/v1/`,
    `  Ops        ${facts.opsUrl}/readyz`,
  ];
  const { demo } = facts;
  if (demo === undefined) {
    lines.push(
      '',
      'No demo tenant was made. Make a tenant and a key of it:',
      '',
      'bin/grantd tenants create --help',
      'bin/grantd keys create --help',
    );
  } else {
    lines.push(
      `  Demo key   ${facts.terminal ? `${demo.key} (kept in ${facts.devFilePath})` : `in ${facts.devFilePath}`}`,
      `  Tenant     ${demo.tenantId}`,
      '',
      'Create a grant, check it, list the objects:',
      '',
      ...curlLines(facts, demo.key),
    );
  }
  return `${lines.join('\n')}\n\n`;
}
