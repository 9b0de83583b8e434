// The files that the public pages load: their style, the modules of their script, their icon. One hash of all of them
// is part of their path, so that browsers keep them forever, and modules import each other by plain relative names.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PublicPage } from '../pipeline/response-writer.ts';

const FILES = {
  'pages.css': 'text/css; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'samples.js': 'text/javascript; charset=utf-8',
  'search.js': 'text/javascript; charset=utf-8',
  'try-it.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

const texts = Object.entries(FILES).map(([name, contentType]) => ({
  name,
  contentType,
  text: readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8'),
}));

const HASH = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);

/** Of the folder in which they are, from the root of the service. */
export const ASSETS_PATH = `docs/assets/${HASH}`;

/** By their paths. */
export const ASSETS: ReadonlyMap<string, PublicPage> = new Map(
  texts.map(({ name, contentType, text }) => {
    const etag = `"${HASH}-${name}"`;
    return [
      `/${ASSETS_PATH}/${name}`,
      {
        text,
        bytes: Buffer.byteLength(text),
        contentType,
        etag,
        lines: `Cache-Control: public, max-age=31536000, immutable\r\nETag: ${etag}\r\nX-Content-Type-Options: nosniff\r\n`,
      },
    ];
  }),
);
