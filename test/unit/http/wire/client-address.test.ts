// Where a request comes from, and by which way: headers count only from proxies that are trusted.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { createRequestOrigin } from '../../../../src/http/wire/client-address.ts';

const PROXY = '10.0.0.1';

function request(address: string | undefined, headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  const made = { socket: { remoteAddress: address }, connection: { remoteAddress: address }, headers };
  return made as unknown as IncomingMessage;
}

describe('the origin of a request', () => {
  const direct = createRequestOrigin([]);
  const behindProxy = createRequestOrigin([`${PROXY}/32`]);
  const forwarded = { 'x-forwarded-for': '192.0.2.9, 198.51.100.7', 'x-forwarded-proto': 'https' };

  it('is what the socket says', () => {
    assert.equal(direct.addressOf(request('192.0.2.1', forwarded)), '192.0.2.1');
    assert.equal(direct.isSecure(request('192.0.2.1', forwarded)), false);
    assert.equal(direct.addressOf(request(undefined, forwarded)), '');
  });

  it('is what a trusted proxy says of who spoke to it', () => {
    assert.equal(behindProxy.addressOf(request(PROXY, forwarded)), '198.51.100.7');
    assert.equal(behindProxy.isSecure(request(PROXY, forwarded)), true);
    assert.equal(behindProxy.isSecure(request(PROXY, { 'x-forwarded-proto': 'HTTPS , http' })), true);
    assert.equal(behindProxy.isSecure(request(PROXY, { 'x-forwarded-proto': 'http' })), false);
    assert.equal(behindProxy.isSecure(request(PROXY)), false);
  });

  it('is not what anybody else says', () => {
    assert.equal(behindProxy.addressOf(request('192.0.2.1', forwarded)), '192.0.2.1');
    assert.equal(behindProxy.isSecure(request('192.0.2.1', forwarded)), false);
    assert.equal(behindProxy.isSecure(request(undefined, forwarded)), false);
  });
});
