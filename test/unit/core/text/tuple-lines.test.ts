// Tuples as people paste them: one meaning for each line, or the reason why it has none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf, parseTupleLines } from '../../../../src/core/text/tuple-lines.ts';

const parse = (text: string) =>
  parseTupleLines(linesOf(text)).map((line) =>
    'tuple' in line
      ? `${line.number} ${line.tuple.subject}|${line.tuple.relation}|${line.tuple.object}`
      : `${line.number} ${line.refusal}`,
  );

test('a line is separated by commas, spaces or tabs, whatever is around it', () => {
  const lines = [
    'user:ada viewer doc:1',
    '  user:ada\tviewer\t doc:2  ',
    '',
    'user:ada,viewer,doc:3',
    'user:ada, viewer , "doc:4"',
    'user:a,b viewer doc:1,2',
    'user:a,viewer,x viewer doc:1',
    '"user:""ada""",viewer,"doc:a,b"',
    'user:ada viewer doc:"q"',
  ];
  assert.deepEqual(parse(lines.join('\r\n')), [
    '1 user:ada|viewer|doc:1',
    '2 user:ada|viewer|doc:2',
    '4 user:ada|viewer|doc:3',
    '5 user:ada|viewer|doc:4',
    '6 user:a,b|viewer|doc:1,2',
    '7 user:a,viewer,x|viewer|doc:1',
    '8 user:"ada"|viewer|doc:a,b',
    '9 user:ada|viewer|doc:"q"',
  ]);
  assert.deepEqual(parse(' \n\t\r\n'), []);
});

test('a line that is no tuple is refused with its number and what is wrong', () => {
  const lines = ['user:ada viewer', 'user:ada viewer doc:1 doc:2', 'ada viewer doc:1', 'user:ada reads doc:1', 'x'];
  const [short, long, subject, relation, single] = parse(lines.join('\n'));
  assert.equal(short, '1 The line has 2 parts instead of 3: subject, relation and object.');
  assert.match(long ?? '', /^2 The line has 4 parts/);
  assert.match(subject ?? '', /^3 "subject" must be namespace:external_id/);
  assert.match(relation ?? '', /^4 "relation" must be one of/);
  assert.match(single ?? '', /^5 The line has 1 part instead/);
});

test('a tuple that occurs again is refused, in whatever form', () => {
  assert.deepEqual(parse('user:ada viewer doc:1\n\nuser:ada,viewer,doc:1\n"user:ada" , viewer, doc:1'), [
    '1 user:ada|viewer|doc:1',
    '3 The same grant is in line 1.',
    '4 The same grant is in line 1.',
  ]);
});
