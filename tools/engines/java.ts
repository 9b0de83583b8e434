// Java and Maven for the Java client: from Debian if the machine lacks them. What its build needs from Maven is
// downloaded once, into a folder of its own, by a build of the client itself; later builds need no network.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { provideFile, provideProgram } from './debian-program.ts';
import { reportMissing } from './engine-script.ts';
import { TOOLS_DIRECTORY } from './tools-directory.ts';

const run = promisify(execFile);
const CLIENT = join(import.meta.dirname, '..', '..', 'clients', 'java');
const MAVEN_MS_MAX = 580_000;
const OUTPUT_BYTES_MAX = 16 << 20;

export interface Maven {
  /** Runs it in a directory. Rejects with its output if it fails. */
  run(directory: string, args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<void>;
  /** The local repository of this run. */
  readonly repository: string;
}

async function mavenRun(
  directory: string,
  repository: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  try {
    await run('mvn', ['-B', '-q', `-Dmaven.repo.local=${repository}`, ...args], {
      cwd: directory,
      env: { ...process.env, ...environment },
      timeout: MAVEN_MS_MAX,
      maxBuffer: OUTPUT_BYTES_MAX,
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`mvn ${args.join(' ')} failed.\n${stdout}${stderr}`, { cause: error });
  }
}

/** Named by the files that say what is needed. */
function homeOf(): string {
  const hash = createHash('sha256');
  for (const pom of globSync('{.,*}/pom.xml', { cwd: CLIENT }).toSorted()) hash.update(readFileSync(join(CLIENT, pom)));
  return join(TOOLS_DIRECTORY, `java-client-${hash.digest('hex').slice(0, 12)}`);
}

/** Each program, and the package of Debian that has it. */
const JDK = ['javac', 'openjdk-17-jdk-headless'] as const;
const MAVEN = ['mvn', 'maven'] as const;

/** Java with its compiler, without Maven. */
export const provideJava = (): Promise<boolean> => provideProgram(JDK[0], [JDK[1]]);

/** For programs of a few seconds, which spend most of them on compiling themselves; and the same for `javac`. */
export const QUICK_JAVA = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'] as const;
export const QUICK_JAVAC = QUICK_JAVA.map((option) => `-J${option}`);

/** The driver for Postgres. */
export const JDBC_DRIVER = '/usr/share/java/postgresql.jar';
export const provideJdbcDriver = (): Promise<boolean> => provideFile(JDBC_DRIVER, ['libpostgresql-jdbc-java']);

/** Installs everything if need be. Resolves to false if this machine cannot have it. */
export async function provideMaven(): Promise<boolean> {
  for (const [program, name] of [JDK, MAVEN]) if (!(await provideProgram(program, [name]))) return false;
  const home = homeOf();
  const marker = join(home, 'installed');
  if (existsSync(marker)) return true;
  console.error('java-client: downloading what its build needs with Maven (a minute, once)');
  mkdirSync(home, { recursive: true });
  const built = mkdtempSync(join(tmpdir(), 'grantd-java-'));
  try {
    // The phases after "verify" have plugins of their own. The tests run without their service, for what runs them.
    const args = ['-Dmaven.test.failure.ignore=true', ...deployment(built)];
    await mavenRun(CLIENT, join(home, 'repository'), args, { GRANTD_TESTING_URL: 'http://127.0.0.1:1' });
    await writeFile(marker, '');
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
  return true;
}

/** Without a network: Maven still reads from repositories that are folders. It deploys nothing then. */
export const OFFLINE = ['-o', '-Daether.offline.protocols=file'] as const;

/** Builds, tests and packages the client, and deploys it into `repository` within a folder. */
export const deployment = (folder: string): readonly string[] => [
  `-Dbuild.folder=${join(folder, 'target')}`,
  `-DaltDeploymentRepository=local::file://${join(folder, 'repository')}`,
  'deploy',
];

/** A repository with everything that is downloaded, but without artifacts of the client: it gets its own. */
function withoutClient(repository: string, target: string): void {
  mkdirSync(join(target, 'io'), { recursive: true });
  for (const name of readdirSync(repository))
    if (name !== 'io') symlinkSync(join(repository, name), join(target, name));
  for (const name of readdirSync(join(repository, 'io'))) {
    if (name !== 'github') symlinkSync(join(repository, 'io', name), join(target, 'io', name));
  }
}

/** Undefined if this machine has no Maven: reports that, and fails if CI is set. `folder`: for files of this run. */
export async function installMaven(what: string, folder: string): Promise<Maven | undefined> {
  if (!(await provideMaven())) {
    reportMissing(what, 'It needs Java 17 and Maven.');
    return undefined;
  }
  const repository = join(folder, 'maven');
  withoutClient(join(homeOf(), 'repository'), repository);
  return { repository, run: (...args) => mavenRun(args[0], repository, args[1], args[2]) };
}
