// Reads the glossary, and finds words that it retired.

interface Term {
  readonly term: string;
  readonly type: string;
}

/** Rows of the tables that end with a type. */
export function termsOf(glossary: string): Term[] {
  return [...glossary.matchAll(/^\| (?<term>[^|]+?) +\|[^|]+\| `(?<type>\w+)` +\|$/gm)].map(({ groups }) => ({
    term: groups?.term ?? '',
    type: groups?.type ?? '',
  }));
}

interface RetiredWord {
  /** As the glossary lists it. */
  readonly word: string;
  readonly pattern: RegExp;
  /** Where it would have stood. */
  readonly example: string;
}

export const retiredWords: readonly RetiredWord[] = [
  { word: 'anew', pattern: /\banew\b/i, example: 'It begins anew.' },
  {
    word: 'beat',
    pattern: /(?<![hH]eart|un)beat(?!en|Interval)|(?<!heart)Beat(?!en)|(?<!HEART)BEAT/,
    example: 'beatMember',
  },
  { word: 'datacentre', pattern: /datacentre|data centre/i, example: 'localDatacentre' },
  {
    word: 'gone row',
    pattern:
      /\bgone rows?\b|\bgone:|\bisGone\b|removeGone|handle-gone|\brows? that (?:is|are) gone\b|\blive (?:and|or) gone\b/i,
    example: 'live and gone rows',
  },
  { word: 'lane', pattern: /\blanes?\b|[a-z]Lane|\bLane/, example: 'LaneOptions' },
  { word: 'look-up', pattern: /\blook-ups?\b/i, example: 'a look-up' },
  { word: 'recall', pattern: /\brecall(?:s|ed|ing)?\b|recall[A-Z]|Recall/, example: 'recallTail' },
  { word: 'text map', pattern: /text ?map\b/i, example: 'TextMap' },
  { word: 'time-out', pattern: /\btime-outs?\b/i, example: 'a time-out' },
  { word: 'trail', pattern: /\btrails?\b|Trail(?!er|ing)|TRAIL/, example: 'listTrail' },
  { word: 'under way', pattern: /\bunder[ -]way\b|underWay/i, example: 'callsUnderWay' },
  { word: 'room', pattern: /\b(?:for|is) room\b|ForRoom|hasRoom/i, example: 'It waits for room.' },
  { word: 'withheld', pattern: /\bwithheld\b|'stood'/, example: 'withheld' },
];

/** Older than their words, and fixed by what is stored. */
const STORED = /\b(?:healthy_beat|beat|gone|datacentre)\b/g;
const SPEAKS_OF_STORED =
  /^(?:ARCHITECTURE\.md|src\/store\/|test\/(?:contract|unit)\/store\/|docs\/operating\/(?:cassandra|backup)\.md)/;
const HAS_THE_LIST = new Set([
  'docs/reference/glossary.md',
  'test/tidy/glossary.test.ts',
  'test/tidy/support/glossary.ts',
]);

/** One line per line that has one. `files`: path to text. */
export function findRetiredWords(files: ReadonlyMap<string, string>): string[] {
  return [...files]
    .filter(([path]) => !HAS_THE_LIST.has(path))
    .flatMap(([path, text]) =>
      text.split('\n').flatMap((line, index) => {
        const own = SPEAKS_OF_STORED.test(path) ? line.replace(STORED, '') : line;
        const found = retiredWords.filter(({ pattern }) => pattern.test(own)).map(({ word }) => word);
        return found.length === 0 ? [] : [`${path}:${index + 1}: ${found.join(', ')}: ${line.trim()}`];
      }),
    );
}
