// Random patterns against random texts, on an engine whose work is counted: the instructions that it looks at. It must
// never be more than what is charged allows. `test/unit` runs some cases, `test/property/slow` many.

import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import fc from 'fast-check';
import { RE2Set } from 're2js';
import { Pattern, PatternError } from '../../../../src/rules/conditions/patterns.ts';
import { StepMeter } from '../../../../src/rules/conditions/step-meter.ts';

/** A step pays for four instructions, each of which is looked at when it is queued and when it runs. */
export const LOOKS_PER_STEP = 8;
const STEPS = 1e9;

/** Building blocks that meet in every order: much of it is wrong, the rest is what no author would write. */
const PARTS = [
  ...['a', 'b', '.', '-', '^', '$', '[ac]', '[^a]', '[]a]', '[[:alpha:]]', '[!-~]', '[\\0-\\777]', '[', '[^', ']'],
  ...['\\w', '\\W', '\\d', '\\b', '\\B', '\\A', '\\z', '\\.', '\\{', '\\141', '\\0', '\\x41', '\\x{61}', '\\'],
  ...['\\pL', '\\PL', '\\p{Greek}', '\\P{^L}', '\\Q', '\\E', '\\Q[\\E', '\\Qa(\\E', '\\Q{2}\\E', '😀'],
  ...['(', '(?:', '(?s)', '(?i)', '(?i:', '(?-s:', '(?P<n>', ')', ')', '|', '*', '+', '?', '*?', '{', '}'],
  ...['{2}', '{3,}', '{0,5}', '{0}', '{1000}', '{01}', '{1,02}', '{20}', '{9,}', '{,3}'],
];

const sequence = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 40 }).map((parts) => parts.join(''));
const pattern = fc.oneof(
  sequence,
  fc.tuple(sequence, sequence, fc.integer({ min: 1, max: 40 })).map(([left, right, times]) => {
    return `${left}(?:${right}){${times}}!`;
  }),
);
const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '-', '[', '{', '\n', ' ', 'é', '中', '😀', 'K', 'ſ'), { maxLength: 60 })
  .map((characters) => characters.join(''));

/** Runs `use` with an engine that counts the instructions that it looks at while it matches. */
function countingLooks<T>(use: (looks: () => number) => T): T {
  let looks = 0;
  const { compile } = RE2Set.prototype;
  const counted = mock.method(RE2Set.prototype, 'compile', function (this: RE2Set) {
    compile.call(this);
    this.prog.inst = new Proxy(this.prog.inst, {
      get: (instructions, index) => {
        looks += 1;
        return Reflect.get(instructions, index);
      },
    });
  });
  try {
    return use(() => looks);
  } finally {
    counted.mock.restore();
  }
}

/** Undefined: the pattern is refused. */
export function costOf(source: string, value: string): { readonly looks: number; readonly steps: number } | undefined {
  return countingLooks((looks) => {
    const meter = new StepMeter(STEPS);
    let compiled: Pattern;
    try {
      compiled = Pattern.compile(source, meter);
    } catch (error) {
      if (error instanceof PatternError) return undefined;
      throw error;
    }
    assert.ok(compiled.instructions <= STEPS - meter.remaining, `steps pay for the program of ${source}`);
    const [looksBefore, stepsBefore] = [looks(), meter.remaining];
    compiled.matches(value, meter);
    return { looks: looks() - looksBefore, steps: stepsBefore - meter.remaining };
  });
}

export function testPatternWork(numRuns: number): void {
  describe('a random pattern', () => {
    it('has the engine do no more than is charged for', () => {
      fc.assert(
        fc.property(pattern, text, (source, value) => {
          const cost = costOf(source, value);
          fc.pre(cost !== undefined);
          assert.ok(cost.looks <= LOOKS_PER_STEP * cost.steps, `${cost.looks} looks for ${cost.steps} steps`);
        }),
        { numRuns, maxSkipsPerRun: 1000 },
      );
    });
  });
}
