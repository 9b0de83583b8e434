// Sessions of the console's pages: how long they last, what ends them, and that they are bounded.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { OperatorSessions } from '../../../packages/console/src/sessions.ts';
import { createOperatorTokens, hashOperatorToken, type OperatorTokens } from '../../../src/operator/operator-tokens.ts';
import { systemRandom } from '../../../src/roles/process/system.ts';
import { VirtualClock } from '../../kit/virtual-clock.ts';

const MINUTE_MS = 60_000;

function tokensOf(names: Readonly<Record<string, string>>): OperatorTokens {
  return createOperatorTokens(
    Object.entries(names).map(([token, name]) => ({ name, sha256: hashOperatorToken(token), access: 'full' as const })),
  );
}

describe('a session', () => {
  let clock: VirtualClock;
  let known: OperatorTokens;
  let sessions: OperatorSessions;
  beforeEach(() => {
    clock = new VirtualClock();
    known = tokensOf({ 'token-of-ann': 'ann', 'token-of-bob': 'bob' });
    const tokens = {
      identify: (token: string) => known.identify(token),
      operatorOf: (sha256: string) => known.operatorOf(sha256),
    };
    sessions = new OperatorSessions({ tokens, clock, random: systemRandom }, { sessionsMax: 3 });
  });
  function start(token = 'token-of-ann') {
    const session = sessions.start(token);
    assert.ok(session !== undefined);
    return session;
  }

  it('starts with a token that somebody holds, and with no other', () => {
    assert.equal(start().operator, 'ann');
    for (const token of ['', 'token-of-cyd', hashOperatorToken('token-of-ann')]) {
      assert.equal(sessions.start(token), undefined);
    }
  });

  it('has an id and a form token of its own, which nobody can guess', () => {
    const [one, other] = [start(), start()];
    assert.match(one.id, /^[\w-]{43}$/);
    assert.equal(new Set([one.id, one.csrf, other.id, other.csrf]).size, 4);
  });

  it('ends after 30 minutes without the operator, also where a page renews itself', () => {
    const { id } = start();
    clock.stall(20 * MINUTE_MS);
    assert.ok(sessions.find(id, true));
    clock.stall(29 * MINUTE_MS);
    assert.ok(sessions.find(id, false));
    clock.stall(MINUTE_MS);
    assert.equal(sessions.find(id, false), undefined);
    assert.equal(sessions.size, 0);
  });

  it('ends 8 hours after the log-in, however busy the operator is', () => {
    const { id } = start();
    for (let minutes = 0; minutes < 8 * 60 - 20; minutes += 20) {
      clock.stall(20 * MINUTE_MS);
      assert.ok(sessions.find(id, true), String(minutes));
    }
    clock.stall(20 * MINUTE_MS);
    assert.equal(sessions.find(id, true), undefined);
  });

  it('ends at log-out, and no other with it', () => {
    const [one, other] = [start(), start()];
    sessions.end(one.id);
    assert.equal(sessions.find(one.id, true), undefined);
    assert.ok(sessions.find(other.id, true));
  });

  it('ends once its token is withdrawn, or belongs to somebody else', () => {
    const [ann, bob] = [start(), start('token-of-bob')];
    known = tokensOf({ 'token-of-ann': 'cyd', 'token-of-bob': 'bob' });
    assert.equal(sessions.find(ann.id, true), undefined);
    assert.ok(sessions.find(bob.id, true));
    known = tokensOf({});
    assert.equal(sessions.find(bob.id, true), undefined);
  });

  it('gives way to newer ones above the bound, the longest idle first', () => {
    const [first, second, third] = [start(), start(), start()];
    sessions.find(first.id, true);
    sessions.find(second.id, false);
    start();
    assert.equal(sessions.size, 3);
    assert.equal(sessions.find(second.id, true), undefined);
    assert.ok(sessions.find(first.id, true));
    assert.ok(sessions.find(third.id, true));
  });

  it('is forgotten at the next log-in once it has ended', () => {
    start();
    start();
    clock.stall(30 * MINUTE_MS);
    start();
    assert.equal(sessions.size, 1);
  });
});
