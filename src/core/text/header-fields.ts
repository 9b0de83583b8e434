// Header fields that leave open what a request means. Node keeps the first of two such fields, and a proxy before this
// service may have looked at the last: who it let through, or where it thought that the body ends, might not be what is
// served here.

/** Those that are read here. A repeated field of another name is a list, or is refused by the parser of its value. */
const SINGLE = ['host', 'authorization', 'content-type'] as const;

/** What the detail of a 400 says; undefined: the header is unambiguous. `raw`: names and values in turn. */
export function ambiguityOf(raw: readonly string[], transferEncoding: string | undefined): string | undefined {
  // RFC 9112 section 6.1: other codings before it would have to be known.
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') {
    return 'The only "Transfer-Encoding" that this service knows is "chunked".';
  }
  const names = raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const repeated = SINGLE.find((single) => names.indexOf(single) !== names.lastIndexOf(single));
  return repeated === undefined ? undefined : `The header "${repeated}" is repeated.`;
}
