// The rules as pictures, one for each namespace: arrows lead from what suffices to what follows from it. Drawn on the
// server as SVG. The sentences below a picture say the same.

import { scalePoint } from 'd3-scale';
import { curveBumpX, line } from 'd3-shape';
import { isRelation } from '../../../../src/core/tuples.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import {
  hasRules,
  isGate,
  type Rule,
  type RuleElement,
  type RuleSet,
  textOfElement,
} from '../../../../src/rules/rule-set.ts';
import { sentenceOfRule } from '../../../../src/rules/rules-text.ts';
import { code, count } from './parts.ts';
import { round } from './plots.ts';

/** A larger picture would be illegible; larger rule sets get only the sentences. */
const NAMES_MAX = 60;
const ARROWS_MAX = 150;
/** Longer names are truncated; the title has the full name. */
const LABEL_LENGTH_MAX = 32;
const CHARACTER_WIDTH = 7.4;
const BOX = { height: 28, padding: 12 };
const ROW_HEIGHT = 44;
const GAP = 72;
const EDGE = 8;
const HEAD = { length: 8, half: 4 };

export interface RulesNode {
  readonly text: string;
  readonly kind: 'built-in' | 'derived' | 'inherited' | 'gate';
  /** To the right of every node that it follows from. */
  readonly column: number;
}

/** `from` and `to` are the texts of nodes. */
interface RulesArrow {
  readonly from: string;
  readonly to: string;
  /** `to` does not hold where `from` does. */
  readonly excludes?: true;
}

export interface RulesGraph {
  readonly nodes: readonly RulesNode[];
  readonly arrows: readonly RulesArrow[];
}

/** The graph of one namespace. If names follow from each other, some arrows lead back to an earlier column. */
export function graphOfRules(rules: readonly Rule[]): RulesGraph {
  const sources = new Map<string, readonly string[]>();
  const excluded = new Map<string, readonly string[]>();
  const kinds = new Map<string, RulesNode['kind']>();
  const enter = (to: string, elements: readonly RuleElement[], without: readonly RuleElement[]): void => {
    excluded.set(to, without.map(textOfElement));
    sources.set(
      to,
      [...new Set([...elements, ...without].map(textOfElement))].filter((text) => text !== to),
    );
    for (const element of [...elements, ...without]) {
      if (isGate(element)) {
        kinds.set(textOfElement(element), 'gate');
        enter(textOfElement(element), element.elements, element.butNot);
      } else if (element.from !== undefined) kinds.set(textOfElement(element), 'inherited');
    }
  };
  for (const { name, anyOf } of rules) enter(name, anyOf, []);
  const columns = new Map<string, number>();
  const entered = new Set<string>();
  const columnOf = (text: string): number => {
    const known = columns.get(text);
    if (known !== undefined) return known;
    if (entered.has(text)) return -1;
    entered.add(text);
    const column = Math.max(-1, ...(sources.get(text) ?? []).map(columnOf)) + 1;
    columns.set(text, column);
    return column;
  };
  for (const name of sources.keys()) columnOf(name);
  const arrows = Array.from(sources, ([to, texts]) =>
    texts.map((from): RulesArrow => (excluded.get(to)?.includes(from) ? { from, to, excludes: true } : { from, to })),
  ).flat();
  // A node without sources goes beside the first name that follows from it, so that no arrow passes behind a box.
  for (const text of columns.keys()) {
    if ((sources.get(text) ?? []).length > 0) continue;
    const following = arrows.flatMap(({ from, to }) => (from === text ? (columns.get(to) ?? []) : []));
    columns.set(text, Math.max(0, Math.min(...following) - 1));
  }
  const nodes = Array.from(columns, ([text, column]): RulesNode => {
    const kind = kinds.get(text) ?? (isRelation(text) ? 'built-in' : 'derived');
    return { text, kind, column };
  });
  return { nodes, arrows };
}

interface Box extends RulesNode {
  readonly x: number;
  /** The vertical centre. */
  readonly y: number;
  readonly width: number;
}

const labelOf = (text: string): string =>
  text.length <= LABEL_LENGTH_MAX ? text : `${text.slice(0, LABEL_LENGTH_MAX - 1)}…`;

