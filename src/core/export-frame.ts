// The first and the last line of an export in NDJSON. The first promises the last, which counts the grants between
// them, so that a file that was cut shows it. Invariant: what begins as an export counts as whole only if its end line
// is there and its count is right; a file without these lines was written by hand, and promises nothing.

import { isJsonObject } from './json-members.ts';

export const exportHead = (tenantId: string): string => `${JSON.stringify({ export: { tenant_id: tenantId } })}\n`;
export const exportEnd = (grants: number): string => `${JSON.stringify({ end: { grants } })}\n`;

/** How a line begins that holds no grant. Nothing else tells what a line was meant to be that cannot be parsed. */
const BEGIN = /^\ufeff?[\t ]*\{[\t ]*"(export|rules|end)"[\t ]*:/;
const BEGIN_BYTES_MAX = 64;
/** Far more than these lines have. */
const LINE_BYTES_MAX = 1024;
const BLANK = /^\s*$/;

/** The number of grants in an end line; undefined: it is another line. */
function countIn(text: string): number | undefined {
  const { end } = onlyMemberIn(text) ?? {};
  const grants = isJsonObject(end) ? end.grants : undefined;
  return Number.isSafeInteger(grants) ? Number(grants) : undefined;
}

/** An object with one member; undefined: it is something else. */
function onlyMemberIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return isJsonObject(value) && Object.keys(value).length === 1 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The grants that the last line of a text counts; undefined: it does not end as an export does. */
export function countAtEnd(text: string): number | undefined {
  if (!text.endsWith('\n')) return undefined;
  return countIn(text.slice(text.lastIndexOf('\n', text.length - 2) + 1));
}

/** Sees the lines of a file in their order. A file may hold several exports, one behind the other. */
export class ExportFrame {
  #open: { readonly line: number; grants: number } | undefined;
  #fault: string | undefined;

  /** Whether the line is the first or the last of an export, and holds nothing else. `bytes`: without the line end. */
  take(bytes: Uint8Array, line: number): boolean {
    const begin = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, BEGIN_BYTES_MAX)).toString();
    const kind = BEGIN.exec(begin)?.[1];
    if (kind === 'rules') return false;
    if (kind === undefined || bytes.length > LINE_BYTES_MAX) {
      if (this.#open !== undefined && !(bytes.length <= BEGIN_BYTES_MAX && BLANK.test(begin))) this.#open.grants += 1;
      return false;
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    if (kind === 'export') {
      if (onlyMemberIn(text) === undefined) return false;
      this.#demandEnd();
      this.#open = { line, grants: 0 };
      return true;
    }
    const grants = countIn(text);
    if (grants === undefined) return false;
    this.#end(line, grants);
    return true;
  }

  /** Why the lines so far are an incomplete export, as a sentence; undefined: it is complete, or not an export. */
  fault(): string | undefined {
    this.#demandEnd();
    return this.#fault;
  }

  #demandEnd(): void {
    if (this.#open === undefined) return;
    const { line, grants } = this.#open;
    this.#fault ??= `Line ${line} begins an export that has no end line: it was cut behind ${grants} grants.`;
    this.#open = undefined;
  }

  #end(line: number, grants: number): void {
    const found = this.#open?.grants;
    this.#open = undefined;
    if (found === grants) return;
    this.#fault ??=
      found === undefined
        ? `Line ${line} ends an export of ${grants} grants whose first line is missing.`
        : `The export that ends in line ${line} has ${found} grants instead of ${grants}.`;
  }
}
