// Pages as text. Invariant: a template escapes every value unless another template made it.

class Markup {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

/** @type {Readonly<Record<string, string>>} */
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * @param {unknown} value
 * @returns {string}
 */
function render(value) {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value ?? '').replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/**
 * For text and for attributes in quotes.
 *
 * @param {TemplateStringsArray} strings
 * @param {...unknown} values
 */
export const html = (strings, ...values) => new Markup(String.raw({ raw: strings }, ...values.map(render)));
