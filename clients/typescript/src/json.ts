// Strict JSON out of bytes. Invariant: what is returned has one meaning: it is UTF-8 without a byte order mark, no
// object has two members of one name, no text has half of a surrogate pair, and the nesting is bounded.

/** More than any response of the service. What is nested deeper could end the program that walks through it. */
const DEPTH_MAX = 500;

const HALF_PAIR = /\p{Surrogate}/u;

/** Where the text that begins with the quote at `start` ends: at its second quote, or at the end of all. */
function closingQuote(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0;
    while (json[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return json.length;
}

/** The value of a JSON string, given without its quotes. Undefined if it is ill-formed. */
function unescaped(raw: string): string | undefined {
  if (!raw.includes('\\')) return raw;
  try {
    const text: string = JSON.parse(`"${raw}"`);
    return HALF_PAIR.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The names of each object that is open; null for a list. */
type Open = (Set<string> | null)[];

/** Whether the text that ends before `after` is the name of a member that its object has already, or notes it. */
function isRepeated(json: string, after: number, text: string, open: Open): boolean {
  const names = open.at(-1);
  let at = after;
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at += 1;
  if (json[at] !== ':' || names === undefined || names === null) return false;
  if (names.has(text)) return true;
  names.add(text);
  return false;
}

/** Whether the text, if it is JSON, has one meaning and is not nested too deeply. */
function isStrict(json: string): boolean {
  const open: Open = [];
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at];
    if (letter === '{' || letter === '[') {
      open.push(letter === '{' ? new Set() : null);
      if (open.length > DEPTH_MAX) return false;
    } else if (letter === '}' || letter === ']') {
      open.pop();
    } else if (letter === '"') {
      const end = closingQuote(json, at);
      const text = unescaped(json.slice(at + 1, end));
      if (text === undefined || isRepeated(json, end + 1, text, open)) return false;
      at = end;
    }
  }
  return true;
}

/** Undefined: it is not JSON. */
export function parsedText(json: string): unknown {
  try {
    return isStrict(json) ? JSON.parse(json) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined: they are not UTF-8. */
export function decodedBytes(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined: they are not JSON. */
export function parsedBytes(bytes: Uint8Array): unknown {
  const text = decodedBytes(bytes);
  return text === undefined ? undefined : parsedText(text);
}
