// The names of a model as constants in Java: a class for each namespace, within one class for the file.

import { headOf, Identifiers, type ModelTypes, pascalCase, wordsOf } from './model-types.ts';

/** The file has the name of its class. */
export const JAVA_CLASS = 'Model';

/** What the file itself uses. */
const RESERVED = [JAVA_CLASS, 'String', 'Relations', 'Conditions'];

function constants(names: readonly string[]): readonly string[] {
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
  const { relations, namespaces, conditions } = types;
  const identifiers = new Identifiers(RESERVED);
  return [
    `// ${headOf(types)}`,
    '',
    `package ${packageName};`,
    '',
    '/** The names that the rules of a tenant define. */',
    `public final class ${JAVA_CLASS} {`,
    `    private ${JAVA_CLASS}() {}`,
    ...classOf('Relations', 'What can be granted.', constants(relations)),
    ...namespaces.flatMap(({ namespace, derived }) =>
      classOf(
        identifiers.take(pascalCase(namespace)),
        `What rules define on objects of {@code ${namespace}}, besides the relations.`,
        [
          ...constants(derived),
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
      : classOf('Conditions', 'Conditions.', constants(conditions.map(({ name }) => name)))),
    ...conditions.flatMap(({ name, parameters }) =>
      classOf(
        identifiers.take(`${pascalCase(name)}Parameters`),
        `Parameters of the condition {@code ${name}}.`,
        constants(Object.keys(parameters)),
      ),
    ),
    '}',
    '',
  ].join('\n');
}
