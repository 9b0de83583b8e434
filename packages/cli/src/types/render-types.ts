// What the rules of a tenant define, as types in the language of an application: a misspelled name then does not
// compile. `grantd rules types` writes them.

import { basename } from 'node:path';
import { type Condition, grantedNames } from '../../../../src/rules/rule-set.ts';
import { derivedNames } from '../../../../src/rules/rules-text.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { writeWholeFile } from '../output/whole-file.ts';
import type { RevisedRules } from '../tenant-rules.ts';

interface NamespaceNames {
  readonly namespace: string;
  /** The derived names that rules define on its objects. */
  readonly derived: readonly string[];
}

export interface ModelTypes {
  readonly revision: string;
  /** What can be granted to a subject: the built-in relations and the tenant's own. */
  readonly relations: readonly string[];
  /** What can be granted to the subject `*` alone. */
  readonly states: readonly string[];
  /** Ascending. */
  readonly namespaces: readonly NamespaceNames[];
  readonly conditions: readonly Condition[];
}

export const LANGUAGES = ['typescript', 'go', 'python', 'java'] as const;
export type Language = (typeof LANGUAGES)[number];

/** `namespaces`: those that the tenant has, besides those that its rules name. */
export function modelTypesOf({ ruleSet, revision }: RevisedRules, namespaces: readonly string[]): ModelTypes {
  const { relations, states, rules, types, conditions, public: everyone } = ruleSet;
  const restricted = types.flatMap(({ namespace, subjects }) => [namespace, ...subjects.map((each) => each.namespace)]);
  const named = new Set([...namespaces, ...rules.map(({ namespace }) => namespace), ...restricted, ...everyone]);
  const derived = new Set(derivedNames(ruleSet));
  return {
    revision,
    relations: grantedNames({ relations, states: [] }),
    states,
    namespaces: [...named].sort().map((namespace) => {
      const names = rules.filter((rule) => rule.namespace === namespace).map(({ name }) => name);
      return { namespace, derived: [...new Set(names.filter((name) => derived.has(name)))] };
    }),
    conditions,
  };
}

/** What the types say about states. */
const STATES_COMMENT = 'States of objects: each is granted to the subject "*", and holds for every subject.';

// ---- languages ----

const ENDINGS: readonly (readonly [ending: string, language: Language])[] = [
  ['.ts', 'typescript'],
  ['.go', 'go'],
  ['.py', 'python'],
  ['.java', 'java'],
];

/** By the option, or by the name of the file. */
export function languageOf(language: Language | undefined, out: string | undefined): Language {
  const known = language ?? ENDINGS.find(([ending]) => out?.endsWith(ending) === true)?.[1];
  if (known !== undefined) return known;
  throw new CliFailure('Pass --language, or --out with a name that ends in .ts, .go, .py or .java.', EXIT.usage);
}

export function renderTypes(types: ModelTypes, language: Language, packageName: string): string {
  switch (language) {
    case 'typescript':
      return renderTypeScript(types);
    case 'go':
      return renderGo(types, packageName);
    case 'python':
      return renderPython(types);
    case 'java':
      return renderJava(types, packageName);
  }
}

export async function writeTypes(file: string, text: string): Promise<void> {
  if (file.endsWith('.java') && basename(file) !== `${JAVA_CLASS}.java`) {
    throw new CliFailure(`The class is named ${JAVA_CLASS}, so the file must be ${JAVA_CLASS}.java.`, EXIT.usage);
  }
  await writeWholeFile(file, text);
}

const headOf = ({ revision }: ModelTypes): string =>
  `Made by "grantd rules types" from the rules of revision ${revision}. Do not edit.`;

/** The words of a name, which `_`, `.` and `-` separate. */
const wordsOf = (name: string): readonly string[] => name.split(/[_.-]+/).filter((word) => word !== '');

const pascalCase = (...names: readonly string[]): string =>
  names
    .flatMap(wordsOf)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** Identifiers that occur once: a second one gets a number. */
class Identifiers {
  readonly #taken: Set<string>;

  constructor(reserved: Iterable<string> = []) {
    this.#taken = new Set(reserved);
  }

