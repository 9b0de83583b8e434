// What the TypeScript client has beyond the contract of all clients: cancelling, its own fetch function, options,
// warnings, hooks and spans.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { propagation, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import express, { type ErrorRequestHandler } from 'express';
import { type CallFacts, Grantd, GrantdError, type GrantdOptions } from '../../clients/typescript/src/exports.ts';
import { createRequires } from '../../clients/typescript/src/express.ts';
import { createRequires as fastifyRequires } from '../../clients/typescript/src/fastify.ts';
import { createRequires as nestRequires } from '../../clients/typescript/src/nest.ts';
import { tracing } from '../../clients/typescript/src/otel.ts';
import { call } from '../kit/http-client.ts';
import { startTestingService } from './support/testing-service.ts';

const service = await startTestingService();
const VIEWER = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' } as const;
const check = (grantd: Grantd): Promise<boolean> => grantd.check(VIEWER);

const failureOf = async (work: Promise<unknown>): Promise<GrantdError> => {
  const error = await work.then(
    () => assert.fail('it succeeds'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GrantdError, String(error));
  return error;
};

/** A fetch function that fails so many times before it passes requests on. */
function failing(times: number, seen: RequestInit[] = []): typeof fetch {
  let left = times;
  return async (input, init = {}) => {
    seen.push(init);
    left -= 1;
    if (left >= 0) throw new TypeError('fetch failed');
    return fetch(input, init);
  };
}

/** A fetch function whose responses have these warnings, one after another, and none of the service. */
function warning(texts: readonly string[]): typeof fetch {
  const left = texts.values();
  return async (input, init) => {
    const response = await fetch(input, init);
    const { value: text } = left.next();
    const headers = new Headers(response.headers);
    headers.delete('x-service-warning');
    if (text !== undefined) headers.set('x-service-warning', text);
    return new Response(response.body, { status: response.status, headers });
  };
}

const never: typeof fetch = () => new Promise(() => {});

describe('a call', () => {
  it('ends when the caller cancels it, and is not sent again', async () => {
    const seen: RequestInit[] = [];
    const tenant = service.tenant();
    const controller = new AbortController();
    const fetchIt: typeof fetch = (_, init = {}) => {
      seen.push(init);
      controller.abort();
      return new Promise(() => {});
    };
    const grantd = tenant.client({ fetch: fetchIt });
    const { signal } = controller;
    const error = await failureOf(grantd.check(VIEWER, { signal }));
    assert.deepEqual([error.type, error.retryable, seen.length], ['cancelled', false, 1]);
    assert.equal((await failureOf(grantd.checkBulk({ checks: [VIEWER] }, { signal }))).type, 'cancelled');
  });

  it('ends at its deadline, even if the fetch function ignores its signal', async () => {
    const error = await failureOf(check(service.tenant().client({ fetch: never, timeoutMs: 20 })));
    assert.deepEqual([error.type, error.status, error.retryable], ['timeout', 0, true]);
  });

  it('shows the API key in no error', async () => {
    const tenant = service.tenant();
    const { key } = tenant.options;
    const fetchIt: typeof fetch = async () => {
      throw new TypeError(`cannot connect`);
    };
    const error = await failureOf(check(tenant.client({ fetch: fetchIt, retryBudget: 0 })));
    assert.equal(error.type, 'connection-lost');
    assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes(key));
    assert.ok(error.cause instanceof TypeError);
  });
});

describe('the options', () => {
  it('are refused if no client can work with them', () => {
    const right: GrantdOptions = { url: 'https://grantd.example', key: 'gk1_a' };
    assert.ok(new Grantd(right));
    const wrong: readonly Partial<GrantdOptions>[] = [
      { url: '' },
      { url: 'grantd.example' },
      { url: 'ftp://grantd.example' },
      { url: 'https://user:secret@grantd.example' },
      { url: 'https://grantd.example/?a=b' },
      { key: '' },
      { key: 'a b' },
      { key: 'a\nb' },
      { timeoutMs: 0 },
      { timeoutMs: Number.NaN },
      { timeoutMs: Number.POSITIVE_INFINITY },
      { retryBudget: -1 },
      { maxRetries: -1 },
      { maxRetries: Number.NaN },
      { backoff: { firstMs: -1 } },
      { backoff: { firstMs: 3000 } },
      { backoff: { firstMs: 2, maxMs: 1 } },
      { headers: { 'a b': 'c' } },
      { headers: { a: '' } },
      { headers: { a: 'b\n' } },
      { headers: { AUTHORIZATION: 'Bearer other' } },
      { userAgent: '' },
      { userAgent: ' a' },
      { userAgent: 'a'.repeat(257) },
      { silenceMs: 0 },
    ];
    for (const each of wrong) assert.throws(() => new Grantd({ ...right, ...each }), TypeError, JSON.stringify(each));
  });
});

