// What patterns may be, what they mean where the engine and an estimate could differ, and what they cost.

import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { RE2Set } from 're2js';
import { Pattern, PatternError } from '../../../../src/rules/conditions/patterns.ts';
import { StepMeter } from '../../../../src/rules/conditions/step-meter.ts';
import { costOf, LOOKS_PER_STEP, testPatternWork } from './pattern-work-cases.ts';

testPatternWork(300);

const PARTS = 'a?a?a?a?b?b?b?b?c?c?c?c?'.repeat(10);
const matches = (pattern: string, text: string): boolean =>
  Pattern.compile(pattern).matches(text, new StepMeter(100_000));

describe('a pattern', () => {
  const TOO_LARGE: readonly string[] = [
    '\\w{1000}!',
    '\\.{900}',
    '\\d{301}',
    `\\Q[\\E|(?:${PARTS}){1000}!`,
    `\\Q[]\\E|(?:${PARTS}){5}]`,
    `\\Q(?:\\E(?:${PARTS}){5}`,
    `(?:${PARTS})(?s){1000}`,
    `(?:${PARTS})\\Q\\E{5}`,
    `(?:${PARTS}){5}{01}`,
    '{01}'.repeat(100),
    `\\Q${'{2}'.repeat(110)}\\E`,
    `\\Q${'a'.repeat(301)}`,
    '((((a{5}){5}){5}){5})',
    '\\x{61}{1000}',
    '\\p{Greek}{1000}',
  ];
  for (const pattern of TOO_LARGE) {
    it(`is refused before the engine sees it, if it is too large: ${pattern.slice(0, 40)}`, () => {
      const add = mock.method(RE2Set.prototype, 'add');
      try {
        assert.throws(() => Pattern.compile(pattern), PatternError);
        assert.equal(add.mock.callCount(), 0);
      } finally {
        add.mock.restore();
      }
    });
  }

  it('is refused before its program is built, if its classes have too many ranges', () => {
    const compile = mock.method(RE2Set.prototype, 'compile');
    try {
      assert.throws(() => Pattern.compile('[\\p{Ll}\\p{Mn}\\p{Cn}\\p{Ps}]{280}'), /ranges/);
      assert.equal(compile.mock.callCount(), 0);
    } finally {
      compile.mock.restore();
    }
  });

  it('may have 300 parts of every kind', () => {
    for (const part of ['a', '\\w', '\\.', '[a-z]', '\\x{61}', '\\p{L}', '\\Qa\\E'])
      assert.equal(Pattern.compile(`${part}{300}`).atoms, 300, part);
  });

  it('may quote', () => {
    assert.ok(matches('^\\Qa.b[\\E$', 'a.b['));
    assert.ok(!matches('^\\Qa.b\\E$', 'axb'));
    assert.ok(matches('^\\Qab\\E{3}$', 'abbb'));
    assert.ok(!matches('^\\Qab\\E{3}$', 'ababab'));
    assert.ok(matches('^a\\Q{3}', 'a{3}'));
    assert.ok(matches('^(?:ab)(?s){2}$', 'abab'));
  });

  it('has its repetition behind an escape counted', () => {
    assert.equal(Pattern.compile('\\w{50}').atoms, 50);
    assert.equal(Pattern.compile('\\x{61}{50}').atoms, 50);
    assert.equal(Pattern.compile('\\p{Greek}{50}').atoms, 50);
  });
});

describe('a match', () => {
  const COSTLY: readonly (readonly [pattern: string, text: string])[] = [
    ['\\w{280}!', 'a'.repeat(500)],
    ['(?:a?){70}a{70}', 'a'.repeat(500)],
    ['(?:.*a.{30}){3}!', 'ab'.repeat(250)],
    ['(?:(((a?)))){40}!', 'a'.repeat(500)],
    ['(?:\\b.?\\B?){40}!', 'a '.repeat(250)],
    ['(?m:^|$|a){35}!', 'a\n'.repeat(250)],
    ['(?:|||a|||)*b', 'a'.repeat(500)],
    ['(?:\\pL?){40}!', 'é中a'.repeat(150)],
    ['(?i)(?:k?s?){40}!', 'Kſks'.repeat(100)],
    ['', 'a'.repeat(500)],
  ];
  /** Modes that a text switches, and characters that all differ to the engine: a new state at each character. */
  const CHARACTERS = Array.from({ length: 100 }, (_, at) => String.fromCharCode(0x4e00 + at));
  const modes = [...'αβγδ'];
  const unsettled = `(?:(?s:.)?){30}[${CHARACTERS.filter((_, at) => at % 2 === 1).join('')}]!|${modes.map((mode) => `${mode}[^αβγδ]*!`).join('|')}`;
  const switching = modes.map((mode) => mode + CHARACTERS.join('')).join('');
  for (const [pattern, text] of [...COSTLY, [unsettled, switching] as const])
    it(`costs what the engine does: ${pattern.slice(0, 40)}`, () => {
      const cost = costOf(pattern, text);
      assert.ok(cost !== undefined && cost.looks <= LOOKS_PER_STEP * cost.steps, JSON.stringify(cost));
    });
});
