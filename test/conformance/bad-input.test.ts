// Bad input: each line gets a problem document that names what is wrong and where, and changes nothing.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertProblem, type CallOptions } from '../kit/http-client.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

/** What is wrong with an identifier → the value; undefined: the field is left out. */
const BAD_IDENTIFIERS: [string, unknown][] = [
  ['missing', undefined],
  ['null', null],
  ['a number', 1],
  ['a boolean', true],
  ['an array', ['user:ada']],
  ['an object', { user: 'ada' }],
  ['empty', ''],
  ['without a colon', 'ada'],
  ['without a namespace', ':ada'],
  ['without an external id', 'user:'],
  ['only a colon', ':'],
  ['a namespace that starts with a digit', '1user:ada'],
  ['a namespace with a space', 'us er:ada'],
  ['a namespace with a letter beyond ASCII', 'üser:ada'],
  ['a namespace of 65 characters', `${'n'.repeat(65)}:ada`],
  ['an external id of 257 code points', `user:${'x'.repeat(257)}`],
  ['an external id of 257 code points outside the first plane', `user:${'😀'.repeat(257)}`],
  ['NUL', 'user:a\u0000b'],
  ['a control character', 'user:a\u0007b'],
  ['DEL', 'user:a\u007fb'],
  ['a control character of the second block', 'user:a\u0085b'],
  ['a space', 'user:a b'],
  ['a tab', 'user:a\tb'],
  ['a line break', 'user:a\nb'],
  ['a line break at the end', 'user:ada\n'],
  ['a space at the start', ' user:ada'],
  ['a no-break space', 'user:a\u00a0b'],
  ['an ideographic space', 'user:a\u3000b'],
  ['a line separator', 'user:a\u2028b'],
  ['a lone high surrogate', 'user:\ud83d'],
  ['a lone low surrogate', 'user:\ude00x'],
  ['surrogates in the wrong order', 'user:\ude00\ud83d'],
];

const BAD_RELATIONS: [string, unknown][] = [
  ['missing', undefined],
  ['null', null],
  ['a number', 6],
  ['an array', ['viewer']],
  ['empty', ''],
  ['unknown', 'reader'],
  ['in capitals', 'VIEWER'],
  ['with a space', 'viewer '],
  ['a star', '*'],
  ['the name of an object property', 'constructor'],
  ['another name of an object property', '__proto__'],
];

const BAD_FIELDS: [string, string, unknown][] = [
  ...BAD_IDENTIFIERS.map(([what, value]): [string, string, unknown] => ['subject', what, value]),
  ...BAD_RELATIONS.map(([what, value]): [string, string, unknown] => ['relation', what, value]),
  ...BAD_IDENTIFIERS.map(([what, value]): [string, string, unknown] => ['object', what, value]),
];

const TUPLE_OPERATIONS: [string, string][] = [
  ['POST', '/v1/check'],
  ['POST', '/v1/grants'],
  ['DELETE', '/v1/grants'],
];

const BODY_OPERATIONS: [string, string, unknown][] = [
  ['POST', '/v1/check', TUPLE],
  ['POST', '/v1/check/bulk', { checks: [TUPLE] }],
  ['POST', '/v1/grants', TUPLE],
  ['DELETE', '/v1/grants', TUPLE],
  ['POST', '/v1/grants/bulk', { grants: [TUPLE] }],
  ['POST', '/v1/grants/revoke', { subject: TUPLE.subject }],
  ['POST', '/v1/namespaces', { name: 'folder' }],
];

