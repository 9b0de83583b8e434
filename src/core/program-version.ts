// The version of this program, which a store keeps beside its schema to say later who made it.

import packageFile from '../../package.json' with { type: 'json' };

export const PROGRAM_VERSION = packageFile.version;
