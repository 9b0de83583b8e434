// The code of a log-in link: what it opens, how often, how long and for whom.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createLogInCode, LOG_IN_CODE_MS_MAX, type LogInCode } from '../../../packages/console/src/log-in-code.ts';
import { hashOperatorToken } from '../../../src/operator/operator-tokens.ts';
import { systemRandom } from '../../../src/roles/process/system.ts';
import { VirtualClock } from '../../kit/virtual-clock.ts';

const TOKEN = 'an-operator-token-of-32-characters-or-more';

describe('a log-in code', () => {
  let clock: VirtualClock;
  let made: LogInCode;
  let code: string;
  beforeEach(() => {
    clock = new VirtualClock();
    made = createLogInCode({ clock, random: systemRandom }, { token: TOKEN });
    code = /^\/console\/log-in#code=([\w-]{43})$/.exec(made.path)?.[1] ?? '';
    assert.notEqual(code, '');
  });

  it('stands for the token once', () => {
    assert.equal(made.redeem(code, '127.0.0.1'), hashOperatorToken(TOKEN));
    assert.equal(made.redeem(code, '127.0.0.1'), undefined);
  });

  it('ends after its time', () => {
    clock.stall(LOG_IN_CODE_MS_MAX - 1);
    assert.equal(made.redeem(code, '::1'), hashOperatorToken(TOKEN));
    const later = createLogInCode({ clock, random: systemRandom }, { token: TOKEN });
    clock.stall(LOG_IN_CODE_MS_MAX);
    assert.equal(later.redeem(later.path.slice(-43), '::1'), undefined);
  });

  it('opens nothing for another machine, and is not used up by it', () => {
    for (const address of ['192.0.2.7', '10.0.0.1', '2001:db8::1', '0.0.0.0', '', 'unknown']) {
      assert.equal(made.redeem(code, address), undefined, address);
    }
    assert.equal(made.redeem(code, '127.0.0.1'), hashOperatorToken(TOKEN));
  });

  it('is not opened by another text', () => {
    for (const text of ['', 'x', `${code}x`, code.slice(1), TOKEN, hashOperatorToken(TOKEN)]) {
      assert.equal(made.redeem(text, '127.0.0.1'), undefined, text);
    }
    assert.equal(made.redeem(code, '127.0.0.1'), hashOperatorToken(TOKEN));
  });
});
