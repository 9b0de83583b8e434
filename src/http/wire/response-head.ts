// Heads of HTTP/1.1 responses as text: header lines, each with its CRLF. Nothing in them comes from a client, so
// nothing in them has to be checked.

import { STATUS_CODES } from 'node:http';

export const statusLine = (status: number): string => `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;

/** Names and values, alternating. */
export const headersOf = (lines: string): string[] =>
  lines
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