  take(wanted: string): string {
    let identifier = wanted;
    for (let number = 2; this.#taken.has(identifier); number += 1) identifier = `${wanted}${number}`;
    this.#taken.add(identifier);
    return identifier;
  }
}

/** The types of parameters in a language. */
interface ParameterTypes {
  /** A number beyond 2^53 is a string of digits. */
  readonly named: Readonly<Record<string, string>>;
  /** The type of any other name: in JSON, it is a string. */
  readonly text: string;
  readonly list: (element: string) => string;
  readonly map: (element: string) => string;
}

/** `list<T>` and `map<T>` by those of their elements. */
function typeOf(type: string, types: ParameterTypes): string {
  const [, container, element = ''] = /^(list|map)<(.*)>$/.exec(type) ?? [];
  if (container === undefined) return types.named[type] ?? types.text;
  return (container === 'list' ? types.list : types.map)(typeOf(element, types));
}

// ---- TypeScript, for @grantd/client ----

const literals = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(' | ');
const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`);

const TYPESCRIPT_TYPES: ParameterTypes = {
  named: {
    bool: 'boolean',
    int: 'number | string',
    uint: 'number | string',
    double: 'number | string',
    any: 'unknown',
  },
  text: 'string',
  list: (element) => `readonly ${element.includes('|') ? `(${element})` : element}[]`,
  map: (element) => `Readonly<Record<string, ${element}>>`,
};

export function renderTypeScript(types: ModelTypes): string {
  const { relations, states, namespaces, conditions } = types;
  const hasStates = states.length > 0;
  const granted = ['Relation', ...(hasStates ? ['State'] : [])];
  const names = namespaces.map(
    ({ namespace, derived }) =>
      `  ${key(namespace)}: ${[...granted, ...(derived.length > 0 ? [literals(derived)] : [])].join(' | ')};`,
  );
  const parameters = conditions.map(({ name, parameters: declared }) => {
    const fields = Object.entries(declared).map(
      ([parameter, type]) => `    ${key(parameter)}?: ${typeOf(type, TYPESCRIPT_TYPES)};`,
    );
    return [`  ${key(name)}: {`, ...fields, '  };'].join('\n');
  });
  return [
    `// ${headOf(types)}`,
    '',
    "import type { GrantdFor } from '@grantd/client';",
    '',
    '/** What can be granted. */',
    `export type Relation =\n${relations.map((name) => `  | '${name}'`).join('\n')};`,
    '',
    ...(hasStates ? [`/** ${STATES_COMMENT} */`, `export type State = ${literals(states)};`, ''] : []),
    '/** What can be asked about an object, by its namespace. */',
    `export interface Names {\n${names.join('\n')}\n}`,
    '',
    '/** The parameters of conditions, by their names. */',
    parameters.length === 0
      ? 'export type Conditions = Record<never, never>;'
      : `export interface Conditions {\n${parameters.join('\n')}\n}`,
    '',
    '/** A client that only takes names of this model. */',
    `export type Client = GrantdFor<{ names: Names; relation: Relation;${hasStates ? ' state: State;' : ''} conditions: Conditions }>;`,
    '',
  ].join('\n');
}

// ---- Python: constants and literal types ----

/** https://docs.python.org/3/reference/lexical_analysis.html#keywords, and what the file itself uses. */
const PYTHON_RESERVED =
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with str int float bool list dict Any Final Literal TypedDict Union Relation Relations'.split(
    ' ',
  );

const PYTHON_TYPES: ParameterTypes = {
  named: { bool: 'bool', int: 'Union[int, str]', uint: 'Union[int, str]', double: 'Union[float, str]', any: 'Any' },
  text: 'str',
  list: (element) => `list[${element}]`,
  map: (element) => `dict[str, ${element}]`,
};

/** A name as an identifier. */
function snakeCase(name: string): string {
  const joined = wordsOf(name).join('_');
  return PYTHON_RESERVED.includes(joined) ? `${joined}_` : joined;
}

const quoted = (name: string): string => JSON.stringify(name);

const literal = (name: string, values: readonly string[]): readonly string[] => [
  `${name} = Literal[`,
  ...values.map((value) => `    ${quoted(value)},`),
  ']',
];

function pythonConstants(name: string, comment: string, values: readonly string[]): readonly string[] {
  const identifiers = new Identifiers();
  return [
    `class ${name}:`,
    `    """${comment}"""`,
    '',
    ...values.map((value) => `    ${identifiers.take(snakeCase(value))}: Final = ${quoted(value)}`),
  ];
}

/** A literal type and the class of its values; nothing without values. */
const pythonGranted = (name: string, comment: string, values: readonly string[]): readonly string[] =>
  values.length === 0
    ? []
    : [
        ...literal(name, values),
        `"""${comment}"""`,
        '',
        '',
        ...pythonConstants(`${name}s`, `The values of ${name}.`, values),
        '',
        '',
      ];

