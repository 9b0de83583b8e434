// The client address of a request, and whether it came over TLS: according to the socket, or to trusted proxies.
// Headers from any other sender are ignored.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyaddr from 'proxy-addr';
import type { Incoming } from './incoming.ts';

export interface RequestOrigin {
  /** The socket's address, or behind trusted proxies the last address that is not one of them. */
  addressOf(request: Pick<Incoming, 'headers' | 'socket'>): string;
  /** Whether the browser used TLS. */
  isSecure(request: IncomingMessage): boolean;
}

/** `trustedProxies`: addresses and networks (CIDR). */
export function createRequestOrigin(trustedProxies: readonly string[]): RequestOrigin {
  const trusted = proxyaddr.compile([...trustedProxies]);
  return {
    // A connection that has already ended no longer has an address.
    addressOf: (request) =>
      request.socket.remoteAddress === undefined ? '' : proxyaddr(request as IncomingMessage, trusted),
    isSecure(request) {
      const socket: Socket & { readonly encrypted?: boolean } = request.socket;
      if (socket.encrypted === true) return true;
      const protocol = request.headers['x-forwarded-proto'];
      if (typeof protocol !== 'string' || !trusted(socket.remoteAddress ?? '', 0)) return false;
      // Several proxies in a row each add theirs: the first is the one closest to the browser.
      return protocol.split(',')[0]?.trim().toLowerCase() === 'https';
    },
  };
}
