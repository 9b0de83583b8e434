// Makes the list of packages in the image (SPDX, from `npm sbom`) identical for identical packages: npm puts the time
// of its run and a random number into each. Reads standard input, prints to standard output. Its time is
// SOURCE_DATE_EPOCH, in seconds since 1970 (https://reproducible-builds.org/specs/source-date-epoch/). It runs in the
// build of the image, where no other file of the project exists yet.

import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';

const epochSeconds = Number(process.env.SOURCE_DATE_EPOCH || 0);
if (!Number.isSafeInteger(epochSeconds) || epochSeconds < 0)
  throw new Error('SOURCE_DATE_EPOCH is not a number of seconds.');

const document = JSON.parse(await text(process.stdin));
document.creationInfo.created = new Date(epochSeconds * 1000).toISOString();
const place = document.documentNamespace.replace(/[^/]*$/, '');
// SPDX only requires that different lists have different namespaces: a hash of the content does that.
document.documentNamespace = '';
const hash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
document.documentNamespace = `${place}${document.name.replace('@', '-')}-${hash}`;
process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
