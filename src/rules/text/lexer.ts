// The text form of rules, cut into statements and tokens. A statement begins on a line of its own; lines that are
// indented and begin nothing go on with it. Nothing is refused here: what the language lacks becomes a token `other`.
// Takes time in proportion to the length of the text.

export interface Token {
  /** `quoted`: a name in double quotes. `other`: no part of the language. */
  readonly kind: 'name' | 'quoted' | 'symbol' | 'comment' | 'other';
  /** As it is written. */
  readonly text: string;
  /** Offset into the whole text, in UTF-16 units. */
  readonly at: number;
}

/** A comment on a line of its own. */
export interface CommentLine {
  readonly text: string;
  readonly indented: boolean;
  /** Whether an empty line stands before it. */
  readonly blankBefore: boolean;
}

export interface Statement {
  readonly kind: 'namespace' | 'condition' | 'list' | 'definition' | 'unknown';
  readonly comments: readonly CommentLine[];
  /** Whether an empty line stands between its comments, or what is before it, and itself. */
  readonly blankBefore: boolean;
  /** With the comments between them. Of a condition: up to its `=`. */
  readonly tokens: readonly Token[];
  readonly from: number;
  readonly to: number;
  /** Of a condition: where what stands behind its `=` begins; it ends at `to`. */
  readonly expressionAt: number | undefined;
}

export interface Trailer {
  readonly kind: 'end';
  readonly comments: readonly CommentLine[];
}

/**
 * In UTF-16 units: enough for a list of as many relations as rules may have, and read in a few milliseconds. A longer
 * one is `unknown`.
 */
export const STATEMENT_LENGTH_MAX = 80 * 1024;

/** Statements at the top level that take a list. */
export const LISTS = ['groups', 'public', 'private', 'states', 'relations'] as const;
export type ListName = (typeof LISTS)[number];

export const isListName = (text: string): text is ListName => LISTS.some((name) => name === text);

