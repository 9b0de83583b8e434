// The Java client as Maven builds it, which runs its own tests and the code of its README: the application of the
// examples, what is deployed, and a program in an empty folder, which gets the client from a repository.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { deployment, installMaven, type Maven, OFFLINE, QUICK_JAVA } from '../../../tools/engines/java.ts';
import type { HttpService } from '../../kit/http-service.ts';
import { ROOT } from '../../kit/source-tree.ts';
import { checkApplication } from '../support/application.ts';
import { startContractService } from '../support/contract.ts';
import { startTestingService } from '../support/testing-service.ts';

const run = promisify(execFile);
const CLIENT = join(ROOT, 'clients', 'java');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const README = readFileSync(join(CLIENT, 'README.md'), 'utf8');
const JAVA = ['java', ...QUICK_JAVA] as const;

const folder = mkdtempSync(join(tmpdir(), 'grantd-java-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const found = await installMaven('the Java client', folder);

const blocksIn = (language: string): string[] =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code = '']) => code);

describe('the build of the Java client', { skip: found === undefined }, () => {
  let maven: Maven;
  let service: HttpService;
  const target = (artifact: string, ...path: string[]): string => join(folder, 'target', artifact, ...path);
  const classpath = (...entries: readonly string[]): string => entries.join(delimiter);
  /** The jar of a library among those that the build has needed. */
  const jars = (pattern: string): string[] =>
    globSync(pattern, { cwd: maven.repository }).map((each) => join(maven.repository, each));

  before(async () => {
    if (found === undefined) return;
    maven = found;
    service = await startContractService();
    const { url } = await startTestingService();
    await maven.run(CLIENT, deployment(folder), { GRANTD_TESTING_URL: url });
  });
  after(async () => service?.stop());

  for (const application of ['Documents', 'SpringDocuments']) {
    it(`guards requests of an application: ${application}`, () => {
      const libraries = readFileSync(target('grantd-examples', 'classpath.txt'), 'utf8').trim();
      const classes = classpath(target('grantd-examples', 'classes'), libraries);
      return checkApplication(service, [...JAVA, '-cp', classes, `io.github.grantd.examples.${application}`]);
    });
  }

  it('is deployed whole, and no entry of its files has the time of the build', async () => {
    const deployed = join(folder, 'repository', 'io', 'github', 'grantd');
    for (const artifact of ['grantd-client', 'grantd-testing']) {
      for (const kind of ['', '-sources', '-javadoc']) {
        const file = join(deployed, artifact, version, `${artifact}-${version}${kind}.jar`);
        const { stdout } = await run('jar', ['tvf', file], { env: { ...process.env, TZ: 'UTC' } });
        const times = stdout.split('\n').flatMap((line) => /\d\d:\d\d:\d\d \S+ \d{4}/.exec(line) ?? []);
        assert.ok(times.length > 3, file);
        assert.deepEqual([...new Set(times)], ['00:00:00 UTC 2026'], file);
      }
    }
    assert.deepEqual(readdirSync(deployed).toSorted(), ['grantd-client', 'grantd-parent', 'grantd-testing']);
  });

  it('runs in an application that gets it from a repository, with what its README says', async () => {
    const application = join(folder, 'application');
    mkdirSync(join(application, 'src', 'main', 'java'), { recursive: true });
    const [dependency = ''] = blocksIn('xml');
    // In the versions that are there already.
    const parent = readFileSync(join(CLIENT, 'pom.xml'), 'utf8');
    const plugins = ['resources', 'compiler'].map((name) => {
      const [declared] =
        new RegExp(`<artifactId>maven-${name}-plugin</artifactId>\\s*<version>.*?</version>`).exec(parent) ?? [];
      return `<plugin>${declared}</plugin>`;
    });
    writeFileSync(
      join(application, 'pom.xml'),
      `<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>app</artifactId>
<version>1</version><properties><maven.compiler.release>17</maven.compiler.release></properties>
<repositories><repository><id>folder</id><url>file://${join(folder, 'repository')}</url></repository></repositories>
<dependencies>${dependency}</dependencies>
<build><pluginManagement><plugins>${plugins.join('')}</plugins></pluginManagement></build></project>`,
    );
    const [first = ''] = blocksIn('java');
    writeFileSync(join(application, 'src', 'main', 'java', 'Start.java'), first);
    await maven.run(application, [...OFFLINE, 'compile']);
    const { key } = await service.createTenant();
    const environment = { ...process.env, GRANTD_URL: service.baseUrl, GRANTD_KEY: key };
    const parts = classpath(join(application, 'target', 'classes'), ...jars('io/github/grantd/grantd-client/*/*.jar'));
    const { stdout } = await run(JAVA[0], [...JAVA.slice(1), '-cp', parts, 'Start'], { env: environment });
    assert.equal(stdout, 'true\ndocument:plan\n');
  });
});
