// Rules to start from, for a tenant that has none.

interface RulesExample {
  /** In the address. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly text: string;
}

export const RULES_EXAMPLES: readonly RulesExample[] = [
  {
    name: 'documents',
    title: 'A document app',
    about: 'Owners edit, editors view; access to a folder covers its content; teams, and public links.',
    text: `# People and teams hold roles on folders and documents.
namespace team
  member: user, team#member

namespace folder
  parent: folder
  owner: user, team#member
  editor: user, team#member
  viewer: user, user:*, team#member
  editor = owner or editor from parent
  viewer = editor or viewer from parent

# What a folder gives, it gives on what is in it.
namespace document
  parent: folder
  owner: user, team#member
  editor: user, team#member
  commenter: user, team#member
  viewer: user, user:*, team#member
  editor = owner or editor from parent
  commenter = editor
  viewer = commenter or viewer from parent
  can_share = owner
`,
  },
  {
    name: 'saas',
    title: 'A SaaS with organizations',
    about: 'Roles in an organization, and what they may do in its projects.',
    text: `namespace organization
  owner: user
  admin: user
  member: user
  admin = owner
  member = admin
  can_invite = admin
  can_see_invoices = owner

# The parent of a project is its organization.
namespace project
  parent: organization
  editor: user
  guest: user
  viewer: user
  editor = admin from parent
  viewer = editor or guest or member from parent
  can_deploy = editor
`,
  },
  {
    name: 'rbac',
    title: 'Roles, as in Kubernetes',
    about: 'Admin, editor and viewer of a cluster, of its projects, and of the resources in them; groups of users.',
    text: `namespace group
  member: user

namespace cluster
  admin: user, group#member
  editor: user, group#member
  viewer: user, group#member
  editor = admin
  viewer = editor

# A role in a cluster is one in each of its projects.
namespace project
  parent: cluster
  admin: user, group#member
  editor: user, group#member
  viewer: user, group#member
  admin = admin from parent
  editor = admin or editor from parent
  viewer = editor or viewer from parent

namespace resource
  parent: project
  admin: user, group#member
  editor: user, group#member
  viewer: user, group#member
  can_get = can_update or viewer or viewer from parent
  can_update = editor or editor from parent
  can_delete = admin or admin from parent
`,
  },
];
