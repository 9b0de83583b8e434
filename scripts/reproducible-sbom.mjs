// Makes the list of packages in the image (SPDX, as `npm sbom` prints it) the same for the same packages: npm puts the
// time of its run and a random number into each. Reads it from standard input and prints it. SOURCE_DATE_EPOCH, in
// seconds since 1970, is the time it gets (https://reproducible-builds.org/specs/source-date-epoch/). Runs in the build
// of the image, where there is no other file of the project yet.

import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';

const epochSeconds = Number(process.env.SOURCE_DATE_EPOCH || 0);
if (!Number.isSafeInteger(epochSeconds) || epochSeconds < 0)
  throw new Error('SOURCE_DATE_EPOCH is no number of seconds.');

const document = JSON.parse(await text(process.stdin));
document.creationInfo.created = new Date(epochSeconds * 1000).toISOString();
const place = document.documentNamespace.replace(/[^/]*$/, '');
// SPDX wants another address for another list, and no more: the hash of what it holds is one.
document.documentNamespace = '';
const hash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
document.documentNamespace = `${place}${document.name.replace('@', '-')}-${hash}`;
process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
