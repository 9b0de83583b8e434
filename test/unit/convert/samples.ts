// Models of the kinds that people start from, in both languages: a drive, a code host, a chat, tenants with roles,
// entitlements, and what does not fit.

export const DRIVE_FGA = `model
  schema 1.1

# People.
type user

type group
  relations
    define member: [user, group#member]

type folder
  relations
    define parent: [folder]
    define owner: [user]
    define viewer: [user, user:*, group#member] or owner or viewer from parent
    define can_create_file: owner

type doc
  relations
    define parent: [folder]
    define owner: [user]
    define viewer: [user, user:*, group#member] # links
    define can_read: viewer or owner or viewer from parent
    define can_write: owner or owner from parent
`;

export const CODE_HOST_FGA = `model
  schema 1.1
type user
type team
  relations
    define member: [user, team#member]
type organization
  relations
    define owner: [user]
    define member: [user] or owner
    define repo_admin: [user, organization#member]
    define repo_reader: [user, organization#member]
type repo
  relations
    define organization: [organization]
    define admin: [user, team#member] or repo_admin from organization
    define maintainer: [user, team#member] or admin
    define writer: [user, team#member] or maintainer
    define triager: [user, team#member] or writer
    define reader: [user, team#member] or triager or repo_reader from organization
`;

export const CHAT_FGA = `module chat

type user
type workspace
  relations
    define legacy_admin: [user]
    define channels_admin: [user] or legacy_admin
    define guest: [user]
    define member: [user] or channels_admin
extend type channel
  relations
    define writer: [workspace#member, user]
    define viewer: [workspace#member, user] or writer
`;

export const CHANNEL_FGA = `module channels
type channel
  relations
    define parent_workspace: [workspace]
    define can_manage: channels_admin from parent_workspace
`;

export const ENTITLEMENTS_FGA = `model
  schema 1.1
type user
type plan
  relations
    define subscriber: [organization]
    define subscriber_member: member from subscriber
type organization
  relations
    define member: [user, user with recent]
type feature
  relations
    define associated_plan: [plan]
    define blocked: [user]
    define access: [user] or subscriber_member from associated_plan
    define allowed: access but not blocked
    define trusted: access and allowed
    define shown: trusted or access
condition recent(at: timestamp, now: timestamp) {
  now < at + duration("24h") // a day
}
`;

export const DRIVE_ZED = `/** People. */
definition user {}

definition group {
  relation member: user | group#member
}

definition folder {
  relation parent: folder
  relation owner: user
  relation reader: user | user:* | group#member
  permission view = reader + owner + parent->view
}

definition document {
  relation parent: folder#...
  relation owner: user;
  relation reader: user | group#member
  relation writer: user with expiration
  // Writers are also in folders.
  permission edit = owner + (writer + (parent.any(edit_all)))
  permission edit_all = nil
  permission view = reader + edit + parent->view
}
`;

export const LIMITED_ZED = `use expiration
use self

caveat in_office(ip ipaddress) {
  ip.in_cidr("10.0.0.0/8") && "}" != "{" // an address }
}

definition user {
  permission profile = self
}

definition team {
  relation member: user
}

definition document {
  relation team: team
  relation owner: user
  relation visitor: user with in_office | user
  relation banned: user
  permission view = owner + visitor - banned
  permission both = owner & banned
  permission each = team.all(member)
  permission rest = each - banned & owner
  permission list = owner + view + each
}
`;
