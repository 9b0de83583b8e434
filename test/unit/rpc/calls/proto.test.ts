// The tables of calls and the proto file are held to each other: each field of one is a field of the other, of the same
// type.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { AnyField, Shape } from '../../../../src/rpc/calls/schema.ts';
import { FailureKind, Peer } from '../../../../src/rpc/messages.ts';
import { PROTO } from '../../../../src/rpc/protocol.ts';
import { ROWS, requestsOf } from './rows.ts';

const PACKAGE = 'grantd.v1';

interface ProtoField {
  readonly name: string;
  /** `TYPE_UINT32` */
  readonly type: string;
  readonly label: string;
  readonly typeName: string;
}

/** Besides what is asked and answered. */
const COMMON = { Call: ['id', 'handle', 'attempt', 'traceparent'], Reply: ['id', 'failure', 'unknownNamespaces'] };

const typeOf = (name: string) =>
  (PROTO[`${PACKAGE}.${name}`] as unknown as { readonly type: { readonly field: readonly ProtoField[] } }).type;
const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const fieldsOf = (message: string): ReadonlyMap<string, ProtoField> =>
  new Map(typeOf(message).field.map((field) => [camelCase(field.name), field]));

const TYPES = {
  text: 'string',
  form: 'string',
  word: 'string',
  flag: 'bool',
  outcome: 'enum',
  message: 'message',
} as const;

/** What is on the wire, behind what the values are made of. */
function wireShape(field: AnyField): Shape {
  const { shape } = field;
  return shape.kind === 'default' || shape.kind === 'converted' ? wireShape(shape.field) : shape;
}

function compareField(field: AnyField, proto: ProtoField, place: string): void {
  let shape = wireShape(field);
  const repeated = shape.kind === 'list';
  assert.equal(proto.label === 'LABEL_REPEATED', repeated, `${place}: repeated`);
  if (shape.kind === 'list') shape = wireShape(shape.item);
  const type = shape.kind === 'number' ? shape.type : TYPES[shape.kind as keyof typeof TYPES];
  assert.equal(proto.type, `TYPE_${type.toUpperCase()}`, place);
  if (shape.kind === 'message') compare(shape, proto.typeName.replace(/^\.?(grantd\.v1\.)?/, ''), place);
  if (shape.kind === 'outcome') {
    const { value } = (PROTO[`${PACKAGE}.${proto.typeName}`] as unknown as { type: { value: { number: number }[] } })
      .type;
    assert.deepEqual(
      [0, ...Object.values(shape.numbers)],
      value.map(({ number }) => number),
      place,
    );
  }
}

/** The fields of messages that the calls declare. Some share a message, of which each has its part. */
const declared = new Map<string, Set<string>>();
const declare = (message: string, name: string): unknown =>
  declared.set(message, (declared.get(message) ?? new Set()).add(name));

function compare({ fields }: Shape & { readonly kind: 'message' }, message: string, place: string): void {
  const proto = fieldsOf(message);
  for (const [name, field] of Object.entries(fields)) {
    const { wireName = name } = field;
    compareField(
      field,
      proto.get(wireName) ?? assert.fail(`${place}: ${message} has no ${wireName}`),
      `${place}.${name}`,
    );
    declare(message, wireName);
  }
}

const partsOf = (message: keyof typeof COMMON): string[] =>
  [...fieldsOf(message).keys()].filter((name) => !COMMON[message].includes(name));

it('the fields of a call are the calls of the table, and those of a reply what they are answered with', () => {
  assert.deepEqual(partsOf('Call').sort(), ROWS.map(({ name }) => name).sort());
  const replies = new Set(ROWS.map(({ call }) => call.reply));
  assert.deepEqual(partsOf('Reply').sort(), [...replies].sort());
});

it('what peers and failures are called is what the proto file calls them', () => {
  for (const [name, numbers] of Object.entries({ Peer, FailureKind })) {
    const { type } = PROTO[`${PACKAGE}.${name}`] as unknown as { type: { value: { name: string; number: number }[] } };
    assert.deepEqual(Object.fromEntries(type.value.map((each) => [each.name, each.number])), numbers);
  }
});

for (const row of ROWS) {
  const { name, call } = row;
  describe(name, () => {
    const proto = (message: string, field: string) => fieldsOf(message).get(field) ?? assert.fail();

    it('has a request with the fields of the proto file', () => {
      const wanted = proto('Call', name);
      if (call.request.shape.kind !== 'own') {
        compareField(call.request, wanted, name);
        return;
      }
      for (const request of fc.sample(requestsOf(row), 200)) {
        for (const field of Object.keys(Object(call.request.write(request as never)))) declare(wanted.typeName, field);
      }
    });

    it('has an answer with the fields of the proto file', () => {
      compareField(call.answer, proto('Reply', call.reply), call.reply);
    });
  });
}

it('no field of such a message is without a declaration', () => {
  for (const [message, names] of declared)
    assert.deepEqual([...names].sort(), [...fieldsOf(message).keys()].sort(), message);
});
