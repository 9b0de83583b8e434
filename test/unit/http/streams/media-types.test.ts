// Which media type a client gets.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptedType } from '../../../../src/http/streams/media-types.ts';

const OFFERED = ['application/json', 'application/x-ndjson', 'text/event-stream'];

describe('the media type of a response', () => {
  const CASES: readonly (readonly [string | undefined, string | undefined])[] = [
    [undefined, 'application/json'],
    ['', 'application/json'],
    [' ', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/*', 'text/event-stream'],
    ['text/event-stream', 'text/event-stream'],
    ['TEXT/Event-Stream', 'text/event-stream'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['application/json;q=0.5, text/event-stream', 'text/event-stream'],
    ['text/event-stream;q=0.5, application/json;q=0.4', 'text/event-stream'],
    ['text/event-stream, application/json', 'application/json'],
    ['application/json;q=0, */*', 'application/x-ndjson'],
    ['application/*;q=0, */*;q=0.1', 'text/event-stream'],
    ['*/*;q=0.1, text/event-stream;q=0.2', 'text/event-stream'],
    ['text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;a="x,text/event-stream";q=0.1, application/x-ndjson;q=0.2', 'application/x-ndjson'],
    ['text/event-stream;q=1.5', 'text/event-stream'],
    ['text/html', undefined],
    ['application/json;q=0', undefined],
    ['*/*;q=0.000', undefined],
    [',,;', undefined],
  ];
  for (const [header, expected] of CASES) {
    it(`is ${expected ?? 'none'} for ${JSON.stringify(header) ?? 'no header'}`, () => {
      assert.equal(acceptedType(header, OFFERED), expected);
    });
  }

  it('takes time in proportion to the header, whatever is in it', () => {
    for (const piece of ['"', '\\"', ';', ',', '"\\', ';q=', '; ']) {
      const header = piece.repeat(Math.floor((16 * 1024) / piece.length));
      const before = process.threadCpuUsage();
      acceptedType(header, OFFERED);
      const { user, system } = process.threadCpuUsage(before);
      assert.ok(user + system < 250_000, `${piece} took ${user + system} µs`);
    }
  });
});
