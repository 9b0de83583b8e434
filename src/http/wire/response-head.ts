// Heads of HTTP/1.1 responses as text: header lines, each with its CRLF. Of a client there is at most the id of its
// request in them, which has been checked.

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
