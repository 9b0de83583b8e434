// Writes the types of the Java client: a record for each object of requests and responses, with methods that decode the
// latter and encode the former, and the types of errors.

import {
  type ApiRecord,
  type Field,
  type FieldType,
  isCursor,
  readErrorTypes,
  readRecords,
  wrapped,
} from './records.ts';

export const JAVA_TYPES_FOLDER = 'clients/java/client/src/main/java/io/github/grantd';

const HEAD = `// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;
`;

/**
 * Written by hand: `GrantRequest`, since an absent expiry, a `null` and a time mean three different things, and the
 * lines of the stream, which callers never see.
 */
const BY_HAND = new Set(['GrantRequest', 'ChangeLine']);

/** Lists whose absence differs from an empty one; all others are empty then. */
const NULL_IF_ABSENT = new Set(['CheckResult.because']);

/** Never part of a text for people. */
const SECRETS = new Set(['CreatedKey.key']);

const RESERVED: ReadonlyMap<string, string> = new Map([['public', 'publicNamespaces']]);
const COLUMNS_MAX = 118;
const PARAMETER_COLUMNS_MAX = 110;

const javaName = (name: string): string =>
  RESERVED.get(name) ?? name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

const capitalized = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

const plainTypes = {
  text: 'String',
  time: 'Instant',
  integer: 'Long',
  boolean: 'Boolean',
  map: 'Map<String, Object>',
  any: 'Object',
};
const primitives: Readonly<Record<string, string>> = { Long: 'long', Boolean: 'boolean' };

function boxedType(type: FieldType): string {
  if (type.kind === 'list') return `List<${boxedType(type.of)}>`;
  return type.kind === 'record' || type.kind === 'textOr' ? type.name : plainTypes[type.kind];
}

function fieldType({ type, required, nullable }: Field): string {
  const boxed = boxedType(type);
  return required && !nullable ? (primitives[boxed] ?? boxed) : boxed;
}

/** In the form of javadoc: code in its own tag, and nothing that is HTML. */
const inJavadoc = (text: string): string =>
  text
    .split(/`([^`]*)`/)
    .map((part, index) =>
      index % 2 === 1
        ? `{@code ${part}}`
        : part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '&#64;'),
    )
    .join('');

function describe(owner: string, field: Field): string {
  const { name, required, nullable, type } = field;
  const text = field.description || `The ${name.replaceAll('_', ' ')}.`;
  const isEmptyList = type.kind === 'list' && !NULL_IF_ABSENT.has(`${owner}.${name}`);
  const absent =
    required && !nullable ? '' : isEmptyList ? ' Empty if absent.' : nullable && required ? '' : ' Null if absent.';
  return inJavadoc(text + absent);
}

function javadoc({ name, description, fields }: ApiRecord): string {
  const head = wrapped(inJavadoc(description || 'A response of the service.'), COLUMNS_MAX, ' *');
  const parameters = fields.map((field) =>
    wrapped(`@param ${javaName(field.name)} ${describe(name, field)}`, COLUMNS_MAX, ' *', ' *    '),
  );
  return ['/**', head, ' *', ...parameters, ' */'].join('\n');
}

function decoderOf(type: FieldType): string {
  if (type.kind === 'list') return `Fields.list(${decoderOf(type.of)})`;
  if (type.kind === 'any') throw new Error('Responses have no fields of any type.');
  return type.kind === 'record' || type.kind === 'textOr'
    ? `${type.name}::decode`
    : `Fields::${type.kind === 'boolean' ? 'bool' : type.kind}`;
}

function decodeMethod({ name, fields }: ApiRecord): string {
  const args = fields.map(({ name: field, type, required, nullable }) => {
    const how = nullable ? 'nullable' : required ? 'required' : 'optional';
    return `            fields.${how}("${field}", ${isCursor(field) ? 'Fields::cursor' : decoderOf(type)})`;
  });
  return `    static ${name} decode(Object value) {
        Fields fields = Fields.of(value);
        return new ${name}(
${args.join(',\n')});
    }
`;
}

function encoded({ name, type, required }: Field): string {
  const value = javaName(name);
  if (type.kind === 'record' || type.kind === 'textOr') return `Json.encoded(${value}, ${type.name}::toJson)`;
  if (type.kind !== 'list') return value;
  const { of } = type;
  const encode = of.kind === 'record' || of.kind === 'textOr' ? `, ${of.name}::toJson` : '';
  return `Json.${required ? 'list' : 'listUnlessEmpty'}(${value}${encode})`;
}

function encodeMethod({ fields }: ApiRecord): string {
  const members = fields.map((field) => `            "${field.name}", ${encoded(field)}`);
  return `    Map<String, Object> toJson() {
        return Json.object(
${members.join(',\n')});
    }
