// The rules of style that no other tool holds, and that each of them bites.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listFiles, readCode, readText } from '../kit/source-tree.ts';
import { codeText } from './support/code-text.ts';
import { functionsOf } from './support/functions.ts';
import { findStyleViolations, isLong, LONG_FUNCTIONS } from './support/style.ts';

const FOLDERS = ['src', 'packages', 'test', 'scripts', 'tools', 'bench', 'loadtest', 'clients', 'examples'];
const HEADER = '// What it owns.\n';
/** Together with the lines around it, one too many. */
const LONG = '    x;\n'.repeat(69);

describe('the style of the code', () => {
  it('is kept in every file', () => {
    const files = readCode(FOLDERS);
    assert.ok(files.size > 40);
    assert.deepEqual(
      [...files].flatMap(([path, text]) => findStyleViolations(path, text)),
      [],
    );
  });

  const unfinished = ['TO', 'DO'].join('');
  const skip = ['it', 'skip'].join('.');
  const only = ['describe', 'only'].join('.');
  const MUTATIONS: readonly (readonly [string, string, string])[] = [
    ['a file without a header', 'src/core/x.ts', 'export const x = 1;\n'],
    ['a barrel', 'src/core/index.ts', HEADER],
    ['something unfinished', 'src/core/x.ts', `${HEADER}// ${unfinished}: later\n`],
    ['a file without type checking', 'src/core/x.ts', `${HEADER}// ${['@ts', 'nocheck'].join('-')}\n`],
    ['an overruled compiler', 'src/core/x.ts', `${HEADER}// @ts-expect-error so\n`],
    ['a wide comment', 'src/core/x.ts', `${HEADER}// ${'x '.repeat(59)}\n`],
    ['a wide line of a block', 'src/core/x.ts', `${HEADER}/**\n * ${'x '.repeat(59)}\n */\n`],
    ['a wide comment after code', 'src/core/x.ts', `${HEADER}const x = 1; // ${'x '.repeat(53)}\n`],
    ['a long function', 'src/core/x.ts', `${HEADER}function f() {\n${'  x;\n'.repeat(69)}}\n`],
    ['a long method', 'src/core/x.ts', `${HEADER}class X {\n  async #f(a: number): Promise<void> {\n${LONG}  }\n}\n`],
    ['a long arrow', 'src/core/x.ts', `${HEADER}const f = (x: number): number => {\n${LONG}};\n`],
    [
      'a long function of many parameters',
      'src/core/x.ts',
      `${HEADER}function f(\n  a: number,\n): number {\n${LONG}}\n`,
    ],
    ['a long function within a short one', 'src/core/x.ts', `${HEADER}run(() => {\n${LONG}});\n`],
    ['a long test', 'test/unit/x.test.ts', `${HEADER}describe('x', () => {\n  it('y', () => {\n${LONG}  });\n});\n`],
    ['a skipped test', 'test/unit/x.test.ts', `${HEADER}${skip}('x', () => {});\n`],
    ['a lonely test', 'test/unit/x.test.ts', `${HEADER}${only}('x', () => {});\n`],
    [
      'a test skipped by option',
      'test/unit/x.test.ts',
      `${HEADER}it('x', { ${['skip', 'true'].join(': ')} }, () => {});\n`,
    ],
    ['a unit test that sleeps', 'test/unit/x.test.ts', `${HEADER}await new Promise((done) => setTimeout(done, 20));\n`],
    ['a unit test that lets time pass', 'test/unit/x.test.ts', `${HEADER}await letRun(20);\n`],
    [
      'a unit test that waits for the clock',
      'test/unit/x.test.ts',
      `${HEADER}await waitFor('its end', () =>\n  performance.now() > endMs);\n`,
    ],
  ];
  for (const [what, path, text] of MUTATIONS) {
    it(`would not pass with: ${what}`, () => {
      assert.equal(findStyleViolations(path, text).length, 1, findStyleViolations(path, text).join('\n'));
    });
  }

  it('leaves the width of code to the formatter', () => {
    const wide = `const x = '// ${'x'.repeat(120)}';\n`;
    assert.deepEqual(findStyleViolations('src/core/x.ts', `${HEADER}${wide}`), []);
  });

  it('counts the lines of a function without the tests in it, and a suite not at all', () => {
    const tests = `  it('y', async () => {\n${'    x;\n'.repeat(40)}  });\n`.repeat(3);
    assert.deepEqual(findStyleViolations('test/unit/x.test.ts', `${HEADER}describe('x', () => {\n${tests}});\n`), []);
    assert.deepEqual(functionsOf(`function contract() {\n${tests}}\n`)[0], { name: 'contract', lines: 2, line: 1 });
  });

  it('allows no function to be long that is not', () => {
    const files = readCode(FOLDERS);
    const long = [...files].flatMap(([path, text]) =>
      functionsOf(codeText(text, { strings: 'emptied' }))
        .filter(isLong)
        .map(({ name }) => `${path} ${name}`),
    );
    assert.deepEqual(
      [...LONG_FUNCTIONS.keys()].filter((name) => !long.includes(name)),
      [],
    );
  });

  it('looks at code, not at strings or comments', () => {
    assert.deepEqual(
      findStyleViolations('test/unit/x.test.ts', `${HEADER}const a = 'it.only('; // describe.skip(\n`),
      [],
    );
  });
});

describe('every file of the project', () => {
  const machinePaths = [['', 'work', ''].join('/'), ['', 'root', ''].join('/'), ['..', 'shared'].join('/')];
  const registries = [
    'registry.npmjs',
    'registry.yarnpkg',
    'files.pythonhosted',
    'proxy.golang',
    'repo.maven',
    'deb.debian',
  ];
  const homes = new RegExp(`/${'home'}/[a-z]`);
  const texts = listFiles()
    .filter((path) => !/\.(png|jpg|ico|gz|db)$/.test(path))
    .map((path) => [path, readText(path)] as const);

  it('names no path of one machine', () => {
    const found = texts.flatMap(([path, text]) =>
      machinePaths
        .filter((part) => text.includes(part))
        .map((part) => `${path}: ${part}`)
        .concat(homes.test(text) ? [`${path}: a home`] : []),
    );
    assert.deepEqual(found, []);
  });

  it('names no registry, so that any mirror serves', () => {
    const found = texts.flatMap(([path, text]) =>
      registries.filter((host) => text.includes(`${host}.`)).map((host) => `${path}: ${host}`),
    );
    assert.deepEqual(found, []);
  });

  it('ends its text with one line break', () => {
    const found = texts
      .filter(([, text]) => text !== '' && (!text.endsWith('\n') || text.endsWith('\n\n')))
      .map(([path]) => path);
    assert.deepEqual(found, []);
  });

  it('leaves the origin of packages out of the lock file', () => {
    assert.doesNotMatch(readText('package-lock.json'), /"resolved": "(?!packages\/)/);
  });
});
