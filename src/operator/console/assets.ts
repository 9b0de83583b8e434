// The files that pages load: styles, scripts and the icon, from this folder and from the installed packages. Each has a
// hash of its content in its name, so that a browser may keep it forever.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PAGES_PREFIX } from './page.ts';

interface Asset {
  readonly contentType: string;
  readonly bytes: Buffer;
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
  icon: new URL('assets/icon.svg', import.meta.url),
} as const;

export interface Assets {
  /** The path of each. */
  readonly paths: Readonly<Record<keyof typeof FILES, string>>;
  /** By the name after `/assets/`. */
  find(name: string): Asset | undefined;
}

/** Reads all of them once. */
export function loadAssets(): Assets {
  const assets = new Map<string, Asset>();
  const load = (file: string | URL): string => {
    const path = fileURLToPath(file);
    const bytes = readFileSync(path);
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_LENGTH);
    const [, name = '', extension = ''] = /([^/\\.]+)(?:\.min)?\.(\w+)$/.exec(path) ?? [];
    assets.set(`${name}-${hash}.${extension}`, { contentType: TYPES[extension] ?? 'application/octet-stream', bytes });
    return `${PAGES_PREFIX}/assets/${name}-${hash}.${extension}`;
  };
  const paths = {
    pico: load(FILES.pico),
    style: load(FILES.style),
    htmx: load(FILES.htmx),
    script: load(FILES.script),
    icon: load(FILES.icon),
  };
  return { paths, find: (name) => assets.get(name) };
}
