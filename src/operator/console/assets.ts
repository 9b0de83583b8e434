// The files that pages load: styles, scripts and the icon, from this folder and from the installed packages. Each has a
// hash of its content in its name, so that a browser may keep it forever. The editor is made of modules, which are
// served one by one, as they are installed.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
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
  icon: new URL('assets/icon.svg', import.meta.url),
} as const;
const EDITOR = new URL('assets/rules-editor.js', import.meta.url);

/** The beginning of an import, or of an export of what another module exports, and the name of that module. */
const IMPORT = /^(import\s+|(?:import|export)\b[^'";]*\bfrom\s*)(['"])([^'"]+)\2/gm;

export interface Assets {
  /** The path of each. */
  readonly paths: Readonly<Record<keyof typeof FILES | 'editor', string>>;
  /** The paths of the modules that the editor imports. */
  readonly editorModules: readonly string[];
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
    const [, name = '', extension = ''] = /([^/\\.]+)(?:\.min)?\.(\w+)$/.exec(path) ?? [];
    return this.#add(name, extension, readFileSync(path));
  }

  /**
   * The path of a module. In what the browser gets, paths stand for the names of the modules that it imports: an import
   * map would do the same, but as an inline script. `paths`: those of the modules loaded so far, by URL.
   */
  loadModule(url: string, paths: Map<string, string>): string {
    const known = paths.get(url);
    if (known !== undefined) return known;
    const text = readFileSync(fileURLToPath(url), 'utf8').replaceAll(IMPORT, (_, start, quote, specifier) => {
      const imported = specifier.startsWith('.') ? new URL(specifier, url).href : import.meta.resolve(specifier);
      return `${start}${quote}${this.loadModule(imported, paths)}${quote}`;
    });
    const [, name = 'module'] =
      /\/node_modules\/@?(.+?)(?:\/(?:dist|src))?\/[^/]+$/.exec(url) ?? /([^/]+)\.js$/.exec(url) ?? [];
    const path = this.#add(name.replaceAll('/', '-'), 'js', Buffer.from(text));
    paths.set(url, path);
    return path;
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
  const modules = new Map<string, string>();
  const editor = assets.loadModule(EDITOR.href, modules);
  const paths = {
    pico: assets.load(FILES.pico),
    style: assets.load(FILES.style),
    htmx: assets.load(FILES.htmx),
    script: assets.load(FILES.script),
    icon: assets.load(FILES.icon),
    editor,
  };
  const editorModules = [...modules.values()].filter((path) => path !== editor);
  return { paths, editorModules, find: (name) => assets.find(name) };
}
