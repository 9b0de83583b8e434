// Two node settings that grantd's guarantees depend on and that only the node's configuration can provide. They are
// read at startup, and a node without them causes a warning.

import type { Client, Host } from 'cassandra-driver';
import type { Log } from '../../../telemetry/log.ts';

const READ_TIMEOUT_MS = 2000;
const QUERY = "SELECT name, value FROM system_views.settings WHERE name IN ('paxos_variant', 'commitlog_sync')";

async function warnOfNode(client: Pick<Client, 'execute'>, host: Host, log: Log): Promise<void> {
  const { rows } = await client.execute(QUERY, [], { host, prepare: false, readTimeout: READ_TIMEOUT_MS });
  const settings = new Map<string, unknown>(rows.map((row) => [String(row.name), row.value]));
  const paxos = settings.get('paxos_variant');
  if (paxos !== 'v2' && paxos !== 'v2_without_linearizable_reads_or_rejected_writes') {
    log.warn({ node: host.address, paxosVariant: paxos }, 'a Cassandra node does not use paxos_variant v2');
  } else if (paxos !== 'v2') {
    log.warn({ node: host.address, paxosVariant: paxos }, 'a Cassandra node does not provide linearizable reads');
  }
  const sync = settings.get('commitlog_sync');
  if (sync !== 'batch' && sync !== 'group') {
    log.warn(
      { node: host.address, commitlogSync: sync },
      'a Cassandra node acknowledges writes before they are on disk (commitlog_sync): if enough nodes lose power at once, writes are lost',
    );
  }
}

/** Never rejects: if a setting cannot be read, a log line says so, and the process runs anyway. */
export async function warnOfSettings(client: Pick<Client, 'execute'>, hosts: readonly Host[], log: Log): Promise<void> {
  for (const host of hosts) {
    try {
      await warnOfNode(client, host, log);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      log.info({ node: host.address, detail }, 'cannot read the settings of a Cassandra node');
    }
  }
}
