// What all plots share, whatever their time axis.

import { html, type Markup } from '../../../http/pages/markup.ts';

/** A line more than this many times above the highest figure would flatten the plot: then only words mention it. */
export const LINE_SHOWN_TIMES = 20;

/** Rounds a length or position in a picture, so that pages stay small. */
export const round = (number: number): string => number.toFixed(1);

interface Tick {
  readonly y: number;
  readonly left: number;
  readonly right: number;
  /** Between the text and the line. */
  readonly gap: number;
  readonly text: string;
}

/** A line across the plot, with its figure on the left. */
export const tickLine = ({ y, left, right, gap, text }: Tick): Markup => html`<g class="plot-tick">
  <line x1=${left} x2=${right} y1=${round(y)} y2=${round(y)} />
  <text x=${left - gap} y=${round(y + 4)} text-anchor="end">${text}</text>
</g>`;