/** `detail` has to match; the body is sent as it is. */
const BAD_BODIES: [string, string | Buffer, RegExp][] = [
  ['empty', '', /body is empty/],
  ['white space', ' ', /not valid JSON.*ends too early/],
  ['cut off', '{"subject":"user:ada"', /ends too early, at line 1, column 22/],
  ['not JSON', 'subject=user:ada', /unexpected character at line 1, column 1/],
  ['with a comma too many', '{"subject":"a:b",}', /column 18/],
  ['in single quotes', "{'subject':'a:b'}", /column 2/],
  ['with a comment', '{/* */}', /column 2/],
  ['with NaN', '{"subject":NaN}', /column 12/],
  ['two values', '{}{}', /column 3/],
  ['after a byte order mark', '\ufeff{}', /column 1/],
  ['in UTF-16', Buffer.from('{"subject":"a:b"}', 'utf16le'), /not valid JSON/],
  ['not UTF-8', Buffer.from('7b2261223a22ff227d', 'hex'), /not well-formed UTF-8/],
  ['an overlong form of UTF-8', Buffer.from('7b2261223a22c0af227d', 'hex'), /not well-formed UTF-8/],
  ['a surrogate in UTF-8', Buffer.from('7b2261223a22eda080227d', 'hex'), /not well-formed UTF-8/],
  ['an array', '[]', /must be a JSON object/],
  ['null', 'null', /must be a JSON object/],
  ['text', '"user:ada"', /must be a JSON object/],
  ['a number', '1', /must be a JSON object/],
  ['deep JSON', '['.repeat(30_000) + ']'.repeat(30_000), /nested more than 32 deep, at line 1, column 33\.$/],
  ['deep JSON, cut off', '{"a":'.repeat(10_000), /nested more than 32 deep, at line 1, column 161\.$/],
  [
    'JSON of many values',
    `{"a":[${'1,'.repeat(30_000)}1]}`,
    /holds more than 4096 values; the first one too many is at line 1, column 8195\.$/,
  ],
  ['long JSON, cut off', `{"a":"${'x'.repeat(60_000)}",`, /ends too early, at line 1, column 60009\.$/],
];

