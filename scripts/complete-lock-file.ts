// Adds packages for other platforms to package-lock.json that the registry in use does not have. npm leaves such
// optional packages out of the lock file that it writes, and `npm ci` then refuses that very file. The name of a
// package tells its platform; npm's own entries are never changed. Run it after every change of a dependency.

interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];
const LIBRARIES: ReadonlyMap<string, string> = new Map([
  ['gnu', 'glibc'],
  ['gnueabihf', 'glibc'],
  ['musl', 'musl'],
  ['musleabihf', 'musl'],
]);

/** `binding-linux-x64-musl` → linux, x64, musl. Undefined for a name without a platform. */
function platformOf(name: string): Record<string, string[]> | undefined {
  const words = name.split(/[/-]/);
  const system = words.find((word) => SYSTEMS.includes(word));
  const processor = words.find((word) => PROCESSORS.includes(word));
  if (system === undefined || processor === undefined) return undefined;
  const library = words.map((word) => LIBRARIES.get(word)).find((word) => word !== undefined);
  return { os: [system], cpu: [processor], ...(library === undefined ? {} : { libc: [library] }) };
}

/** The text of a lock file with its missing entries, in npm's order. Unchanged if none is missing. */
export function completeLockFile(text: string): string {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(text);
  const missing: [string, object][] = [];
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const platform = platformOf(name);
      // Without the registry, only exact versions can be added.
      if (`node_modules/${name}` in lock.packages || platform === undefined || !/^\d+\.\d+\.\d+$/.test(version))
        continue;
      missing.push([
        `node_modules/${name}`,
        { version, ...(entry.dev === true ? { dev: true } : {}), optional: true, ...platform },
      ]);
    }
  }
  if (missing.length === 0) return text;
  const entries = [...Object.entries(lock.packages), ...missing].sort(([left], [right]) =>
    left.localeCompare(right, 'en'),
  );
  return `${JSON.stringify({ ...lock, packages: Object.fromEntries(entries) }, undefined, 2)}\n`;
}
