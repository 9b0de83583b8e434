// The systems, how each is started, and the programs it needs. The order is that of the tables.

import { startEchoSystem } from './systems/echo.ts';
import { startGrantdCluster } from './systems/grantd-cluster.ts';
import { startGrantdEmbedded } from './systems/grantd-embedded.ts';
import { type OpenfgaStore, startOpenfga } from './systems/openfga.ts';
import { type SpicedbStore, startSpicedb } from './systems/spicedb.ts';
import type { System, SystemContext } from './systems/system.ts';
import { installTool } from './tools.ts';

export const SYSTEM_NAMES = [
  'grantd',
  'grantd-cluster',
  'echo',
  'openfga-memory',
  'openfga-sqlite',
  'openfga-postgres',
  'spicedb-memory',
  'spicedb-postgres',
] as const;
export type SystemName = (typeof SYSTEM_NAMES)[number];

/** Undefined if it is not available on this machine. */
type Starter = () => Promise<System | undefined>;

export function createStarters(context: SystemContext): Readonly<Record<SystemName, Starter>> {
  const openfga =
    (store: OpenfgaStore): Starter =>
    async () => {
      const program = installTool('openfga');
      const postgres = store === 'postgres' ? installTool('postgres') : '';
      return program === undefined || postgres === undefined
        ? undefined
        : startOpenfga(context, program, store, postgres);
    };
  const spicedb =
    (store: SpicedbStore): Starter =>
    async () => {
      const program = installTool('spicedb');
      const postgres = store === 'postgres' ? installTool('postgres') : '';
      return program === undefined || postgres === undefined
        ? undefined
        : startSpicedb(context, program, store, postgres);
    };
  return {
    grantd: () => startGrantdEmbedded(context),
    'grantd-cluster': () => startGrantdCluster(context),
    echo: startEchoSystem,
    'openfga-memory': openfga('memory'),
    'openfga-sqlite': openfga('sqlite'),
    'openfga-postgres': openfga('postgres'),
    'spicedb-memory': spicedb('memory'),
    'spicedb-postgres': spicedb('postgres'),
  };
}