describe('an error', () => {
  const url = 'https://grantd.example/authorization';
  /** What runtimes throw: the code of the system is in a cause, or in one of several. */
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const causes = [new TypeError('fetch failed', { cause: refused }), new AggregateError([refused]), refused];

  it('says in its message what has failed, where, and the code of the system', async () => {
    for (const cause of causes) {
      const grantd = new Grantd({ url, key: 'gk1_a', maxRetries: 0, fetch: () => Promise.reject(cause) });
      const { message } = await failureOf(grantd.listObjects({ subject: 'user:ada', relation: 'viewer' }).page());
      assert.equal(
        message,
        `connection-lost: The connection to the service failed: ECONNREFUSED. (GET ${url}/v1/objects)`,
      );
    }
  });

  it('says in its message which request the service refused', async () => {
    const {
      message,
      requestId,
      request,
      stack = '',
    } = await failureOf(
      service
        .tenant()
        .client()
        .check({ ...VIEWER, subject: 'nobody' }),
    );
    assert.equal(request, `POST ${service.url}/v1/check`);
    assert.match(requestId ?? '', /^req_/);
    assert.match(message, /^invalid-subject: .+ \(POST http:\/\/[\d.:]+\/v1\/check, req_[0-9a-z]+\)$/);
    assert.ok(stack.includes(message));
  });

  it('says where a response came from that is not what the schema says', async () => {
    const fetchIt: typeof fetch = async () => Response.json({ authorized: 'true', checked_at: '' });
    const grantd = new Grantd({ url, key: 'gk1_a', fetch: fetchIt });
    assert.match((await failureOf(check(grantd))).message, /^invalid-response: .*POST https:\/\/grantd\.example\/auth/);
  });
});

describe('a log', () => {
  it('gets an entry for each attempt, and may fail without an effect on the call', async () => {
    const entries: string[] = [];
    const tenant = service.tenant();
    const debug = (entry: string): void => {
      entries.push(entry);
      throw new Error('the log is full');
    };
    const grantd = tenant.client({ fetch: failing(1), logger: { debug }, backoff: { maxMs: 0 } });
    assert.equal(await check(grantd), false);
    await tenant.client().createGrant(VIEWER);
    for await (const _ of grantd.changes()) break;
    const shown = entries.map((entry) => entry.replace(/ after \d+ ms/, '').replace(/req_[0-9a-z]+/, 'req_'));
    assert.deepEqual(shown, [
      'grantd: check POST /v1/check, attempt 1: connection-lost',
      'grantd: check POST /v1/check, attempt 2: 200, req_',
      'grantd: listChanges GET /v1/changes, attempt 1: 200, req_',
    ]);
  });
});

describe('the change feed', () => {
  it('begins now, whatever is interrupted first', async () => {
    const tenant = service.tenant();
    const grantd = tenant.client();
    await grantd.createGrant(VIEWER);
    let streams = 0;
    const fetchIt: typeof fetch = async (input, init = {}) => {
      const isStream = new Headers(init.headers).get('accept') === 'application/x-ndjson';
      if (isStream) streams += 1;
      if (!isStream || streams > 1) return fetch(input, init);
      // What comes while the first stream fails must not be left out.
      await grantd.createGrant({ ...VIEWER, relation: 'editor' });
      throw new TypeError('fetch failed');
    };
    for await (const { change } of tenant.client({ fetch: fetchIt }).changes({ since: 'now' })) {
      assert.deepEqual([change.action, change.grant?.relation], ['grant.created', 'editor']);
      break;
    }
    assert.equal(streams, 2);
  });

  it('ends when the caller cancels it', async () => {
    const controller = new AbortController();
    const grantd = service.tenant().client();
    await grantd.createGrant(VIEWER);
    const follow = async (): Promise<void> => {
      for await (const _ of grantd.changes({}, { signal: controller.signal })) controller.abort();
    };
    assert.equal((await failureOf(follow())).type, 'cancelled');
  });
});

