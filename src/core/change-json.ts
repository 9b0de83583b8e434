// A change of the change feed as JSON.

import type { FeedChange, FeedContent } from './change-feed.ts';
import { grantRecord } from './grant-attributes.ts';
import { formatTimestamp } from './text/timestamps.ts';

/** The members after `action`. Rules are compact JSON already. */
function contentJson(content: FeedContent): string {
  switch (content.action) {
    case 'namespace.created':
      return `"namespace":{"name":${JSON.stringify(content.name)}}`;
    case 'rules.updated':
      return `"rules":${content.rules},"former":${content.former}`;
    default:
      return `"grant":${JSON.stringify(grantRecord(content.grant))}`;
  }
}

/** One line. */
export function changeJson({ seq, index, atMs, actor, requestId, change }: FeedChange): string {
  const at = formatTimestamp(atMs);
  const who = `"actor":${JSON.stringify(actor)},"request_id":${JSON.stringify(requestId)}`;
  return `{"seq":${seq},"index":${index},"at":"${at}",${who},"action":"${change.action}",${contentJson(change)}}`;
}

/** What a change takes besides its identifiers, names and rules. */
const FRAME_BYTES = 400;

/** At least the UTF-8 bytes of a change: each UTF-16 unit takes up to three, escaped or not. */
export function changeBytesMax({ change }: FeedChange): number {
  switch (change.action) {
    case 'namespace.created':
      return FRAME_BYTES;
    case 'rules.updated':
      return FRAME_BYTES + 3 * (change.rules.length + change.former.length);
    default:
      return FRAME_BYTES + 3 * (change.grant.subject.length + change.grant.object.length);
  }
}
