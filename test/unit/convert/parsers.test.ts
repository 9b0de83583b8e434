// The parsers accept or refuse a text, with the place of each refusal. No text makes them fail otherwise or take more
// than linear time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Origin } from '../../../packages/cli/src/converter.ts';
import { CliFailure } from '../../../packages/cli/src/failures.ts';
import { convertModel } from '../../../packages/convert/src/model/conversion.ts';
import { parseModelFile } from '../../../packages/convert/src/model/model-reader.ts';
import {
  type Expression,
  joinDeclarations,
  MODEL_BYTES_MAX,
  NESTING_MAX,
  type Restriction,
} from '../../../packages/convert/src/model/source-model.ts';
import { anyCharacter } from '../support/any-character.ts';
import { DRIVE_FGA, DRIVE_ZED, ENTITLEMENTS_FGA, LIMITED_ZED } from './samples.ts';

const parse = (text: string, origin: Origin = 'openfga') => parseModelFile('m', text, origin);

function textOf(expression: Expression): string {
  switch (expression.kind) {
    case 'stored':
      return '[]';
    case 'name':
      return expression.name;
    case 'from':
      return `${expression.all ? 'all of ' : ''}${expression.name} from ${expression.from}`;
    case 'union':
    case 'intersection': {
      const parts = expression.parts.map(textOf);
      return parts.length === 1 ? parts.join('') : `(${parts.join(expression.kind === 'union' ? ' or ' : ' and ')})`;
    }
    case 'exclusion':
      return `(${textOf(expression.base)} but not ${expression.subtract.map(textOf).join(', ')})`;
    case 'self':
      return 'SELF';
  }
}

const restrictionText = ({ type, relation, wildcard, condition, expires }: Restriction): string =>
  `${type}${relation === undefined ? '' : `#${relation}`}${wildcard ? ':*' : ''}${condition === undefined ? '' : ` with ${condition}`}${expires ? ' until' : ''}`;

/** `type#name: restrictions = definition`, one line each. */
const linesOf = (text: string, origin?: Origin): string[] =>
  parse(text, origin).types.flatMap(({ name: type, relations }) =>
    relations.map(({ name, restrictions, expression }) =>
      [`${type}#${name}:`, ...restrictions.map(restrictionText), '=', textOf(expression)].join(' '),
    ),
  );

const define = (definition: string): string =>
  `model\n  schema 1.1\ntype t\n  relations\n    define a: ${definition}\n`;
const permit = (expression: string): string => `definition t {\n  permission a = ${expression}\n}\n`;

/** A text, and the beginning of the message with its place. */
type Refusal = readonly [text: string, message: string];

function refuses(origin: Origin, refusals: readonly Refusal[]): void {
  for (const [text, message] of refusals) {
    assert.throws(
      () => parse(text, origin),
      (error) => {
        assert.ok(error instanceof CliFailure, String(error));
        assert.ok(error.message.startsWith(message), `${error.message}\nfor ${text}`);
        return true;
      },
    );
  }
}

