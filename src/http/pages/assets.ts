// The files that the public pages load. They are read and compressed when the first request asks for one, and every
// response sends the same bytes. Each has a version or a hash in its path, so that browsers keep it forever.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { PublicPage } from '../pipeline/response-writer.ts';

/** `npm run generate -- bundles` takes Scalar from the package of this version; a test compares. */
export const SCALAR_VERSION = '1.76.3';

const SCRIPT = 'text/javascript; charset=utf-8';
const own = (name: string): URL => new URL(`assets/${name}`, import.meta.url);

/** Small enough to be hashed at the start. */
const hashOf = (file: URL): string => createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);

/** Always compressed: every client that shows pages takes gzip, so a second copy of each file would serve none. */
class PublicFile implements PublicPage {
  readonly name: string;
  readonly contentType: string;
  readonly etag: string;
  readonly lines: string;
  /** No response has a copy. */
  readonly bytes = 0;
  readonly #file: URL;
  #content: Buffer | undefined;

  constructor(file: URL, contentType: string, version = hashOf(file)) {
    this.#file = file;
    this.contentType = contentType;
    const [, base, extension] = /([^/.]+)(?:\.min)?\.(\w+)(?:\.gz)?$/.exec(file.pathname) ?? [];
    this.name = `${base}-${version}.${extension}`;
    this.etag = `"${this.name}"`;
    this.lines = `Content-Encoding: gzip\r\nCache-Control: public, max-age=31536000, immutable\r\nETag: ${this.etag}\r\nX-Content-Type-Options: nosniff\r\n`;
  }

  get content(): Buffer {
    this.#content ??= this.#read();
    return this.#content;
  }

  #read(): Buffer {
    const bytes = readFileSync(this.#file);
    return this.#file.pathname.endsWith('.gz') ? bytes : gzipSync(bytes);
  }
}

const FILES = {
  style: new PublicFile(new URL(import.meta.resolve('@picocss/pico/css/pico.min.css')), 'text/css; charset=utf-8'),
  icon: new PublicFile(own('icon.svg'), 'image/svg+xml'),
  scalar: new PublicFile(own('scalar.js.gz'), SCRIPT, SCALAR_VERSION),
  reference: new PublicFile(own('reference.js'), SCRIPT),
};

/** From the root of the service. */
export const pathOf = (file: keyof typeof FILES): string => `docs/assets/${FILES[file].name}`;

/** By their paths. */
export const ASSETS: ReadonlyMap<string, PublicPage> = new Map(
  Object.values(FILES).map((file) => [`/docs/assets/${file.name}`, file]),
);
