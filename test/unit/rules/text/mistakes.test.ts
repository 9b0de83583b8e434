// What people write first, and what they are told: the place, the nearest name, and the right form.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { ruleSetOfSourceInTurns } from '../../../../src/rules/text/rules-source.ts';

const MISTAKES: readonly (readonly [text: string, ...sentences: RegExp[]])[] = [
  ['namespace doc\n  can_read = viwer', /^Line 2, column 14: .*"viwer".* Did you mean "viewer"\?$/],
  [
    'namespace doc\n  a = viewer or editor and owner',
    /^Line 2, column 24: .*`\(viewer or editor\) and owner` or `viewer or \(editor and owner\)`/,
  ],
  [
    'namespace doc\n  a = viewer but not guest or owner',
    /^Line 2, column 28: .*`viewer but not \(guest or owner\)` or `\(viewer but not guest\) or owner`/,
  ],
  ['namespace doc\n  a = viewer and not guest', /^Line 2, column 18: .*`viewer but not guest`\.$/],
  ['namespace doc\n  a = not guest', /^Line 2, column 7: .*`not` stands behind `but`.*`viewer but not guest`\.$/],
  ['namespace doc\n  a = viewer not guest', /^Line 2, column 14: "not" means nothing here: write `but not`\.$/],
  ['namespace doc\n  a = viewer - guest', /^Line 2, column 14: "-" means nothing here: write `but not`\.$/],
  ['namespace doc\n  a = viewer || editor', /^Line 2, column 14: "\|\|" means nothing here: write `or`\.$/],
  ['namespace doc\n  a = viewer & editor', /^Line 2, column 14: "&" means nothing here: write `and`\.$/],
  ['namespace doc\n  a = viewer OR editor', /^Line 2, column 14: "OR" means nothing here: write `or`\.$/],
  ['namespace doc\n  a = parent->viewer', /^Line 2, column 13: "->" means nothing here: write `viewer from parent`/],
  ['namespace doc\n  a = parent.viewer', /^Line 2, column 7: .*"viewer from parent"/],
  [
    'namespace doc\n  a = viewer, editor',
    /^Line 2, column 13: At ",", `or`, `and` or `but not` is missing.* behind a colon: `a: user, team#member`\.$/,
  ],
  ['namespace doc\n  a = team#member', /^Line 2, column 11: At "#", .* behind a colon: `a: user, team#member`\.$/],
  ['namespace doc\n  a = parent.all(viewer)', /^Line 2, column 17: .*`all of viewer from parent`\.$/],
  ['namespace doc\n  a = parent.any(viewer)', /^Line 2, column 17: .*`viewer from parent`\.$/],
  ['namespace doc\n  a = (viewer or editor))', /^Line 2, column 25: At "\)", no parenthesis is open here\.$/],
  [
    'namespace doc\n  a = (viewer or editor',
    /^Line 2, column 24: At the end of the line, a closing parenthesis is missing/,
  ],
  ['namespace doc\n  a = viewer or\n  b = viewer', /^Line 2, column 16: At the end of the line, a name is missing/],
  ['namespace doc\n  a = or', /^Line 2, column 7: .*in quotes, `"or"`/],
  ['namespace doc\n  a = all viewer from parent', /^Line 2, column 7: .*`all of viewer from parent`\.$/],
  ['namespace doc\n  a = all of viewer', /^Line 2, column 20: .*`all of viewer from parent`/],
  ['namespace doc\n  a = viewer from parent from parent', /^Line 2, column 26: .*`from` leads one step/],
  [
    'namespace doc\n  a = viewer from folder',
    /^Line 2, column 7: This follows "folder"; after "from" stands a built-in relation/,
  ],
  ['namespace doc\n  a = viewer with soon', /^Line 2, column 14: .*`viewer: user with CONDITION`/],
  ['namespace doc\n  a =', /^Line 2, column 6: At the end of the line, what `a` follows from is missing/],
  ['namespace doc\n  can_read viewer', /^Line 2, column 3: At "can_read", .*`NAME =`/],
  ['can_read = viewer', /^Line 1, column 1: "can_read" stands in no namespace: put it beneath `namespace NAME`/],
  [
    `namespace ${'x'.repeat(65)}\n  a = viewer\n  b = a`,
    /^Line 1, column 11: .* a namespace must be a letter, then up to 63/,
  ],
  ['namespace _doc\n  a = viewer', /^Line 1, column 11: At "_doc", a name begins with a letter/],
  ['namespace doc\n  a = _viewer', /^Line 2, column 7: At "_viewer", a name begins with a letter/],
  [`namespace doc\n  ${'x'.repeat(65)} = viewer`, /^Line 2, column 3: This must be a letter, then up to 63/],
  ['namespace doc\n  viewer: user with "a b"', /^Line 2, column 11: This must be a kind of subjects/],
  [
    `namespace doc\n  viewer: ${Array.from({ length: 101 }, (_, at) => `n${at}`).join(', ')}`,
    /^Line 2, column 3: This has 101 elements; at most 100/,
  ],
  ['namspace doc', /^Line 1, column 1: .* such as `namespace`/],
  ['namespace doc\n  viewer: user or team#member', /^Line 2, column 16: At "or", a comma stands between/],
  ['namespace doc\n  can_read: viewer or editor', /^Line 2, column 20: .* other names stands behind `=`\.$/],
  ['namespace doc\n  can_read: viewer from parent', /^Line 2, column 20: .* other names stands behind `=`\.$/],
  ['namespace doc\n  viewer: user team#member', /^Line 2, column 16: At "team", a comma, or `with`/],
  ['namespace doc\n  viewer: user:ada', /^Line 2, column 15: .*`user` or `user:\*`/],
  ['namespace doc\n  viewer:', /^Line 2, column 10: .*`user, team#member`, or `nobody`/],
  ['namespace doc\n  viewer: [user]', /^Line 2, column 11: .*without brackets/],
  ['namespace doc\n  veiwer: user', /^Line 2, column 3: .*built-in relation "viewer".*`relations: veiwer`/],
  ['namespace doc\n  viewer: user with expiration', /^Line 2, column 11: .* A grant may expire without one\.$/],
  [
    'namespace doc\n  viewer: user with soonn\ncondition soon(a: int) = a < 1',
    /^Line 2, column 11: .*"soonn".* Did you mean "soon"\?/,
  ],
  [
    'namespace doc\n  a = viewer\n  a = editor',
    /^Line 3, column 3: This defines "a" of "doc", as line 2 does; put both into one/,
  ],
  ['namespace doc\n  a = viewer but not b\n  b = viewer but not a', /^Line 2, column 3: .*doc a > doc b > doc a/],
  [
    'namespace doc\n  states: archived\n  a = viewer',
    /^Line 2, column 3: "states" looks like the list `states:`, which stands above the first namespace\. .*`relations: states`/,
  ],
  ['state: archived', /^Line 1, column 1: .* Did you mean `states:`\?$/],
  ['namespace doc\n  archived: *', /^Line 2, column 13: "\*" means nothing here: .*`states: NAME`/],
  [
    'states: archived\nnamespace doc\n  archived: user',
    /^Line 3, column 3: .*one of "states"; a state is granted to its object, and has no types\.$/,
  ],
  [
    'states: archived\nnamespace doc\n  archived = viewer\n  a = viewer from archived',
    /^Line 3, column 3: .* a state follows from nothing/,
    /^Line 4, column 7: .* a state, which leads to no entities/,
  ],
  [
    'states: archived\nnamespace doc\n  a = viewer but not archved',
    /^Line 3, column 22: .* Did you mean "archived"\?$/,
  ],
  ['groups', /^Line 1, column 7: .*`groups: on`/],
  ['condition soon(a: itn) = a < 1', /^Line 1, column 16: .*the types are any, bool/],
  ['condition soon(a int) = a < 1', /^Line 1, column 18: .*`a: int`/],
  ['condition soon(a: int) = b < 1', /^Line 1, column 26: "b" is unknown; the nearest known name is "a"/],
  ['condition soon(a: int) =\n  a < 1 &&\n    a.foo() == 2', /^Line 3, column 7: There is no method "foo"/],
  ['condition soon(a: int) { a < 1 }', /^Line 1, column 24: .*without braces: `condition soon\(…\) = …`/],
  [
    'type doc\n  relations\n    define viewer: [user, team#member] or editor',
    /`namespace doc`/,
    /leave it out/,
    /^Line 3, column 5: .*`viewer: user, team#member` and, on a line of its own, `viewer = editor`/,
  ],
  [
    'definition doc {\n  relation viewer: user | team#member\n  permission read = viewer + editor - guest\n}',
    /`namespace doc`/,
    /`viewer: user, team#member`/,
    /`read = viewer or editor but not guest`/,
    /no braces/,
  ],
  ['definition doc {\n  permission none = nil\n}', /`namespace doc`/, /`none: nobody`/, /no braces/],
  [
    `namespace doc\n${Array.from({ length: 1001 }, (_, at) => `  p${at}: user`).join('\n')}`,
    /^Line 1002, column 3: The rules have 1001 relations; at most 1000 are allowed\.$/,
  ],
  ['{"rules": []}', /application\/json/],
  ['rules:\n  - namespace: doc', /YAML/],
  ['', /^Line 1, column 1: The text is empty/],
];

const now = async (): Promise<void> => {};

describe('mistakes in the text form of rules', () => {
  for (const [text, ...expected] of MISTAKES) {
    it(JSON.stringify(text.slice(0, 200)), async () => {
      await assert.rejects(ruleSetOfSourceInTurns(text, now, { expressions: true }), (error) => {
        assert.ok(error instanceof GrantdError && error.code === 'invalid-request', String(error));
        const sentences = error.message.split('\n');
        assert.equal(sentences.length, expected.length, error.message);
        for (const [index, pattern] of expected.entries()) assert.match(sentences[index] ?? '', pattern);
        return true;
      });
    });
  }
});
