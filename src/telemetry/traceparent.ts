// The W3C header traceparent (https://www.w3.org/TR/trace-context/#traceparent-header). It comes from untrusted
// clients: a value that is not exactly of its form counts as absent.

/** For version 00; a later version may append more after another hyphen. */
const LENGTH = 55;
/** No useful header is longer. */
const LENGTH_MAX = 255;
const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

export interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

export function parseTraceparent(text: string | undefined): Traceparent | undefined {
  if (text === undefined || text.length < LENGTH || text.length > LENGTH_MAX) return undefined;
  const [, version, traceId, spanId, flags] = FORM.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && text.length !== LENGTH) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** For a recorded, and therefore sampled, span. */
export function formatTraceparent(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}
