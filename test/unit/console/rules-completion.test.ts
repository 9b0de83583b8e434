// What the console's editor of rules offers, how it colours, and where it folds.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeFor, complete } from '../../../packages/rules-editor/rules-completion.ts';
import { foldsOf, marksOf, statementsOf } from '../../../packages/rules-editor/rules-language.ts';

const VOCABULARY = {
  relations: ['owner', 'viewer', 'parent'],
  namespaces: ['folder', 'user'],
  types: ['int', 'timestamp', 'list<T>'],
  functions: ['size'],
  methods: { getHours: ['timestamp'], startsWith: ['string'] },
};

/** `^` at each of these is where the cursor may be. */
const MODEL = `relations: approver
public: PUBLIC

namespace drive
  member: user
  can_enter = member

namespace folder
  parent: folder
  viewer: user, user:*
  can_list = viewer

namespace document
  parent: folder
  editor: SUBJECT
  can_read = ELEMENT
  can_edit = editor
LINE

condition office(now: timestamp, zone: string) =
  EXPRESSION
`;

const labelsIn = (text: string): readonly string[] =>
  complete(text.replace('^', ''), text.indexOf('^'), VOCABULARY)?.options.map(({ label }) => label) ?? [];

/** With a text at a placeholder, in which `^` is the cursor. */
const labelsAt = (placeholder: string, typed: string): readonly string[] =>
  labelsIn(MODEL.replace(placeholder, typed).replace(/\n?LINE/, ''));

/** The text once an offer was taken, with the cursor. */
function taken(text: string, label: string): string {
  const [plain, offset] = [text.replace('^', ''), text.indexOf('^')];
  const offers = complete(plain, offset, VOCABULARY);
  const offer = offers?.options.find((each) => each.label === label);
  assert.ok(offers !== undefined && offer !== undefined, `${label} is not offered`);
  const { from, to, insert, cursor } = changeFor(offers, offer);
  const changed = plain.slice(0, from) + insert + plain.slice(to);
  return `${changed.slice(0, cursor)}^${changed.slice(cursor)}`;
}

describe('completion of what a name follows from', () => {
  const here = ['can_edit', 'parent', 'editor', 'approver'];
  const followed = ['can_list from parent', 'parent from parent', 'viewer from parent'];

  it('offers the names of its namespace, and those on what its relations lead to', () => {
    for (const typed of ['^', 'can^', 'editor or ^', 'editor but not ^', '(^', 'editor and (vie^']) {
      assert.deepEqual(labelsAt('ELEMENT', typed), [...here, ...followed, 'all of', 'self'], typed);
    }
  });

  it('offers nothing of a namespace to which no relation leads', () => {
    assert.ok(labelsAt('ELEMENT', '^').every((label) => !/member|can_enter/.test(label)));
  });

  it('offers relations behind "from", those that lead to the name first, and the words between', () => {
    assert.deepEqual(labelsAt('ELEMENT', 'can_list from ^'), ['parent', 'editor', 'approver']);
    assert.deepEqual(labelsAt('ELEMENT', 'editor ^'), ['from', 'or', 'and', 'but not']);
    assert.deepEqual(labelsAt('ELEMENT', 'can_list from parent o^'), ['or', 'and', 'but not']);
    assert.deepEqual(labelsAt('ELEMENT', 'editor but ^'), ['not']);
    assert.deepEqual(labelsAt('ELEMENT', 'all ^'), ['of']);
    assert.deepEqual(labelsAt('ELEMENT', 'all of ^'), followed);
  });

  it('offers any relation where no line says who may be granted one', () => {
    const untyped = 'namespace a\n  can_see = owner\nnamespace b\n  can_read = ^';
    assert.deepEqual(labelsIn(untyped), ['owner', 'viewer', 'parent', 'can_see from', 'all of', 'self']);
  });

  it('goes on in a line that is indented further', () => {
    assert.ok(labelsAt('ELEMENT', 'editor or\n    ^').includes('can_edit'));
  });

  it('replaces the whole word', () => {
    const rules = (element: string): string => `namespace a\n  viewer: user\n  b = ${element}\n`;
    assert.equal(taken(rules('vi^x'), 'viewer'), rules('viewer^'));
    assert.equal(taken(rules('viewer f^'), 'from'), rules('viewer from ^'));
    assert.equal(taken(rules('viewer b^'), 'but not'), rules('viewer but not ^'));
  });
});

