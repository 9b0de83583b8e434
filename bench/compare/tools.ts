// Provides the programs of the comparison that npm does not have: builds or installs them at first use.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export type Tool = 'openfga' | 'spicedb' | 'load' | 'cel-go' | 'postgres';

const SCRIPT = join(import.meta.dirname, 'tools.sh');
const STATUS_MISSING = 3;

/**
 * Undefined if it is not available on this machine; the script has reported why. For Postgres, the folder of its
 * programs.
 */
export function installTool(tool: Tool): string | undefined {
  const { status } = spawnSync('bash', [SCRIPT, 'install', tool], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === STATUS_MISSING) return undefined;
  if (status !== 0) throw new Error(`${SCRIPT} install ${tool} ended with status ${status}.`);
  return spawnSync('bash', [SCRIPT, 'path', tool], { encoding: 'utf8' }).stdout.trim();
}