`;
}

/** What callers get cannot be changed, and what they have given does not change. */
function constructorOf({ name, fields }: ApiRecord): string {
  const lines = fields.flatMap(({ name: field, type }) => {
    const value = javaName(field);
    if (type.kind === 'map') return [`        ${value} = Fields.copy(${value});`];
    if (type.kind !== 'list') return [];
    return [`        ${value} = Fields.copy(${value}${NULL_IF_ABSENT.has(`${name}.${field}`) ? '' : ', List.of()'});`];
  });
  if (lines.length === 0) return '';
  const parameters = fields.map((field) => `     * @param ${javaName(field.name)} as in the record\n`).join('');
  return `    /**\n     * Copies lists and maps.\n     *\n${parameters}     */\n    public ${name} {\n${lines.join('\n')}\n    }\n`;
}

function optionalParts({ name, fields }: ApiRecord): readonly string[] {
  const isOptional = ({ required }: Field) => !required;
  if (!fields.some(isOptional)) return [];
  const given = fields.filter((field) => !isOptional(field));
  const parameters = given.map((field) => `${fieldType(field)} ${javaName(field.name)}`);
  const all = fields.map((field) => (isOptional(field) ? 'null' : javaName(field.name)));
  const of = [
    '    /**',
    '     * With nothing but what is required.',
    '     *',
    ...given.map((field) => `     * @param ${javaName(field.name)} as in the record`),
    '     * @return the record',
    '     */',
    `    public static ${name} of(${parameters.join(', ')}) {`,
    `        return new ${name}(${all.join(', ')});`,
    '    }\n',
  ].join('\n');
  return [
    of,
    ...fields.filter(isOptional).map((field) => {
      const own = javaName(field.name);
      return [
        '    /**',
        `     * The same with another {@code ${own}}.`,
        '     *',
        `     * @param ${own} as in the record`,
        '     * @return the new record',
        '     */',
        `    public ${name} with${capitalized(own)}(${fieldType(field)} ${own}) {`,
        `        return new ${name}(${fields.map((each) => javaName(each.name)).join(', ')});`,
        '    }\n',
      ].join('\n');
    }),
  ];
}

function toStringMethod({ name, fields }: ApiRecord): string {
  const isSecret = (field: Field) => SECRETS.has(`${name}.${field.name}`);
  if (!fields.some(isSecret)) return '';
  const parts = fields.map((field, index) => {
    const own = javaName(field.name);
    return `"${index === 0 ? '' : ', '}${own}=" + ${isSecret(field) ? '"***"' : own}`;
  });
  return `    /** Keeps the secret out of logs. */
    @Override
    public String toString() {
        return "${name}[" + ${parts.join('\n            + ')} + "]";
    }
`;
}

function recordText(record: ApiRecord, isAnswer: boolean, isRequest: boolean): string {
  const { name, fields } = record;
  const types = fields.map((field) => fieldType(field)).join(' ') + (isRequest ? ' Map< Json.' : '');
  const imports = [
    ['io.github.grantd.internal.Json', 'Json.'],
    ['java.time.Instant', 'Instant'],
    ['java.util.List', 'List<'],
    ['java.util.Map', 'Map<'],
  ].filter(([, use = '']) => types.includes(use));
  const components = fields.map((field) => `${fieldType(field)} ${javaName(field.name)}`);
  const onOneLine = components.join(', ');
  const listed =
    name.length + onOneLine.length <= PARAMETER_COLUMNS_MAX - 20 ? onOneLine : `\n    ${components.join(',\n    ')}`;
  const parts = [
    constructorOf(record),
    ...(isRequest ? optionalParts(record) : []),
    toStringMethod(record),
    isAnswer ? decodeMethod(record) : '',
    isRequest ? encodeMethod(record) : '',
  ].filter((part) => part !== '');
  return [
    HEAD,
    ...(imports.length > 0 ? [`${imports.map(([path]) => `import ${path};`).join('\n')}\n`] : []),
    `${javadoc(record)}\npublic record ${name}(${listed}) {\n${parts.join('\n')}}\n`,
  ].join('\n');
}

function errorTypes(types: readonly string[]): string {
  const lines = types.map(
    (type) =>
      `    /** {@code ${type}}. */\n    public static final String ${type.toUpperCase().replaceAll('-', '_')} = "${type}";\n`,
  );
  return `${HEAD}
/** The types of errors that this version of the service knows. Later versions may add some. */
public final class ErrorTypes {
    private ErrorTypes() {}

${lines.join('\n')}}
`;
}

/** The texts of the files, by their names. */
export function renderJavaTypes(openapiText: string): ReadonlyMap<string, string> {
  const { answers, requests } = readRecords(openapiText);
  const isAnswer = new Set(answers.map(({ name }) => name));
  const isRequest = new Set(requests.map(({ name }) => name));
  const all = new Map([...requests, ...answers].map((record) => [record.name, record]));
  const files = [...all.values()]
    .filter(({ name }) => !BY_HAND.has(name))
    .map((record): [string, string] => [
      `${record.name}.java`,
      recordText(record, isAnswer.has(record.name), isRequest.has(record.name)),
    ]);
  return new Map([...files, ['ErrorTypes.java', errorTypes(readErrorTypes(openapiText))]]);
}
