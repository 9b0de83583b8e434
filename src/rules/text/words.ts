// The words of the text form that cannot be names where elements and subjects stand, unless they are in quotes.

export const RESERVED: ReadonlySet<string> = new Set([
  'or',
  'and',
  'but',
  'not',
  'from',
  'with',
  'all',
  'of',
  'nobody',
]);

export const isReserved = (word: string): boolean => RESERVED.has(word);
