// The folder of programs that tests need and npm does not have, outside the tree: built or downloaded once, on first
// use.

import { homedir } from 'node:os';
import { join } from 'node:path';

export const TOOLS_DIRECTORY = process.env.GRANTD_TOOLS ?? join(homedir(), '.cache', 'grantd-tools');

/** The programs that tools/engines/kubernetes/tools.sh builds. */
export const PROGRAMS_DIRECTORY = join(TOOLS_DIRECTORY, 'bin');

/** The output of compilers and installers. */
export const LOGS_DIRECTORY = join(TOOLS_DIRECTORY, 'logs');
