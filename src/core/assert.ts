// Assertions on both sides of every trust boundary. A failed assertion is a defect of this program, never bad input.

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${message}`);
}

/** Ends an exhaustive switch: the compiler rejects a missing case. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
