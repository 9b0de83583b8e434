// The comparison with the definition finds faults of grantd, and makes them small enough to be read: teeth.test.ts
// finds each fault, slow/teeth.test.ts makes each small.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { compareAll, differsStill } from './compare.ts';
import { GrantdSystem } from './grantd.ts';
import { MUTATIONS, type Mutation, withMutation } from './mutations.ts';
import { NaiveSystem } from './naive.ts';
import { renderDifference } from './render.ts';
import { shrink } from './shrink.ts';
import type { System } from './system.ts';

const SEED = 1;
const QUESTIONS = 400;
/** Until a fault is found; it takes a hundredth of that or so. */
const QUESTIONS_MAX = 6000;
/** None of the faults needs more than a chain of three grants and its revocation to show. */
const CHANGES_MAX = 4;
const RULES_MAX = 2;

/** `isMadeSmall`: which faults are made small; the others are only found. */
export function testTeeth(isMadeSmall: (mutation: Mutation) => boolean): void {
  describe('a comparison with the definition', () => {
    let grantd: GrantdSystem;
    before(async () => {
      grantd = await GrantdSystem.start();
    });
    after(() => grantd.stop());
    const definition = new NaiveSystem();
    const run = (own: System, questions: number) => compareAll(own, definition, { seed: SEED, questions });

    test('finds nothing in grantd, and asks what is answered with yes as well', async () => {
      const { difference, asked, positive } = await run(grantd, QUESTIONS);
      assert.equal(difference === undefined ? '' : renderDifference(difference, undefined, SEED), '');
      assert.ok(asked >= QUESTIONS && positive > QUESTIONS / 10, `${positive} of ${asked} were answered with yes`);
    });

    for (const mutation of MUTATIONS) {
      const small = isMadeSmall(mutation);
      test(`finds that ${mutation.what}${small ? ', and makes it small' : ''}`, async () => {
        const faulty = withMutation(grantd, mutation);
        const { difference } = await run(faulty, QUESTIONS_MAX);
        assert.ok(difference !== undefined, 'a difference is found');
        if (!small) return;
        const smallest = await shrink(faulty, definition, difference);
        const text = renderDifference(difference, smallest, SEED);
        assert.ok(smallest !== undefined, `it shows again: ${text}`);
        const { world, changes } = smallest;
        assert.ok(changes.flat().length <= CHANGES_MAX, `few changes: ${text}`);
        assert.ok(world.ruleSet.rules.length <= RULES_MAX, `few rules: ${text}`);
        assert.ok(await differsStill(faulty, definition, smallest), `it still differs: ${text}`);
        assert.equal(await differsStill(grantd, definition, smallest), false, `without the fault: ${text}`);
        assert.match(text, new RegExp(`seed ${SEED}, case ${difference.case}`));
      });
    }
  });
}