describe("the parser of OpenFGA's language", () => {
  it('reads definitions', () => {
    const definitions = {
      '[user, group#member ,user:* with c]': 'user group#member user:* with c = []',
      '[\n user,\n group\n]': 'user group = []',
      'b or c or d from e': '= (b or c or d from e)',
      '[user] or (b or (c from d))': 'user = ([] or (b or c from d))',
      '[user] and b': 'user = ([] and b)',
      '(b but not c) or d': '= ((b but not c) or d)',
      'b # or c': '= b',
      'b # c\n# d\n    define x.y/z-0: type from relations': '= b',
    };
    for (const [definition, expected] of Object.entries(definitions)) {
      assert.equal(linesOf(define(definition))[0], `t#a: ${expected}`, definition);
    }
    assert.deepEqual(
      linesOf(define('b\n    define x.y/z-0: type from relations'))[1],
      't#x.y/z-0: = type from relations',
    );
  });

  it('takes Windows line ends, a byte order mark, conditions, and words of the language as names', () => {
    const text = `\uFEFF# it's a model\r\n${define('define from type').replaceAll('\n', '\r\n')}condition c(x: map<string>) {\r\n x["}"] == '"' && r"\\" != """}"}""" // }\r\n # it's\r\n}\r\ntype u`;
    assert.deepEqual([linesOf(text), parse(text).types.length], [['t#a: = define from type'], 2]);
  });

  it('takes comments wherever OpenFGA cuts them off, in conditions too', () => {
    const condition = "condition c(x: int) { # a } \" '\n  # it's {\n  x > 1 # more\n#\n  && x < 5 } # end\n";
    const { conditions } = parse(`${define('[user] # a\n  # b')}${condition}type u # c`);
    assert.deepEqual(
      conditions.map(({ expression, placeAt }) => [
        expression.split(/\s+/).join(' '),
        placeAt(expression.indexOf('x <')),
      ]),
      [['x > 1 && x < 5', { file: 'm', line: 11, column: 6 }]],
    );
  });

  it('refuses anything else, at its place', () => {
    refuses('openfga', [
      ['', 'm:1:1: The file ends where "model" or "module" belongs.'],
      ['type user', 'm:1:1: "type" stands where "model" or "module" belongs.'],
      ['model\n  schema 1.0\n', 'm:2:10: Schema "1.0" cannot be converted'],
      [define(''), 'm:6:1: The file ends where a name, "[" or "(" belongs.'],
      [define('b or'), 'm:6:1: The file ends'],
      [define('b or c and d'), 'm:5:22: Operators of different kinds need parentheses.'],
      [define('b but not c but not d'), 'm:5:27: Operators of different kinds'],
      [define('b but c'), 'm:5:21: "c" stands where "not" after "but" belongs.'],
      [define('(b or c'), 'm:6:1: The file ends where ")" to close the parenthesis belongs.'],
      [define('[user'), 'm:6:1: The file ends where "]" after the types belongs.'],
      [define('[user:x]'), 'm:5:21: "x" stands where "*" after "user:" belongs.'],
      [define('b c'), 'm:5:17: "c" stands where "type", "extend type", "define" or "condition" belongs.'],
      [define('b; c'), 'm:5:16: ";" has no meaning here.'],
      [define('b \u0000'), 'm:5:17: "\\u0000" has no meaning here.'],
      [`${define('b')}condition c(x: int) {\n x < "`, 'm:7:6: This string is never closed.'],
      [`${define('b')}condition c(x: int) {`, 'm:6:21: This "{" is never closed.'],
      [define(`${'('.repeat(NESTING_MAX + 1)}b`), `m:5:${15 + NESTING_MAX}: More than ${NESTING_MAX} parentheses`],
    ]);
    assert.equal(linesOf(define(`${'('.repeat(NESTING_MAX)}b${')'.repeat(NESTING_MAX)}`))[0], 't#a: = b');
  });
});

