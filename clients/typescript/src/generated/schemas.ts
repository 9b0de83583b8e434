// Made by `npm run generate -- types` from docs/reference/openapi.json.

/**
 * Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points without control characters or white space. Only states have another subject: `*`.
 */
export type SubjectIdentifier = string;
/**
 * One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or one that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
 */
export type Relation = string;
/**
 * One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), one that its rules declare, or a name that one of them defines.
 */
export type RelationName = string;
/**
 * On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points without control characters or white space.
 */
export type ObjectIdentifier = string;
/**
 * No scope implies another.
 */
export type Scope = 'check:read' | 'grant:write' | 'admin';
/**
 * A name on the same object, such as `editor`; or `NAME from RELATION`: the name on an entity that has the relation on the object, such as `viewer from parent`; or `all of NAME from RELATION`: the name on each such entity, of which there must be one; or an object that combines elements. Every name is a relation, built-in or own, or has a rule; `self` holds for the object itself.
 */
export type RuleElement = string | RuleGate;
/**
 * An atom, by its key, or formulas over others. Undecided parts are decided as in SQL.
 */
export type JoinFormula =
  | string
  | {
      /**
       * One of these holds. Empty: never.
       */
      any_of?: readonly JoinFormula[];
      /**
       * Each of these holds.
       */
      all_of?: readonly JoinFormula[];
      /**
       * Beside `all_of`: none of these holds.
       */
      none_of?: readonly JoinFormula[];
    };

/**
 * A relationship, granted or following from the rules. Unknown fields are refused.
 */
export interface Question {
  subject: SubjectIdentifier;
  relation: RelationName;
  object: ObjectIdentifier;
}
/**
 * A condition on the state before the call.
 */
export interface Condition {
  subject: SubjectIdentifier;
  relation: Relation;
  object: ObjectIdentifier;
  /**
   * Whether the grant must exist before the call.
   */
  exists: boolean;
}
/**
 * The grant holds only where this condition is met. Absent: it has none.
 */
export interface GrantCondition {
  /**
   * The name of a condition that the rules of the tenant declare.
   */
  name: string;
  /**
   * Values for parameters of the condition, at most 512 bytes as compact JSON. They take precedence over those that a call sends. For an int or uint, numbers beyond 2^53 are written as strings of digits.
   */
  context: {
    [k: string]: unknown;
  };
}
/**
 * A condition under which a grant holds.
 */
export interface GrantConditionRequest {
  /**
   * The name of a condition that the rules of the tenant declare.
   */
  name: string;
  /**
   * Values for parameters of the condition, at most 512 bytes as compact JSON. They take precedence over those that a call sends. For an int or uint, numbers beyond 2^53 are written as strings of digits.
   */
  context?: {
    [k: string]: unknown;
  };
}
/**
 * A grant that counts for one call.
 */
export interface ContextGrant {
  subject: SubjectIdentifier;
  relation: Relation;
  object: ObjectIdentifier;
  condition?: GrantConditionRequest | null;
}
/**
 * A grant of a bulk write.
 */
export interface WrittenGrant {
  /**
   * Opaque. A grant created again after its revocation has a new id.
   */
  grant_id: string;
  subject: SubjectIdentifier;
  relation: Relation;
  object: ObjectIdentifier;
  /**
   * When the grant was created. ISO 8601 in UTC with milliseconds.
   */
  created_at: string;
  expires_at: string | null;
  condition?: GrantCondition;
  /**
   * False: the grant existed already; at most its expiry or its condition was changed.
   */
  created: boolean;
}
/**
 * If asked for, and only if not authorized: the fewest grants found that decide it. Without those in `excluded_by`, with the conditions in `unmet` met, and with those in `missing`, the subject would hold the relation; each of them is needed.
 */
