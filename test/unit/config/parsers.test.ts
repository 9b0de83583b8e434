// The forms of settings: what each parser takes and what it refuses.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  bytesParser,
  choiceParser,
  integerParser,
  namedToken,
  parseAddress,
  parseBoolean,
  parseClusterName,
  parseNamedTokens,
  parseOperatorToken,
  parsePath,
  parseShardName,
  parseTrustedProxies,
  parseUrl,
  plansParser,
} from '../../../src/config/parsers.ts';
import { Secret } from '../../../src/config/secret.ts';
import { WrongSetting } from '../../../src/config/setting.ts';
import { nearestName } from '../../../src/core/json-members.ts';
import { BUILT_IN_PLANS } from '../../../src/core/plans.ts';

function takes<Value>(parse: (text: string) => Value, cases: readonly (readonly [string, unknown])[]): void {
  for (const [text, value] of cases) assert.deepEqual(parse(text), value, text);
}
function refuses(parse: (text: string) => unknown, texts: readonly string[], pattern?: RegExp): void {
  for (const text of texts) {
    assert.throws(
      () => parse(text),
      (error) => error instanceof WrongSetting && (pattern === undefined || pattern.test(error.message)),
      text,
    );
  }
}

describe('the parser of', () => {
  it('addresses', () => {
    for (const text of ['127.0.0.1:8080', '0.0.0.0:0', 'localhost:65535', '[::1]:80', '[::]:0']) {
      assert.equal(parseAddress(text), text);
    }
    refuses(parseAddress, [
      '8080',
      ':8080',
      'host',
      'host:',
      'host:65536',
      'host:-1',
      '::1:80',
      '[x]:80',
      '[1.2.3.4]:1',
      'a b:1',
      'http://h:1',
      'h:1/',
    ]);
  });

  it('booleans', () => {
    takes(parseBoolean, [
      ['true', true],
      ['false', false],
    ]);
    refuses(parseBoolean, ['1', 'yes', 'TRUE', ' true']);
  });

  it('whole numbers in their bounds', () => {
    const parse = integerParser(1, 10);
    takes(parse, [
      ['1', 1],
      ['10', 10],
      ['007', 7],
    ]);
    refuses(parse, ['0', '11', '-1', '1.5', '1e1', 'x', ' 1', '1 ', '999999999999999999']);
  });

  it('bytes, plain or with a unit', () => {
    const parse = bytesParser(1, 1024 ** 4);
    takes(parse, [
      ['1', 1],
      ['2KiB', 2048],
      ['256MiB', 268_435_456],
      ['1GiB', 1_073_741_824],
      ['2Ki', 2048],
      ['256Mi', 268_435_456],
      ['1Gi', 1_073_741_824],
    ]);
    refuses(parse, ['0', '1MB', '256M', '1B', '1iB', '256mi', '1 MiB', '1.5GiB', 'MiB', '-1', '9999999GiB']);
  });

  it('choices', () => {
    const parse = choiceParser(['a', 'b']);
    takes(parse, [['a', 'a']]);
    refuses(parse, ['c', 'A', ''], /must be one of a, b/);
  });

  it('URLs, without the slash at the end', () => {
    takes(parseUrl, [
      ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
      ['https://example.com/', 'https://example.com'],
      ['https://example.com/authz/', 'https://example.com/authz'],
    ]);
    refuses(parseUrl, ['example.com', 'ftp://a', 'https://a?b', 'https://a?', 'https://a#', 'https://a b', '/path']);
  });

  it('URLs, without repeating a password in its refusal', () => {
    refuses(parseUrl, ['https://user:hunter2@example.com'], /^(?!.*hunter2)/);
  });

  it('shard names', () => {
    takes(parseShardName, [
      ['dev', 'dev'],
      ['grantd-shard-0', 'grantd-shard-0'],
      ['a.b', 'a.b'],
    ]);
    refuses(parseShardName, ['-a', 'a-', 'A', 'a_b', 'a'.repeat(64), 'ä']);
  });

  it('paths', () => {
    takes(parsePath, [['./x y', './x y']]);
    refuses(parsePath, ['a\0b']);
  });

  it('trusted proxies', () => {
    takes(parseTrustedProxies, [
      ['10.0.0.0/8, ::1,loopback', ['10.0.0.0/8', '::1', 'loopback']],
      ['fd00::/8', ['fd00::/8']],
      ['::ffff:10.0.0.0/104', ['::ffff:10.0.0.0/104']],
    ]);
    const mapped = ['::ffff:10.0.0.0/8', '0:0::FFFF:a00:0/24', 'loopback,::ffff:10.0.0.0/95'];
    refuses(parseTrustedProxies, mapped, /IPv4 ranges in IPv4 notation, like 10\.0\.0\.0\/8/);
    refuses(parseTrustedProxies, [
      '',
      '10.0.0.0/33',
      '10.0.0.0/',
      'fd00::/129',
      'proxy.example.com',
      '10.0.0.0/8/8',
      'a,',
    ]);
  });

  it('names of clusters', () => {
    takes(parseClusterName, [['production eu', 'production eu']]);
    refuses(parseClusterName, ['x'.repeat(65), 'a\nb', 'a\u202eb']);
  });

  it('operator tokens', () => {
    assert.equal(parseOperatorToken('x'.repeat(32)).reveal(), 'x'.repeat(32));
    refuses(parseOperatorToken, [
      'x'.repeat(31),
      'x'.repeat(8193),
      `${'x'.repeat(32)} y`,
      'ä'.repeat(32),
      `${'x'.repeat(32)}\n`,
    ]);
  });

  it('named tokens', () => {
    const sha256 = 'ab'.repeat(32);
    takes(parseNamedTokens, [
      [
        `# who\n\nada:${sha256}\r\n bob@example.com:${sha256.toUpperCase()} \n`,
        [
          { name: 'ada', sha256, access: 'full' },
          { name: 'bob@example.com', sha256, access: 'full' },
        ],
      ],
      [
        `rob:${sha256}:read-only\nada:${sha256}:full`,
        [
          { name: 'rob', sha256, access: 'read-only' },
          { name: 'ada', sha256, access: 'full' },
        ],
      ],
      ['# none', []],
    ]);
    const wrong = ['', 'readonly', 'Full', 'none', 'read-only:full', 'my-secret-token'].map(
      (text) => `ada:${sha256}:${text}`,
    );
    refuses(parseNamedTokens, wrong, /^(?!.*secret).*line 1/);
    refuses(parseNamedTokens, [`ada:${sha256}\nada:${sha256}`, `operator:${sha256}`], /line \d/);
    refuses(parseNamedTokens, ['ada', 'ada:abc', `:${sha256}`, `ada:${sha256}0`, 'my-secret-token'], /^(?!.*secret)/);
  });

  it('named tokens keeps the SHA-256 of the text', () => {
    assert.deepEqual(namedToken('a', new Secret('abc')), {
      name: 'a',
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      access: 'full',
    });
  });

  it('plans, laid over the built-in ones', () => {
    const plans = plansParser(BUILT_IN_PLANS)(
      '{"free": {"requests": 5, "window_seconds": 10, "namespaces_max": 3, "keys_max": 4}, "huge": {"requests": null, "window_seconds": 1}, "scale": {"requests": 1, "window_seconds": 1, "grants_max": 7, "streams_max": 6, "readers": "auto", "readers_max": 16}, "own": {"requests": 1, "window_seconds": 1, "grants_max": null}, "unlimited": {"requests": null, "window_seconds": 2}}',
    );
    assert.deepEqual([...plans.keys()], ['free', 'standard', 'scale', 'unlimited', 'huge', 'own']);
    assert.deepEqual(
      { ...plans.get('free') },
      {
        name: 'free',
        requests: 5,
        windowSeconds: 10,
        namespacesMax: 3,
        keysMax: 4,
        grantsMax: 1_000_000,
        streamsMax: 10,
        readers: 0,
        readersMax: 4,
      },
    );
    assert.deepEqual(
      { ...plans.get('huge') },
      {
        name: 'huge',
        requests: undefined,
        windowSeconds: 1,
        namespacesMax: 1000,
        keysMax: 1000,
        grantsMax: 10_000_000,
        streamsMax: 100,
        readers: 0,
        readersMax: 4,
      },
    );
    assert.deepEqual(
      ['scale', 'own', 'unlimited'].map((name) => plans.get(name)?.grantsMax),
      [7, undefined, undefined],
    );
    assert.deepEqual(
      ['scale', 'own', 'unlimited'].map((name) => plans.get(name)?.streamsMax),
      [6, 100, 5000],
    );
    assert.deepEqual(
      ['scale', 'own', 'unlimited'].map((name) => plans.get(name)?.readers),
      ['auto', 0, 0],
    );
    assert.equal(plans.get('scale')?.readersMax, 16);
    assert.equal(BUILT_IN_PLANS.get('free')?.requests, 600);
  });

  it('plans, and names what it does not know and what is given twice', () => {
    const parse = plansParser(BUILT_IN_PLANS);
    refuses(parse, ['{"a": {"requests": 1, "window_second": 1}}'], /"window_second", which .*"window_seconds"/);
    refuses(parse, ['{"a": {"requests": 1, "window_seconds": 1, "requests": null}}'], /gives "requests" twice/);
    refuses(
      parse,
      ['-1', '17', '1.5', 'null', '"2"'].map(
        (readers) => `{"a": {"requests": 1, "window_seconds": 1, "readers": ${readers}}}`,
      ),
      /"readers" that are a whole number from 0 to 16, or "auto"/,
    );
  });

  it('plans, and refuses every other shape', () => {
    const parse = plansParser(BUILT_IN_PLANS);
    refuses(parse, [
      '{',
      '[]',
      'null',
      '1',
      '{"a": 1}',
      '{"a": null}',
      '{"a": []}',
      '{"a": {}}',
      '{"a": {"window_seconds": 1}}',
      '{"a": {"requests": 1}}',
      '{"a": {"requests": 0, "window_seconds": 1}}',
      '{"a": {"requests": 1.5, "window_seconds": 1}}',
      '{"a": {"requests": "1", "window_seconds": 1}}',
      '{"a": {"requests": 1, "window_seconds": 100000}}',
      '{"a": {"requests": 1, "window_seconds": 1, "burst": 2}}',
      '{"A b": {"requests": 1, "window_seconds": 1}}',
      '{"": {"requests": 1, "window_seconds": 1}}',
      '{"__proto__": {"requests": 1, "window_seconds": 1}}',
    ]);
  });
});

