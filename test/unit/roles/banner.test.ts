// The banner: on a terminal with the key, elsewhere without it, and lines that a shell takes as they stand.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { type BannerFacts, quoteForShell, renderBanner } from '../../../src/roles/banner.ts';

const FACTS: BannerFacts = {
  version: '1.2.3',
  baseUrl: 'http://127.0.0.1:8080',
  opsUrl: 'http://127.0.0.1:8081',
  consoleUrl: 'http://127.0.0.1:8090',
  devFilePath: "/data/it's here/dev.json",
  demo: { tenantId: 'ten_x', key: 'gk1_secret' },
  terminal: true,
};
const curlLines = (banner: string): string[] => banner.split('\n').filter((line) => line.startsWith('curl '));

describe('the banner', () => {
  it('shows the base URL and, on a terminal, the demo key in three requests', () => {
    const banner = renderBanner(FACTS);
    assert.match(banner, /API {8}http:\/\/127\.0\.0\.1:8080$/m);
    assert.match(banner, /Demo key {3}gk1_secret/);
    const lines = curlLines(banner);
    assert.deepEqual(
      lines.map((line) => /http:\/\/127\.0\.0\.1:8080(\/v1\/\w+)/.exec(line)?.[1]),
      ['/v1/grants', '/v1/check', '/v1/objects'],
    );
    for (const line of lines) assert.ok(line.includes('Bearer gk1_secret"'));
  });

  it('never shows the key where standard output is no terminal', () => {
    const banner = renderBanner({ ...FACTS, terminal: false });
    assert.ok(!banner.includes('gk1_secret'));
    assert.ok(banner.includes(FACTS.devFilePath));
    assert.equal(curlLines(banner).length, 3);
  });

  it('says how to make a tenant where there is no demo', () => {
    const banner = renderBanner({ ...FACTS, demo: undefined });
    assert.equal(curlLines(banner).length, 0);
    assert.match(banner, /bin\/grantd tenants create/);
  });
});

describe('quoteForShell', () => {
  it('makes one word of any text', () => {
    for (const text of ['plain', "it's", 'a b', '$(id)', '`id`', '"', '\\', 'a?b=c&d', '*', '']) {
      assert.equal(execFileSync('sh', ['-c', `printf %s ${quoteForShell(text)}`], { encoding: 'utf8' }), text);
    }
  });
});