export interface DenialReason {
  /**
   * One sentence, for people.
   */
  text: string;
  /**
   * Grants that exclude the subject.
   */
  excluded_by: readonly ReasonGrant[];
  /**
   * Grants whose condition is not met.
   */
  unmet: readonly ReasonGrant[];
  /**
   * Grants that do not exist.
   */
  missing: readonly Tuple[];
  /**
   * True: these are not all, or none could be found.
   */
  cut?: boolean;
}
/**
 * A grant of a reason.
 */
export interface ReasonGrant {
  subject: SubjectIdentifier;
  relation: Relation;
  object: ObjectIdentifier;
  /**
   * Opaque. A grant created again after its revocation has a new id.
   */
  grant_id?: string;
  /**
   * When the grant was created. ISO 8601 in UTC with milliseconds.
   */
  created_at?: string;
  expires_at?: string | null;
  condition?: GrantCondition;
  /**
   * The values that its condition saw.
   */
  condition_saw?: {
    [k: string]: unknown;
  };
  /**
   * True: the call sent it.
   */
  context_grant?: boolean;
  /**
   * Of `excluded_by`: what the grant takes away from the subject.
   */
  excludes?: {
    /**
     * A name that a rule defines.
     */
    name: string;
    object: ObjectIdentifier;
  };
}
/**
 * A relationship. Unknown fields are refused.
 */
export interface Tuple {
  subject: SubjectIdentifier;
  relation: Relation;
  object: ObjectIdentifier;
}
/**
 * A revocation of a bulk write.
 */
export interface Revocation {
  /**
   * False: there was no such grant.
   */
  revoked: boolean;
}
export interface Key {
  /**
   * Names the key; not secret.
   */
  key_id: string;
  /**
   * For people; may be empty.
   */
  name: string;
  scopes: readonly Scope[];
  /**
   * When the key was created. ISO 8601 in UTC with milliseconds.
   */
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}
/**
 * What grants may depend on.
 */
export interface ConditionDeclaration {
  /**
   * By which grants name the condition.
   */
  name: string;
  /**
   * The type of each parameter, by its name; at most 50.
   */
  parameters: {
    [k: string]: string;
  };
  /**
   * In CEL, over the parameters; a bool. At most 2048 bytes in UTF-8.
   */
  expression: string;
}
/**
 * To which subjects the relation may be granted on objects of the namespace.
 */
export interface TypeRestriction {
  /**
   * The part of subjects and objects before the first colon.
   */
  namespace: string;
  relation: string;
  /**
   * Each `NAMESPACE`, `NAMESPACE:*` or, for groups, `NAMESPACE#NAME`; with ` with CONDITION` behind it, grants to them carry the condition, without, they carry none.
   */
  subjects: readonly string[];
}
/**
 * Either `any_of` or `all_of`, and perhaps `but_not`. At most 5 lie inside of each other.
 */
export interface RuleGate {
  /**
   * At least one of these holds.
   */
  any_of?: readonly RuleElement[];
  /**
   * Each of these holds.
   */
  all_of?: readonly RuleElement[];
  /**
   * None of these holds.
   */
  but_not?: readonly RuleElement[];
}
/**
 * On objects of the namespace, a subject with one of `any_of` has `name`. One rule per name.
 */
