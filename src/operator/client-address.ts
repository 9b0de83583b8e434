// Where a request comes from, and whether it came by TLS: as the socket says, or as proxies say that are trusted. A
// header of anybody else counts for nothing.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyaddr from 'proxy-addr';

export interface RequestOrigin {
  /** The socket's address, or behind trusted proxies the last one that none of them vouches for. */
  addressOf(request: IncomingMessage): string;
  /** Whether the browser reached us by TLS. */
  isSecure(request: IncomingMessage): boolean;
}

/** `trustedProxies`: addresses and networks (CIDR). */
export function createRequestOrigin(trustedProxies: readonly string[]): RequestOrigin {
  const trusted = proxyaddr.compile([...trustedProxies]);
  return {
    // A connection that has ended meanwhile has no address any more.
    addressOf: (request) => (request.socket.remoteAddress === undefined ? '' : proxyaddr(request, trusted)),
    isSecure(request) {
      const socket: Socket & { readonly encrypted?: boolean } = request.socket;
      if (socket.encrypted === true) return true;
      const told = request.headers['x-forwarded-proto'];
      if (typeof told !== 'string' || !trusted(socket.remoteAddress ?? '', 0)) return false;
      // Several proxies in a row each add theirs: the first is the one that the browser spoke to.
      return told.split(',')[0]?.trim().toLowerCase() === 'https';
    },
  };
}
