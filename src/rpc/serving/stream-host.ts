// The streams that a shard serves now, over any transport. Invariant: no stream is accepted before the shard is up, or
// once the host is finishing.

import type { Clock } from '../../core/async/clock.ts';
import { FairTurns, type Turns } from '../../core/async/turns.ts';
import type { Shard } from '../../shard/shard.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tracing } from '../../telemetry/spans.ts';
import { EVERY_PROOF, type PeerProof } from '../transport/peer-certificate.ts';
import type { AcceptStream, ServerStream } from '../transport/transport.ts';
import { EnumerationGate } from './enumeration-gate.ts';
import { ForeignPeers } from './foreign-peers.ts';
import { MALFORMED_PARTS, PeerStream } from './peer-stream.ts';

export interface StreamHostDependencies {
  /** Undefined: the shard is not up yet. */
  readonly shard: () => Shard | undefined;
  readonly clock: Clock;
  /** Shared with everything else on this event loop. Undefined: nothing else runs there. */
  readonly turns?: Turns | undefined;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'malformedCalls' | 'connectionsDropped' | 'foreignClusterRefusals'>;
  readonly tracing?: Tracing | undefined;
}

export interface StreamHost {
  /** Accepts a stream of this very process, which may be anyone's. */
  readonly accept: AcceptStream;
  /** Accepts a stream from outside. `proof`: what its peer has proved that it may be. `onHello`: it has said one. */
  acceptPeer(stream: ServerStream, proof: PeerProof, onHello?: () => void): boolean;
  /** Replies to what is in flight, then ends the streams. */
  finish(): void;
}

export function createStreamHost(
  dependencies: StreamHostDependencies,
  options: { readonly version?: string | undefined } = {},
): StreamHost {
  const { clock, log, metrics, tracing, turns = new FairTurns(clock) } = dependencies;
  const { version = '' } = options;
  // Initialized to 0, so that an increase includes the first one.
  for (const call of MALFORMED_PARTS) metrics.malformedCalls.inc({ call }, 0);
  const foreignPeers = new ForeignPeers({ log, metrics });
  const streams = new Set<PeerStream>();
  const enumerations = new EnumerationGate();
  let accepted = 0;
  let finishing = false;

  function acceptPeer(stream: ServerStream, proof: PeerProof, onHello?: () => void): boolean {
    const shard = dependencies.shard();
    if (shard === undefined || finishing) return false;
    accepted += 1;
    const parts = { shard, clock, turns, log, metrics, foreignPeers, version, proof, tracing, enumerations, onHello };
    const peer = new PeerStream(stream, { ...parts, turnKey: `peer ${accepted}` }, () => streams.delete(peer));
    streams.add(peer);
    return true;
  }

  return {
    accept: (stream) => acceptPeer(stream, EVERY_PROOF),
    acceptPeer,
    finish() {
      finishing = true;
      for (const stream of streams) stream.finish();
    },
  };
}