export interface Rule {
  /**
   * The part of subjects and objects before the first colon.
   */
  namespace: string;
  /**
   * A relation, built-in or own, whose own grants always count, or a name that is never granted.
   */
  name: string;
  any_of: readonly RuleElement[];
}
export interface RulesPreview {
  /**
   * The rules as they would stand.
   */
  rule_set: {
    /**
     * Relations of the tenant, which are granted like the built-in ones. Default: none.
     */
    relations?: readonly string[];
    /**
     * States of objects. A state is granted with the subject `*`, and holds for every subject of every namespace. No rule has its name, and it stands in no `types` and not behind `from`. Default: none.
     */
    states?: readonly string[];
    /**
     * Conditions that grants may carry. Default: none.
     */
    conditions?: readonly ConditionDeclaration[];
    /**
     * A relation of a namespace that is not named here may be granted to any subject. Default: none.
     */
    types?: readonly TypeRestriction[];
    rules: readonly Rule[];
    groups: boolean;
    /**
     * Items: The part of subjects and objects before the first colon.
     */
    public: readonly string[];
  };
  /**
   * The revision that they would have.
   */
  revision: string;
  /**
   * The revision of the present rules.
   */
  current_revision: string;
  /**
   * Whether the two revisions differ.
   */
  changed: boolean;
  /**
   * Subjects `ns:id#name` with a grant, whose grants become, or cease to be, ones to a group. 0 if `groups` stays as it is.
   */
  group_subjects: number;
  /**
   * Grants to `ns:*` that become, or cease to be, public: those of the namespaces that `public` gains or loses.
   */
  public_grants: number;
  /**
   * Grants that the rules could never follow: to a group without `groups`, or of a name that nobody can hold; to `ns:*` where `ns` is not public; to a group or `ns:*` where rules only follow the relation to entities, as `parent` in `viewer from parent`.
   */
  grants_not_followed: number;
  /**
   * Grants that the types of the rules do not allow: they stay, and count, but can only be revoked.
   */
  grants_outside_types: number;
  /**
   * Relations on which rules rely (as an element, or after `from`), but of which no object of the namespace has a grant.
   */
  ungranted: readonly NamespaceRelation[];
  /**
   * Names that the present rules define, and these do not: a check of one would be refused. Those that were asked about most recently come first.
   *
   * Items: A name that checks can no longer ask about.
   */
  vanishing: {
    /**
     * The name.
     */
    name: string;
    asked_at: string | null;
  }[];
  /**
   * Who would lose and gain names of the present rules, each subject compared at one moment.
   */
  access: {
    /**
     * What is lost.
     */
    lost: {
      /**
       * Subjects that lose, or gain, a name.
       */
      subjects: number;
      /**
       * Objects on which they do.
       */
      objects: number;
      /**
       * Who loses, or gains, which names on which objects.
       */
      rows: readonly AccessRow[];
      /**
       * Rows that are left out.
       */
      rows_left: number;
      /**
       * Whether there is a row for each name, which its subjects lose, or gain, on some of its objects.
       */
      by_name: boolean;
    };
    /**
     * What is gained.
     */
    gained: {
      /**
       * Subjects that lose, or gain, a name.
       */
      subjects: number;
      /**
       * Objects on which they do.
       */
      objects: number;
      /**
       * Who loses, or gains, which names on which objects.
       */
      rows: readonly AccessRow[];
      /**
       * Rows that are left out.
       */
      rows_left: number;
      /**
       * Whether there is a row for each name, which its subjects lose, or gain, on some of its objects.
       */
      by_name: boolean;
    };
    /**
     * Why it is not known who else loses or gains access: `everyone` (each subject of a public namespace may), `undecided` (conditions need a context), `bounds` (more than one call compares) or `failed` (the grants changed meanwhile). Empty: these are all.
     */
    unknown_because: readonly string[];
  };
  /**
   * Whether all grants that matter to the counts were examined. If not, the counts are lower bounds, and a relation in `ungranted` may have grants.
   */
  complete: boolean;
  /**
   * How many grants were examined; one that is examined for two of the counts counts twice.
   */
  scanned_grants: number;
  /**
   * How many are examined at most; fewer if the store is slow.
   */
  scanned_grants_max: number;
}
/**
 * A relation on objects of a namespace.
 */
export interface NamespaceRelation {
  /**
   * The part of subjects and objects before the first colon.
   */
  namespace: string;
  relation: Relation;
}
/**
 * The same names on the same objects.
 */
export interface AccessRow {
  /**
   * The first subjects.
   */
  subjects: readonly string[];
  /**
   * How many subjects there are.
   */
  subject_count: number;
  /**
   * Names that they lose, or gain.
   */
  names: readonly string[];
  /**
   * The first objects.
   */
  objects: readonly string[];
  /**
   * How many objects there are.
   */
  object_count: number;
}
/**
 * A version of the rules: who changed them, and when.
 */
