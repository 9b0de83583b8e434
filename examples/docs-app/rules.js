// What follows from what. All permissions of the application are in these rules and in the grants that people create by
// sharing; no other file decides who may do what.

/**
 * An owner may edit, and an editor may view. Who may view or edit a folder may do so with the documents in it; only the
 * owner of a document may share or delete it. Whoever owns a team belongs to it.
 *
 * `groups`: a grant to `team:ID#member` is one to each member of the team. `public`: one to `user:*` is one to
 * everybody, so no person may have the id `*`.
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
