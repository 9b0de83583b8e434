// What the console's editor of rules offers, and what it highlights.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeFor, complete } from '../../../packages/rules-editor/rules-completion.js';
import { marksOf, scanJson } from '../../../packages/rules-editor/rules-language.js';

const VOCABULARY = {
  relations: ['owner', 'viewer', 'parent'],
  namespaces: ['folder', 'user'],
  types: ['int', 'timestamp', 'list<T>'],
  functions: ['size'],
  methods: { getHours: ['timestamp'], startsWith: ['string'] },
};

const MODEL = `{
  "relations": ["approver"],
  "conditions": [{"name": "office", "parameters": {"now": "timestamp", "zone": "string"}, "expression": "EXPRESSION"}],
  "types": [{"namespace": "document", "relation": "RELATION", "subjects": ["SUBJECT"]}],
  "rules": [
    {"namespace": "document", "name": "can_read", "any_of": ["ELEMENT", {"all_of": ["INNER"]}]},
    {"namespace": "document", "name": "can_edit", "any_of": ["owner"]},
    {"namespace": "team", "name": "NAME", "any_of": ["owner"]},
    {"namespace": "NAMESPACE", "name": "can_join", "any_of": ["owner"]}
  ],
  "public": ["PUBLIC"]
}`;

/** The model with a text at a placeholder, in which `^` is the cursor. */
function at(placeholder: string, typed: string) {
  const text = MODEL.replace(placeholder, typed);
  return { text: text.replace('^', ''), offset: text.indexOf('^') };
}

const labelsIn = (text: string): readonly string[] =>
  complete(text.replace('^', ''), text.indexOf('^'), VOCABULARY)?.options.map(({ label }) => label) ?? [];

const labelsAt = (placeholder: string, typed: string): readonly string[] => labelsIn(MODEL.replace(placeholder, typed));

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

describe('completion of an element', () => {
  it('offers the names of its namespace, and what another one must follow', () => {
    const here = ['can_edit', 'approver', 'owner', 'viewer', 'parent', 'can_read from', 'NAME from', 'can_join from'];
    for (const placeholder of ['ELEMENT', 'INNER']) {
      assert.deepEqual(labelsAt(placeholder, '^'), [...here, 'all of']);
      assert.deepEqual(labelsAt(placeholder, 'can^'), [...here, 'all of']);
    }
  });

  it('offers relations behind "from", and the words between', () => {
    assert.deepEqual(labelsAt('ELEMENT', 'viewer from ^'), ['approver', 'owner', 'viewer', 'parent']);
    assert.deepEqual(labelsAt('ELEMENT', 'all of viewer from pa^'), ['approver', 'owner', 'viewer', 'parent']);
    assert.deepEqual(labelsAt('ELEMENT', 'viewer ^'), ['from']);
    assert.ok(labelsAt('ELEMENT', 'all of ^').includes('viewer from'));
    assert.ok(!labelsAt('ELEMENT', 'all of ^').includes('viewer'));
  });

  it('replaces the whole word, and leaves the quotation marks', () => {
    const rules = (element: string): string => `{"rules": [{"namespace": "a", "name": "b", "any_of": [${element}]}]}`;
    assert.equal(taken(rules('"ow^x"'), 'owner'), rules('"owner^"'));
    assert.equal(taken(rules('"viewer f^"'), 'from'), rules('"viewer from ^"'));
    assert.equal(taken(rules('"viewer from p^"'), 'parent'), rules('"viewer from parent^"'));
    assert.equal(taken(rules('^'), 'owner'), rules('"owner^"'));
    assert.equal(taken(rules('"owner", al^'), 'all_of'), rules('"owner", {"all_of": ["^"]}'));
  });
});

describe('completion of other values', () => {
  it('offers namespaces: those of the text and of the tenant', () => {
    const known = ['document', 'SUBJECT', 'team', 'PUBLIC', 'folder', 'user'];
    assert.deepEqual(labelsAt('NAMESPACE', '^'), known);
    assert.ok(labelsAt('PUBLIC', 'us^').includes('user'));
  });

  it('offers names for a rule but those that the namespace has', () => {
    assert.deepEqual(labelsAt('NAME"', '^"'), [
      'can_read',
      'can_edit',
      'can_join',
      'approver',
      'owner',
      'viewer',
      'parent',
    ]);
    const again = MODEL.replace('"team", "name": "NAME"', '"document", "name": "^"');
    assert.ok(!labelsIn(again).includes('can_edit'));
  });

  it('offers relations, subjects, groups and conditions of types', () => {
    assert.deepEqual(labelsAt('RELATION', '^'), ['approver', 'owner', 'viewer', 'parent']);
    assert.ok(labelsAt('SUBJECT', '^').includes('user:*'));
    assert.ok(labelsAt('SUBJECT', 'document#^').includes('can_read'));
    assert.deepEqual(labelsAt('SUBJECT', 'user ^'), ['with']);
    assert.deepEqual(labelsAt('SUBJECT', 'user with ^'), ['office']);
  });

  it('offers types of parameters', () => {
    assert.deepEqual(labelsAt('"timestamp"', '"^"'), VOCABULARY.types);
  });
});

