// Tells a breaking difference between two OpenAPI documents from an additive one (specification section 9): what a
// client could send must still be taken, and what it could rely on in an answer must still be there.

type Json = Readonly<Record<string, unknown>>;
/** What a client sends may only be taken more widely; what it gets may only be said more narrowly. */
type Direction = 'request' | 'response';

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);

/** The codes with which the type of a problem ends; new ones may come. */
const ERROR_CODES = 'x-error-codes';

/** An enum that became an open string, which still takes every value of it. */
function isOpened(was: Json, is: Json): boolean {
  if (was.enum === undefined || is.enum !== undefined || is.type !== 'string') return false;
  const pattern = typeof is.pattern === 'string' ? new RegExp(is.pattern, 'u') : undefined;
  return listOf(was.enum).every((value) => typeof value === 'string' && pattern?.test(value) !== false);
}

/** Whether the pattern is that of before with another alternative beside it. */
const isWidened = (was: Json, is: Json): boolean =>
  typeof was.pattern === 'string' &&
  typeof is.pattern === 'string' &&
  is.pattern.startsWith('^(?:') &&
  is.pattern.endsWith(`|${was.pattern.replace(/^\^|\$$/g, '')})$`);

/** In place of a name, an element of a rule may be an object since 0.2. */
const widens = (was: Json, is: Json, where: string): boolean =>
  where.endsWith(' any_of[]') &&
  was.type === 'string' &&
  listOf(is.anyOf).length === 2 &&
  objectOf(listOf(is.anyOf)[0]).type === 'string';

class Comparison {
  readonly #before: Json;
  readonly #after: Json;
  readonly changes: string[] = [];
  /** Schemas that are being compared: one may contain itself. */
  readonly #open = new Set<Json>();

  constructor(before: Json, after: Json) {
    this.#before = before;
    this.#after = after;
  }

