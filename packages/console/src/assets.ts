// The files that pages load: styles, scripts and the icon, from this folder and from the installed packages. Each has a
// hash of its content in its name, so that a browser may keep it forever. The editor is one file with all that it is
// made of (`npm run generate -- bundles`).

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync, gzip } from 'node:zlib';
import { PAGES_PREFIX } from './page.ts';

export const compress = promisify<Buffer, Buffer>(gzip);

interface Asset {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** Compresses it the first time. */
  compressed(): Promise<Buffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};
const HASH_LENGTH = 16;

const FILES = {
  pico: import.meta.resolve('@picocss/pico/css/pico.min.css'),
  style: new URL('assets/console.css', import.meta.url),
  htmx: import.meta.resolve('htmx.org/dist/htmx.min.js'),
  script: new URL('assets/console.js', import.meta.url),
  icon: new URL('../../../src/http/pages/assets/icon.svg', import.meta.url),
  editor: new URL('assets/rules-editor.js.gz', import.meta.url),
} as const;

export interface Assets {
  /** The path of each. */
  readonly paths: Readonly<Record<keyof typeof FILES, string>>;
  /** By the name after `/assets/`. */
  find(name: string): Asset | undefined;
}

class LoadedAssets {
  readonly #assets = new Map<string, Asset>();

  find(name: string): Asset | undefined {
    return this.#assets.get(name);
  }

  /** The path of a file. */
  load(file: string | URL): string {
    const path = fileURLToPath(file);
    const [, name = '', extension = '', isBundle] = /([^/\\.]+)(?:\.min)?\.(\w+)(\.gz)?$/.exec(path) ?? [];
    const bytes = readFileSync(path);
    return this.#add(name, extension, isBundle === undefined ? bytes : gunzipSync(bytes));
  }

  #add(name: string, extension: string, bytes: Buffer): string {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_LENGTH);
    let compressed: Promise<Buffer> | undefined;
    this.#assets.set(`${name}-${hash}.${extension}`, {
      contentType: TYPES[extension] ?? 'application/octet-stream',
      bytes,
      compressed: () => (compressed ??= compress(bytes)),
    });
    return `${PAGES_PREFIX}/assets/${name}-${hash}.${extension}`;
  }
}

/** Reads all of them once. */
export function loadAssets(): Assets {
  const assets = new LoadedAssets();
  const paths = {
    pico: assets.load(FILES.pico),
    style: assets.load(FILES.style),
    htmx: assets.load(FILES.htmx),
    script: assets.load(FILES.script),
    icon: assets.load(FILES.icon),
    editor: assets.load(FILES.editor),
  };
  return { paths, find: (name) => assets.find(name) };
}
