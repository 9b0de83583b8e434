// The change feed: what it tells of the audit log, and which changes pass a filter.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUDIT_ACTIONS } from '../../../src/core/audit-log.ts';
import {
  changeBytesMax,
  changeJson,
  FEED_ACTIONS,
  type FeedContent,
  type FeedFilter,
  feedActionsOf,
  feedMatcher,
  filterFault,
  isFeedAction,
  isPair,
  parseFeedContent,
  relationsIn,
} from '../../../src/core/change-feed.ts';
import { parseCondition } from '../../../src/core/grant-terms.ts';
import { timeOfId } from '../../../src/core/ids.ts';

import { parseRelation } from '../../../src/core/tuples.ts';

const GRANT_ID = 'grt_01jd2zkq5y8f9g7h6j5k4m3n2p';
const TUPLE = '"subject":"user:a","relation":"viewer","object":"doc:1"';

const textOf = (action: string, fields: string): string => `{"action":"${action}",${fields}}`;
const grantText = (action: string): string => textOf(action, `${TUPLE},"grant_id":"${GRANT_ID}"`);

function contentOf(text: string): FeedContent {
  const content = parseFeedContent(text);
  assert.ok(content !== undefined);
  return content;
}

describe('the content of a change', () => {
  it('of a grant has its whole record', () => {
    const grant = {
      subject: 'user:a',
      relation: 'viewer',
      object: 'doc:1',
      grantId: GRANT_ID,
      createdAtMs: timeOfId(GRANT_ID),
    };
    assert.deepEqual(contentOf(grantText('grant.revoked')), { action: 'grant.revoked', grant });
    const expiring = textOf(
      'grant.updated',
      `${TUPLE},"grant_id":"${GRANT_ID}","expires_at":"2026-11-05T10:20:30.123Z"`,
    );
    const expiresAtMs = Date.UTC(2026, 10, 5, 10, 20, 30, 123);
    assert.deepEqual(contentOf(expiring), { action: 'grant.updated', grant: { ...grant, expiresAtMs } });
  });

  it('of an updated grant has the terms that it had, unless they were not recorded', () => {
    const updated = (former: string): string => textOf('grant.updated', `${TUPLE},"grant_id":"${GRANT_ID}"${former}`);
    const formerOf = (former: string): unknown => Reflect.get(contentOf(updated(former)), 'formerTerms');
    assert.equal(formerOf(''), undefined);
    assert.deepEqual(formerOf(',"former_terms":{"expires_at":null}'), {});
    const condition = '"condition":{"name":"open","context":{"zone":"CET"}}';
    assert.deepEqual(formerOf(`,"former_terms":{"expires_at":"2026-11-05T10:20:30.123Z",${condition}}`), {
      expiresAtMs: Date.UTC(2026, 10, 5, 10, 20, 30, 123),
      condition: 'open {"zone":"CET"}',
    });
  });

  it('takes no more bytes than its bound, however long its parts are', () => {
    for (const character of ['\u{1F600}', '"', '\uFFFD', '\\']) {
      const identifier = `${'n'.repeat(64)}:${character.repeat(256)}`;
      const value = character.repeat(128 / Buffer.byteLength(JSON.stringify(character).slice(1, -1)));
      const terms = {
        expiresAtMs: Date.UTC(2126, 0, 1),
        condition: parseCondition({ name: 'c'.repeat(64), context: { a: value, b: value, c: value } }).condition ?? '',
      };
      const grant = {
        subject: `${identifier}#${'r'.repeat(64)}`,
        relation: parseRelation('r'.repeat(64)),
        object: identifier,
        grantId: GRANT_ID,
        createdAtMs: timeOfId(GRANT_ID) ?? 0,
        ...terms,
      };
      const place = { seq: Number.MAX_SAFE_INTEGER, index: 1023, atMs: Date.UTC(2126, 0, 1), cursor: '' };
      const by = { actor: `operator:${'\u{1F600}'.repeat(64)}`, requestId: GRANT_ID };
      const change = { ...place, ...by, change: { action: 'grant.updated', grant, formerTerms: terms } as const };
      assert.ok(Buffer.byteLength(changeJson(change)) <= changeBytesMax(change), character);
    }
  });

  it('of a namespace has its name, and of rules both texts', () => {
    const created = { action: 'namespace.created', name: 'doc' };
    assert.deepEqual(contentOf(textOf('namespace.created', '"name":"doc"')), created);
    const updated = contentOf(textOf('rules.updated', '"rules":{"rules":[1]},"former":{"rules":[]}'));
    const texts = { rules: '{"rules":[1]}', former: '{"rules":[]}' };
    assert.deepEqual(updated, { action: 'rules.updated', texts });
    assert.deepEqual(contentOf('{"action":"rules.updated"}'), { action: 'rules.updated' });
  });

  it('is told of no key, plan or tenant', () => {
    for (const action of AUDIT_ACTIONS) {
      const text = textOf(action, `${TUPLE},"grant_id":"${GRANT_ID}","name":"x","rules":{},"former":{}`);
      assert.equal(parseFeedContent(text) !== undefined, isFeedAction(action), action);
    }
    assert.deepEqual(
      AUDIT_ACTIONS.filter((action) => !isFeedAction(action)),
      ['key.created', 'key.revoked', 'key.rotated', 'tenant.created', 'tenant.updated'],
    );
  });

  it('is nothing if the text is no such change', () => {
    for (const text of ['', 'null', '[]', '7', '{', '{"action":"grant.created"}', '{"action":"namespace.created"}']) {
      assert.equal(parseFeedContent(text), undefined, text);
    }
    assert.equal(parseFeedContent(grantText('grant.created').replace('viewer', 're ads')), undefined);
  });
});

