// Enters into package-lock.json the packages for other platforms that the registry at hand does not hold. npm leaves
// such optional packages out of the lock file it writes, and `npm ci` then refuses that very file. What a platform
// needs is read from the name of its package; an entry of npm's own is never touched. Run it after every change of a
// dependency.

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

/** `binding-linux-x64-musl` → linux, x64, musl. Undefined for a name that is not of a platform. */
function platformOf(name: string): Record<string, string[]> | undefined {
  const words = name.split(/[/-]/);
  const system = words.find((word) => SYSTEMS.includes(word));
  const processor = words.find((word) => PROCESSORS.includes(word));
  if (system === undefined || processor === undefined) return undefined;
  const library = words.map((word) => LIBRARIES.get(word)).find((word) => word !== undefined);
  return { os: [system], cpu: [processor], ...(library === undefined ? {} : { libc: [library] }) };
}

/** The text of a lock file with the entries it lacks, in npm's order. The same text where it lacks none. */
export function completeLockFile(text: string): string {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(text);
  const missing: [string, object][] = [];
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const platform = platformOf(name);
      // Only exact versions can be entered without asking the registry.
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