describe('completion of other lines', () => {
  it('offers namespaces, groups and conditions to those who may be granted a relation', () => {
    const namespaces = ['drive', 'user', 'folder', 'document'];
    const subjects = labelsAt('SUBJECT', '^');
    for (const each of namespaces) assert.ok(subjects.includes(each) && subjects.includes(`${each}:*`), each);
    assert.equal(subjects.at(-1), 'nobody');
    assert.ok(!labelsAt('SUBJECT', 'user, ^').includes('nobody'));
    assert.deepEqual(labelsAt('SUBJECT', 'folder#^'), ['can_list', 'parent', 'viewer']);
    assert.deepEqual(labelsAt('SUBJECT', 'user ^'), ['with']);
    assert.deepEqual(labelsAt('SUBJECT', 'user with ^'), ['office']);
    assert.deepEqual(labelsAt('SUBJECT', 'user with office ^'), []);
    assert.ok(labelsAt('PUBLIC', '^').includes('user'));
  });

  it('offers names at the beginning of a line, but those that the namespace has, and what begins a block', () => {
    const begun = labelsIn(MODEL.replace('LINE', '  ^'));
    assert.deepEqual(begun.slice(0, 2), ['can_enter', 'can_list']);
    assert.ok(!begun.includes('can_read') && !begun.includes('editor') && begun.includes('owner'));
    assert.equal(taken('namespace a\n  viewer: user\n  ow^', 'owner'), 'namespace a\n  viewer: user\n  owner: ^');
    assert.ok(labelsIn('^').includes('namespace'));
    assert.ok(labelsIn('namespace ^').includes('folder'));
    assert.deepEqual(labelsIn('groups: ^'), ['on', 'off']);
    assert.equal(taken('cond^', 'condition'), 'condition ^() = ');
  });

  it('offers types of parameters', () => {
    assert.deepEqual(labelsIn('condition a(b: ^'), VOCABULARY.types);
    assert.equal(taken('condition a(b: li^', 'list<T>'), 'condition a(b: list<string^>');
  });
});

describe('completion of an expression', () => {
  it('offers the parameters of its condition, functions, and the methods of a type', () => {
    const all = ['now', 'zone', 'size', 'has', 'true', 'false', 'null', 'in'];
    assert.deepEqual(labelsAt('EXPRESSION', 'now.getHours(zo^'), all);
    assert.deepEqual(labelsAt('EXPRESSION', '^'), all);
    assert.deepEqual(labelsAt('EXPRESSION', 'now.^'), ['getHours']);
    assert.deepEqual(labelsAt('EXPRESSION', 'zone.st^'), ['startsWith']);
    assert.ok(labelsAt('EXPRESSION', 'request.tags.^').includes('exists'));
    assert.match(taken(MODEL.replace('EXPRESSION', 'now.get^'), 'getHours'), /\n {2}now\.getHours\(\^\)\n/);
  });

  it('offers nothing in a text, a comment or a number', () => {
    for (const typed of ['zone == "a^', "zone == 'a^", '1 // no^', '1 # no^', '12^']) {
      assert.deepEqual(labelsAt('EXPRESSION', typed), [], typed);
    }
    assert.ok(labelsAt('EXPRESSION', 'zone == "a" && ^').includes('now'));
  });
});

describe('a text that is not right', () => {
  it('is read all the same', () => {
    assert.ok(labelsIn('namespace a\n  editor: user\n  b = (editor or ^').includes('editor'));
    assert.ok(labelsIn('namespace a\n  editor: \n  b = ^').includes('editor'));
    for (const text of ['# a ^', 'namespace a # b ^', '{"rules": [^', ')) ^', '"^', 'b = = ^ c']) {
      assert.deepEqual(
        labelsIn(text).filter((label) => label === 'editor'),
        [],
        text,
      );
    }
    assert.deepEqual(labelsIn('# a ^'), []);
    assert.deepEqual(labelsIn('{"rules": [{"^'), []);
  });
});

describe('colours', () => {
  const marksIn = (text: string): readonly string[] =>
    marksOf(text, statementsOf(text)).map(({ from, to, of }) => `${text.slice(from, to)} ${of}`);

  it('tell the words of the language from names, and comments', () => {
    assert.deepEqual(
      marksIn('# first\nnamespace doc # doc\n  or: user with office\n  can_read = "or" or all of a from b\n# end'),
      [
        '# first comment',
        'namespace keyword',
        'doc type',
        '# doc comment',
        'or definition',
        ': operator',
        'user type',
        'with keyword',
        'office name',
        'can_read definition',
        '= operator',
        '"or" name',
        'or keyword',
        'all keyword',
        'of keyword',
        'a name',
        'from keyword',
        'b name',
        '# end comment',
      ],
    );
  });

  it('tell the words of an expression', () => {
    const text =
      "condition c(now: timestamp) =\n  now.f(zone) >= 1.5 && \"a\\\"b\" in x //!\n  # why\n  && r'''it's'''";
    assert.deepEqual(marksIn(text), [
      'condition keyword',
      'c definition',
      '( operator',
      'now parameter',
      ': operator',
      'timestamp type',
      ') operator',
      '= operator',
      'now parameter',
      '. operator',
      'f function',
      '( operator',
      'zone name',
      ') operator',
      '>= operator',
      '1.5 number',
      '&& operator',
      '"a\\"b" string',
      'in keyword',
      'x name',
      '//! comment',
      '# why comment',
      '&& operator',
      "r'''it's''' string",
    ]);
  });

  it('do not overlap, whatever the text is', () => {
    for (const text of [
      MODEL,
      '{"rules": [{"name": "a"}]}',
      '"""',
      "condition c() = '''",
      'a: # b\n= # c',
      '\r\n#\r',
    ]) {
      let end = 0;
      for (const { from, to } of marksOf(text, statementsOf(text))) {
        assert.ok(from >= end && to > from && to <= text.length, `${JSON.stringify(text)} at ${from}`);
        end = to;
      }
    }
  });
});

it('folds a namespace from its first line to its last', () => {
  const text = 'namespace a # first\n  b: user\n\n  c = b or\n    d\n\n# of e\nnamespace e\ncondition f() = true\n';
  const folds = [...foldsOf(text, statementsOf(text))].map(([from, to]) => text.slice(from, to));
  assert.deepEqual(folds, ['\n  b: user\n\n  c = b or\n    d']);
});
