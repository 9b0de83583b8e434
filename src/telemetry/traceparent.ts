// The W3C header traceparent (https://www.w3.org/TR/trace-context/#traceparent-header). It comes from anybody: what is
// not exactly of its form counts as not sent.

/** Of version 00; a later one may say more behind another hyphen. */
const LENGTH = 55;
/** No header that anybody has a use for is longer. */
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

/** Of a span that is recorded, and therefore sampled. */
export function formatTraceparent(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}
