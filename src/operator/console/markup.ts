// Markup: what a page is made of. Templates are tagged with `html`; every value in them is escaped by the renderer, and
// no type fits what the renderer takes for raw HTML. Components are functions that are called, so that the compiler
// sees their types.

import { html as template } from 'htm/preact';
import { h, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** Narrower than what the renderer takes: no object of any other shape gets in. */
export type Markup = VNode | string | number | boolean | null | undefined | readonly Markup[];
/** Attributes that are spread into a tag; undefined and false leave one out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export function html(strings: TemplateStringsArray, ...values: readonly (Markup | Attributes)[]): Markup {
  return template(strings, ...values);
}

/** A whole document without its doctype, or a part of one. */
export function renderMarkup(markup: Markup): string {
  return renderToString(h('body', null, template`${markup}`)).slice('<body>'.length, -'</body>'.length);
}