describe('a hook', () => {
  it('wraps each call, and adds headers to each attempt', async () => {
    const calls: CallFacts[] = [];
    const seen: RequestInit[] = [];
    const tenant = service.tenant();
    const grantd = tenant.client({
      fetch: failing(1, seen),
      hook: async (call, run) => {
        calls.push(call);
        return run({ 'x-request-id': 'mine', authorization: 'Bearer other' });
      },
    });
    await Promise.all([check(grantd), check(grantd)]);
    assert.deepEqual(
      calls.map(({ operation, attempts, status, requestId }) => [operation, attempts, status, requestId?.slice(0, 4)]),
      [['checkBulk', 2, 200, 'req_']],
    );
    for (const { headers } of seen) {
      assert.equal(new Headers(headers).get('x-request-id'), 'mine');
      assert.equal(new Headers(headers).get('authorization'), `Bearer ${tenant.options.key}`);
    }
    assert.equal(seen.length, 2);
  });

  it('makes a span of each call, with its outcome', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const tenant = service.tenant();
    const grantd = tenant.client({ fetch: failing(1), hook: tracing(provider.getTracer('test')) });
    assert.equal(await check(grantd), false);
    await failureOf(grantd.check({ ...VIEWER, subject: 'nobody' }));
    const spans = exporter.getFinishedSpans();
    assert.deepEqual(
      spans.map(({ name }) => name),
      ['grantd check', 'grantd check'],
    );
    const [right, wrong] = spans.map(({ attributes }) => attributes);
    assert.deepEqual([right?.['http.response.status_code'], right?.['http.request.resend_count']], [200, 1]);
    assert.deepEqual([wrong?.['http.response.status_code'], wrong?.['error.type']], [400, 'invalid-subject']);
    assert.ok(spans.every(({ attributes }) => !JSON.stringify(attributes).includes('user:')));
    await provider.shutdown();
    // Nothing of it is global.
    assert.deepEqual([trace.getActiveSpan(), propagation.fields()], [undefined, []]);
  });
});

describe('a warning', () => {
  /** What a client shows of these, which come with one check each. */
  async function shownOf(texts: readonly string[]): Promise<readonly string[]> {
    const shown: string[] = [];
    const tenant = service.tenant();
    const grantd = tenant.client({ fetch: warning(texts), onWarning: (text) => shown.push(text) });
    for (const _ of texts) await check(grantd);
    return shown;
  }

  it('is shown once for each text', async () => {
    assert.deepEqual(await shownOf(['a', 'a; b=c', 'a', 'a; b=c']), ['a', 'a; b=c']);
  });

  it('is not shown if it is no short text of printable ASCII', async () => {
    const longest = 'a'.repeat(1024);
    assert.deepEqual(await shownOf(['', 'caf\u00e9', 'a\tb', `${longest}a`, longest]), [longest]);
  });

  it('is not shown after a hundred others', async () => {
    const texts = Array.from({ length: 100 }, (_, index) => String(index));
    assert.deepEqual(await shownOf([...texts, 'one more', '0']), texts);
  });

  it('is shown from every response, and a log that fails does not fail the call', async () => {
    const shown: string[] = [];
    const tenant = service.tenant();
    await tenant.client().createGrant(VIEWER);
    const onWarning = (text: string): void => {
      shown.push(text);
      throw new Error('the log is full');
    };
    const grantd = tenant.client({ fetch: warning(['check', 'refusal', 'stream']), onWarning });
    assert.equal(await check(grantd), true);
    await failureOf(grantd.check({ ...VIEWER, subject: 'nobody' }));
    for await (const _ of grantd.changes()) break;
    assert.deepEqual(shown, ['check', 'refusal', 'stream']);
  });

  it('goes to the console, without the API key', async (t) => {
    const { mock } = t.mock.method(console, 'warn', () => {});
    const tenant = service.tenant();
    await check(tenant.client({ fetch: warning(['a; b=c']) }));
    assert.deepEqual(
      mock.calls.map(({ arguments: texts }) => texts),
      [['grantd: a; b=c']],
    );
    await check(tenant.client({ fetch: warning([]) }));
    assert.equal(mock.callCount(), 1);
  });
});