describe("the parser of OpenFGA's JSON", () => {
  const model = (definition: string, restrictions = '[]'): string =>
    `{"schema_version": "1.1", "type_definitions": [\n {"type": "t", "relations": {"a": ${definition}},\n "metadata": {"relations": {"a": {"directly_related_user_types": ${restrictions}}}}}]}`;

  it('reads definitions', () => {
    const definitions: Readonly<Record<string, readonly [string, string?]>> = {
      'user group#member user:* with c = []': [
        '{"this": {}}',
        '[{"type": "user", "condition": ""}, {"type": "group", "relation": "member"}, {"type": "user", "wildcard": {}, "condition": "c"}]',
      ],
      '= (b or c from d)': [
        '{"union": {"child": [{"computedUserset": {"object": "", "relation": "b"}}, {"tupleToUserset": {"computedUserset": {"relation": "c"}, "tupleset": {"relation": "d"}}}]}}',
      ],
      '= b': ['{"intersection": {"child": [{"computedUserset": {"relation": "b"}}]}}'],
      'user = ([] but not b)': [
        '{"difference": {"base": {"this": {}}, "subtract": {"computedUserset": {"relation": "b"}}}}',
        '[{"type": "user"}]',
      ],
    };
    for (const [expected, [definition, restrictions]] of Object.entries(definitions)) {
      assert.deepEqual(linesOf(model(definition, restrictions)), [`t#a: ${expected}`]);
      assert.deepEqual(linesOf(`{"authorization_model": ${model(definition, restrictions)}}`), [`t#a: ${expected}`]);
    }
    assert.deepEqual(linesOf('{"type_definitions": [{"type": "user", "relations": null, "metadata": null}]}'), []);
  });

  it('refuses anything else, at its place', () => {
    const deep = `${'{"union": {"child": ['.repeat(200)}{"this": {}}${']}}'.repeat(200)}`;
    refuses('openfga', [
      ['{"a": 1, "a": 2}', 'm:1:10: The field "a" occurs twice.'],
      ['{}', 'm:1:1: "type_definitions" is missing'],
      ['{"type_definitions": {}}', 'm:1:22: "type_definitions" must be a list.'],
      ['{"type_definitions": [] ', 'm:1:25: The file ends where "}" at the end of the object belongs.'],
      ['{"type_definitions": []} x', 'm:1:26: "x" stands where the end of the file belongs.'],
      ['{"a": tru}', 'm:1:7: "tru" is not a JSON value.'],
      ['{"a": "\\x"}', 'm:1:7: "\\"\\\\x\\"" is not a JSON string.'],
      ['{"a": "x', 'm:1:7: This string is never closed.'],
      ['{"type_definitions": [{"relations": {}}]}', 'm:1:23: "type" is missing.'],
      ['{"type_definitions": [{"type": "t", "other": {}}]}', 'm:1:46: "other" is unknown here'],
      [model('{}'), 'm:2:35: A definition must have exactly one field; this one has 0.'],
      [model('{"this": {}, "union": {"child": []}}'), 'm:2:35: A definition must have exactly one field'],
      [model('{"xor": {}}'), 'm:2:35: "xor" is not known in a definition.'],
      [model('{"this": {}}'), 'm:2:35: "a" uses "this" without type restrictions'],
      [
        model('{"union": {"child": []}}', '[{"type": "user"}]'),
        'm:2:35: "a" has type restrictions but does not use "this".',
      ],
      [model('{"this": {}}', '[{"type": "user", "if": {}}]'), 'm:3:90: "if" is unknown here'],
      [model('{"computedUserset": {"object": "x", "relation": "b"}}'), 'm:2:55: "object" must be empty.'],
      [model('{"difference": {"base": {"computedUserset": {"relation": "b"}}}}'), 'm:2:50: "subtract" is missing.'],
      [model(deep), 'm:2:'],
    ]);
  });
});

describe("the parser of SpiceDB's language", () => {
  it('reads relations and permissions', () => {
    const expressions = {
      'b + c->d + e.any(f)': '= (b or d from c or f from e)',
      'b + (c + (d))': '= (b or (c or d))',
      'b & c + d': '= (b and (c or d))',
      'b - c + d & e - f': '= (b but not ((c or d) and e), f)',
      'b + (c - d)': '= (b or (c but not d))',
      'b.all(c) + d': '= (all of c from b or d)',
      'b\n  + c // d\n  /* - e */ + f;': '= (b or c or f)',
      nil: '= ()',
      self: '= self',
    };
    for (const [expression, expected] of Object.entries(expressions)) {
      assert.equal(linesOf(permit(expression), 'spicedb')[0], `t#a: ${expected}`, expression);
    }
    assert.deepEqual(linesOf(`use self ${permit('self + b')}`, 'spicedb'), ['t#a: = (SELF or b)']);
    assert.deepEqual(
      linesOf(
        'use expiration\n@deprecated(error, "a ) b")\ndefinition p/t { relation a: p/u | u#... | g#member | u:* with c | u with expiration | u with d and expiration\npermission b: u | g = a }',
        'spicedb',
      ),
      ['p/t#a: p/u u g#member u:* with c u until u with d until = []', 'p/t#b: = a'],
    );
  });

  it('refuses anything else, at its place', () => {
    refuses('spicedb', [
      ['definition t', 'm:1:13: The file ends where "{" after "t" belongs.'],
      ['definition t {', 'm:1:15: The file ends where "relation", "permission" or "}" belongs.'],
      ['definition t { relation a }', 'm:1:27: "}" stands where ":" after "a" belongs.'],
      ['definition t {}\nfoo', 'm:2:1: "foo" stands where "definition", "caveat" or "use" belongs.'],
      ['/* a', 'm:1:1: This comment is never closed.'],
      ['use magic', 'm:1:5: "use magic" is not known'],
      ['use import', 'm:1:5: "use import" cannot be converted: compile the files'],
      ['import "x"', 'm:1:1: "import" cannot be converted'],
      ['partial x {}', 'm:1:1: "partial" cannot be converted'],
      ['definition t { ...x }', 'm:1:16: A partial definition cannot be converted'],
      [permit('b->c->d'), 'm:2:22: An arrow after an arrow cannot be converted'],
      [permit('b.some(c)'), 'm:2:20: "some" is neither "any" nor "all".'],
      [permit('b +'), 'm:3:1: "}" stands where a name or "(" belongs.'],
      [permit('(b'), 'm:3:1: "}" stands where ")" to close the parenthesis belongs.'],
      [permit('b $ c'), 'm:2:20: "$" has no meaning here.'],
      [permit(`${'('.repeat(NESTING_MAX + 1)}b`), `m:2:${18 + NESTING_MAX}: More than ${NESTING_MAX} parentheses`],
    ]);
  });
});

