// Parses an authorization model of OpenFGA in JSON, as its API takes and returns it. A field that is not known is an
// error wherever it could change what a relation means.

import { type JsonNode, parseJsonNodes } from './json-nodes.ts';
import {
  type Declarations,
  type Expression,
  modelFailure,
  NESTING_MAX,
  NOTHING,
  quote,
  type Restriction,
  type SourceCondition,
  type SourceRelation,
  type TypeDeclaration,
} from './source-model.ts';

/** An operand is in a list, in an object, in an operator. */
const LEVELS_PER_OPERAND = 3;
/** Objects and lists around the definition of a relation. */
const LEVELS_AROUND = 10;

type ObjectNode = Extract<JsonNode, { kind: 'object' }>;

function objectIn(node: JsonNode, what: string): ObjectNode {
  if (node.kind !== 'object') throw modelFailure(node.place, `${what} must be an object.`);
  return node;
}

/** The items of a list; none if it is absent or null. */
function itemsOf(node: JsonNode | undefined, what: string): readonly JsonNode[] {
  if (node === undefined || node.kind === 'null') return [];
  if (node.kind !== 'array') throw modelFailure(node.place, `${what} must be a list.`);
  return node.items;
}

/** The fields of an object; none if it is absent or null. */
function fieldsOf(node: JsonNode | undefined, what: string): ReadonlyMap<string, JsonNode> {
  return node === undefined || node.kind === 'null' ? new Map() : objectIn(node, what).fields;
}

/** Undefined if it is absent or empty, as the API writes it. */
function textOf({ fields }: ObjectNode, name: string): string | undefined {
  const node = fields.get(name);
  if (node === undefined || node.kind === 'null') return undefined;
  if (node.kind !== 'string') throw modelFailure(node.place, `${quote(name)} must be a string.`);
  return node.text === '' ? undefined : node.text;
}

function demandText(node: ObjectNode, name: string): string {
  const text = textOf(node, name);
  if (text === undefined) throw modelFailure(node.place, `${quote(name)} is missing.`);
  return text;
}

function refuseOthers({ fields }: ObjectNode, known: readonly string[]): void {
  for (const [name, { place }] of fields) {
    if (!known.includes(name))
      throw modelFailure(place, `${quote(name)} is unknown here; the known fields are ${known.join(', ')}.`);
  }
}

/** The name in `{"relation": NAME}`; OpenFGA also writes an empty `object`. */
function nameIn(node: JsonNode | undefined, parent: ObjectNode, what: string): string {
  if (node === undefined) throw modelFailure(parent.place, `${quote(what)} is missing.`);
  const object = objectIn(node, quote(what));
  refuseOthers(object, ['object', 'relation']);
  if (textOf(object, 'object') !== undefined) throw modelFailure(object.place, '"object" must be empty.');
  return demandText(object, 'relation');
}

function fromIn(value: JsonNode): Expression {
  const node = objectIn(value, '"tupleToUserset"');
  refuseOthers(node, ['tupleset', 'computedUserset', 'computed_userset']);
  const { fields, place } = node;
  const name = nameIn(fields.get('computedUserset') ?? fields.get('computed_userset'), node, 'computedUserset');
  return { kind: 'from', name, from: nameIn(fields.get('tupleset'), node, 'tupleset'), all: false, place };
}

function partsIn(value: JsonNode, names: readonly string[]): Expression[] {
  const node = objectIn(value, 'An operator');
  refuseOthers(node, names);
  return names.flatMap((name) => {
    const operand = node.fields.get(name);
    if (operand === undefined) throw modelFailure(node.place, `${quote(name)} is missing.`);
    return name === 'child' ? itemsOf(operand, '"child"').map(expressionIn) : [expressionIn(operand)];
  });
}

function exclusionIn(value: JsonNode): Expression {
  const [base = NOTHING, ...subtract] = partsIn(value, ['base', 'subtract']);
  return { kind: 'exclusion', base, subtract, place: value.place };
}

function expressionIn(value: JsonNode): Expression {
  const node = objectIn(value, 'A definition');
  const [[operator, operand] = [], ...others] = node.fields;
  if (operator === undefined || operand === undefined || others.length > 0) {
    throw modelFailure(node.place, `A definition must have exactly one field; this one has ${node.fields.size}.`);
  }
  switch (operator) {
    case 'this':
      return { kind: 'stored' };
    case 'computedUserset':
    case 'computed_userset':
      return { kind: 'name', name: nameIn(operand, node, operator), place: node.place };
    case 'tupleToUserset':
    case 'tuple_to_userset':
      return fromIn(operand);
    case 'union':
      return { kind: 'union', parts: partsIn(operand, ['child']) };
    case 'intersection':
      return { kind: 'intersection', parts: partsIn(operand, ['child']) };
    case 'difference':
      return exclusionIn(operand);
    default:
      throw modelFailure(node.place, `${quote(operator)} is not known in a definition.`);
  }
}

