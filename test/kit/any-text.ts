// Texts that fast-check makes quickly: its own strings of all of Unicode build a table of a million entries first.

import fc from 'fast-check';

const CODE_UNIT_MAX = 0xff_ff;

/** Any UTF-16 text of at most `lengthMax` code units, with control characters and lone surrogates. */
export const anyText = (lengthMax: number): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.nat(0x7f), fc.nat(CODE_UNIT_MAX)), { maxLength: lengthMax, size: 'max' })
    .map((units) => String.fromCharCode(...units));
