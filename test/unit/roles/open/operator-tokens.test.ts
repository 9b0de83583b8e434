// Operator tokens of a file that changes while the process runs.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../../../src/config/read-config.ts';
import { openOperatorTokens, type WatchedOperatorTokens } from '../../../../src/roles/open/operator-tokens.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const log = createLog({ level: 'silent', pretty: false });
const OWN = 'correct-horse-battery-staple-0123456789';
const lineOf = (name: string, token: string): string => `${name}:${createHash('sha256').update(token).digest('hex')}\n`;

describe('operator tokens of a file', () => {
  const directory = useDirectory();
  let path: string;
  let clock: VirtualClock;
  let tokens: WatchedOperatorTokens;
  before(() => {
    path = join(directory, 'tokens');
    writeFileSync(path, lineOf('ann', 'token-of-ann'));
    clock = new VirtualClock();
    const { operatorToken, operatorTokens } = readConfig('console', {
      GRANTD_DISCOVERY: 'static:a:1',
      GRANTD_BASE_URL: 'https://grantd.example.com',
      GRANTD_OPERATOR_TOKEN: OWN,
      GRANTD_OPERATOR_TOKENS_FILE: path,
    });
    tokens = openOperatorTokens({ clock, log }, { operatorToken, operatorTokens });
  });
  after(() => {
    tokens.close();
    assert.equal(clock.timers, 0);
  });

  /** Moves the clock until the file was read again and the condition holds. */
  const until = (condition: () => boolean): Promise<void> =>
    waitFor('the file to be read again', async () => {
      await clock.advance(100);
      return condition();
    });

  it('are known from the start, beside the one of the setting', () => {
    assert.equal(tokens.identify('token-of-ann')?.name, 'ann');
    assert.equal(tokens.identify(OWN)?.name, 'operator');
    assert.equal(tokens.identify('another'), undefined);
  });

  it('come and go with the file', async () => {
    writeFileSync(path, lineOf('bob', 'token-of-bob'));
    await until(() => tokens.identify('token-of-bob')?.name === 'bob');
    assert.equal(tokens.identify('token-of-ann'), undefined);
    assert.equal(tokens.identify(OWN)?.name, 'operator');
  });

  it('stay while the file is wrong or gone', async () => {
    writeFileSync(path, 'not of that form');
    const endMs = clock.monotonicMs() + 10_000;
    await until(() => clock.monotonicMs() > endMs);
    assert.equal(tokens.identify('token-of-bob')?.name, 'bob');
    rmSync(path);
    const laterMs = clock.monotonicMs() + 10_000;
    await until(() => clock.monotonicMs() > laterMs);
    assert.equal(tokens.identify('token-of-bob')?.name, 'bob');
    writeFileSync(path, lineOf('eve', 'token-of-eve'));
    await until(() => tokens.identify('token-of-eve')?.name === 'eve');
  });
});