export interface RulesVersion {
  /**
   * Its number: 1 for the first change of the rules, without gaps.
   */
  version: number;
  /**
   * The revision of its rules. Versions with the same rules have the same one.
   */
  revision: string;
  /**
   * When it was decided. ISO 8601 in UTC with milliseconds.
   */
  at: string;
  /**
   * The id of a key, or `operator:` and a name.
   */
  actor: string;
  /**
   * The request that wrote it.
   */
  request_id: string;
  /**
   * How many rules, conditions, types and settings are new, or differ from the version before.
   */
  added: number;
  /**
   * How many of those of the version before are gone, or differ.
   */
  removed: number;
}
/**
 * A change of the grants, namespaces or rules of the tenant. Actions on grants have `grant`: as it is after the change, or was before its end. `grant.updated` has `former_terms`: until when the grant was to hold before, and on which condition. `namespace.created` has `namespace`. `rules.updated` has `rules`, and `former`: the previous ones; both only for a key with the scope `admin`, which alone reads rules.
 */
export interface Change {
  /**
   * The position of the write in the log of the tenant’s slot.
   */
  seq: number;
  /**
   * The number of the change at its position: (`seq`, `index`) identifies a change and orders them.
   */
  index: number;
  /**
   * When it was decided. ISO 8601 in UTC with milliseconds.
   */
  at: string;
  /**
   * The id of a key, `operator:` and a name, or `system`.
   */
  actor: string;
  /**
   * The request that caused it.
   */
  request_id: string;
  /**
   * Later versions may add actions.
   */
  action: 'grant.created' | 'grant.updated' | 'grant.revoked' | 'grant.expired' | 'namespace.created' | 'rules.updated';
  grant?: Grant;
  /**
   * Only for `namespace.created`.
   */
  namespace?: {
    /**
     * The part of subjects and objects before the first colon.
     */
    name: string;
  };
  rules?: RuleSet;
  former?: RuleSet;
  /**
   * Only for `grant.updated`: the terms that the grant had before. Absent from changes that version 0.2 recorded, which did not keep them.
   */
  former_terms?: {
    expires_at: string | null;
    condition?: GrantCondition;
  };
}
/**
 * A stored relationship, unique per (subject, relation, object).
 */
export interface Grant {
  /**
   * Opaque. A grant created again after its revocation has a new id.
   */
  grant_id: string;
  subject: SubjectIdentifier;
  relation: Relation;
  object: ObjectIdentifier;
  /**
   * When the grant was created. ISO 8601 in UTC with milliseconds.
   */
  created_at: string;
  expires_at: string | null;
  condition?: GrantCondition;
}
export interface RuleSet {
  /**
   * Relations of the tenant, which are granted like the built-in ones. Default: none.
   */
  relations?: readonly string[];
  /**
   * States of objects. A state is granted with the subject `*`, and holds for every subject of every namespace. No rule has its name, and it stands in no `types` and not behind `from`. Default: none.
   */
  states?: readonly string[];
  /**
   * Conditions that grants may carry. Default: none.
   */
  conditions?: readonly ConditionDeclaration[];
  /**
   * A relation of a namespace that is not named here may be granted to any subject. Default: none.
   */
  types?: readonly TypeRestriction[];
  rules: readonly Rule[];
  groups: boolean;
  /**
   * Items: The part of subjects and objects before the first colon.
   */
  public: readonly string[];
}
/**
 * The object has such a grant, and one of the names holds on its subject, a single entity.
 */
export interface JoinedFrom {
  /**
   * Mirrored.
   */
  relation: string;
  /**
   * One of these holds on the entity.
   */
  names: readonly string[];
}
/**
 * Any of these suffices.
 */
export interface JoinedNode {
  /**
   * Mirrored: a grant of one of them on the object to one of the subjects.
   */
  relations: readonly string[];
  /**
   * The object is the own one of the subject, and the subject has it by one of these.
   */
  own: readonly string[];
  /**
   * This name on the object is among what is held.
   */
  held?: string;
  /**
   * Grants that lead to containers.
   */
  from: readonly JoinedFrom[];
  /**
   * Of the one member of `from`: the object has such a grant, and for each of them one of the names holds.
   */
  every?: true;
}
/**
 * A subject or a resource: the identifier `type:id`. Unknown fields are ignored.
 */
