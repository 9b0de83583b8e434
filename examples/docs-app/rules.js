// The rules of the application. All permissions follow from these rules and from the grants that users create by
// sharing; no other file decides about access.

/**
 * An owner may edit, and an editor may view. Viewers and editors of a folder may view or edit the documents in it; only
 * the owner of a document may share or delete it. The owner of a team is a member of it.
 *
 * `groups`: a grant to `team:ID#member` applies to each member of the team. `public`: a grant to `user:*` applies to
 * every user, so no user may have the id `*`.
 *
 * @type {import('@grantd/client').RuleSetRequest}
 */
export const RULE_SET = {
  rules: [
    { namespace: 'document', name: 'editor', any_of: ['owner', 'editor from parent'] },
    { namespace: 'document', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'folder', name: 'editor', any_of: ['owner'] },
    { namespace: 'folder', name: 'viewer', any_of: ['editor'] },
    { namespace: 'team', name: 'member', any_of: ['owner'] },
  ],
  groups: true,
  public: ['user'],
};