const LINE = /([ \t]*)([^\r\n]*)(\r\n|\n|\r|$)/y;
const SPACE = /[\s\uFEFF]+/y;
/** A name of a rule begins with a letter, a parameter of a condition with an underscore too. */
const NAME = /[A-Za-z_](?:[A-Za-z0-9_.]|-(?!>))*/y;
const QUOTED = /"[^"\r\n]*"/y;
const SYMBOL = /:\*(?![A-Za-z0-9])|[:=,()<>#]/y;
/** Operators of other languages are one token each, for messages. */
const OTHER = /->|&&|\|\||==|=>|\/\/|./suy;
const COMMENT = /#[^\r\n]*/y;

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** The token at or after `at`; undefined: only white space is left before `end`. */
function tokenAt(text: string, at: number, end: number): Token | undefined {
  const space = matchAt(SPACE, text, at)?.length ?? 0;
  const start = at + space;
  if (start >= end) return undefined;
  const isFirst = start === 0 || space > 0 || /\s/.test(text.charAt(start - 1));
  const read = (kind: Token['kind'], pattern: RegExp): Token | undefined => {
    const found = matchAt(pattern, text, start);
    return found === undefined ? undefined : { kind, text: found, at: start };
  };
  return (
    (isFirst ? read('comment', COMMENT) : undefined) ??
    read('name', NAME) ??
    read('quoted', QUOTED) ??
    read('symbol', SYMBOL) ??
    read('other', OTHER)
  );
}

/** At most `max` of them. */
function tokensIn(text: string, from: number, end: number, max = Number.POSITIVE_INFINITY): readonly Token[] {
  const tokens: Token[] = [];
  for (let token = tokenAt(text, from, end); token !== undefined && tokens.length < max; ) {
    tokens.push(token);
    token = tokenAt(text, token.at + token.text.length, end);
  }
  return tokens;
}

const isName = (token: Token | undefined): boolean => token?.kind === 'name' || token?.kind === 'quoted';
const isSymbol = (token: Token | undefined, text: string): boolean => token?.kind === 'symbol' && token.text === text;

/** Which statement begins with these tokens; undefined: none. */
function kindOf([first, second, third]: readonly Token[], isTop: boolean): Statement['kind'] | undefined {
  const defines = isSymbol(second, '=') || isSymbol(second, ':');
  if (first?.kind === 'name' && isTop && isListName(first.text) && !isSymbol(second, '=')) return 'list';
  if (isName(first) && defines) return 'definition';
  if (first?.kind !== 'name') return undefined;
  if (first.text === 'namespace' && (isTop || (isName(second) && (third === undefined || third.kind === 'comment')))) {
    return 'namespace';
  }
  return first.text === 'condition' && (isTop || (isName(second) && isSymbol(third, '('))) ? 'condition' : undefined;
}

/** The tokens of a condition up to its `=`, or with the text behind its `as`; and where the rest begins. */
function headOf(text: string, from: number, end: number) {
  const tokens: Token[] = [];
  let before: Token | undefined;
  for (let token = tokenAt(text, from, end); token !== undefined; ) {
    tokens.push(token);
    const after = token.at + token.text.length;
    if (isSymbol(token, '=')) return { tokens, expressionAt: after };
    if (token.text === 'as' && isSymbol(before, ')')) return { tokens, expressionAt: after };
    if (token.kind !== 'comment') before = token;
    token = tokenAt(text, after, end);
  }
  return { tokens, expressionAt: undefined };
}

class Lines {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Undefined at the end. */
  next() {
    if (this.#at >= this.#text.length) return undefined;
    LINE.lastIndex = this.#at;
    const [whole = '', space = '', content = ''] = LINE.exec(this.#text) ?? [];
    const from = this.#at + space.length;
    this.#at += whole.length;
    return { from, to: from + content.replace(/[ \t]+$/, '').length, indentation: space.length };
  }
}

/** What may take several lines. */
const GOES_ON: ReadonlySet<Statement['kind']> = new Set(['definition', 'list', 'condition']);

/** What is known of a statement while lines may still go on with it. */
interface OpenStatement {
  readonly kind: Statement['kind'];
  readonly comments: readonly CommentLine[];
  readonly blankBefore: boolean;
  readonly from: number;
  readonly indentation: number;
  to: number;
}

function closed(text: string, { kind, comments, blankBefore, from, to }: OpenStatement): Statement {
  if (to - from > STATEMENT_LENGTH_MAX) {
    const tokens = tokensIn(text, from, to, 1);
    return { kind: 'unknown', comments, blankBefore, from, to, tokens, expressionAt: undefined };
  }
  const head =
    kind === 'condition' ? headOf(text, from, to) : { tokens: tokensIn(text, from, to), expressionAt: undefined };
  return { kind, comments, blankBefore, from, to, ...head };
}

/** The statements of the text in order, and at last the comments behind them. */
export function* statementsIn(text: string): Generator<Statement | Trailer> {
  const lines = new Lines(text);
  let open: OpenStatement | undefined;
  let comments: CommentLine[] = [];
  let isBlank = false;
  let base: number | undefined;
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    const { from, to, indentation } = line;
    const content = text.slice(from, to);
    if (content.trim() === '') {
      isBlank = true;
      continue;
    }
    const isInside = open !== undefined && GOES_ON.has(open.kind) && indentation > open.indentation;
    if (content.startsWith('#')) {
      comments.push({ text: content, indented: indentation > (base ?? indentation), blankBefore: isBlank });
      isBlank = false;
      continue;
    }
    base ??= indentation;
    // Behind the `=` of a condition, a line may look like anything.
    const inCondition = isInside && open?.kind === 'condition';
    const kind = inCondition ? undefined : kindOf(tokensIn(text, from, to, 3), indentation <= base);
    if (kind === undefined && isInside && open !== undefined) open.to = to;
    else {
      if (open !== undefined) yield closed(text, open);
      open = { kind: kind ?? 'unknown', comments, blankBefore: isBlank, from, to, indentation };
    }
    comments = [];
    isBlank = false;
  }
  if (open !== undefined) yield closed(text, open);
  yield { kind: 'end', comments };
}

// ---- expressions ----

/** What begins a text in CEL, or a comment of CEL or of ours. */
const STRING_OR_COMMENT = /([bB][rR]?|[rR])?('''|"""|'|")|\/\/[^\n]*|#[^\n]*/g;
const IN_STRING = /\\.|'''|"""|'|"|\n/gs;

/** Where the text that is open at `at` ends; undefined: nowhere. */
function endOfString(raw: string, at: number, quote: string, isRaw: boolean): number | undefined {
  IN_STRING.lastIndex = at;
  for (let match = IN_STRING.exec(raw); match !== null; match = IN_STRING.exec(raw)) {
    const [found] = match;
    if (found.startsWith(quote)) return match.index + quote.length;
    if (found === '\n' && quote.length === 1) return undefined;
    if (isRaw || (found.length === 3 && quote !== found)) IN_STRING.lastIndex = match.index + 1;
  }
  return undefined;
}

/** With spaces in the place of the comments that begin with `#`. */
function withoutComments(raw: string): string {
  let kept = '';
  let copied = 0;
  STRING_OR_COMMENT.lastIndex = 0;
  for (let match = STRING_OR_COMMENT.exec(raw); match !== null; match = STRING_OR_COMMENT.exec(raw)) {
    const [whole, prefix = '', quote] = match;
    if (quote !== undefined) {
      const end = endOfString(raw, STRING_OR_COMMENT.lastIndex, quote, /r/i.test(prefix));
      if (end === undefined) break;
      STRING_OR_COMMENT.lastIndex = end;
    } else if (whole.startsWith('#')) {
      kept += raw.slice(copied, match.index) + ' '.repeat(whole.length);
      copied = STRING_OR_COMMENT.lastIndex;
    }
  }
  return kept + raw.slice(copied);
}

export interface Expression {
  readonly text: string;
  /** Offsets into what stands behind the `=` of where each line of the expression begins. */
  readonly lineStarts: readonly number[];
  /** The lines as they are written, with comments, and those that are all comment. */
  readonly written: readonly string[];
}

interface ExpressionLine {
  /** Without comments and white space at its end. */
  readonly text: string;
  readonly written: string;
  readonly at: number;
  readonly isComment: boolean;
}

function linesOf(raw: string): readonly ExpressionLine[] {
  const plain = raw.replaceAll('\r\n', ' \n').replaceAll('\r', '\n');
  const bare = withoutComments(plain).split('\n');
  let at = 0;
  return plain.split('\n').map((line, index) => {
    const [text, written] = [bare[index] ?? '', line].map((each) => each.replace(/[ \t]+$/, ''));
    const start = at;
    at += line.length + 1;
    return { text: text ?? '', written: written ?? '', at: start, isComment: text === '' && written !== '' };
  });
}

const indentationOf = (text: string): number => /^[ \t]*/.exec(text)?.[0].length ?? 0;

/** The expression that stands behind the `=` of a condition, without what its lines are indented by, and comments. */
export function expressionIn(raw: string): Expression {
  const lines = linesOf(raw);
  const isCode = ({ text }: ExpressionLine): boolean => text !== '';
  const [first, last] = [lines.findIndex(isCode), lines.findLastIndex(isCode)];
  if (first < 0) return { text: '', lineStarts: [], written: [] };
  const indentation = Math.min(
    ...lines.slice(1).flatMap((line) => (isCode(line) ? [indentationOf(line.text)] : [])),
    Number.MAX_SAFE_INTEGER,
  );
  // What stands on the line of the `=` has no indentation that says anything.
  const cutOf = (line: ExpressionLine): number => (line.at === 0 ? indentationOf(line.text) : indentation);
  const code = lines.slice(first, last + 1).filter(({ isComment }) => !isComment);
  return {
    text: code.map((line) => line.text.slice(cutOf(line))).join('\n'),
    lineStarts: code.map((line) => line.at + cutOf(line)),
    written: lines
      .filter((line, index) => line.isComment || (index >= first && index <= last))
      .map((line) => (line.isComment ? line.written.trim() : line.written.slice(cutOf(line)))),
  };
}
