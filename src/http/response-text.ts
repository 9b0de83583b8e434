// The head of an HTTP/1.1 response as text, for what Node's server does not write.

import { STATUS_CODES } from 'node:http';

/** Status line and header lines, without the empty line that ends a head. `headers`: names and values in turn. */
export function headText(status: number, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return text;
}