describe('nearestName', () => {
  const names = ['GRANTD_HTTP_ADDRESS', 'GRANTD_OPS_ADDRESS', 'GRANTD_SLOTS'];

  it('finds the name with the fewest differences', () => {
    assert.equal(nearestName('GRANTD_HTTPS_ADDRESS', names), 'GRANTD_HTTP_ADDRESS');
    assert.equal(nearestName('GRANTD_SLOT', names), 'GRANTD_SLOTS');
  });

  it('takes another style for no difference, and no time for a name that is too long to be one', () => {
    assert.equal(nearestName('expiresAt', ['expires', 'expires_at']), 'expires_at');
    assert.equal(nearestName('anyOf', ['name', 'any_of']), 'any_of');
    assert.equal(nearestName('If', ['grants', 'if']), 'if');
    assert.equal(nearestName('can_raed', ['can_add', 'can_read']), 'can_read');
    assert.equal(nearestName('tpyes', ['types', 'type']), 'types');
    assert.equal(nearestName('title', ['name', 'namespace']), undefined);
    assert.equal(nearestName('x'.repeat(50_000_000), names), undefined);
  });

  it('finds none where all are far', () => {
    assert.equal(nearestName('GRANTD_COLOUR_OF_THE_SKY', names), undefined);
    assert.equal(nearestName('x', []), undefined);
  });

  it('finds every name with up to two slips', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(8), fc.nat(8), (name, first, second) => {
        const slip = (text: string, at: number): string => text.slice(0, 7 + (at % 5)) + text.slice(8 + (at % 5));
        assert.equal(nearestName(slip(slip(name, first), second), names), name);
      }),
    );
  });
});