export interface AccessEntity {
  /**
   * A namespace.
   */
  type: string;
  /**
   * Unique within its type: 1 to 256 Unicode code points without control characters or white space.
   */
  id: string;
  properties?: {
    [k: string]: unknown;
  } | null;
}
/**
 * What the subject would do. Unknown fields are ignored.
 */
export interface AccessAction {
  /**
   * A built-in relation, or a name that a rule of the tenant defines. Any other one is denied.
   */
  name: string;
  properties?: {
    [k: string]: unknown;
  } | null;
}
/**
 * A subject or resource for elements without one. Without elements: that of the evaluation.
 */
export interface DefaultEntity {
  /**
   * The namespace of the identifier `type:id`.
   */
  type?: string;
  /**
   * Unique within its type.
   */
  id?: string;
  properties?: {
    [k: string]: unknown;
  } | null;
}
/**
 * A subject or resource that was found.
 */
export interface FoundEntity {
  /**
   * The namespace of the identifier `type:id`.
   */
  type: string;
  /**
   * Unique within its type.
   */
  id: string;
  /**
   * Only of the id `*`: whom a gate of the rules takes out of all subjects of the type.
   */
  properties?: {
    /**
     * Ids of subjects in the place of this page that are not permitted.
     *
     * Items: Unique within its type.
     */
    excluded: readonly string[];
  };
}
/**
 * Which page. Requests for further pages repeat the first one with a token; the limit may be left out.
 */
export interface SearchPage {
  token?: string | null;
  limit?: number | null;
  properties?: {
    [k: string]: unknown;
  } | null;
}
/**
 * A subject or resource that is given.
 */
export interface GivenEntity {
  /**
   * A namespace. For any other text there are no results.
   */
  type: string;
  /**
   * An external id. For any other text there are no results.
   */
  id: string;
  properties?: {
    [k: string]: unknown;
  } | null;
}
/**
 * What is searched for. An `id` is ignored.
 */
export interface WantedType {
  /**
   * The namespace of the identifier `type:id`.
   */
  type: string;
  properties?: {
    [k: string]: unknown;
  } | null;
}
/**
 * A relationship, until when it holds, and on which condition. Unknown fields are refused.
 */
