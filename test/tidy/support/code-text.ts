// A file's code without what only looks like code: comments go, and on request the contents of strings, templates and
// regular expressions too. Line breaks stay, so that rules about lines still hold.

/** After one of these, a slash starts a regular expression; after anything else it divides. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|await|yield|throw))\s*$/;

/** The end of the quoted text that starts at `start`: the position after its closing quote. */
function endOfQuoted(text: string, start: number, quote: string): number {
  let inClass = false;
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\\') index += 1;
    else if (quote === '/' && character === '[') inClass = true;
    else if (quote === '/' && character === ']') inClass = false;
    else if (quote === '`' && character === '$' && text[index + 1] === '{') index = endOfHole(text, index + 2) - 1;
    else if (character === quote && !inClass) return index + 1;
  }
  return text.length;
}

/** The end of the hole of a template whose code starts at `start`: the position after its closing brace. */
function endOfHole(text: string, start: number): number {
  let depth = 1;
  let index = start;
  while (index < text.length && depth > 0) {
    const character = text[index] ?? '';
    if ('\'"`'.includes(character)) index = endOfQuoted(text, index, character);
    else {
      if (character === '{') depth += 1;
      if (character === '}') depth -= 1;
      index += 1;
    }
  }
  return index;
}

export function codeText(text: string, options: { readonly strings: 'kept' | 'emptied' }): string {
  let code = '';
  let index = 0;
  while (index < text.length) {
    const character = text[index] ?? '';
    const pair = text.slice(index, index + 2);
    let end: number;
    if (pair === '//' || (index === 0 && pair === '#!')) {
      end = text.indexOf('\n', index);
      index = end < 0 ? text.length : end;
    } else if (pair === '/*') {
      end = text.indexOf('*/', index + 2);
      index = end < 0 ? text.length : end + 2;
    } else if ('\'"`'.includes(character) || (character === '/' && BEFORE_REGEX.test(code.slice(-20)))) {
      end = endOfQuoted(text, index, character);
      code += options.strings === 'kept' ? text.slice(index, end) : character + character;
      index = end;
    } else {
      code += character;
      index += 1;
    }
  }
  return code;
}
