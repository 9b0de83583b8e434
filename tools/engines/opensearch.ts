// A real OpenSearch for tests: one node on loopback, which ends with this process, however it ends.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { provideProgram } from './debian-program.ts';
import { reportMissing } from './engine-script.ts';
import { TOOLS_DIRECTORY } from './tools-directory.ts';

/** The last one for Java 17. */
const VERSION = '2.19.6';
const HOME = join(TOOLS_DIRECTORY, `opensearch-${VERSION}`);
const SOURCE = join(import.meta.dirname, 'OpenSearchNode.java');
const MAVEN_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
const DEPENDENCIES = [
  ['org.opensearch', 'opensearch', VERSION],
  ['org.opensearch.plugin', 'transport-netty4-client', VERSION],
  ['org.apache.logging.log4j', 'log4j-core', '2.25.4'],
] as const;
const CLASS_PATH = ['-cp', join(HOME, 'lib', '*')] as const;
/** Its classes as they are after some use: a start takes half of the time. */
const CLASSES = join(HOME, 'classes.jsa');
const run = promisify(execFile);

function projectFile(): string {
  const dependencies = DEPENDENCIES.map(
    ([group, artifact, version]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`,
  );
  return `<project><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>opensearch</artifactId>
<version>1</version><packaging>pom</packaging><dependencies>${dependencies.join('')}</dependencies></project>`;
}

/** Installs it if need be. Resolves to false, or rejects with the reason, if this machine cannot have it. */
export async function provideOpenSearch(): Promise<boolean> {
  if (!(await provideProgram('javac', ['openjdk-17-jdk-headless'])) || !(await provideProgram('mvn', ['maven']))) {
    return false;
  }
  const marker = join(HOME, 'installed');
  if (existsSync(marker)) return true;
  console.error('opensearch: downloading its jars with Maven (half a minute, once)');
  mkdirSync(HOME, { recursive: true });
  const project = join(HOME, 'pom.xml');
  writeFileSync(project, projectFile());
  const copy = [MAVEN_PLUGIN, '-DincludeScope=runtime', `-DoutputDirectory=${join(HOME, 'lib')}`];
  await run('mvn', ['-q', '-B', '-f', project, ...copy]);
  await run('javac', [...CLASS_PATH, '-d', HOME, SOURCE]);
  await run('jar', ['--create', '--file', join(HOME, 'lib', 'node.jar'), '-C', HOME, 'OpenSearchNode.class']);
  {
    await using server = await start(`-XX:ArchiveClassesAtExit=${CLASSES}`);
    await fetch(`${server.url}/test/_doc/1?refresh=true`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    await fetch(`${server.url}/test/_search`);
  }
  writeFileSync(marker, '');
  return true;
}

/** Undefined if it can be started, otherwise why not. */
export const missingOpenSearch = async (what: string): Promise<string | undefined> =>
  (await provideOpenSearch().catch(() => false))
    ? undefined
    : reportMissing(what, 'It needs Java 17 and Maven, and the jars of OpenSearch.');

export interface OpenSearchServer extends AsyncDisposable {
  readonly url: string;
}

async function start(classes: string): Promise<OpenSearchServer> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-opensearch-'));
  const options = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xlog:disable', classes];
  const child = spawn('java', [...options, ...CLASS_PATH, 'OpenSearchNode', directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const exit = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^ready (\d+)$/.exec(line)?.[1];
    if (port === undefined) continue;
    return {
      url: `http://127.0.0.1:${port}`,
      async [Symbol.asyncDispose]() {
        child.stdin.end();
        await exit;
        rmSync(directory, { recursive: true, force: true });
      },
    };
  }
  throw new Error('OpenSearch did not start; see its output above.');
}

/** In about 1.5 s of processor time. */
export const startOpenSearch = (): Promise<OpenSearchServer> => start(`-XX:SharedArchiveFile=${CLASSES}`);
