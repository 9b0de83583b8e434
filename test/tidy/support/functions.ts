// The functions of a file and how long they are. The formatter puts the end of what begins on a line at the indentation
// of that line, so that lines and their indentation are enough to find them.

export interface FunctionSpan {
  /** Its name, or that of the function or the constant that it is given to; `script` for one that is called at once. */
  readonly name: string;
  /** From its first line to its last, without the tests and suites that it holds: those count by themselves. */
  readonly lines: number;
  /** Of its first line, from 1. */
  readonly line: number;
}

const KEYWORDS = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'return', 'do', 'else', 'try', 'finally']);
/** What groups and wraps tests; in it, functions follow each other and nothing is computed. */
const SUITE = /^\s*(?:(?:await |void |return )*(?:describe|suite)(?:\.\w+)?\()/;
const TEST = /^\s*(?:(?:await |void |return )*(?:it|test|t\.test|before|after|beforeEach|afterEach)\()/;

/** Of code whose comments are gone and whose strings are emptied. */
export function functionsOf(code: string): FunctionSpan[] {
  const lines = code.split('\n');
  const spans: FunctionSpan[] = [];
  for (const [index, text] of lines.entries()) {
    if (!/\{$/.test(text) || !opensFunction(text)) continue;
    const indent = indentOf(text);
    const head = headOf(lines, index, indent);
    const first = lines[head] ?? '';
    if (SUITE.test(first) || startsWithKeyword(first)) continue;
    const end = lines.findIndex((line, at) => at > index && indentOf(line) <= indent && line.trim() !== '');
    spans.push({ name: nameOf(first), lines: end - head + 1 - testLines(lines, head + 1, end), line: head + 1 });
  }
  return spans;
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

const startsWithKeyword = (text: string): boolean => KEYWORDS.has(/^\s*(?:\} )?(\w+)\b/.exec(text)?.[1] ?? '');

/** Whether the line ends with the brace that opens the body of a function. */
function opensFunction(text: string): boolean {
  if (/=> \{$/.test(text)) return true;
  if (startsWithKeyword(text)) return false;
  return /\)(?:: [^={}]*(?:\{[^{}]*\}[^={}]*)*)? \{$/.test(text);
}

/** Where a signature of several lines begins: its last line is at the indentation of its first. */
function headOf(lines: readonly string[], index: number, indent: number): number {
  if (!/^\s*[)\]}]/.test(lines[index] ?? '')) return index;
  let head = index - 1;
  while (head > 0 && (indentOf(lines[head] ?? '') > indent || lines[head]?.trim() === '')) head -= 1;
  return head;
}

function nameOf(text: string): string {
  if (text === '(() => {') return 'script';
  const named =
    /\bfunction\*? (\w+)/.exec(text) ??
    /^\s*(?:export )?(?:const|let) (\w+)/.exec(text) ??
    /^\s*(?:(?:private|protected|public|static|override|async|get|set|readonly) |\*)*(#?\w+)\s*[(<=:]/.exec(text);
  return named?.[1] ?? text.trim();
}

/** How many of these lines belong to tests and suites. */
function testLines(lines: readonly string[], from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index += 1) {
    const text = lines[index] ?? '';
    if (!SUITE.test(text) && !TEST.test(text)) continue;
    const indent = indentOf(text);
    let end = index;
    if (!/;$/.test(text)) {
      end = lines.findIndex(
        (line, at) => at > index && line.trim() !== '' && indentOf(line) <= indent && /;$/.test(line),
      );
    }
    count += end - index + 1;
    index = end;
  }
  return count;
}
