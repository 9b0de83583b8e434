// Addresses as settings give them, `host:port`, with brackets around an IPv6 host.

/** Host and port of a well-formed `host:port`; the brackets of an IPv6 host go. */
export function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) };
}

/** `http://host:port` without a slash at the end. */
export function httpUrlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
