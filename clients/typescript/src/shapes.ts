// Reads a response, and refuses values that its schema does not allow. Invariant: a returned value has the type that
// the schema gives it; a missing or ill-typed field is an `invalid-response`, never a default.

import { located } from './error.ts';
import type { Grant } from './generated/schemas.ts';
import { invalidResponse, type Reply } from './responses.ts';

type Source = Pick<Reply, 'status' | 'requestId' | 'request'>;

const TIME = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function isTime(text: string): boolean {
  const [, year, month, day] = TIME.exec(text) ?? [];
  const daysOfMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= daysOfMonth && !Number.isNaN(Date.parse(text));
}

/** One value within a response, and its place. */
export class Field {
  readonly value: unknown;
  readonly #place: string;
  readonly #source: Source;

  constructor(value: unknown, place: string, source: Source) {
    this.value = value;
    this.#place = place;
    this.#source = source;
  }

  static of(reply: Reply): Field {
    return new Field(reply.body, 'the body', reply);
  }

  refuse(what: string): never {
    const { status, requestId, request } = this.#source;
    throw located(invalidResponse(status, `In the response, ${this.#place} ${what}.`, requestId), request);
  }

  get #members(): Record<string, unknown> {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.refuse('is not an object');
    return value as Record<string, unknown>;
  }

  at(name: string): Field {
    const value = Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
    return new Field(value, `"${name}"`, this.#source);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#members, name);
  }

  boolean(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.refuse('is not true or false');
  }

  text(): string {
    return typeof this.value === 'string' ? this.value : this.refuse('is not a text');
  }

  textOrNull(): string | null {
    return this.value === null ? null : this.text();
  }

  /** With a zone, in a calendar that has it. */
  time(): string {
    const { value } = this;
    return typeof value === 'string' && isTime(value) ? value : this.refuse('is not a time');
  }

  timeOrNull(): string | null {
    return this.value === null ? null : this.time();
  }

  /** An empty one would be that of the first page. */
  cursor(): string {
    const text = this.text();
    return text === '' ? this.refuse('is empty') : text;
  }

  cursorOrNull(): string | null {
    return this.value === null ? null : this.cursor();
  }

  count(): number {
    const { value } = this;
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
      ? value
      : this.refuse('is not a count');
  }

  list(): readonly Field[] {
    const { value } = this;
    if (!Array.isArray(value)) return this.refuse('is not a list');
    return value.map((each, index) => new Field(each, `${this.#place}[${index}]`, this.#source));
  }

  /** A list of exactly this length. */
  listOf(length: number): readonly Field[] {
    const list = this.list();
    return list.length === length ? list : this.refuse(`has ${list.length} elements and not ${length}`);
  }

  texts(): readonly string[] {
    return this.list().map((each) => each.text());
  }

  /** The whole object, once every check has passed: fields of later versions stay. */
  checked<T>(check: (field: Field) => void): T {
    void this.#members;
    check(this);
    return this.value as T;
  }
}

interface TupleFields {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

const textsAt = (field: Field, ...names: readonly string[]): void => {
  for (const name of names) field.at(name).text();
};

function checkGrant(field: Field): void {
  textsAt(field, 'grant_id', 'subject', 'relation', 'object');
  field.at('created_at').time();
  field.at('expires_at').timeOrNull();
}

export function checkReason(field: Field): void {
  textsAt(field, 'text');
  for (const name of ['excluded_by', 'unmet', 'missing']) {
    for (const grant of field.at(name).list()) textsAt(grant, 'subject', 'relation', 'object');
  }
}

export const grantIn = (field: Field): Grant => field.checked(checkGrant);

/** A grant of exactly this tuple, and not the response to another request. */
export function grantOf<T extends Grant>(
  field: Field,
  tuple: TupleFields,
  check: (field: Field) => void = () => {},
): T {
  return field.checked<T>((each) => {
    checkGrant(each);
    check(each);
    for (const name of ['subject', 'relation', 'object'] as const) {
      if (each.at(name).value !== tuple[name]) each.at(name).refuse('differs from the request');
    }
  });
}

export function checkRulesVersion(field: Field): void {
  for (const name of ['version', 'added', 'removed']) field.at(name).count();
  textsAt(field, 'revision', 'actor', 'request_id');
  field.at('at').time();
}

export function checkNamespace(field: Field): void {
  textsAt(field, 'name');
  field.at('created_at').time();
}

export function checkKey(field: Field): void {
  textsAt(field, 'key_id', 'name');
  field.at('created_at').time();
  field.at('scopes').texts();
  field.at('expires_at').timeOrNull();
}

function checkElements(field: Field): void {
  for (const element of field.list()) {
    if (typeof element.value === 'string') continue;
    for (const member of ['any_of', 'all_of', 'but_not']) if (element.has(member)) checkElements(element.at(member));
  }
}

export function checkRuleSet(field: Field): void {
  for (const rule of field.at('rules').list()) {
    textsAt(rule, 'namespace', 'name');
    checkElements(rule.at('any_of'));
  }
  if (field.has('relations')) field.at('relations').texts();
  for (const name of ['conditions', 'types']) if (field.has(name)) field.at(name).list();
  field.at('groups').boolean();
  field.at('public').texts();
}

export function checkPreview(field: Field): void {
  checkRuleSet(field.at('rule_set'));
  textsAt(field, 'revision', 'current_revision');
  field.at('changed').boolean();
  field.at('complete').boolean();
  for (const name of [
    'group_subjects',
    'public_grants',
    'grants_not_followed',
    'grants_outside_types',
    'scanned_grants',
    'scanned_grants_max',
  ])
    field.at(name).count();
  field.at('ungranted').list();
  field.at('vanishing').list();
  checkAccess(field.at('access'));
}

function checkAccess(field: Field): void {
  for (const side of [field.at('lost'), field.at('gained')]) {
    for (const name of ['subjects', 'objects', 'rows_left']) side.at(name).count();
    side.at('rows').list();
  }
  field.at('unknown_because').list();
}

export function checkChange(field: Field): void {
  field.at('seq').count();
  field.at('index').count();
  textsAt(field, 'actor', 'request_id', 'action');
  field.at('at').time();
  if (field.has('grant')) checkGrant(field.at('grant'));
}

export function checkSets(field: Field): void {
  for (const name of ['subjects', 'held', 'perhaps']) field.at(name).texts();
  textsAt(field, 'own', 'revision');
  field.at('at').at('seq').count();
  field.at('at').at('time').time();
  field.at('through').count();
}

export function checkDecision(field: Field): void {
  field.at('decision').boolean();
}