export interface GrantRequest {
  subject: SubjectIdentifier;
  relation: Relation;
  object: ObjectIdentifier;
  /**
   * The grant holds until just before this moment, which must lie in the future and within 100 years. Absent: a new grant never expires, and an existing one keeps what it has. `null`: it never expires.
   */
  expires_at?: string | null;
  /**
   * The grant holds only where this condition is met. Absent: a new grant has none, and an existing one keeps what it has. `null`: it has none.
   */
  condition?: GrantConditionRequest | null;
}
export interface BulkWrite {
  /**
   * To create. Of what exists already, only the expiry and the condition may change.
   */
  grants?: readonly GrantRequest[];
  /**
   * To revoke. At most 100 together with `grants`, and at least one of the two.
   */
  revocations?: readonly Tuple[];
  /**
   * Nothing is changed unless all of them are met.
   */
  if?: readonly Condition[];
}
export interface BulkWriteResult {
  /**
   * One per grant, in the order of the request.
   */
  grants: readonly WrittenGrant[];
  /**
   * One per revocation, in the order of the request.
   */
  revocations: readonly Revocation[];
}
export interface GrantFilter {
  subject?: SubjectIdentifier;
  object?: ObjectIdentifier;
  relation?: Relation;
}
export interface SetsRequest {
  subject: SubjectIdentifier;
  join: {
    /**
     * That of the objects that are listed.
     */
    namespace: string;
    name: RelationName;
    /**
     * As in the request for the join.
     *
     * Items: The part of subjects and objects before the first colon.
     */
    deep?: readonly string[];
  };
  /**
   * Values for parameters of conditions, at most 32 KiB as compact JSON. What a grant stores takes precedence; what no condition asks for is ignored. For an int or uint, numbers beyond 2^53 are written as strings of digits.
   */
  context?: {
    [k: string]: unknown;
  };
  /**
   * Grants that count for this call as if they were stored. They are not, and no other call sees them.
   */
  context_grants?: readonly ContextGrant[];
  /**
   * True: sets whose conditions lack a parameter are in `perhaps`. Otherwise such a set refuses the call as `context-incomplete`.
   */
  perhaps?: boolean;
}
export interface SubjectSets {
  /**
   * The subject, `ns:*` and `*` where their grants are also its own, and the groups in which it is.
   *
   * Items: A subject as grants name it, or `object#name`.
   */
  subjects: readonly string[];
  /**
   * `container#name`: what it holds on containers, of what the join asks.
   *
   * Items: A subject as grants name it, or `object#name`.
   */
  held: readonly string[];
  /**
   * Sets of which a parameter is missing. In no other list.
   *
   * Items: A subject as grants name it, or `object#name`.
   */
  perhaps: readonly string[];
  /**
   * The `object#name` that the subject is itself. Empty: none.
   */
  own: string;
  /**
   * The tenant. A mirror of its grants is joined with no other.
   */
  tenant_id: string;
  /**
   * That of the rules. The join must have the same.
   */
  revision: string;
  /**
   * The moment of which the answer is.
   */
  at: {
    /**
     * A place in the log: the answer has every change up to it, and no other.
     */
    seq: number;
    /**
     * Grants that expire by then have expired. ISO 8601 in UTC with milliseconds.
     */
    time: string;
  };
  /**
   * A place in the log up to `at.seq`, after which nothing has changed that the join mirrors: a mirror that has it is complete for this answer.
   */
  through: number;
}
export interface Join {
  /**
   * The tenant. A mirror of its grants is joined with no other.
   */
  tenant_id: string;
  revision: string;
  /**
   * The part of subjects and objects before the first colon.
   */
  namespace: string;
  name: string;
  /**
   * Whether a subject `ns:id#name` is a group, and no container.
   */
  groups: boolean;
  /**
   * Of these, `ns:*` is every subject, and no container.
   *
   * Items: The part of subjects and objects before the first colon.
   */
  public: readonly string[];
  /**
   * The grants to mirror: of these relations on objects of the namespace.
   */
  mirror: {
    /**
     * The part of subjects and objects before the first colon.
     */
    namespace: string;
    /**
     * In order.
     */
    relations: readonly string[];
  }[];
  /**
   * What suffices on an object without a gate.
   */
  atoms: {
    [k: string]: JoinedNode;
  };
  formula: JoinFormula;
  /**
   * Names on containers: what suffices for each. Those that are not here are held, or not.
   */
  nesting: {
    /**
     * The part of subjects and objects before the first colon.
     */
    namespace: string;
    name: string;
    /**
     * Mirrored: a grant of one of them on the object to one of the subjects.
     */
    relations: readonly string[];
    /**
     * The object is the own one of the subject, and the subject has it by one of these.
     */
    own: readonly string[];
    /**
     * This name on the object is among what is held.
     */
    held?: string;
    /**
     * Grants that lead to containers.
     */
    from: readonly JoinedFrom[];
    /**
     * Of the one member of `from`: the object has such a grant, and for each of them one of the names holds.
     */
    every?: true;
  }[];
  /**
   * The names on containers that the sets of a subject have, if it holds them.
   */
  ask: readonly string[];
  /**
   * Levels of containers: what is only found beyond is undecided.
   */
  depth_max: number;
}
export interface Namespace {
  /**
   * The part of subjects and objects before the first colon.
   */
  name: string;
  /**
   * When it was created, explicitly or by the first grant that names it. ISO 8601 in UTC with milliseconds.
   */
  created_at: string;
}
export interface KeyRequest {
  /**
   * For people; may be empty.
   */
  name?: string;
  scopes: readonly Scope[];
  /**
   * The key is refused from this moment on; must be in the future. Absent or `null`: never.
   */
  expires_at?: string | null;
}
export interface CreatedKey {
  /**
   * Names the key; not secret.
   */
  key_id: string;
  /**
   * For people; may be empty.
   */
  name: string;
  scopes: readonly Scope[];
  /**
   * When the key was created. ISO 8601 in UTC with milliseconds.
   */
  created_at: string;
  expires_at: string | null;
  /**
   * The API key itself. Shown here once and never again.
   */
  key: string;
}
/**
 * Unknown fields are refused.
 */
