// Estimates sizes on the wire, closely enough to cut batches. Invariant: an estimate is never too small, so no message
// exceeds what its receiver accepts.

/** Tag and length of a field. */
const FIELD_OVERHEAD = 8;
/** The longest varint, or a double. */
const NUMBER_BYTES = 10;

/** At least the encoded size. `exact` counts the bytes of strings instead of assuming the widest characters. */
export function estimateBytes(value: unknown, exact = false): number {
  if (typeof value === 'string') {
    return FIELD_OVERHEAD + (exact ? Buffer.byteLength(value, 'utf8') : value.length * 3);
  }
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES;
  let bytes = FIELD_OVERHEAD;
  if (Array.isArray(value)) {
    for (const item of value) bytes += estimateBytes(item, exact);
  } else {
    for (const field of Object.values(value)) bytes += estimateBytes(field, exact);
  }
  return bytes;
}