export function renderPython(types: ModelTypes): string {
  const { relations, states, namespaces, conditions } = types;
  const identifiers = new Identifiers([...PYTHON_RESERVED, ...(states.length > 0 ? ['State', 'States'] : [])]);
  const typings = new Set(['Final', 'Literal']);
  const named = namespaces.flatMap(({ namespace, derived }) => {
    const names = [...relations, ...states, ...derived];
    const type = identifiers.take(`${pascalCase(namespace)}Name`);
    const group = identifiers.take(pascalCase(namespace));
    const entity = identifiers.take(snakeCase(namespace.toLowerCase()));
    return [
      ...literal(type, names),
      `"""What can be asked about an object of ${namespace}."""`,
      '',
      '',
      ...pythonConstants(group, `The values of ${type}.`, names),
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
    const fields = Object.entries(declared).map(
      ([parameter, type]) => `    ${quoted(parameter)}: ${typeOf(type, PYTHON_TYPES)},`,
    );
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
    ...pythonGranted('Relation', 'What can be granted.', relations),
    ...pythonGranted('State', STATES_COMMENT, states),
    ...named,
    ...parameters,
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

// ---- Go: constants, in the layout of gofmt ----

interface Constant {
  readonly identifier: string;
  readonly value: string;
}

function block(comment: string, constants: readonly Constant[]): readonly string[] {
  if (constants.length === 0) return [];
  const width = Math.max(...constants.map(({ identifier }) => identifier.length));
  const lines = constants.map(({ identifier, value }) => `\t${identifier.padEnd(width)} = ${JSON.stringify(value)}`);
  return [`// ${comment}`, 'const (', ...lines, ')', ''];
}

/** `packageName`: of the file. */
export function renderGo(types: ModelTypes, packageName: string): string {
  const { relations, states, namespaces, conditions } = types;
  const identifiers = new Identifiers();
  const constant = (value: string, ...parts: readonly string[]): Constant => ({
    identifier: identifiers.take(pascalCase(...parts)),
    value,
  });
  const functions = namespaces.map(({ namespace }) => ({ namespace, name: identifiers.take(pascalCase(namespace)) }));
  return [
    `// Code generated by "grantd rules types" from the rules of revision ${types.revision}. DO NOT EDIT.`,
    '',
    `// Package ${packageName} has the names that the rules of a tenant define.`,
    `package ${packageName}`,
    '',
    ...block(
      'What can be granted.',
      relations.map((name) => constant(name, 'relation', name)),
    ),
    ...block(
      STATES_COMMENT,
      states.map((name) => constant(name, 'state', name)),
    ),
    ...namespaces.flatMap(({ namespace, derived }) =>
      block(
        `What rules define on objects of ${namespace}, besides the relations.`,
        derived.map((name) => constant(name, namespace, name)),
      ),
    ),
    ...block(
      'Conditions.',
      conditions.map(({ name }) => constant(name, 'condition', name)),
    ),
    ...conditions.flatMap(({ name, parameters }) =>
      block(
        `Parameters of the condition ${name}.`,
        Object.keys(parameters).map((parameter) => constant(parameter, name, parameter)),
      ),
    ),
    ...functions.flatMap(({ namespace, name }) => [
      `// ${name} is the entity of ${namespace} with this id.`,
      `func ${name}(id string) string { return ${JSON.stringify(`${namespace}:`)} + id }`,
      '',
    ]),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

// ---- Java: constants in a class for each namespace, within one class for the file ----

/** The file has the name of its class. */
const JAVA_CLASS = 'Model';

/** What the file itself uses. */
const JAVA_RESERVED = [JAVA_CLASS, 'String', 'Relations', 'Conditions'];

function javaConstants(names: readonly string[]): readonly string[] {
  const identifiers = new Identifiers();
  return names.map((name) => {
    const identifier = identifiers.take(wordsOf(name).join('_').toUpperCase());
    return `        public static final String ${identifier} = ${JSON.stringify(name)};`;
  });
}

const classOf = (name: string, comment: string, body: readonly string[]): readonly string[] => [
  '',
  `    /** ${comment} */`,
  `    public static final class ${name} {`,
  `        private ${name}() {}`,
  '',
  ...body,
  '    }',
];

/** `packageName`: of the file. */
export function renderJava(types: ModelTypes, packageName: string): string {
  const { relations, states, namespaces, conditions } = types;
  const hasStates = states.length > 0;
  const identifiers = new Identifiers([...JAVA_RESERVED, ...(hasStates ? ['States'] : [])]);
  return [
    `// ${headOf(types)}`,
    '',
    `package ${packageName};`,
    '',
    '/** The names that the rules of a tenant define. */',
    `public final class ${JAVA_CLASS} {`,
    `    private ${JAVA_CLASS}() {}`,
    ...classOf('Relations', 'What can be granted.', javaConstants(relations)),
    ...(hasStates ? classOf('States', STATES_COMMENT, javaConstants(states)) : []),
    ...namespaces.flatMap(({ namespace, derived }) =>
      classOf(
        identifiers.take(pascalCase(namespace)),
        `What rules define on objects of {@code ${namespace}}, besides the relations.`,
        [
          ...javaConstants(derived),
          ...(derived.length > 0 ? [''] : []),
          `        /** The entity of {@code ${namespace}} with this id. */`,
          '        public static String of(String id) {',
          `            return ${JSON.stringify(`${namespace}:`)} + id;`,
          '        }',
        ],
      ),
    ),
    ...(conditions.length === 0
      ? []
      : classOf('Conditions', 'Conditions.', javaConstants(conditions.map(({ name }) => name)))),
    ...conditions.flatMap(({ name, parameters }) =>
      classOf(
        identifiers.take(`${pascalCase(name)}Parameters`),
        `Parameters of the condition {@code ${name}}.`,
        javaConstants(Object.keys(parameters)),
      ),
    ),
    '}',
    '',
  ].join('\n');
}
