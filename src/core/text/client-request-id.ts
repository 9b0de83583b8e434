// The id that a client gives its request in the header X-Request-ID. Every response repeats it, next to the id that
// grantd generates. Invariant: a repeated id is short visible ASCII, so it can neither end a line of a header nor forge
// a line of a log. Any other value is omitted, never shortened or repaired.

/** A UUID has 36 characters; ids of tracing systems and gateways stay below 100. */
export const CLIENT_REQUEST_ID_LENGTH_MAX = 128;

const FORM = new RegExp(`^[!-~]{1,${CLIENT_REQUEST_ID_LENGTH_MAX}}$`);

/** The id in the value of the header; undefined: there is none that may be repeated. */
export const clientRequestIdOf = (value: string | readonly string[]): string | undefined =>
  typeof value === 'string' && FORM.test(value) ? value : undefined;