describe('completion of members', () => {
  it('offers those that the object lacks, with the beginning of their values', () => {
    assert.deepEqual(labelsIn('{"rules": [], "^": 1}'), ['relations', 'conditions', 'types', 'groups', 'public']);
    assert.equal(
      taken('{"rules": [{"namespace": "a", "an^"}]}', 'any_of'),
      '{"rules": [{"namespace": "a", "any_of": ["^"]}]}',
    );
    assert.equal(taken('{"rules": [{"n^": "a"}]}', 'name'), '{"rules": [{"name"^: "a"}]}');
    assert.equal(taken('{^}', 'groups'), '{"groups": true^}');
    assert.deepEqual(labelsIn('{"rules": [{"any_of": [{"all_of": ["a"], "^"}]}]}'), ['any_of', 'but_not']);
    assert.deepEqual(labelsIn('{"conditions": [{"name": "a", "parameters": {"^"}}]}'), []);
  });
});

describe('completion of an expression', () => {
  it('offers the parameters of its condition, functions, and the methods of a type', () => {
    assert.deepEqual(labelsAt('EXPRESSION', 'now.getHours(zo^'), [
      'now',
      'zone',
      'size',
      'has',
      'true',
      'false',
      'null',
      'in',
    ]);
    assert.deepEqual(labelsAt('EXPRESSION', 'now.^'), ['getHours']);
    assert.deepEqual(labelsAt('EXPRESSION', 'zone.st^'), ['startsWith']);
    assert.ok(labelsAt('EXPRESSION', 'request.tags.^').includes('exists'));
    assert.match(taken(MODEL.replace('EXPRESSION', 'now.get^'), 'getHours'), /"now\.getHours\(\^\)"/);
  });

  it('offers nothing in a text, a comment or a number', () => {
    for (const typed of [String.raw`zone == \"a^`, "zone == 'a^", '1 // no^', '12^']) {
      assert.deepEqual(labelsAt('EXPRESSION', typed), [], typed);
    }
    assert.ok(labelsAt('EXPRESSION', String.raw`zone == \"a\" && ^`).includes('now'));
  });
});

describe('a text that is no JSON', () => {
  it('is read all the same', () => {
    assert.ok(labelsIn('{"rules": [{"namespace": "a", "name": "b" "any_of": ["^').includes('owner'));
    assert.ok(labelsIn('{"relations": ["approver"], "rules": [{"any_of": [{"all_of": [ap^]]}').includes('approver'));
    for (const text of ['', '^', '}}]]', '{"a": [}', '"', ',,,::']) assert.deepEqual(labelsIn(`${text}^`), [], text);
  });
});

describe('highlighting', () => {
  const marksIn = (placeholder: string, typed: string): readonly string[] => {
    const { text } = at(placeholder, typed);
    return marksOf(scanJson(text).strings)
      .map(({ from, to, of }) => `${text.slice(from, to)} ${of}`)
      .filter((each) => each !== 'EXPRESSION name');
  };

  it('tells the words of an expression, however they are escaped', () => {
    assert.deepEqual(marksIn('EXPRESSION', String.raw`now.f(zone) >= 1.5 && \"a\\\"b\" in x //!`), [
      'now parameter',
      '. operator',
      'f function',
      '( operator',
      'zone parameter',
      ') operator',
      '>= operator',
      '1.5 number',
      '&& operator',
      String.raw`\"a\\\"b\" string`,
      'in keyword',
      'x name',
      '//! comment',
    ]);
  });

  it('tells the words of elements and subjects that are no names', () => {
    assert.deepEqual(marksIn('ELEMENT', 'all of viewer from parent'), ['all of keyword', 'from keyword']);
    assert.deepEqual(marksIn('SUBJECT', 'user with office'), ['with keyword']);
  });
});
