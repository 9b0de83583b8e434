// Where programs that tests need and that npm does not have are kept, outside the tree: built or downloaded once, on
// first use.

import { homedir } from 'node:os';
import { join } from 'node:path';

export const TOOLS_DIRECTORY = process.env.GRANTD_TOOLS ?? join(homedir(), '.cache', 'grantd-tools');

/** Of the programs that tools/engines/kubernetes/tools.sh builds. */
export const PROGRAMS_DIRECTORY = join(TOOLS_DIRECTORY, 'bin');