export interface RuleSetRequest {
  /**
   * Relations of the tenant, which are granted like the built-in ones. Default: none.
   */
  relations?: readonly string[];
  /**
   * States of objects. A state is granted with the subject `*`, and holds for every subject of every namespace. No rule has its name, and it stands in no `types` and not behind `from`. Default: none.
   */
  states?: readonly string[];
  /**
   * Conditions that grants may carry. Default: none.
   */
  conditions?: readonly ConditionDeclaration[];
  /**
   * A relation of a namespace that is not named here may be granted to any subject. Default: none.
   */
  types?: readonly TypeRestriction[];
  rules: readonly Rule[];
  /**
   * Whether a grant to `ns:id#name` is one to all who have `name` on `ns:id`. Default: false.
   */
  groups?: boolean;
  /**
   * A grant to `ns:*` is one to every subject of these namespaces. Default: none.
   *
   * Items: The part of subjects and objects before the first colon.
   */
  public?: readonly string[];
  /**
   * Only for this write, not part of the rules: stored grants that stricter `types` exclude stay, and count. Absent: the write is refused if there are such grants.
   */
  outside_types?: 'keep';
}
/**
 * May the subject perform the action on the resource? Unknown fields are ignored.
 */
export interface EvaluationRequest {
  subject: AccessEntity;
  action: AccessAction;
  resource: AccessEntity;
  context?: {
    [k: string]: unknown;
  } | null;
}
/**
 * A decision.
 */
export interface Decision {
  /**
   * Whether the access is permitted.
   */
  decision: boolean;
  /**
   * Only of a denial that rests on no grants.
   */
  context?: {
    /**
     * Why the action is denied whatever the grants are.
     */
    reason?: string;
    /**
     * What is wrong with this element.
     */
    error?: {
      status: number;
      message: string;
    };
  };
}
/**
 * Several evaluations, or a single one. Unknown fields are ignored.
 */
export interface EvaluationsRequest {
  subject?: DefaultEntity | null;
  action?: {
    name?: string;
    properties?: {
      [k: string]: unknown;
    } | null;
  } | null;
  resource?: DefaultEntity | null;
  context?: {
    [k: string]: unknown;
  } | null;
  evaluations?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  options?: {
    evaluations_semantic?: ('execute_all' | 'deny_on_first_deny' | 'permit_on_first_permit') | null;
  } | null;
}
/**
 * Which subjects of a type may perform the action on the resource?
 */
export interface SubjectSearch {
  subject: WantedType;
  action: AccessAction;
  resource: GivenEntity;
  context?: {
    [k: string]: unknown;
  } | null;
  page?: SearchPage | null;
}
/**
 * On which resources of a type may the subject perform the action?
 */
export interface ResourceSearch {
  subject: GivenEntity;
  action: AccessAction;
  resource: WantedType;
  context?: {
    [k: string]: unknown;
  } | null;
  page?: SearchPage | null;
}
/**
 * Which actions may the subject perform on the resource? An `action` is ignored.
 */
export interface ActionSearch {
  subject: GivenEntity;
  resource: GivenEntity;
  context?: {
    [k: string]: unknown;
  } | null;
  page?: SearchPage | null;
}
export interface OpenapiDocument {
  openapi: string;
  info: {
    version: string;
    [k: string]: unknown;
  };
}