describe('bad input', () => {
  let service: HttpService;
  let key: string;
  before(async () => {
    service = await startHttpService();
    ({ key } = await service.createTenant());
  });
  after(async () => {
    try {
      // Nothing of all that has changed anything.
      const namespaces = await service.send({ method: 'GET', path: '/v1/namespaces', key });
      assert.deepEqual(namespaces.json, { namespaces: [] });
    } finally {
      await service.stop();
    }
  });

  const refuses = async (options: CallOptions, status: number, type: string): Promise<string> =>
    assertProblem(await service.send({ key, ...options }), status, type, service.errorsBase);

  for (const [method, path] of TUPLE_OPERATIONS) {
    it(`${method} ${path} names a bad field and what is wrong with it`, async () => {
      for (const [field, what, value] of BAD_FIELDS) {
        const detail = await refuses({ method, path, body: { ...TUPLE, [field]: value } }, 400, `invalid-${field}`);
        assert.match(detail, new RegExp(`^"${field}" must be `), what);
      }
    });
  }

  it('POST /v1/check/bulk names the element too, and answers none of the others', async () => {
    for (const [field, what, value] of BAD_FIELDS) {
      const checks = [TUPLE, TUPLE, TUPLE, { ...TUPLE, [field]: value }, TUPLE];
      const detail = await refuses(
        { method: 'POST', path: '/v1/check/bulk', body: { checks } },
        400,
        `invalid-${field}`,
      );
      assert.match(detail, new RegExp(`^"checks\\[3\\]\\.${field}" must be `), what);
    }
  });

  it('POST /v1/grants/bulk names the change or the condition too, and makes none of the others', async () => {
    for (const [field, what, value] of BAD_FIELDS) {
      for (const list of ['grants', 'revocations', 'if']) {
        const good = list === 'if' ? { ...TUPLE, exists: true } : TUPLE;
        const body = { grants: [{ ...TUPLE, object: 'document:other' }], [list]: [good, { ...good, [field]: value }] };
        const detail = await refuses({ method: 'POST', path: '/v1/grants/bulk', body }, 400, `invalid-${field}`);
        assert.ok(detail.startsWith(`"${list}[1].${field}" must be `), `${what}: ${detail}`);
      }
    }
  });

  it('DELETE /v1/grants takes a body or a query, not both, and all of a tuple in either', async () => {
    for (const [field, what, value] of BAD_FIELDS) {
      if (value !== undefined && (typeof value !== 'string' || !value.isWellFormed())) continue;
      const query = new URLSearchParams(TUPLE);
      if (value === undefined) query.delete(field);
      else query.set(field, value);
      const detail = await refuses({ method: 'DELETE', path: `/v1/grants?${query}` }, 400, `invalid-${field}`);
      assert.match(detail, new RegExp(`^"${field}" must be `), what);
    }
    const path = `/v1/grants?${new URLSearchParams(TUPLE)}`;
    const detail = await refuses({ method: 'DELETE', path, body: TUPLE }, 400, 'invalid-request');
    assert.match(detail, /both a body and query parameters/);
    assert.match(await refuses({ method: 'DELETE', path: `${path}&x=1` }, 400, 'invalid-request'), /"x" is unknown/);
    assert.match(
      await refuses({ method: 'DELETE', path: `${path}&subject=a:b` }, 400, 'invalid-request'),
      /"subject" is repeated/,
    );
    // An empty body counts as none, however it is sent; any other does not, whatever it holds.
    const chunked = { 'transfer-encoding': 'chunked', 'content-length': '' };
    for (const headers of [{}, chunked]) {
      await refuses({ method: 'DELETE', path, body: '', headers }, 404, 'grant-not-found');
      await refuses({ method: 'DELETE', path, body: ' ', headers }, 400, 'invalid-request');
    }
    await refuses({ method: 'DELETE', path: '/v1/grants?&', body: TUPLE }, 404, 'grant-not-found');
  });

  it('GET /v1/objects names a bad subject or relation', async () => {
    for (const [field, what, value] of BAD_FIELDS) {
      if (field === 'object' || (value !== undefined && typeof value !== 'string')) continue;
      // A lone surrogate has no percent-encoding.
      if (value !== undefined && !value.isWellFormed()) continue;
      const query = new URLSearchParams({ subject: TUPLE.subject, relation: TUPLE.relation });
      if (value === undefined) query.delete(field);
      else query.set(field, value);
      const detail = await refuses({ method: 'GET', path: `/v1/objects?${query}` }, 400, `invalid-${field}`);
      assert.match(detail, new RegExp(`^"${field}" must be `), what);
    }
  });

  it('GET /v1/subjects names a bad object or relation', async () => {
    for (const [field, what, value] of BAD_FIELDS) {
      if (field === 'subject' || (value !== undefined && typeof value !== 'string')) continue;
      if (value !== undefined && !value.isWellFormed()) continue;
      const query = new URLSearchParams({ object: TUPLE.object, relation: TUPLE.relation });
      if (value === undefined) query.delete(field);
      else query.set(field, value);
      const detail = await refuses({ method: 'GET', path: `/v1/subjects?${query}` }, 400, `invalid-${field}`);
      assert.match(detail, new RegExp(`^"${field}" must be `), what);
    }
    const path = '/v1/subjects?object=d:1&relation=viewer&via=groups';
    assert.match(await refuses({ method: 'GET', path }, 400, 'invalid-request'), /^"via" must be direct/);
  });

  it('GET /v1/grants takes exactly one of subject and object, and never none for all', async () => {
    for (const [query, detail] of [
      ['', /Exactly one of "subject" and "object" must be given; neither is given/],
      ['?relation=viewer', /neither is given/],
      ['?subject=user:a&object=d:1', /both are given/],
    ] as const) {
      const path = `/v1/grants${query}`;
      assert.match(await refuses({ method: 'GET', path }, 400, 'invalid-request'), detail);
    }
    for (const [query, field] of [
      ['?subject=', 'subject'],
      ['?object=', 'object'],
      ['?subject=a', 'subject'],
      ['?object=d:1&relation=reads', 'relation'],
      ['?object=d:1&relation=', 'relation'],
      ['?object=d:1&cursor=x', 'cursor'],
    ] as const) {
      const path = `/v1/grants${query}`;
      assert.match(await refuses({ method: 'GET', path }, 400, `invalid-${field}`), new RegExp(`^"${field}" `));
    }
  });

  it('POST /v1/check takes true or false for explain', async () => {
    for (const explain of ['yes', 'true', 1, 0, null, [], {}]) {
      const body = { ...TUPLE, explain };
      const detail = await refuses({ method: 'POST', path: '/v1/check', body }, 400, 'invalid-request');
      assert.match(detail, /^"explain" must be true or false/, String(explain));
    }
    await refuses({ method: 'POST', path: '/v1/check', body: { explain: 'yes' } }, 400, 'invalid-subject');
  });

  it('a text that is no name of a relation is refused, whatever the rules of the tenant are', async () => {
    const { key: ruled } = await service.createTenant();
    const rules = { rules: [{ namespace: 'document', name: 'can_read', any_of: ['viewer', 'can_read from parent'] }] };
    assert.equal((await service.send({ method: 'PUT', path: '/v1/rules', key: ruled, body: rules })).status, 200);
    for (const relation of [
      'can read',
      'can_read from parent',
      'can_read ',
      ' can_read',
      'can_read\n',
      'can_read#member',
      'document:1#can_read',
      '_can_read',
      '9read',
      'n'.repeat(65),
      'ün',
      'can_read\u0000',
      '\ud800',
      'CAN_READ',
      '__proto__',
      'constructor',
      'hasOwnProperty',
    ]) {
      const body = { ...TUPLE, relation };
      const calls: [CallOptions, string][] = [
        [{ method: 'POST', path: '/v1/check', body }, 'relation'],
        [{ method: 'POST', path: '/v1/check', body: { ...body, explain: true } }, 'relation'],
        [{ method: 'POST', path: '/v1/check/bulk', body: { checks: [TUPLE, body] } }, 'checks\\[1\\]\\.relation'],
      ];
      if (relation.isWellFormed()) {
        const named = new URLSearchParams({ relation });
        calls.push([{ method: 'GET', path: `/v1/objects?subject=user:ada&${named}` }, 'relation']);
        calls.push([{ method: 'GET', path: `/v1/subjects?object=document:plan&${named}` }, 'relation']);
      }
      for (const [options, place] of calls) {
        for (const each of [key, ruled]) {
          const detail = await refuses({ ...options, key: each }, 400, 'invalid-relation');
          assert.match(detail, new RegExp(`^"${place}" must be one of `), JSON.stringify(relation));
        }
      }
    }
  });

  it('via is direct or nothing', async () => {
    for (const via of ['', 'Direct', 'rules', 'direct ', 'true']) {
      for (const path of ['/v1/objects?subject=user:ada', '/v1/subjects?object=document:plan']) {
        const query = new URLSearchParams({ relation: 'viewer', via });
        const detail = await refuses({ method: 'GET', path: `${path}&${query}` }, 400, 'invalid-request');
        assert.match(detail, /^"via" must be direct/);
      }
    }
  });

  it('the first bad field in the order subject, relation, object decides', async () => {
    await refuses({ method: 'POST', path: '/v1/check', body: {} }, 400, 'invalid-subject');
    await refuses({ method: 'POST', path: '/v1/check', body: { subject: 'a:b' } }, 400, 'invalid-relation');
    await refuses(
      { method: 'POST', path: '/v1/check', body: { subject: 'a:b', relation: 'owner' } },
      400,
      'invalid-object',
    );
  });

  for (const [method, path, good] of BODY_OPERATIONS) {
    it(`${method} ${path} says what is wrong with a body and where`, async () => {
      for (const [what, body, detail] of BAD_BODIES) {
        assert.match(await refuses({ method, path, body }, 400, 'invalid-request'), detail, what);
      }
    });

    it(`${method} ${path} takes JSON in UTF-8 without an encoding and nothing else`, async () => {
      const types = [
        '',
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json; charset=latin1',
        'application/xml',
      ];
      for (const type of types) {
        const headers = { 'content-type': type };
        await refuses({ method, path, body: good, headers }, 415, 'unsupported-media-type');
      }
      const headers = { 'content-encoding': 'gzip' };
      await refuses({ method, path, body: gzipSync(JSON.stringify(good)), headers }, 415, 'unsupported-media-type');
      await refuses({ method, path }, 415, 'unsupported-media-type');
    });

    it(`${method} ${path} takes a body up to its limit and not beyond`, async () => {
      const kib = path.endsWith('/bulk') ? 1024 : 64;
      const detail = await refuses({ method, path, body: ' '.repeat(kib * 1024 + 1) }, 413, 'payload-too-large');
      assert.match(detail, new RegExp(`larger than ${kib} KiB`));
      const chunked = { 'transfer-encoding': 'chunked', 'content-length': '' };
      await refuses({ method, path, body: ' '.repeat(kib * 1024 + 1), headers: chunked }, 413, 'payload-too-large');
      await refuses({ method, path, body: ' '.repeat(kib * 1024) }, 400, 'invalid-request');
    });

    it(`${method} ${path} takes no query parameter`, async () => {
      assert.match(
        await refuses({ method, path: `${path}?x=1`, body: good }, 400, 'invalid-request'),
        /"x" is unknown/,
      );
    });
  }

  it('more than 100 checks are refused before any of them is looked at', async () => {
    for (const element of [TUPLE, null, { subject: 1 }]) {
      const body = { checks: Array.from({ length: 101 }, () => element) };
      await refuses({ method: 'POST', path: '/v1/check/bulk', body }, 400, 'bulk-too-large');
    }
  });

  it('checks that are no array of objects', async () => {
    for (const checks of [undefined, null, {}, 'x', 1]) {
      const detail = await refuses(
        { method: 'POST', path: '/v1/check/bulk', body: { checks } },
        400,
        'invalid-request',
      );
      assert.match(detail, /^"checks" must be an array/);
    }
    for (const element of [null, 1, 'x', []]) {
      const body = { checks: [TUPLE, element] };
      const detail = await refuses({ method: 'POST', path: '/v1/check/bulk', body }, 400, 'invalid-request');
      assert.match(detail, /^"checks\[1\]" must be an object/);
    }
  });

  it('names that are no namespace', async () => {
    for (const name of [
      undefined,
      null,
      1,
      '',
      'a:b',
      '1a',
      'a b',
      'ä',
      'n'.repeat(65),
      'a\u0000',
      '\ud800',
      '__proto__',
    ]) {
      const detail = await refuses({ method: 'POST', path: '/v1/namespaces', body: { name } }, 400, 'invalid-request');
      assert.match(detail, /^"name" must be a namespace name/);
    }
  });

  it('keys like __proto__ set nothing', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const body = `{"${name}":${JSON.stringify(TUPLE)}}`;
      const detail = await refuses({ method: 'POST', path: '/v1/check', body }, 400, 'invalid-request');
      assert.ok(detail.startsWith(`"${name}" is unknown; `), detail);
    }
  });

  it('query parameters that are unknown, repeated, malformed or out of range', async () => {
    const objects = '/v1/objects?subject=user:ada&relation=viewer';
    const cases: [string, RegExp][] = [
      [`${objects}&x=1`, /"x" is unknown/],
      [`${objects}&Limit=1`, /"Limit" is unknown/],
      [`${objects}&subject=user:ada`, /"subject" is repeated/],
      [`${objects}&limit=1&limit=1`, /"limit" is repeated/],
      [`${objects}&namespace=%zz`, /malformed percent-encoding/],
      [`${objects}&namespace=%ff`, /malformed percent-encoding/],
      [`${objects}#x`, /must not hold a "#"/],
      [`${objects}&namespace=`, /^"namespace" must be/],
      [`${objects}&namespace=a:b`, /^"namespace" must be/],
      ...['0', '1001', '-1', 'ten', '1.5', ''].map((limit): [string, RegExp] => [
        `${objects}&limit=${limit}`,
        /^"limit" must be/,
      ]),
      ['/v1/namespaces?limit=1', /"limit" is unknown; this operation takes none/],
      ['/v1/keys?limit=0', /^"limit" must be/],
      ['/v1/keys?subject=a:b', /"subject" is unknown; known parameters: limit, cursor/],
      ['/openapi.json?x', /"x" is unknown/],
    ];
    for (const [path, detail] of cases) {
      assert.match(await refuses({ method: 'GET', path }, 400, 'invalid-request'), detail, path);
    }
  });
});