function restrictionIn(value: JsonNode): Restriction {
  const node = objectIn(value, 'A type restriction');
  refuseOthers(node, ['type', 'relation', 'wildcard', 'condition']);
  const wildcard = node.fields.get('wildcard') ?? { kind: 'null' };
  return {
    type: demandText(node, 'type'),
    relation: textOf(node, 'relation'),
    wildcard: wildcard.kind !== 'null',
    condition: textOf(node, 'condition'),
    expires: false,
    place: node.place,
  };
}

const usesStored = (value: JsonNode): boolean => {
  if (value.kind === 'array') return value.items.some(usesStored);
  return value.kind === 'object' && (value.fields.has('this') || [...value.fields.values()].some(usesStored));
};

function relationIn(name: string, definition: JsonNode, metadata: JsonNode | undefined): SourceRelation {
  const listed = fieldsOf(metadata, 'The metadata of a relation').get('directly_related_user_types');
  const restrictions = itemsOf(listed, '"directly_related_user_types"').map(restrictionIn);
  const { place } = definition;
  const expression = expressionIn(definition);
  if (usesStored(definition) && restrictions.length === 0) {
    throw modelFailure(
      place,
      `${quote(name)} uses "this" without type restrictions; rewrite the model in schema 1.1, which has them.`,
    );
  }
  if (!usesStored(definition) && restrictions.length > 0) {
    throw modelFailure(place, `${quote(name)} has type restrictions but does not use "this".`);
  }
  return { name, place, restrictions, expression };
}

function typeIn(value: JsonNode): TypeDeclaration {
  const node = objectIn(value, 'A type definition');
  refuseOthers(node, ['type', 'relations', 'metadata']);
  const metadata = fieldsOf(fieldsOf(node.fields.get('metadata'), '"metadata"').get('relations'), '"relations"');
  const relations = [...fieldsOf(node.fields.get('relations'), '"relations"')].map(([name, definition]) =>
    relationIn(name, definition, metadata.get(name)),
  );
  return { name: demandText(node, 'type'), place: node.place, extends: false, relations };
}

const TYPE_NAME = /^TYPE_NAME_([A-Z]+)$/;

/** `{"type_name": "TYPE_NAME_LIST", "generic_types": [{"type_name": "TYPE_NAME_STRING"}]}` is `list<string>`. */
function parameterTypeIn(value: JsonNode): string {
  const node = objectIn(value, 'The type of a parameter');
  refuseOthers(node, ['type_name', 'generic_types']);
  const [, name] = TYPE_NAME.exec(demandText(node, 'type_name')) ?? [];
  if (name === undefined) throw modelFailure(node.place, '"type_name" must be TYPE_NAME_… of OpenFGA.');
  const generics = itemsOf(node.fields.get('generic_types'), '"generic_types"').map(parameterTypeIn);
  return `${name.toLowerCase()}${generics.length === 0 ? '' : `<${generics.join(', ')}>`}`;
}

function conditionIn(name: string, value: JsonNode): SourceCondition {
  const node = objectIn(value, 'A condition');
  refuseOthers(node, ['name', 'expression', 'parameters', 'metadata']);
  const parameters = [...fieldsOf(node.fields.get('parameters'), '"parameters"')].map(
    ([parameter, type]) => [parameter, parameterTypeIn(type)] as const,
  );
  const expression = demandText(node, 'expression');
  // Escapes hide how far a place lies within the string.
  const place = node.fields.get('expression')?.place ?? node.place;
  return { name, place: node.place, parameters: Object.fromEntries(parameters), expression, placeAt: () => place };
}

export function parseOpenFgaJson(file: string, text: string): Declarations {
  const root = objectIn(parseJsonNodes(file, text, LEVELS_PER_OPERAND * NESTING_MAX + LEVELS_AROUND), 'The model');
  // The API wraps the model that it returns.
  const model = objectIn(root.fields.get('authorization_model') ?? root, '"authorization_model"');
  const definitions = model.fields.get('type_definitions');
  if (definitions === undefined) {
    throw modelFailure(
      model.place,
      '"type_definitions" is missing: this is not an authorization model of OpenFGA. Rules of grantd need --from grantd.',
    );
  }
  return {
    types: itemsOf(definitions, '"type_definitions"').map(typeIn),
    conditions: [...fieldsOf(model.fields.get('conditions'), '"conditions"')].map(([name, value]) =>
      conditionIn(name, value),
    ),
  };
}
