// The version of this program, which a store keeps beside its schema to say later who made it.

import packageFile from '../../package.json' with { type: 'json' };

export const PROGRAM_VERSION = packageFile.version;

/** Who made a store that does not say so: a commit that kept no version. */
export const UNRECORDED_PROGRAM = 'a commit before the release of 0.2.0';
