// Starts what is compared. The peers are those of `npm run compare`, built from their Go modules at first use.

import { installTool } from '../../bench/compare/tools.ts';
import { GrantdPeer } from './peers/grantd.ts';
import { NaivePeer } from './peers/naive.ts';
import { OpenfgaPeer } from './peers/openfga.ts';
import type { Peer } from './peers/peer.ts';
import { SpicedbPeer } from './peers/spicedb.ts';

export const PEER_NAMES = ['openfga', 'spicedb', 'definition'] as const;
export type PeerName = (typeof PEER_NAMES)[number];

/** Undefined if this machine cannot have it; the reason is on standard error. */
export async function startPeer(name: PeerName): Promise<Peer | undefined> {
  if (name === 'definition') return new NaivePeer();
  const program = installTool(name);
  if (program === undefined) return undefined;
  return name === 'openfga' ? OpenfgaPeer.start(program) : SpicedbPeer.start(program);
}

export interface Systems extends AsyncDisposable {
  readonly own: Peer;
  readonly peers: readonly Peer[];
  /** Of the wanted peers. */
  readonly missing: readonly PeerName[];
}

export async function startSystems(names: readonly PeerName[]): Promise<Systems> {
  await using parts = new AsyncDisposableStack();
  const missing: PeerName[] = [];
  const peers: Peer[] = [];
  for (const name of names) {
    const peer = await startPeer(name);
    if (peer === undefined) {
      missing.push(name);
      continue;
    }
    parts.defer(() => peer.stop());
    peers.push(peer);
  }
  const own = await GrantdPeer.start();
  parts.defer(() => own.stop());
  const running = parts.move();
  return { own, peers, missing, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
