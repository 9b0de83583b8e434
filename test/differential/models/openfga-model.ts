// A model in OpenFGA's language, and as the JSON that its interface takes.

import type { JsonObject } from '../../../src/core/json-members.ts';
import { type Condition, type Expression, isOperator, type Model, type Relation, type SubjectKind } from './model.ts';

function subjectText({ type, of, name, condition }: SubjectKind): string {
  const kind = of === 'single' ? type : of === 'everyone' ? `${type}:*` : `${type}#${name}`;
  return condition === undefined ? kind : `${kind} with ${condition}`;
}

function expressionText(expression: Expression, subjects: readonly SubjectKind[]): string {
  const operand = (part: Expression): string => {
    const text = expressionText(part, subjects);
    return isOperator(part) ? `(${text})` : text;
  };
  switch (expression.kind) {
    case 'stored':
      return `[${subjects.map(subjectText).join(', ')}]`;
    case 'name':
      return expression.name;
    case 'from':
      return `${expression.name} from ${expression.from}`;
    case 'union':
      return expression.parts.map(operand).join(' or ');
    case 'intersection':
      return expression.parts.map(operand).join(' and ');
    case 'exclusion':
      return `${operand(expression.base)} but not ${operand(expression.subtract)}`;
  }
}

const conditionText = ({ name, parameters, expression }: Condition): string =>
  `condition ${name}(${Object.entries(parameters)
    .map(([parameter, { type }]) => `${parameter}: ${type}`)
    .join(', ')}) {\n  ${expression}\n}`;

export function openfgaDsl({ types, conditions }: Model): string {
  const typeTexts = types.map(({ name, relations }) => {
    const lines = relations.map(
      (relation) => `    define ${relation.name}: ${expressionText(relation.expression, relation.subjects)}`,
    );
    return [`type ${name}`, ...(lines.length === 0 ? [] : ['  relations', ...lines])].join('\n');
  });
  return `model\n  schema 1.1\n\n${[...typeTexts, ...conditions.map(conditionText)].join('\n\n')}\n`;
}

function expressionJson(expression: Expression): JsonObject {
  switch (expression.kind) {
    case 'stored':
      return { this: {} };
    case 'name':
      return { computedUserset: { relation: expression.name } };
    case 'from':
      return {
        tupleToUserset: { tupleset: { relation: expression.from }, computedUserset: { relation: expression.name } },
      };
    case 'union':
    case 'intersection':
      return { [expression.kind]: { child: expression.parts.map(expressionJson) } };
    case 'exclusion':
      return {
        difference: { base: expressionJson(expression.base), subtract: expressionJson(expression.subtract) },
      };
  }
}

const subjectJson = ({ type, of, name, condition }: SubjectKind): JsonObject => ({
  type,
  ...(of === 'everyone' ? { wildcard: {} } : {}),
  ...(name === undefined ? {} : { relation: name }),
  ...(condition === undefined ? {} : { condition }),
});

function parameterJson(type: string): JsonObject {
  const [, outer = type, inner] = /^(\w+)<(\w+)>$/.exec(type) ?? [];
  return {
    type_name: `TYPE_NAME_${outer.toUpperCase()}`,
    ...(inner === undefined ? {} : { generic_types: [parameterJson(inner)] }),
  };
}

function conditionJson({ name, parameters, expression }: Condition): JsonObject {
  const entries = Object.entries(parameters).map(([parameter, { type }]) => [parameter, parameterJson(type)] as const);
  return { name, expression, parameters: Object.fromEntries(entries) };
}

function relationsJson(relations: readonly Relation[]): JsonObject {
  return {
    relations: Object.fromEntries(relations.map(({ name, expression }) => [name, expressionJson(expression)])),
    metadata: {
      relations: Object.fromEntries(
        relations.map(({ name, subjects }) => [name, { directly_related_user_types: subjects.map(subjectJson) }]),
      ),
    },
  };
}

export const openfgaJson = ({ types, conditions }: Model): JsonObject => ({
  schema_version: '1.1',
  type_definitions: types.map(({ name, relations }) => ({ type: name, ...relationsJson(relations) })),
  ...(conditions.length === 0
    ? {}
    : { conditions: Object.fromEntries(conditions.map((each) => [each.name, conditionJson(each)])) }),
});