describe('whatever the text', () => {
  const ORIGINS: readonly Origin[] = ['openfga', 'spicedb'];
  const SEEDS = [DRIVE_FGA, ENTITLEMENTS_FGA, DRIVE_ZED, LIMITED_ZED];

  /** Converts it, and lets only failures that a person understands pass. */
  function survive(text: string): void {
    for (const origin of ORIGINS) {
      try {
        convertModel(joinDeclarations([parse(text, origin)]), []);
      } catch (error) {
        assert.ok(error instanceof CliFailure, String(error));
        assert.ok(error.message.length < 8000, `${error.message.length}`);
      }
    }
  }

  it('a parser ends with a model or with a failure of its own', () => {
    const pieces = fc.constantFrom(
      ...new Set(SEEDS.flatMap((text) => text.split(/(\s+|\b)/))),
      ...['{"', '"}', '[', ']', '{', '}', '"type_definitions"', '/*', '*/', '\\', "'", '"""', '#', '\u2028', '\ud800'],
    );
    fc.assert(fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => survive(parts.join(''))));
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), survive));
    fc.assert(
      fc.property(fc.constantFrom(...SEEDS), fc.nat(), fc.nat({ max: 40 }), pieces, (seed, start, length, piece) => {
        const at = start % seed.length;
        survive(seed.slice(0, at) + piece + seed.slice(at + length));
      }),
      { numRuns: 1000 },
    );
  });

  it('the longest text of the worst kind is read in steps as many as it has characters', () => {
    const unit = (text: string): string => text.repeat(Math.floor((MODEL_BYTES_MAX - 200) / text.length));
    const worst = [
      ...['(', '[', '{', '{"a":', '[[', '"', "'", '/*', '//', '# ', '\n', ' ', 'a', 'a ', '->', '\\', '((a)', ';'].map(
        unit,
      ),
      ...['(', 'a or ', 'a from b or ', '[u] or ', '[u,', '((a) or '].map((text) => define(`${unit(text)}a`)),
      ...['(', 'a + ', 'a - ', 'b->a + ', 'b.any(a) + ', '((a) + '].map((text) => permit(`${unit(text)}a`)),
      define(`[${unit('u,')}u]`),
      `definition t { relation a: ${unit('t | ')} t }`,
      `model schema 1.1 condition c(${unit('(')}`,
      `model schema 1.1 condition c(x: int) {${unit('"a" ')}`,
      `caveat c(x int) {${unit('{')}`,
      `{"type_definitions": [${unit('{"type":"a"},')}{}]}`,
      `{"a": "${unit('\\u0000')}"}`,
      `${define('b')}${Array.from({ length: 20_000 }, (_, index) => `type t${index}\nrelations\ndefine a: [t]\n`).join('')}`,
      `definition t {${Array.from({ length: 20_000 }, (_, index) => `permission a${index} = a${index + 1}\n`).join('')}permission a20000 = nil }`,
    ];
    for (const text of worst) {
      assert.ok(Buffer.byteLength(text) <= MODEL_BYTES_MAX + 200, text.slice(0, 40));
      const startedMs = process.threadCpuUsage().user / 1000;
      survive(text);
      const tookMs = process.threadCpuUsage().user / 1000 - startedMs;
      // Steps that grow with the square of the length would take hours.
      assert.ok(tookMs < 20_000, `${tookMs} ms for ${text.slice(0, 40)}`);
    }
  });
});
