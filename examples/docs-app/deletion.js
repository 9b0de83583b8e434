// Deletes documents with their grants. Invariant: a document is marked as deleted, and thus hidden, before the first of
// its grants is revoked, and removed after the last. After any failure in between, the next run finishes the deletion.

import { deletedObjects, forget } from './store.js';

/**
 * Safe to repeat, and to run twice at once. Throws a GrantdError if grants remain for the next run.
 *
 * @param {import('@grantd/client').Grantd} grantd
 */
export async function finishDeletions(grantd) {
  for (const object of deletedObjects()) {
    await grantd.revokeGrants({ object });
    forget(object);
  }
}
