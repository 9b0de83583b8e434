// Chooses one of the media types that an operation offers by the header Accept (RFC 9110 section 12.5.1). Parameters of
// a media range other than its weight have no effect.

/** The weight of a media range; 1 without a well-formed weight. */
const WEIGHT = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/i;

interface MediaRange {
  readonly type: string;
  readonly weight: number;
}

/** The parts between commas; a comma within quotes separates nothing. */
function splitList(header: string): string[] {
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  for (let at = 0; at < header.length; at += 1) {
    const character = header[at];
    if (character === '"') quoted = !quoted;
    else if (quoted && character === '\\') at += 1;
    else if (!quoted && character === ',') {
      parts.push(header.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(header.slice(start));
  return parts;
}

function rangeOf(part: string): MediaRange {
  const [type = '', ...parameters] = part.split(';').map((each) => each.trim());
  const weight = parameters.map((each) => WEIGHT.exec(each)?.[1]).find((each) => each !== undefined);
  return { type: type.toLowerCase(), weight: weight === undefined ? 1 : Number(weight) };
}

/** The weight of the most specific range that covers the type; 0: it is not acceptable. */
function weightOf(type: string, ranges: readonly MediaRange[]): number {
  for (const covering of [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']) {
    const range = ranges.find((each) => each.type === covering);
    if (range !== undefined) return range.weight;
  }
  return 0;
}

/**
 * The type with the greatest weight, the first among equals; without the header, the first. Undefined: none is
 * accepted.
 */
export function acceptedType(header: string | undefined, offered: readonly string[]): string | undefined {
  if (header === undefined || header.trim() === '') return offered[0];
  const ranges = splitList(header).map(rangeOf);
  let best: string | undefined;
  let bestWeight = 0;
  for (const type of offered) {
    const weight = weightOf(type, ranges);
    if (weight <= bestWeight) continue;
    best = type;
    bestWeight = weight;
  }
  return best;
}

/** Whether the header itself names one of the types, rather than a range that covers it. */
export const namesType = (header: string | undefined, types: readonly string[]): boolean =>
  splitList(header ?? '')
    .map(rangeOf)
    .some(({ type, weight }) => weight > 0 && types.includes(type));
