// The banner: on a terminal with the key, elsewhere without it, and lines that a shell takes as they stand.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { type BannerFacts, quoteForShell, renderBanner } from '../../../../src/roles/dev/banner.ts';

const FACTS: BannerFacts = {
  version: '1.2.3',
  baseUrl: 'http://127.0.0.1:8080',
  opsUrl: 'http://127.0.0.1:8081',
  consoleUrl: 'http://127.0.0.1:8090',
  devFilePath: "/data/it's here/dev.json",
  demo: { tenantId: 'ten_x', key: 'gk1_secret' },
  terminal: true,
  logInLink: 'http://127.0.0.1:8090/console/log-in#code=once',
  machineNode: undefined,
};
const curlLines = (banner: string): string[] =>
  banner
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.startsWith('curl '));

describe('the banner', () => {
  it('shows the base URL and, on a terminal, the demo key once, for three requests', () => {
    const banner = renderBanner(FACTS);
    assert.match(banner, /API {8}http:\/\/127\.0\.0\.1:8080$/m);
    assert.match(banner, /^KEY=gk1_secret$/m);
    assert.equal(banner.split('gk1_secret').length, 2);
    for (const line of banner.split('\n').slice(8)) assert.ok(line.length <= 120, line);
    const lines = curlLines(banner);
    assert.deepEqual(
      lines.map((line) => /http:\/\/127\.0\.0\.1:8080(\/v1\/\w+)/.exec(line)?.[1]),
      ['/v1/grants', '/v1/check', '/v1/objects'],
    );
    for (const line of lines) assert.ok(line.includes('Bearer $KEY"'));
  });

  it('never shows the key if standard output is not a terminal', () => {
    const banner = renderBanner({ ...FACTS, terminal: false });
    assert.ok(!banner.includes('gk1_secret'));
    assert.ok(banner.includes(FACTS.devFilePath));
    assert.equal(curlLines(banner).length, 3);
  });

  it('shows the log-in link if there is one, otherwise the place of the token', () => {
    assert.match(renderBanner(FACTS), /Console {4}http:\/\/127\.0\.0\.1:8090\/console\/log-in#code=once\n/);
    const without = renderBanner({ ...FACTS, logInLink: undefined });
    assert.match(without, /Console {4}http:\/\/127\.0\.0\.1:8090\/ \(log in with operator_token from /);
  });

  it('warns in one line that the machine has another Node', () => {
    const banner = renderBanner({ ...FACTS, machineNode: '20.20.2' });
    assert.equal(banner.split('\n').filter((line) => line.includes('20.20.2')).length, 1);
    assert.ok(banner.includes(`Node       ${process.versions.node},`));
    assert.doesNotMatch(renderBanner(FACTS), /^ {2}Node/m);
  });

  it('explains how to create a tenant if there is no demo', () => {
    const banner = renderBanner({ ...FACTS, demo: undefined });
    assert.equal(curlLines(banner).length, 0);
    assert.match(banner, /bin\/grantd tenants create/);
  });
});

describe('quoteForShell', () => {
  it('quotes any text as one word', () => {
    for (const text of ['plain', "it's", 'a b', '$(id)', '`id`', '"', '\\', 'a?b=c&d', '*', '']) {
      assert.equal(execFileSync('sh', ['-c', `printf %s ${quoteForShell(text)}`], { encoding: 'utf8' }), text);
    }
  });
});
