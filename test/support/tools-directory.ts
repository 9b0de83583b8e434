// Where programs that tests need and that npm does not have are kept, outside the tree: built or downloaded once, on first use.

import { homedir } from 'node:os';
import { join } from 'node:path';

export const TOOLS_DIRECTORY = process.env.GRANTD_TOOLS ?? join(homedir(), '.cache', 'grantd-tools');

/** Of a program that test/support/kubernetes/tools.sh builds. */
export const programPath = (name: string): string => join(TOOLS_DIRECTORY, 'bin', name);