function placeBoxes({ nodes, arrows }: RulesGraph): {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly width: number;
  readonly height: number;
} {
  const columns = [...Map.groupBy(nodes, ({ column }) => column)].sort(([left], [right]) => left - right);
  const height = Math.max(...columns.map(([, each]) => each.length)) * ROW_HEIGHT;
  const boxes = new Map<string, Box>();
  let x = EDGE;
  for (const [, each] of columns) {
    // Nodes stay near their sources, so that few arrows cross.
    const heightOf = ({ text }: RulesNode): number => {
      const heights = arrows.flatMap(({ from, to }) => (to === text ? (boxes.get(from)?.y ?? []) : []));
      return heights.reduce((sum, y) => sum + y, 0) / Math.max(1, heights.length);
    };
    const ordered = each.toSorted((left, right) => heightOf(left) - heightOf(right));
    const y = scalePoint<string>([0, height])
      .domain(ordered.map(({ text }) => text))
      .padding(0.5);
    const width = Math.max(...each.map(({ text }) => labelOf(text).length)) * CHARACTER_WIDTH + 2 * BOX.padding;
    for (const node of ordered) boxes.set(node.text, { ...node, x, y: y(node.text) ?? 0, width });
    x += width + GAP;
  }
  return { boxes, width: x - GAP + EDGE, height };
}

function boxMarkup({ text, kind, x, y, width }: Box): Markup {
  return html`<g class="rule-name ${kind}">
    <title>${text}</title>
    <rect x=${round(x)} y=${round(y - BOX.height / 2)} width=${round(width)} height=${BOX.height} rx="6" />
    <text x=${round(x + width / 2)} y=${round(y + 4)} text-anchor="middle">${labelOf(text)}</text>
  </g>`;
}

const curve = line().curve(curveBumpX).digits(1);

function arrowMarkup(from: Box, to: Box, excludes: boolean): Markup {
  const head = `M${round(to.x)},${round(to.y)}l${-HEAD.length},${-HEAD.half}v${2 * HEAD.half}z`;
  const path = curve([
    [from.x + from.width, from.y],
    [to.x - HEAD.length, to.y],
  ]);
  return html`<g class=${excludes ? 'rule-arrow excludes' : 'rule-arrow'}><path class="rule-line" d=${path} /><path class="rule-head" d=${head} /></g>`;
}

function drawing(namespace: string, rules: readonly Rule[], id: string): Markup {
  const graph = graphOfRules(rules);
  const { nodes, arrows } = graph;
  if (nodes.length > NAMES_MAX || arrows.length > ARROWS_MAX) {
    return html`<p class="hint">${count(nodes.length)} names and ${count(arrows.length)} arrows are too many for a picture.</p>`;
  }
  const { boxes, width, height } = placeBoxes(graph);
  const lines = arrows.map(({ from, to, excludes }) => {
    const [start, end] = [boxes.get(from), boxes.get(to)];
    return start === undefined || end === undefined ? undefined : arrowMarkup(start, end, excludes === true);
  });
  return html`<svg class="rules-picture" role="img" aria-labelledby="${id}-title ${id}-description"
    viewBox="0 0 ${round(width)} ${round(height)}" width=${round(width)} height=${round(height)}>
    <title id="${id}-title">Relations of ${namespace}</title>
    <desc id="${id}-description">Arrows lead from what suffices, or is needed, to what follows from it; dashed ones from what excludes it. The sentences below say the same.</desc>
    ${lines}${[...boxes.values()].map(boxMarkup)}
  </svg>`;
}

/** A picture and its sentences for each namespace, and the meaning of the switches. */
export function rulesPicture(ruleSet: RuleSet): Markup {
  const { rules, groups, public: namespaces } = ruleSet;
  if (!hasRules(ruleSet)) return html`<p>Relations follow from grants alone.</p>`;
  const figures = [...Map.groupBy(rules, ({ namespace }) => namespace)].map(
    ([namespace, each], index) => html`<figure class="rules-of">
      <figcaption>${code(namespace)}</figcaption>
      ${drawing(namespace, each, `picture-${index}`)}
      <ul>${each.map((rule) => html`<li>${sentenceOfRule(rule)}</li>`)}</ul>
    </figure>`,
  );
  const switches = [
    groups
      ? html`<li>Groups: a grant to ${code('team:eng#member')} is one to every member of ${code('team:eng')}.</li>`
      : undefined,
    ...namespaces.map(
      (namespace) =>
        html`<li>Public: a grant to ${code(`${namespace}:*`)} is one to every subject of ${code(namespace)}.</li>`,
    ),
  ];
  return html`${figures}<ul>${switches}</ul>`;
}
