// Tuples as people paste them: one meaning for each line, or the reason why it has none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantInText } from '../../../../packages/cli/src/context-options.ts';
import { linesOf, parseTupleLines } from '../../../../src/core/text/tuple-lines.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

const parse = (text: string) =>
  parseTupleLines(linesOf(text), NOW_MS).map((line) => {
    if ('refusal' in line) return `${line.number} ${line.refusal}`;
    const { subject, relation, object, expiresAtMs } = line.tuple;
    return `${line.number} ${[subject, relation, object, ...(expiresAtMs === undefined ? [] : [expiresAtMs])].join('|')}`;
  });

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
  const lines = [
    'user:ada viewer',
    'user:ada viewer doc:1 2030-01-31T12:00:00Z doc:2',
    'ada viewer doc:1',
    'user:ada re#ads doc:1',
    'x',
  ];
  const [short, long, subject, relation, single] = parse(lines.join('\n'));
  assert.equal(short, '1 The line has 2 parts instead of 3 or 4: subject, relation, object and perhaps the expiry.');
  assert.match(long ?? '', /^2 The line has 5 parts/);
  assert.match(subject ?? '', /^3 "subject" must be namespace:external_id/);
  assert.match(relation ?? '', /^4 "relation" must be one of/);
  assert.match(single ?? '', /^5 The line has 1 part instead/);
});

test('a condition stands at the end, with its context as JSON', () => {
  const parsed = parseTupleLines(
    linesOf(
      [
        'user:ada viewer doc:1 with office_hours',
        'user:bob,viewer,doc:1,2030-01-31T12:00:00Z with office {"zone": "with  x", "a": 1}',
        'user:eve viewer doc:1 with office {"zone"',
        'user:eve viewer doc:1 with 1office',
        'with office',
      ].join('\n'),
    ),
    NOW_MS,
  );
  assert.deepEqual(
    parsed.map((line) => ('refusal' in line ? line.refusal : line.tuple.condition)),
    [
      'office_hours',
      'office {"a":1,"zone":"with  x"}',
      'The context of the condition is not valid JSON: it ends too early, at line 1, column 8.',
      '"condition.name" must be the name of a condition that the rules declare.',
      'The line has 2 parts instead of 3 or 4: subject, relation, object and perhaps the expiry.',
    ],
  );
  assert.deepEqual(
    parsed.map(({ number }) => number),
    [1, 2, 3, 4, 5],
  );
});

test('a fourth part is the expiry, which lies in the future', () => {
  const expiresAtMs = Date.UTC(2030, 0, 31, 12);
  const lines = [
    'user:ada viewer doc:1 2030-01-31T12:00:00Z',
    'user:ada,viewer,doc:2, 2030-01-31T14:00:00+02:00',
    'user:ada,viewer,"doc:a,b",',
    'user:ada viewer doc:4 2030-01-31T12:00:00',
    'user:ada viewer doc:5 2020-01-31T12:00:00Z',
    'user:ada viewer doc:6 2190-01-31T12:00:00Z',
    'user:ada viewer doc:1',
  ];
  const [first, second, third, vague, past, far, again] = parse(lines.join('\n'));
  assert.equal(first, `1 user:ada|viewer|doc:1|${expiresAtMs}`);
  assert.equal(second, `2 user:ada|viewer|doc:2|${expiresAtMs}`);
  assert.equal(third, '3 user:ada|viewer|doc:a,b');
  assert.match(vague ?? '', /^4 "expires_at" must be an ISO 8601 timestamp with a time zone/);
  assert.match(past ?? '', /^5 "expires_at" must be a moment in the future/);
  assert.match(far ?? '', /^6 "expires_at" must be within 100 years/);
  assert.equal(again, '7 The same grant is in line 1.');
});

test('a tuple that occurs again is refused, in whatever form', () => {
  assert.deepEqual(parse('user:ada viewer doc:1\n\nuser:ada,viewer,doc:1\n"user:ada" , viewer, doc:1'), [
    '1 user:ada|viewer|doc:1',
    '3 The same grant is in line 1.',
    '4 The same grant is in line 1.',
  ]);
});

test('a line takes time in proportion to its length, whatever its blanks', () => {
  const blanks = ' '.repeat(190_000);
  const before = process.threadCpuUsage().user;
  for (const line of [
    `user:a${blanks}x`,
    `a with${blanks}`,
    `a${'\t with'.repeat(30_000)}`,
    `a${blanks}with${blanks}b`,
  ]) {
    assert.match(parse(line).join(), /parts? instead/);
    assert.throws(() => grantInText(line));
  }
  assert.ok(process.threadCpuUsage().user - before < 2_000_000, 'runs of blanks took quadratic time: a minute');
});
