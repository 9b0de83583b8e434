// Any character there is: what fast-check calls 'binary', which it takes two seconds to make ready in each process.

import fc from 'fast-check';

const [SURROGATES_FROM, SURROGATES] = [0xd800, 0x800];

/** One code point as text; no lone surrogate. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((index) => String.fromCodePoint(index < SURROGATES_FROM ? index : index + SURROGATES));
