// Markup: what pages consist of. Templates are tagged with `html`. The renderer escapes every value in them, and no
// type allows what the renderer would accept as raw HTML. Components are called as functions, so that the compiler
// checks their types.

import { html as template } from 'htm/preact';
import { h, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** Narrower than what the renderer accepts: objects of any other shape are excluded. */
export type Markup = VNode | string | number | boolean | null | undefined | readonly Markup[];
/** Attributes that are spread into a tag; undefined and false omit one. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export function html(strings: TemplateStringsArray, ...values: readonly (Markup | Attributes)[]): Markup {
  return template(strings, ...values);
}

/** A whole document without its doctype, or a part of one. */
export function renderMarkup(markup: Markup): string {
  return renderToString(h('body', null, template`${markup}`)).slice('<body>'.length, -'</body>'.length);
}
