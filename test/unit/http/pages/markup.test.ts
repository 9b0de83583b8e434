// The renderer: whatever a value holds, it comes out as text.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathTo } from '../../../../packages/console/src/page.ts';
import { html, renderMarkup } from '../../../../src/http/pages/markup.ts';
import { readCode } from '../../../kit/source-tree.ts';

describe('markup', () => {
  it('escapes values in text and in attributes', () => {
    const hostile = `</p><script>alert("1")</script>'&amp;`;
    const text = renderMarkup(html`<p title=${hostile}>${hostile}</p>`);
    assert.ok(!text.includes('<script'), text);
    const [, title, content] = /^<p title="([^"]*)">([^<]*)<\/p>$/.exec(text) ?? [];
    assert.ok(title !== undefined && content !== undefined, text);
    assert.ok(content.includes('&amp;amp;'));
  });

  it('renders the same template again and again', () => {
    const page = (name: string) => html`<main><h1>Same</h1>${[name, html`<i>${name}</i>`]}</main>`;
    for (const name of ['a', 'b', 'b']) {
      assert.equal(renderMarkup(page(name)), `<main><h1>Same</h1>${name}<i>${name}</i></main>`);
    }
  });

  it('leaves out what is undefined or false', () => {
    assert.equal(
      renderMarkup(html`<input disabled=${false} value=${undefined} required=${true} />`),
      '<input required/>',
    );
    assert.equal(renderMarkup(undefined), '');
  });

  it('has no way around the renderer in any page', () => {
    const pages = [...readCode(['packages/console', 'src/http/pages'])];
    assert.ok(pages.length > 20);
    for (const [path, text] of pages)
      assert.doesNotMatch(text, /dangerouslySetInnerHTML|__html|\sstyle=|\son[a-z]+=/, path);
  });
});

describe('a path', () => {
  it('encodes every part and leaves out what is empty', () => {
    assert.equal(
      pathTo(['tenants', 'a/b?c'], { subject: 'user:a&b=c', cursor: undefined, q: '' }),
      '/console/tenants/a%2Fb%3Fc?subject=user%3Aa%26b%3Dc',
    );
  });
});