describe('the middleware for Express', () => {
  it('lets the application send its own refusals, and passes nothing if that fails', async () => {
    const tenant = service.tenant();
    const app = express();
    const requires = createRequires({
      grantd: tenant.client(),
      subject: (request) => request.header('x-user'),
      refuse: ({ status }, _request, response) => {
        if (status === 403) throw new Error('there is no page');
        response.status(status).send('a page');
      },
    });
    app.get('/', requires({ relation: 'viewer', object: () => VIEWER.object }), (_request, response) => {
      response.send('passed');
    });
    const handler: ErrorRequestHandler = (error, _request, response, _next) => {
      response.status(500).send(String(error));
    };
    app.use(handler);
    const server = app.listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const ask = async (headers: Record<string, string>): Promise<readonly [number, string]> => {
        const { status, text } = await call(url, { method: 'GET', path: '/', headers });
        return [status, text];
      };
      assert.deepEqual(await ask({}), [401, 'a page']);
      assert.deepEqual(await ask({ 'x-user': 'user:ada' }), [500, 'Error: there is no page']);
      await tenant.client().createGrant(VIEWER);
      assert.deepEqual(await ask({ 'x-user': 'user:ada' }), [200, 'passed']);
    } finally {
      server.close();
    }
  });
});

describe('a member that a call does not know', () => {
  /** As from plain JavaScript, which no compiler checks. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  const untyped = (grantd: Grantd): any => grantd;
  const trashed = [{ subject: 'user:*', relation: 'owner', object: VIEWER.object }];
  const rules = { rules: [] };

  /** A call of each kind, the misspelt member at its place, and the name that is meant. */
  const CALLS: readonly (readonly [string, readonly unknown[], string, string?])[] = [
    ['check', [{ ...VIEWER, contextGrants: trashed }], 'contextGrants', 'context_grants'],
    ['check', [{ ...VIEWER, contxt: {} }], 'contxt', 'context'],
    ['check', [{ ...VIEWER, explain: true }], 'explain'],
    ['check', [VIEWER, { timeout: 5 }], 'options.timeout', 'timeoutMs'],
    [
      'check',
      [{ ...VIEWER, context_grants: [{ ...VIEWER, conditoin: {} }] }],
      'context_grants[0].conditoin',
      'condition',
    ],
    ['explain', [{ ...VIEWER, contextGrants: trashed }], 'contextGrants', 'context_grants'],
    ['checkBulk', [{ checks: [VIEWER], contextGrants: trashed }], 'contextGrants', 'context_grants'],
    ['checkBulk', [{ checks: [VIEWER, { ...VIEWER, contextGrants: trashed }] }], 'checks[1].contextGrants'],
    ['createGrant', [{ ...VIEWER, expiresAt: null }], 'expiresAt', 'expires_at'],
    ['createGrant', [{ ...VIEWER, condition: { name: 'c', contxt: {} } }], 'condition.contxt', 'context'],
    ['createGrant', [VIEWER, { singal: new AbortController().signal }], 'options.singal', 'signal'],
    ['revokeGrant', [{ ...VIEWER, namespace: 'a' }], 'namespace'],
    ['writeBulk', [{ grants: [VIEWER], revocation: [] }], 'revocation', 'revocations'],
    ['writeBulk', [{ grants: [{ ...VIEWER, expires: null }] }], 'grants[0].expires'],
    ['writeBulk', [{ grants: [VIEWER], if: [{ ...VIEWER, exits: true }] }], 'if[0].exits', 'exists'],
    ['revokeGrants', [{ subject: VIEWER.subject, relatoin: 'viewer' }], 'relatoin', 'relation'],
    ['listGrants', [{ subject: VIEWER.subject, relatoin: 'viewer' }], 'relatoin', 'relation'],
    ['listObjects', [{ subject: VIEWER.subject, relation: 'viewer', namespce: 'a' }], 'namespce', 'namespace'],
    ['listObjects', [{ subject: VIEWER.subject, relation: 'viewer' }, { timeout: 5 }], 'options.timeout', 'timeoutMs'],
    ['listSubjects', [{ object: VIEWER.object, relation: 'viewer', contextGrants: [] }], 'contextGrants'],
    ['createNamespace', [{ name: 'a', title: 'b' }], 'title'],
    ['listKeys', [{ limits: 5 }], 'limits', 'limit'],
    ['createKey', [{ scopes: ['admin'], expiresAt: null }], 'expiresAt', 'expires_at'],
    ['createKey', [{ scopes: ['admin'], idempotencyKey: 'a' }], 'idempotencyKey'],
    ['revokeKey', [{ key_id: 'a', name: 'b' }], 'name'],
    ['readRules', [{ unlessRevision: 'a' }], 'unlessRevision', 'unless_revision'],
    ['readRulesVersion', [{ version: 1, revison: 1 }], 'revison'],
    ['writeRules', [{ rule_set: rules, revison: 'a' }], 'revison', 'revision'],
    ['writeRules', [{ rules: [] }], 'rules'],
    ['previewRules', [{ rule_set: rules, revison: 'a' }], 'revison', 'revision'],
    ['readRulesText', [{ versoin: 1 }], 'versoin', 'version'],
    ['writeRules', [{ rule_set: '', outside_type: 'keep' }], 'outside_type', 'outside_types'],
    ['changes', [{ sinse: 'now' }], 'sinse', 'since'],
    ['changes', [{}, { timeout: 5 }], 'options.timeout', 'timeoutMs'],
    ['evaluate', [{ contxt: {} }], 'contxt', 'context'],
    ['evaluate', [{ subject: { type: 'user', name: 'ada' } }], 'subject.name'],
    ['evaluateMany', [{ evaluations: [{}, { contxt: {} }] }], 'evaluations[1].contxt', 'context'],
    ['evaluateMany', [{ options: { evaluation_semantic: '' } }], 'options.evaluation_semantic', 'evaluations_semantic'],
    ['searchSubjects', [{ page: { limits: 5 } }], 'page.limits', 'limit'],
    ['searchResources', [{ contxt: {} }], 'contxt', 'context'],
    ['searchActions', [{ contxt: {} }], 'contxt', 'context'],
  ];

  it('is an error that names it, its place and the nearest name', async () => {
    const grantd = untyped(service.tenant().client());
    const wrong: string[] = [];
    for (const [name, args, member, meant] of CALLS) {
      const call = async (): Promise<unknown> => {
        const result = grantd[name](...args);
        return 'page' in result ? result.page() : result;
      };
      const { type, detail } = await failureOf(call());
      const isRight =
        detail.startsWith(`"${member}" is unknown; `) &&
        detail.includes(meant === undefined ? ';' : `name is "${meant}"`);
      if (type !== 'invalid-request' || !isRight) wrong.push(`${name} ${member}: ${type}: ${detail}`);
    }
    assert.deepEqual(wrong, []);
  });

  it('says what to write in its place, and so does an argument that is no object', async () => {
    const grantd = untyped(service.tenant().client());
    const { subject, relation, object } = VIEWER;
    const names = '"subject", "relation", "object", "context", "context_grants"';
    const inRuleSet = 'it is a member of "rule_set": { rule_set: { rules: [] } }';
    const cases: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => grantd.check({ ...VIEWER, explain: true }), '"explain" is unknown; call the method explain.'],
      [() => grantd.writeRules({ rules: [] }), `"rules" is unknown; ${inRuleSet}.`],
      [() => grantd.writeRules({ groups: true, rules: [] }), `"groups" is unknown; ${inRuleSet}.`],
      [() => grantd.writeRules({ text: '' }), '"text" is unknown; a text is given as "rule_set".'],
      [() => grantd.writeRules({ rule_set: ['namespace a'] }), '"rule_set" must be an object, but is a list.'],
      [
        () => grantd.writeRules({ rule_set: rules, outside_types: 'keep' }),
        `"outside_types" stands beside no text: ${inRuleSet}.`,
      ],
      [
        () => grantd.writeRules({ rule_set: rules, dry_run: true }),
        '"dry_run" is unknown; call the method previewRules.',
      ],
      [
        async () => grantd.listGrants({ subject, cursor: 'a' }),
        '"cursor" is unknown; give it to the method page of what this call returns.',
      ],
      [() => grantd.check(subject, relation, object), `The argument must be an object with ${names}, but is a string.`],
      [() => grantd.createGrant(subject, relation, object), 'The argument must be an object, but is a string.'],
      [() => grantd.checkBulk([VIEWER]), '"checks", "context", "context_grants", but is a list.'],
      [() => grantd.writeBulk([VIEWER]), 'The argument must be an object, but is a list.'],
      [() => grantd.createKey('check:read'), 'The argument must be an object, but is a string.'],
      [() => grantd.createNamespace(undefined), 'The argument must be an object, but is undefined.'],
      [() => grantd.revokeGrants(null), 'The argument must be an object, but is null.'],
    ];
    for (const [call, text] of cases) {
      const { type, detail } = await failureOf(call());
      assert.equal(type, 'invalid-request', text);
      assert.ok(detail.endsWith(text), detail);
    }
  });

  it('fails its check alone where checks are gathered', async () => {
    const grantd = untyped(service.tenant().client());
    await grantd.createGrant(VIEWER);
    const results = await Promise.allSettled([
      grantd.check(VIEWER),
      grantd.check({ ...VIEWER, contextGrants: trashed }),
      grantd.check(VIEWER),
    ]);
    assert.deepEqual(
      results.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.type)),
      [true, 'invalid-request', true],
    );
  });

  it('is refused in the place of a page, too', async () => {
    const grantd = untyped(service.tenant().client());
    for (const page of [
      grantd.listGrants({ subject: VIEWER.subject }).page({ curser: 'a' }),
      grantd.changes().page({ limits: 1 }),
      grantd.changes().page({}, { timeout: 1 }),
    ]) {
      assert.equal((await failureOf(page)).type, 'invalid-request');
    }
  });

  it('is what a program can read: inherited, or of a getter; absent if undefined', async () => {
    const grantd = untyped(service.tenant().client());
    class Question {
      subject = VIEWER.subject;
      relation = VIEWER.relation;
      get object(): string {
        return VIEWER.object;
      }
      describe(): string {
        return 'a method is no member';
      }
    }
    class Misspelt extends Question {
      get contextGrants(): unknown {
        return trashed;
      }
    }
    class Sending extends Question {
      get context_grants(): unknown {
        return [VIEWER];
      }
      get expires_at(): string {
        return '2100-01-01T00:00:00.000Z';
      }
    }
    assert.equal(await grantd.check(new Question()), false);
    assert.equal(await grantd.check({ ...VIEWER, contextGrants: undefined, context: undefined }), false);
    assert.equal(await grantd.check(Object.assign(Object.create(null), VIEWER)), false);
    const { object, subject, relation } = VIEWER;
    assert.equal(await grantd.check(Object.create(Object.freeze({ subject, relation, object }))), false);
    const inherited = Object.assign(Object.create({ contextGrants: trashed }), VIEWER);
    for (const each of [new Misspelt(), inherited]) {
      assert.match((await failureOf(grantd.check(each))).detail, /"contextGrants" is unknown/);
    }
    const { context_grants } = new Sending();
    assert.equal(await grantd.check({ ...VIEWER, context_grants }), true);
    assert.match((await failureOf(grantd.check(new Sending()))).detail, /"expires_at" is unknown/);
    const { expires_at } = new Sending();
    assert.match((await failureOf(grantd.createGrant(new Sending()))).detail, /"context_grants" is unknown/);
    class Grant extends Question {
      get expires_at(): string {
        return expires_at;
      }
    }
    assert.equal((await grantd.createGrant(new Grant())).expires_at, expires_at);
    for (const context_grants of [new Set([VIEWER]), new Map()]) {
      assert.match((await failureOf(grantd.check({ ...VIEWER, context_grants }))).detail, /which JSON cannot carry/);
    }
  });

  it('is a TypeError in the options of a client and of a guard', () => {
    const tenant = service.tenant();
    const grantd = tenant.client();
    const subject = (): string => VIEWER.subject;
    const wrong: readonly (readonly [string, (...args: never[]) => unknown])[] = [
      ['options.timeout', () => tenant.client({ timeoutMs: 5, ...{ timeout: 5 } })],
      ['options.batch', () => new Grantd({ ...tenant.options, ...{ batch: false } })],
      ['options.backoff.first', () => tenant.client({ backoff: { firstMs: 1, ...{ first: 1 } } })],
      ['options.subjct', () => createRequires({ grantd, subject, ...{ subjct: subject } })],
      ['options.onErorr', () => createRequires({ grantd, subject, ...{ onErorr: subject } })],
      [
        'relaton',
        () => createRequires({ grantd, subject })({ relation: 'viewer', object: subject, ...{ relaton: 'owner' } }),
      ],
      ['options.refuse', () => fastifyRequires({ grantd, subject, ...{ refuse: subject } })],
      [
        'objet',
        () => fastifyRequires({ grantd, subject })({ relation: 'viewer', object: subject, ...{ objet: subject } }),
      ],
      ['options.onErorr', () => nestRequires({ grantd, subject, ...{ onErorr: subject } })],
      [
        'relaton',
        () => nestRequires({ grantd, subject })({ relation: 'viewer', object: subject, ...{ relaton: 'owner' } }),
      ],
    ];
    for (const [member, create] of wrong) {
      assert.throws(
        create,
        (error) => error instanceof TypeError && error.message.startsWith(`"${member}" is unknown`),
      );
    }
  });
});