describe('a filter', () => {
  const changes: Readonly<Record<string, FeedContent>> = {
    created: contentOf(grantText('grant.created')),
    expired: contentOf(grantText('grant.expired')),
    elsewhere: contentOf(grantText('grant.created').replace('doc:1', 'document:1')),
    owner: contentOf(grantText('grant.revoked').replace('viewer', 'owner')),
    doc: contentOf(textOf('namespace.created', '"name":"doc"')),
    document: contentOf(textOf('namespace.created', '"name":"document"')),
    rules: contentOf(textOf('rules.updated', '"rules":{},"former":{}')),
  };
  const passing = (filter: FeedFilter): readonly string[] => {
    const fits = feedMatcher(filter) ?? (() => true);
    return Object.keys(changes).filter((name) => {
      const change = changes[name];
      return change !== undefined && fits({ change });
    });
  };

  it('without a field lets everything pass', () => {
    assert.equal(feedMatcher({}), undefined);
    assert.equal(
      feedMatcher({ namespaces: undefined, relations: undefined, on: undefined, actions: undefined }),
      undefined,
    );
  });

  it('by namespace is that of the object, or the new namespace; rules concern all', () => {
    assert.deepEqual(passing({ namespaces: ['doc'] }), ['created', 'expired', 'owner', 'doc', 'rules']);
  });

  it('by relation lets no namespace pass, but rules', () => {
    assert.deepEqual(passing({ relations: ['viewer'] }), ['created', 'expired', 'elsewhere', 'rules']);
    assert.deepEqual(passing({ relations: ['owner'], namespaces: ['doc'] }), ['owner', 'rules']);
  });

  it('by pairs lets the grants of each pair pass, however they change, no namespace, but rules', () => {
    assert.deepEqual(passing({ on: ['doc:viewer'] }), ['created', 'expired', 'rules']);
    assert.deepEqual(passing({ on: ['document:viewer', 'doc:owner'] }), ['elsewhere', 'owner', 'rules']);
    assert.deepEqual(passing({ on: ['doc:viewer'], actions: ['grant.expired'] }), ['expired']);
    assert.deepEqual(relationsIn({ on: ['doc:viewer', 'doc:owner'], relations: ['parent'] }), [
      'parent',
      'viewer',
      'owner',
    ]);
  });

  it('with a list says which item is ill-formed, and what is too long', () => {
    const fault = (text: string) => filterFault(text, 'namespace:relation', isPair);
    assert.equal(fault('doc:viewer,doc:owner'), undefined);
    for (const [text, said] of [
      ['', /item 1, ""/],
      ['doc:viewer,', /item 2, ""/],
      ['doc:viewer,doc', /must be namespace:relation.*item 2, "doc"/],
      ['doc:viewer:owner', /item 1/],
      [':viewer', /item 1/],
      ['doc: viewer', /item 1/],
      [`doc:${'v'.repeat(65)}`, /item 1/],
      [Array.from({ length: 201 }, (_, each) => `d:v${each}`).join(','), /at most 200 items.*it has 201/],
      [`doc:viewer${' '.repeat(4096)}`, /at most 4096 characters/],
    ] as const) {
      assert.match(fault(text) ?? '', said, text.slice(0, 40));
    }
  });

  it('by actions has each of them once, however often a list names it', () => {
    const list = [...FEED_ACTIONS, ...FEED_ACTIONS].join(',');
    assert.deepEqual(feedActionsOf(list), FEED_ACTIONS);
    assert.equal(feedActionsOf(`${list},key.created`), undefined);
  });

  it('by action excludes everything else, rules too', () => {
    assert.deepEqual(passing({ actions: ['grant.created', 'namespace.created'], namespaces: ['doc'] }), [
      'created',
      'doc',
    ]);
    assert.deepEqual(passing({ actions: [] }), []);
    assert.deepEqual(passing({ actions: FEED_ACTIONS }), Object.keys(changes));
  });
});
