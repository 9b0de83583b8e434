// Deletes documents with their grants. Invariant: a document is marked as deleted before the first of its grants is
// revoked, and forgotten after the last: whatever fails in between is done again, and nobody sees the document any
// more.

import { deletedObjects, forget } from './store.js';

/**
 * Safe to repeat, and to run twice at once. Throws a GrantdError if something is left for the next time.
 *
 * @param {import('@grantd/client').Grantd} grantd
 */
export async function finishDeletions(grantd) {
  for (const object of deletedObjects()) {
    await grantd.revokeGrants({ object });
    forget(object);
  }
}
