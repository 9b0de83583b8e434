// SQL from a join: which objects a subject holds the name on, over mirrored grants and the sets of the subject. Values
// are whole numbers, which every database compares alike: 2 is true, 1 undecided (a grant with a condition, or a chain
// beyond the levels that are followed), 0 false; or is the greatest, and the least. Nothing here is data: sets come as
// parameters, names and namespaces from the rules, whose grammar has no quote.

import type { Formula, Join, JoinedFrom, JoinedNode } from '../../../src/rules/join.ts';

/** How a database writes what a join needs. */
export interface Dialect {
  readonly grants: string;
  readonly greatest: string;
  readonly least: string;
  /** One of `subjects`, `held`, `perhaps` (texts), `own_object`, `own_name`, `at_seq`, `at_time` (ms). */
  parameter(name: string): string;
  /** Whether the expression is one of the texts. */
  isIn(expression: string, texts: string): string;
  /** Rows of one column `text`. */
  each(texts: string): string;
  /** A text from elsewhere, compared as the columns are: by bytes. */
  text(expression: string): string;
  /** The last characters. */
  end(text: string, length: string): string;
}

export const SQLITE: Dialect = {
  grants: 'grantd_grants',
  greatest: 'max',
  least: 'min',
  parameter: (name) => `:${name}`,
  isIn: (expression, texts) => `${expression} IN (SELECT value FROM json_each(${texts}))`,
  each: (texts) => `(SELECT value AS text FROM json_each(${texts}))`,
  text: (expression) => expression,
  end: (text, length) => `substr(${text}, -(${length}))`,
};

/** Arguments of the functions, in their order. */
export const POSTGRES_PARAMETERS = {
  object: 'text',
  subjects: 'text[]',
  held: 'text[]',
  perhaps: 'text[]',
  own_object: 'text',
  own_name: 'text',
  at_seq: 'bigint',
  at_time: 'bigint',
} as const;

/** `schema`: quoted. `names`: of the parameters, in their order. */
export const postgres = (schema: string, names: readonly string[]): Dialect => ({
  grants: `${schema}.grants`,
  greatest: 'greatest',
  least: 'least',
  parameter: (name) => `$${names.indexOf(name) + 1}`,
  isIn: (expression, texts) => `${expression} = ANY (${texts})`,
  each: (texts) => `(SELECT unnest(${texts}) AS text)`,
  text: (expression) => `(${expression}) COLLATE "C"`,
  end: (text, length) => `right(${text}, ${length})`,
});

/** `down`: from the containers of the subject, each once. `up`: from the object, for one who holds most. */
export type Direction = 'down' | 'up';

const quoted = (text: string): string => `'${text}'`;
const list = (texts: readonly string[]): string => texts.map(quoted).join(', ');
/** What the objects of a namespace lie between: a range of an index. */
const rangeOf = (namespace: string): readonly [string, string] => [`${namespace}:`, `${namespace};`];
/** `object`: compared by bytes. */
export function isOf(object: string, namespace: string): string {
  const [from, to] = rangeOf(namespace).map(quoted);
  return `${object} >= ${from} AND ${object} < ${to}`;
}
const EDGE_COLUMNS = 'relation, source, prefix, behind, target';
/** What begins a table of a `WITH`, up to its query. */
const stored = (name: string, columns: string): string => `${name}(${columns}) AS MATERIALIZED`;

/** A name on objects of `target` follows from `source` on those that have the relation. */
interface Edge {
  readonly relation: string;
  readonly source: string;
  /** Of the objects. */
  readonly namespace: string;
  readonly target: string;
}

export class JoinSql {
  readonly #join: Join;
  readonly #dialect: Dialect;
  readonly #edges: readonly Edge[];

