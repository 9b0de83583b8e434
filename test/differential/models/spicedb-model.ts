// A model in SpiceDB's language, and its relationships as text.

import {
  type Condition,
  type Expression,
  isOperator,
  type Model,
  type Relation,
  type SubjectKind,
  type Tuple,
} from './model.ts';

function subjectText({ type, of, name, condition }: SubjectKind): string {
  const kind = of === 'single' ? type : of === 'everyone' ? `${type}:*` : `${type}#${name}`;
  return condition === undefined ? kind : `${kind} with ${condition}`;
}

function expressionText(expression: Expression): string {
  const operand = (part: Expression): string => (isOperator(part) ? `(${expressionText(part)})` : expressionText(part));
  switch (expression.kind) {
    case 'stored':
      throw new Error('A permission of SpiceDB stores nothing.');
    case 'name':
      return expression.name;
    case 'from':
      return expression.all ? `${expression.from}.all(${expression.name})` : `${expression.from}->${expression.name}`;
    case 'union':
      return expression.parts.map(operand).join(' + ');
    // A union binds tighter.
    case 'intersection':
      return expression.parts.map((part) => (part.kind === 'union' ? expressionText(part) : operand(part))).join(' & ');
    // And so does an intersection.
    case 'exclusion': {
      const [base, subtract] = [expression.base, expression.subtract].map((part) =>
        part.kind === 'exclusion' ? operand(part) : expressionText(part),
      );
      return `${base} - ${subtract}`;
    }
  }
}

const relationText = ({ name, subjects, expression }: Relation): string =>
  subjects.length === 0
    ? `  permission ${name} = ${expressionText(expression)}`
    : `  relation ${name}: ${subjects.map(subjectText).join(' | ')}`;

const conditionText = ({ name, parameters, expression }: Condition): string =>
  `caveat ${name}(${Object.entries(parameters)
    .map(([parameter, { type }]) => `${parameter} ${type}`)
    .join(', ')}) {\n  ${expression}\n}`;

export function spicedbText({ types, conditions }: Model): string {
  const definitions = types.map(
    ({ name, relations }) => `definition ${name} {\n${relations.map((each) => `${relationText(each)}\n`).join('')}}`,
  );
  return `${[...conditions.map(conditionText), ...definitions].join('\n\n')}\n`;
}

export function relationshipText({ subject, relation, object, condition }: Tuple): string {
  const caveat = condition === undefined ? '' : `[${condition.name}:${JSON.stringify(condition.context)}]`;
  return `${object}#${relation}@${subject}${caveat}`;
}
