// The API key of a request, as its Authorization header carries it.

const BEARER = 'Bearer ';
/** RFC 6750 section 2.1; the scheme is case-insensitive (RFC 9110 section 11.1). */
const BEARER_ANY_CASE = /^bearer +([^ ]+)$/i;

/** Undefined if the header carries none. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.startsWith(BEARER)) {
    const token = header.slice(BEARER.length);
    if (token !== '' && !token.includes(' ')) return token;
  }
  return BEARER_ANY_CASE.exec(header)?.[1];
}
