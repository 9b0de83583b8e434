// The first and the last line of an export: what was cut, and where, shows.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countAtEnd, ExportFrame, exportEnd, exportHead } from '../../../src/core/export-frame.ts';

const GRANT = '{"subject":"user:a","relation":"viewer","object":"doc:a"}\n';
const RULES = '{"rules":{"rules":[]}}\n';
const exported = (grants: number): string =>
  `${exportHead('ten_a')}${RULES}${GRANT.repeat(grants)}${exportEnd(grants)}`;

function faultOf(text: string): string | undefined {
  const frame = new ExportFrame();
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) frame.take(Buffer.from(line), index + 1);
  return frame.fault();
}

describe('an export', () => {
  it('is whole with its end line, alone or behind another, with blank lines and a grant of nobody', () => {
    for (const text of [exported(0), exported(3), exported(2) + exported(1), exported(2).replaceAll('\n', '\n \n\n')]) {
      assert.equal(faultOf(text), undefined, text);
    }
  });

  it('is not whole if it ends anywhere before its last line', () => {
    const text = exported(3);
    const head = text.indexOf('\n');
    for (let length = head; length < text.length - 1; length += 1) {
      assert.notEqual(faultOf(text.slice(0, length)), undefined, text.slice(0, length));
    }
  });

  it('is not whole without its first line, or with more or fewer grants than it counts', () => {
    const text = exported(3);
    assert.match(faultOf(text.replace(GRANT, '')) ?? '', /has 2 grants instead of 3/);
    assert.match(faultOf(text.replace(GRANT, GRANT.repeat(2))) ?? '', /has 4 grants instead of 3/);
    assert.match(faultOf(text.slice(text.indexOf('\n') + 1)) ?? '', /Line 5 ends an export of 3 grants/);
    assert.match(faultOf(exportHead('ten_a') + text) ?? '', /Line 1 begins an export that has no end line/);
    for (const end of ['{"end":{"grants":"3"}}', '{"end":{}}', '{"end":3}', '{"end":{"grants":3.5}}', '{"end":{"gra']) {
      assert.notEqual(faultOf(text.replace(exportEnd(3), `${end}\n`)), undefined, end);
    }
  });

  it('promises nothing if it was written by hand, or what it holds only speaks of exports', () => {
    const speaking = '{"subject":"user:export","relation":"viewer","object":"doc:end"}\n';
    for (const text of ['', GRANT.repeat(2), RULES + GRANT, speaking]) assert.equal(faultOf(text), undefined, text);
  });

  it('says with its last bytes how many grants it has', () => {
    assert.equal(countAtEnd(exported(3)), 3);
    assert.equal(countAtEnd(exported(3).slice(-40)), 3);
    for (const text of ['', '\n', GRANT, exported(3).slice(0, -1), exported(3) + GRANT, '{"end":{"grants":"1"}}\n']) {
      assert.equal(countAtEnd(text), undefined, text);
    }
  });
});
