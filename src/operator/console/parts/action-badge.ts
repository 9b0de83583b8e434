// What was done, in the audit log and in changes as they come.

import { html, type Markup } from '../../../http/pages/markup.ts';

/** What adds access and what takes it away look different, not only by their colour. */
export function actionBadge(action: string): Markup {
  const [sign, kind] = /\.(?:revoked|expired)$/.test(action)
    ? ['− ', ' removed']
    : action.endsWith('.created')
      ? ['+ ', ' added']
      : ['', ''];
  return html`<span class="badge${kind}">${sign}${action}</span>`;
}