  constructor(join: Join, dialect: Dialect) {
    this.#join = join;
    this.#dialect = dialect;
    this.#edges = join.nesting.flatMap(({ namespace, name, from }) =>
      from.flatMap(({ relation, names }) => names.map((source) => ({ relation, source, namespace, target: name }))),
    );
  }

  /**
   * A query of `object` and `value`: all that the subject holds, or may hold. With `max`, an expression: a single row
   * of NULL if there may be more, or more containers.
   */
  objects(max?: string): string {
    const { formula, atoms } = this.#join;
    const found = this.#candidates(formula);
    const only = typeof formula === 'string' && atoms[formula]?.every === undefined;
    const few = max === undefined ? '' : ` AND coalesce((SELECT count(*) FROM near) <= ${max}, 1 = 1)`;
    const candidates = found.flatMap((key) => this.#candidatesOf(atoms[key], few)).join('\n  UNION ALL ');
    const query = only
      ? `SELECT object, max(value) AS value FROM candidates GROUP BY object`
      : `SELECT object, value FROM (SELECT object, ${this.value('candidate.object', 'down')} AS value
    FROM (SELECT DISTINCT object FROM candidates) AS candidate) AS decided WHERE value > 0`;
    const all = `${this.reach(max)},
${stored('candidates', 'object, value')} (
  ${candidates === '' ? "SELECT '', 0 WHERE 1 = 0" : candidates}${max === undefined ? '' : ` LIMIT ${max} + 1`})`;
    if (max === undefined) return `${all}\n${query}`;
    return `${all},
size(is_over) AS (SELECT coalesce(greatest_of > ${max}, 1 = 0) FROM (
  SELECT ${this.#dialect.greatest}((SELECT count(*) FROM candidates), (SELECT count(*) FROM near)) AS greatest_of) AS counts)
SELECT object, value FROM (${query}) AS answer WHERE NOT (SELECT is_over FROM size)
UNION ALL SELECT NULL, NULL FROM size WHERE is_over`;
  }

  /** Begins a query: the table `reach` of names on containers, with the value of each. `max`: more are left out. */
  reach(max?: string): string {
    const { least } = this.#dialect;
    const edges = `edges AS e ON e.source = f.name JOIN ${this.#dialect.grants} AS g ON g.subject = f.container
      AND g.relation = e.relation AND g.object >= e.prefix AND g.object < e.behind AND ${this.#isEntity('g')} AND ${this.#isLive('g')}`;
    const step = (from: string, columns: string): string => `SELECT ${columns} FROM ${from} AS f JOIN ${edges}`;
    const sure = this.#sure('g');
    const leading = this.#edgeRows(({ namespace }) => ` WHERE ${this.#leads(namespace)}`);
    return `WITH RECURSIVE ${stored('edges', EDGE_COLUMNS)} (SELECT * FROM ${leading} AS e),
found(container, name, depth, value) AS (
  ${this.#given().join('\n  UNION ')}
  UNION ${step('found', `g.object, e.target, f.depth + 1, ${least}(f.value, ${sure})`)}
    WHERE f.depth < ${this.#join.depth_max}),
${stored('near', 'container, name, depth, value')} (SELECT container, name, depth, value FROM found${max === undefined ? '' : ` LIMIT ${max} + 1`}),
far(container, name) AS (
  SELECT container, name FROM near WHERE depth = ${this.#join.depth_max}
  UNION ${step('far', 'g.object, e.target')}),
${stored('reach', 'container, name, value')} (
  SELECT container, name, max(value) FROM (
    SELECT container, name, value FROM near UNION ALL SELECT container, name, 1 FROM far) AS every_way
  GROUP BY container, name)`;
  }

  /** The value on one object, as an expression. `down`: `reach` is there. */
  value(object: string, direction: Direction): string {
    return this.#formula(this.#join.formula, object, direction);
  }

  // ---- names on containers ----

  /** Names that no edge leads to: queries of `container`, `name`, `depth` and `value`. */
  #given(): string[] {
    const { text } = this.#dialect;
    const { ask, nesting } = this.#join;
    const given = [
      ...(ask.length === 0 ? [] : [`SELECT container, name, 0, value FROM ${this.#heldOn(ask)}`]),
      ...nesting.flatMap(({ namespace, name, ...node }) =>
        this.#grantedOn(namespace, node, (object, value) => `${text(object)}, ${text(quoted(name))}, 0, ${value}`).map(
          (query) => `${query} AND ${this.#leads(namespace)}`,
        ),
      ),
    ];
    return given.length === 0 ? [`SELECT ${text("''")}, ${text("''")}, 0, 0 WHERE 1 = 0`] : given;
  }

  /** A table of `container`, `name` and `value`: on which objects one of the names is held, or may be. */
  #heldOn(names: readonly string[]): string {
    const { each, end, parameter, text } = this.#dialect;
    const texts = (name: string, value: number) =>
      `SELECT text, ${value} AS value FROM ${each(parameter(name))} AS ${name}`;
    return `(SELECT ${text('substr(h.text, 1, length(h.text) - length(n.name) - 1)')} AS container, ${text('n.name')} AS name, h.value
    FROM (${texts('held', 2)} UNION ALL ${texts('perhaps', 1)}) AS h
    JOIN (${names.map((name) => `SELECT ${quoted(name)} AS name`).join(' UNION ALL ')}) AS n
      ON ${end('h.text', 'length(n.name) + 1')} = '#' || n.name) AS given`;
  }

  /**
   * Queries of the objects of a namespace on which the subject is granted one of the relations, or may be, or which are
   * its own. `columns`: of an object and its value.
   */
  #grantedOn(
    namespace: string,
    { relations, own }: Pick<JoinedNode, 'relations' | 'own'>,
    columns: (object: string, value: string) => string,
  ): string[] {
    const { isIn, parameter, grants, text } = this.#dialect;
    const isHere = (object: string): string => isOf(object, namespace);
    const rows = (value: string, subjects: string): string =>
      `SELECT ${columns('g.object', value)} FROM ${grants} AS g WHERE ${isIn('g.subject', parameter(subjects))}
    AND g.relation IN (${list(relations)}) AND ${isHere('g.object')} AND ${this.#isLive('g')}`;
    const [object, name] = [parameter('own_object'), parameter('own_name')];
    return [
      ...(relations.length === 0 ? [] : [rows(this.#sure('g'), 'subjects'), rows('1', 'perhaps')]),
      ...(own.length === 0
        ? []
        : [`SELECT ${columns(object, '2')} WHERE ${isHere(text(object))} AND ${name} IN (${list(own)})`]),
    ];
  }

  /** Whether some object that begins so is a container: mostly, no listed object is, and there are many. */
  #leads(namespace: string): string {
    return `EXISTS (SELECT 1 FROM ${this.#dialect.grants} AS s WHERE ${isOf('s.subject', namespace)})`;
  }

  /** A table with `EDGE_COLUMNS`. */
  #edgeRows(where: (edge: Edge) => string = () => ''): string {
    const { text } = this.#dialect;
    const rows = this.#edges.map((edge) => {
      const { relation, source, namespace, target } = edge;
      const [from, to] = rangeOf(namespace).map((bound) => text(quoted(bound)));
      return `SELECT ${quoted(relation)} AS relation, ${text(quoted(source))} AS source, ${from} AS prefix, ${to} AS behind, ${text(quoted(target))} AS target${where(edge)}`;
    });
    return rows.length === 0
      ? "(SELECT '' AS relation, '' AS source, '' AS prefix, '' AS behind, '' AS target)"
      : `(${rows.join(' UNION ALL ')})`;
  }

  // ---- what suffices on an object ----

  #formula(formula: Formula, object: string, direction: Direction): string {
    if (typeof formula === 'string') {
      const atom = this.#join.atoms[formula];
      return atom === undefined ? '0' : this.#node(atom, object, direction);
    }
    const { greatest, least } = this.#dialect;
    const values = (all: readonly Formula[]): string[] => all.map((each) => this.#formula(each, object, direction));
    if ('any_of' in formula) return this.#fold(greatest, values(formula.any_of), '0');
    const none = values(formula.none_of ?? []).map((value) => `2 - ${value}`);
    return this.#fold(least, [...values(formula.all_of), ...none], '2');
  }

  #fold(by: string, values: readonly string[], none: string): string {
    return values.length === 0 ? none : values.length === 1 ? (values[0] ?? none) : `${by}(${values.join(', ')})`;
  }

  #node({ relations, own, held, from, every }: JoinedNode, object: string, direction: Direction): string {
    const { parameter, grants, isIn, greatest, least } = this.#dialect;
    if (every === true) return this.#every(from[0], object, direction);
    const [subjects, perhaps] = [isIn('g.subject', parameter('subjects')), isIn('g.subject', parameter('perhaps'))];
    const values = [
      ...(relations.length === 0
        ? []
        : [
            `coalesce((SELECT max(CASE WHEN ${subjects} THEN ${this.#sure('g')} ELSE 1 END) FROM ${grants} AS g
      WHERE g.object = ${object} AND g.relation IN (${list(relations)}) AND ${this.#isLive('g')} AND (${subjects} OR ${perhaps})), 0)`,
          ]),
      ...(own.length === 0
        ? []
        : [
            `CASE WHEN ${parameter('own_object')} = ${object} AND ${parameter('own_name')} IN (${list(own)}) THEN 2 ELSE 0 END`,
          ]),
      ...(held === undefined ? [] : [this.#held(`${object} || ${quoted(`#${held}`)}`)]),
      ...from.map(
        ({
          relation,
          names,
        }) => `coalesce((SELECT max(${least}(${this.#sure('p')}, ${this.#named('p.subject', names, direction)}))
      ${this.#containersOf(object, relation)}), 0)`,
      ),
    ];
    return this.#fold(greatest, values, '0');
  }

  /** One has the relation, and the name holds on each. */
  #every(from: JoinedFrom | undefined, object: string, direction: Direction): string {
    if (from === undefined) return '0';
    const { greatest, least } = this.#dialect;
    return `coalesce((SELECT ${least}(max(${least}(e.sure, e.value)), min(${greatest}(e.value, 2 - e.sure)))
      FROM (SELECT ${this.#sure('p')} AS sure, ${this.#named('p.subject', from.names, direction)} AS value
        ${this.#containersOf(object, from.relation)}) AS e), 0)`;
  }

  /** The rows `p` of the entities that have the relation on the object. */
  #containersOf(object: string, relation: string): string {
    return `FROM ${this.#dialect.grants} AS p WHERE p.object = ${object} AND p.relation = ${quoted(relation)}
        AND ${this.#isEntity('p')} AND ${this.#isLive('p')}`;
  }

  #held(text: string): string {
    const { parameter, isIn } = this.#dialect;
    return `CASE WHEN ${isIn(text, parameter('held'))} THEN 2 WHEN ${isIn(text, parameter('perhaps'))} THEN 1 ELSE 0 END`;
  }

  /** Whether one of the names holds on the container. */
  #named(container: string, names: readonly string[], direction: Direction): string {
    if (direction === 'down') {
      return `coalesce((SELECT max(r.value) FROM reach AS r WHERE r.container = ${container} AND r.name IN (${list(names)})), 0)`;
    }
    const { grants, least, text } = this.#dialect;
    const first = names.map((name) => `SELECT ${text(container)}, ${text(quoted(name))}, 1, 2`).join(' UNION ');
    const step =
      this.#edges.length === 0
        ? ''
        : `
      UNION SELECT g.subject, e.source, u.depth + 1, ${least}(u.value, ${this.#sure('g')}) FROM up AS u
        JOIN ${this.#edgeRows()} AS e ON e.target = u.name AND u.container >= e.prefix AND u.container < e.behind
        JOIN ${grants} AS g ON g.object = u.container AND g.relation = e.relation AND ${this.#isEntity('g')} AND ${this.#isLive('g')}
        WHERE u.depth <= ${this.#join.depth_max} + 1`;
    // What is first found one level beyond leaves the rest undecided.
    const beyond = `CASE WHEN min(u.depth) > ${this.#join.depth_max} + 1 THEN 1 ELSE 0 END`;
    return `coalesce((WITH RECURSIVE up(container, name, depth, value) AS (${first}${step})
      SELECT max(value) FROM (SELECT ${this.#dialect.greatest}(${beyond},
        max(${least}(u.value, ${this.#terminal('u')}))) AS value FROM up AS u GROUP BY u.container, u.name) AS ends), 0)`;
  }

  /** What suffices on the container itself. */
  #terminal(up: string): string {
    const own = this.#join.nesting.filter((node) => node.own.length > 0 || node.relations.length > 0);
    const nodes = own.map(
      (node) =>
        `CASE WHEN ${up}.name = ${quoted(node.name)} AND ${isOf(`${up}.container`, node.namespace)} THEN ${this.#node(
          { relations: node.relations, own: node.own, from: [] },
          `${up}.container`,
          'up',
        )} ELSE 0 END`,
    );
    return this.#fold(this.#dialect.greatest, [this.#held(`${up}.container || '#' || ${up}.name`), ...nodes], '0');
  }

  // ---- objects that may be held ----

  /** The atoms whose objects are all that the formula may hold on. */
  #candidates(formula: Formula): readonly string[] {
    if (typeof formula === 'string') return [formula];
    if ('any_of' in formula) return [...new Set(formula.any_of.flatMap((each) => this.#candidates(each)))];
    // One operand suffices: grants on the object itself lead to fewer than what its containers do.
    const ways = formula.all_of.map((each) => this.#candidates(each));
    const length = (keys: readonly string[]): number =>
      keys.reduce((sum, key) => sum + 1 + 10 * (this.#join.atoms[key]?.from.length ?? 0), 0);
    return ways.toSorted((left, right) => length(left) - length(right))[0] ?? [];
  }

  #candidatesOf(atom: JoinedNode | undefined, few: string): string[] {
    if (atom === undefined) return [];
    const { held, from } = atom;
    const { namespace } = this.#join;
    const { grants, least } = this.#dialect;
    const isHere = (object: string): string => isOf(object, namespace);
    return [
      ...this.#grantedOn(namespace, atom, (object, value) => `${object}, ${value}`),
      ...(held === undefined
        ? []
        : [`SELECT container, value FROM ${this.#heldOn([held])} WHERE ${isHere('container')}`]),
      ...from.map(
        ({ relation, names }) => `SELECT p.object, ${least}(r.value, ${this.#sure('p')}) FROM reach AS r
    JOIN ${grants} AS p ON p.subject = r.container AND p.relation = ${quoted(relation)}
    WHERE r.name IN (${list(names)}) AND ${isHere('p.object')} AND ${this.#isEntity('p')} AND ${this.#isLive('p')}${few}`,
      ),
    ];
  }

  // ---- rows ----

  #sure(row: string): string {
    return `CASE WHEN ${row}.conditional THEN 1 ELSE 2 END`;
  }

  #isLive(row: string): string {
    const { parameter } = this.#dialect;
    const seq = parameter('at_seq');
    return `${row}.since <= ${seq} AND ${seq} < ${row}.until AND (${row}.expires_at IS NULL OR ${row}.expires_at > ${parameter('at_time')})`;
  }

  /** The subject is neither a group nor everyone. */
  #isEntity(row: string): string {
    const { groups, public: everyone } = this.#join;
    const kinds = groups ? '0' : '0, 1';
    const others =
      everyone.length === 0 ? '' : ` AND ${row}.subject NOT IN (${list(everyone.map((each) => `${each}:*`))})`;
    return `(${row}.kind IN (${kinds}) OR (${row}.kind = 2${others}))`;
  }
}
