// The text printed once the cluster serves: its addresses, and how to kill a shard without a failed check.

import type { LocalCluster } from './local-cluster.ts';
import { DEMO_TUPLE } from './operator.ts';

/** One word of a POSIX shell. */
const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export function renderWalkThrough(cluster: LocalCluster, { checks }: { readonly checks: boolean }): string {
  const { frontUrls, consoleUrl, tokenFile, directory, demo, members, memberInUse, hasRedis } = cluster;
  const pids = members.map(({ name, pid }) => `    ${name.padEnd(9)} ${pid}`);
  const inUse = memberInUse ?? members[0];
  const watch = checks
    ? 'The checks below continue: none fails, and for some seconds a few of them wait.'
    : 'Checks continue, and some wait for a few seconds. "npm run cluster -- --checks" shows that none fails.';
  return `
The cluster is ready.

  API        ${frontUrls.join('  ')}
  Console    ${consoleUrl}/ (log in with the token in ${tokenFile})
  Rate limits ${hasRedis ? 'are shared by the fronts, in Redis' : 'are counted by each front: there is no Redis'}
  Tenant     ${demo.tenantId}
  Key        ${demo.key}
  Logs       ${directory}

  Process ids
${pids.join('\n')}

Kill a shard and watch, in another terminal:

  export GRANTD_OPERATOR_URL=${consoleUrl} GRANTD_OPERATOR_TOKEN_FILE=${quote(tokenFile)}
  bin/grantd members
  curl -sS ${frontUrls[0]}/v1/check -H 'Authorization: Bearer ${demo.key}' \\
    -H 'Content-Type: application/json' -d '${JSON.stringify(DEMO_TUPLE)}'

  kill -9 ${inUse?.pid}    # ${inUse?.name}, which serves the demo tenant
  bin/grantd members && bin/grantd slots

${watch}
Here, Enter restarts killed processes, and Ctrl-C stops the cluster.

`;
}
