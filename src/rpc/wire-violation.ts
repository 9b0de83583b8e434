// What a peer may never send: it ends the stream, since nothing else that it sends can be trusted.

export class WireViolation extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WireViolation';
  }
}

export function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new WireViolation(message);
}