  run(): readonly string[] {
    this.#eachOf(this.#before.paths, this.#after.paths, '', (path, before, after) => {
      this.#eachOf(before, after, path, (method, was, is) =>
        this.#operation(was, is, `${method.toUpperCase()} ${path}`),
      );
    });
    return this.changes;
  }

  /** Compares every entry of `before`; one that is gone is a change. */
  #eachOf(
    before: unknown,
    after: unknown,
    where: string,
    compare: (name: string, before: Json, after: Json) => void,
  ): void {
    const now = objectOf(after);
    for (const [name, value] of Object.entries(objectOf(before))) {
      if (name in now) compare(name, this.#resolve(this.#before, value), this.#resolve(this.#after, now[name]));
      else this.changes.push(`${where} ${name}: removed`.trim());
    }
  }

  #resolve(root: Json, value: unknown): Json {
    const reference = objectOf(value).$ref;
    if (typeof reference !== 'string') return objectOf(value);
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((node, part) => objectOf(node)[part], root);
    return this.#resolve(root, target);
  }

  #operation(before: Json, after: Json, where: string): void {
    if (!same(before.operationId, after.operationId)) this.changes.push(`${where}: operationId changed`);
    if (!same(before.security, after.security)) this.changes.push(`${where}: security changed`);
    this.#parameters(before.parameters, after.parameters, where);
    this.#requestBody(before.requestBody, after.requestBody, where);
    this.#eachOf(before.responses, after.responses, where, (status, was, is) => {
      const place = `${where} ${status}`;
      this.#eachOf(was.headers, is.headers, place, (name, header, headerNow) => {
        if (header.required === true && headerNow.required !== true) {
          this.changes.push(`${place} ${name}: no longer always there`);
        }
        this.#schema(header.schema, headerNow.schema, 'response', `${place} ${name}`);
      });
      this.#content(was.content, is.content, 'response', place);
      if (!isObject(was.content) && isObject(is.content)) this.changes.push(`${place}: has a body now`);
    });
  }

  #parameters(before: unknown, after: unknown, where: string): void {
    const keyed = (root: Json, list: unknown): Json =>
      Object.fromEntries(
        listOf(list).map((each) => {
          const parameter = this.#resolve(root, each);
          return [`${parameter.in} parameter ${parameter.name}`, parameter];
        }),
      );
    const was = keyed(this.#before, before);
    const is = keyed(this.#after, after);
    this.#eachOf(was, is, where, (name, parameter, now) => {
      if (now.required === true && parameter.required !== true) this.changes.push(`${where} ${name}: required now`);
      this.#schema(parameter.schema, now.schema, 'request', `${where} ${name}`);
    });
    for (const [name, parameter] of Object.entries(is)) {
      if (!(name in was) && objectOf(parameter).required === true) {
        this.changes.push(`${where} ${name}: new and required`);
      }
    }
  }

  #requestBody(before: unknown, after: unknown, where: string): void {
    const was = this.#resolve(this.#before, before);
    const is = this.#resolve(this.#after, after);
    if (isObject(before) && !isObject(after)) this.changes.push(`${where} body: removed`);
    if (was.required !== true && is.required === true) this.changes.push(`${where} body: required now`);
    this.#content(was.content, is.content, 'request', `${where} body`);
  }

  #content(before: unknown, after: unknown, direction: Direction, where: string): void {
    this.#eachOf(before, after, where, (_type, was, is) => this.#schema(was.schema, is.schema, direction, where));
  }

  #schema(before: unknown, after: unknown, direction: Direction, where: string): void {
    const was = this.#resolve(this.#before, before);
    const is = this.#resolve(this.#after, after);
    if (this.#open.has(is)) return;
    this.#open.add(is);
    this.#compared(was, is, direction, where);
    this.#open.delete(is);
  }

  #compared(was: Json, is: Json, direction: Direction, where: string): void {
    if (widens(was, is, where)) return;
    if (!same(was.type, is.type)) this.changes.push(`${where}: type changed`);
    if (!same(was.format, is.format)) this.changes.push(`${where}: format changed`);
    if (!same(was.const, is.const)) this.changes.push(`${where}: const changed`);
    this.#enum(was, is, direction, where);
    if (direction === 'request') this.#constraints(was, is, where);
    this.#properties(was, is, direction, where);
    if (isObject(was.items) || isObject(is.items)) this.#schema(was.items, is.items, direction, `${where}[]`);
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const [parts, partsNow] = [listOf(was[keyword]), listOf(is[keyword])];
      if (parts.length !== partsNow.length) this.changes.push(`${where}: alternatives changed`);
      else for (const [index, part] of parts.entries()) this.#schema(part, partsNow[index], direction, where);
    }
  }

  /** A value that is gone cannot be sent any more, nor matched any more in an answer (the types of errors). */
  #enum(was: Json, is: Json, direction: Direction, where: string): void {
    if (direction === 'response' && (was[ERROR_CODES] !== undefined || is[ERROR_CODES] !== undefined)) {
      this.#errorCodes(was, is, where);
      return;
    }
    const now = listOf(is.enum);
    if (was.enum === undefined) {
      if (is.enum !== undefined && direction === 'request') this.changes.push(`${where}: limited to an enum now`);
      return;
    }
    if (isOpened(was, is)) return;
    for (const value of listOf(was.enum)) {
      if (!now.some((each) => same(each, value))) this.changes.push(`${where}: value ${JSON.stringify(value)} removed`);
    }
  }

  /**
   * An open string that names the types by their codes takes the place of an enum of addresses, and not the other way.
   */
  #errorCodes(was: Json, is: Json, where: string): void {
    if (is[ERROR_CODES] === undefined) this.changes.push(`${where}: limited to an enum now`);
    const codesOf = (schema: Json): readonly string[] =>
      listOf(schema[ERROR_CODES] ?? schema.enum).map((each) => String(each).replace(/^.*\//, ''));
    const now = codesOf(is);
    for (const code of codesOf(was)) {
      if (!now.includes(code)) this.changes.push(`${where}: error code "${code}" removed`);
    }
  }

  #constraints(was: Json, is: Json, where: string): void {
    for (const keyword of ['maxLength', 'maxItems', 'maximum']) {
      const [limit, limitNow] = [numberOf(was[keyword]) ?? Number.POSITIVE_INFINITY, numberOf(is[keyword])];
      if (limitNow !== undefined && limitNow < limit) this.changes.push(`${where}: ${keyword} is smaller`);
    }
    for (const keyword of ['minLength', 'minItems', 'minimum']) {
      const [limit, limitNow] = [numberOf(was[keyword]) ?? Number.NEGATIVE_INFINITY, numberOf(is[keyword])];
      if (limitNow !== undefined && limitNow > limit) this.changes.push(`${where}: ${keyword} is greater`);
    }
    for (const keyword of ['pattern', 'uniqueItems']) {
      if (keyword === 'pattern' && (isOpened(was, is) || isWidened(was, is))) continue;
      if (is[keyword] !== undefined && !same(was[keyword], is[keyword])) {
        this.changes.push(`${where}: ${keyword} changed`);
      }
    }
    if (!same(was.default, is.default)) this.changes.push(`${where}: default changed`);
    if (is.additionalProperties === false && was.additionalProperties !== false) {
      this.changes.push(`${where}: unknown fields refused now`);
    }
  }

  #properties(was: Json, is: Json, direction: Direction, where: string): void {
    this.#eachOf(was.properties, is.properties, where, (name, before, after) =>
      this.#schema(before, after, direction, `${where} ${name}`),
    );
    const [required, requiredNow] = [listOf(was.required), listOf(is.required)];
    if (direction === 'request') {
      for (const name of requiredNow) if (!required.includes(name)) this.changes.push(`${where} ${name}: required now`);
    } else {
      for (const name of required) {
        if (!requiredNow.includes(name)) this.changes.push(`${where} ${name}: no longer always there`);
      }
    }
  }
}

/** Each names its place and what changed; empty where every client of `before` can use `after`. */
export function findBreakingChanges(before: Json, after: Json): readonly string[] {
  return new Comparison(before, after).run();
}
