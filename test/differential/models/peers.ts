// Starts the peers whose models are compared.

import { installTool } from '../../../bench/compare/tools.ts';
import { startOpenfga } from '../peers/openfga.ts';
import { startSpicedb } from '../peers/spicedb.ts';
import type { Dialect } from './model.ts';
import { type ModelSystem, OpenfgaModels, SpicedbModels } from './systems.ts';

export const MODEL_PEERS: readonly Dialect[] = ['openfga', 'spicedb'];

/** Undefined if this machine cannot have it; the reason is on standard error. */
export async function startModelPeer(name: Dialect): Promise<ModelSystem | undefined> {
  const program = installTool(name);
  if (program === undefined) return undefined;
  return name === 'openfga'
    ? new OpenfgaModels(await startOpenfga(program))
    : new SpicedbModels(await startSpicedb(program));
}
