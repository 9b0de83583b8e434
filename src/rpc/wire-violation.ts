// What a peer must never send. It ends the stream, since nothing else from that peer can be trusted.

export class WireViolation extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WireViolation';
  }
}

export function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new WireViolation(message);
}
