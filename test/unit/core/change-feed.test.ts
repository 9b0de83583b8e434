// The change feed: what it tells of the audit log, and which changes pass a filter.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUDIT_ACTIONS } from '../../../src/core/audit-filter.ts';
import {
  FEED_ACTIONS,
  type FeedContent,
  type FeedFilter,
  feedMatcher,
  isFeedAction,
  parseFeedContent,
} from '../../../src/core/change-feed.ts';
import { timeOfId } from '../../../src/core/ids.ts';

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

  it('of a namespace has its name, and of rules both texts', () => {
    const created = { action: 'namespace.created', name: 'doc' };
    assert.deepEqual(contentOf(textOf('namespace.created', '"name":"doc"')), created);
    const updated = contentOf(textOf('rules.updated', '"rules":{"rules":[1]},"former":{"rules":[]}'));
    assert.deepEqual(updated, { action: 'rules.updated', rules: '{"rules":[1]}', former: '{"rules":[]}' });
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
    assert.equal(feedMatcher({ namespace: undefined, relation: undefined, actions: undefined }), undefined);
  });

  it('by namespace is that of the object, or the new namespace; rules concern all', () => {
    assert.deepEqual(passing({ namespace: 'doc' }), ['created', 'expired', 'owner', 'doc', 'rules']);
  });

  it('by relation lets no namespace pass, but rules', () => {
    assert.deepEqual(passing({ relation: 'viewer' }), ['created', 'expired', 'elsewhere', 'rules']);
    assert.deepEqual(passing({ relation: 'owner', namespace: 'doc' }), ['owner', 'rules']);
  });

  it('by action excludes everything else, rules too', () => {
    assert.deepEqual(passing({ actions: ['grant.created', 'namespace.created'], namespace: 'doc' }), [
      'created',
      'doc',
    ]);
    assert.deepEqual(passing({ actions: [] }), []);
    assert.deepEqual(passing({ actions: FEED_ACTIONS }), Object.keys(changes));
  });
});
