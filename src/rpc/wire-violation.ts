// What a peer must never send. Many clients share a stream, and a field of one of them must never end it. So a
// violation in one call, check, report or position of a well-framed message fails that part alone. Only a violation of
// the framing itself (the hello, the columns of the checks) ends the stream. Its message is logged: it names the field,
// and never says the value.

export class WireViolation extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WireViolation';
  }
}

export function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new WireViolation(message);
}
