// The names of a model as constants and literal types in Python.

import { headOf, Identifiers, type ModelTypes, parameterType, pascalCase, wordsOf } from './model-types.ts';

/** https://docs.python.org/3/reference/lexical_analysis.html#keywords, and what the file itself uses. */
const RESERVED =
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with str int float bool list dict Any Final Literal TypedDict Union Relation Relations'.split(
    ' ',
  );

const BASIC: ReadonlyMap<string, string> = new Map([
  ['bool', 'bool'],
  // Beyond 2^53 as a string of digits.
  ['int', 'Union[int, str]'],
  ['uint', 'Union[int, str]'],
  ['double', 'Union[float, str]'],
  ['any', 'Any'],
]);

const typeOf = (type: string): string =>
  parameterType(
    type,
    (name) => BASIC.get(name) ?? 'str',
    (element) => `list[${element}]`,
    (element) => `dict[str, ${element}]`,
  );

/** A name as an identifier. */
function snakeCase(name: string): string {
  const joined = wordsOf(name).join('_');
  return RESERVED.includes(joined) ? `${joined}_` : joined;
}

const quoted = (name: string): string => JSON.stringify(name);

const literal = (name: string, values: readonly string[]): readonly string[] => [
  `${name} = Literal[`,
  ...values.map((value) => `    ${quoted(value)},`),
  ']',
];

function constants(name: string, comment: string, values: readonly string[]): readonly string[] {
  const identifiers = new Identifiers();
  return [
    `class ${name}:`,
    `    """${comment}"""`,
    '',
    ...values.map((value) => `    ${identifiers.take(snakeCase(value))}: Final = ${quoted(value)}`),
  ];
}

export function renderPython(types: ModelTypes): string {
  const { relations, namespaces, conditions } = types;
  const identifiers = new Identifiers(RESERVED);
  const typings = new Set(['Final', 'Literal']);
  const named = namespaces.flatMap(({ namespace, derived }) => {
    const names = [...relations, ...derived];
    const type = identifiers.take(`${pascalCase(namespace)}Name`);
    const group = identifiers.take(pascalCase(namespace));
    const entity = identifiers.take(snakeCase(namespace.toLowerCase()));
    return [
      ...literal(type, names),
      `"""What can be asked about an object of ${namespace}."""`,
      '',
      '',
      ...constants(group, `The values of ${type}.`, names),
      '',
      '',
      `def ${entity}(id: str) -> str:`,
      `    """The entity of ${namespace} with this id."""`,
      `    return f"${namespace}:{id}"`,
      '',
      '',
    ];
  });
  const parameters = conditions.flatMap(({ name, parameters: declared }) => {
    typings.add('TypedDict');
    const fields = Object.entries(declared).map(([parameter, type]) => `    ${quoted(parameter)}: ${typeOf(type)},`);
    const type = identifiers.take(`${pascalCase(name)}Parameters`);
    return [
      `${type} = TypedDict(`,
      `    ${quoted(type)},`,
      '    {',
      ...fields.map((field) => `    ${field}`),
      '    },',
      '    total=False,',
      ')',
      `"""Of the condition ${name}."""`,
      '',
      '',
    ];
  });
  for (const each of ['Any', 'Union']) if (parameters.some((line) => line.includes(`${each}`))) typings.add(each);
  return [
    `"""${headOf(types).replaceAll('"', "'")}"""`,
    '',
    `from typing import ${[...typings].sort().join(', ')}`,
    '',
    ...literal('Relation', relations),
    '"""What can be granted."""',
    '',
    '',
    ...constants('Relations', 'The values of Relation.', relations),
    '',
    '',
    ...named,
    ...parameters,
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}
