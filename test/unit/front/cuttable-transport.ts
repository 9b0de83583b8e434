// gRPC with a network between that can swallow everything to and from an address, without either end being told.

import { createGrpcTransport } from '../../../src/rpc/transport/grpc-transport.ts';
import type { OpenStream } from '../../../src/rpc/transport/transport.ts';

export interface CuttableTransport {
  readonly openStream: OpenStream;
  /** Streams that are open or opened while it is cut carry nothing ever again. */
  cut(address: string): void;
  heal(address: string): void;
}

export function createCuttableTransport(): CuttableTransport {
  const open = createGrpcTransport();
  const cutOff = new Set<string>();
  const streams = new Map<string, Set<{ dead: boolean }>>();
  return {
    openStream(address, handlers) {
      const state = { dead: cutOff.has(address) };
      const known = streams.get(address) ?? new Set();
      known.add(state);
      streams.set(address, known);
      const ifAlive =
        <Parameters extends readonly unknown[]>(run: (...parameters: Parameters) => void) =>
        (...parameters: Parameters): void => {
          if (!state.dead) run(...parameters);
        };
      const stream = open(address, {
        onMessage: ifAlive((message) => handlers.onMessage(message)),
        onDrain: ifAlive(() => handlers.onDrain()),
        onError: ifAlive((message) => handlers.onError(message)),
        onEnd: ifAlive(() => handlers.onEnd()),
      });
      return {
        write: (message) => state.dead || stream.write(message),
        cancel() {
          state.dead = true;
          known.delete(state);
          stream.cancel();
        },
      };
    },
    cut(address) {
      cutOff.add(address);
      for (const state of streams.get(address) ?? []) state.dead = true;
    },
    heal(address) {
      cutOff.delete(address);
    },
  };
}
