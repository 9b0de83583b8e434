// What to tell a client that asks for a path at which there is nothing: which path it may have meant. Invariant: the
// paths of this service are public, and nothing else is told; what the client sent is never repeated.

/** Longer paths are near none. */
const TARGET_LENGTH_MAX = 128;

/** In small letters, without the version in front and slashes at the end: the mistakes that people make most often. */
const plain = (path: string): string =>
  path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/^\/v1(?=\/)/, '');

/** Without the plural of any of its names. */
const singular = (path: string): string => path.replace(/s(?=\/|$)/g, '');

/** `paths`: all without parameters. The function returns the detail of a `not-found`. */
export function createNearPaths(paths: readonly string[]): (target: string) => string {
  const near = new Map<string, string>();
  for (const form of [(path: string) => singular(plain(path)), plain]) {
    for (const path of paths) if (path !== '/') near.set(form(path), path);
  }
  return (target) => {
    const path = target.length > TARGET_LENGTH_MAX ? '' : plain(target.split(/[?#]/, 1)[0] ?? '');
    const meant = near.get(path) ?? near.get(singular(path));
    const hint = meant === undefined ? '' : ` Perhaps you mean ${meant}.`;
    return `There is nothing at this path.${hint} The reference at /docs lists every path.`;
  };
}
