// Code generated from docs/reference/openapi.json by "npm run generate -- types". DO NOT EDIT.

package grantd

import "time"

// The types of errors that this version of the service knows. Later versions may add some.
const (
	TypeInvalidSubject        = "invalid-subject"
	TypeInvalidRelation       = "invalid-relation"
	TypeInvalidObject         = "invalid-object"
	TypeInvalidRequest        = "invalid-request"
	TypeInvalidCondition      = "invalid-condition"
	TypeTypeNotAllowed        = "type-not-allowed"
	TypeInvalidCursor         = "invalid-cursor"
	TypeBulkTooLarge          = "bulk-too-large"
	TypeUnauthorized          = "unauthorized"
	TypeInsufficientScope     = "insufficient-scope"
	TypeTenantSuspended       = "tenant-suspended"
	TypeNamespaceLimitReached = "namespace-limit-reached"
	TypeKeyLimitReached       = "key-limit-reached"
	TypeGrantLimitReached     = "grant-limit-reached"
	TypeGrantNotFound         = "grant-not-found"
	TypeKeyNotFound           = "key-not-found"
	TypeRulesVersionNotFound  = "rules-version-not-found"
	TypeTenantNotFound        = "tenant-not-found"
	TypeNotFound              = "not-found"
	TypeMethodNotAllowed      = "method-not-allowed"
	TypeAlreadyCreated        = "already-created"
	TypeKeyNotRotatable       = "key-not-rotatable"
	TypeRelationInUse         = "relation-in-use"
	TypeConditionInUse        = "condition-in-use"
	TypeGrantsOutsideTypes    = "grants-outside-types"
	TypeRequestTimeout        = "request-timeout"
	TypeEvaluationTooLarge    = "evaluation-too-large"
	TypeEvaluationCyclic      = "evaluation-cyclic"
	TypeContextIncomplete     = "context-incomplete"
	TypeConditionFailed       = "condition-failed"
	TypeTooManySets           = "too-many-sets"
	TypeIdempotencyKeyReused  = "idempotency-key-reused"
	TypeCursorTooOld          = "cursor-too-old"
	TypePreconditionFailed    = "precondition-failed"
	TypePayloadTooLarge       = "payload-too-large"
	TypeUnsupportedMediaType  = "unsupported-media-type"
	TypeRateLimited           = "rate-limited"
	TypeTooManyStreams        = "too-many-streams"
	TypeNotAcceptable         = "not-acceptable"
	TypeHeaderFieldsTooLarge  = "header-fields-too-large"
	TypeInternal              = "internal"
	TypeUnavailable           = "unavailable"
	TypeOverloaded            = "overloaded"
)

// AccessAction: What the subject would do. Unknown fields are ignored.
type AccessAction struct {
	// A built-in relation, or a name that a rule of the tenant defines. Any other one is denied.
	Name string `json:"name"`

	// Ignored.
	Properties map[string]any `json:"properties,omitempty"`
}

// AccessChanges: Who would lose and gain names of the present rules, each subject compared at one moment.
type AccessChanges struct {
	// What is lost.
	Lost AccessSide `json:"lost"`

	// What is gained.
	Gained AccessSide `json:"gained"`

	// Why it is not known who else loses or gains access: `everyone` (each subject of a public namespace may),
	// `undecided` (conditions need a context), `bounds` (more than one call compares) or `failed` (the grants changed
	// meanwhile). Empty: these are all.
	UnknownBecause []string `json:"unknown_because"`
}

// AccessEntity: A subject or a resource: the identifier `type:id`. Unknown fields are ignored.
type AccessEntity struct {
	// A namespace.
	Type string `json:"type"`

	// Unique within its type: 1 to 256 Unicode code points without control characters or white space.
	ID string `json:"id"`

	// Ignored.
	Properties map[string]any `json:"properties,omitempty"`
}

// AccessRow: The same names on the same objects.
type AccessRow struct {
	// The first subjects.
	Subjects []string `json:"subjects"`

	// How many subjects there are.
	SubjectCount int64 `json:"subject_count"`

	// Names that they lose, or gain.
	Names []string `json:"names"`

	// The first objects.
	Objects []string `json:"objects"`

	// How many objects there are.
	ObjectCount int64 `json:"object_count"`
}

// AccessSide: What is lost.
type AccessSide struct {
	// Subjects that lose, or gain, a name.
	Subjects int64 `json:"subjects"`

	// Objects on which they do.
	Objects int64 `json:"objects"`

	// Who loses, or gains, which names on which objects.
	Rows []AccessRow `json:"rows"`

	// Rows that are left out.
	RowsLeft int64 `json:"rows_left"`

	// Whether there is a row for each name, which its subjects lose, or gain, on some of its objects.
	ByName bool `json:"by_name"`
}

// ActionSearch: Which actions may the subject perform on the resource? An `action` is ignored.
type ActionSearch struct {
	// A subject or resource that is given.
	Subject GivenEntity `json:"subject,omitzero"`

	// A subject or resource that is given.
	Resource GivenEntity `json:"resource,omitzero"`

	// Values for parameters of conditions; those that no condition asks for are ignored.
	Context map[string]any `json:"context,omitempty"`

	Page *SearchPage `json:"page,omitempty"`
}

// ActionSearchResult: an answer of the service.
type ActionSearchResult struct {
	// Where the search goes on.
	Page PageInfo `json:"page"`

	// Ascending by the bytes of the name.
	Results []FoundAction `json:"results"`
}

// BulkCheckAnswer: an answer of the service.
type BulkCheckAnswer struct {
	// Whether the relationship holds.
	Authorized bool `json:"authorized"`
}

// BulkCheckResult: an answer of the service.
type BulkCheckResult struct {
	// One per check, in the order of the request.
	Results []BulkCheckAnswer `json:"results"`

	// The moment at which all of them were decided. ISO 8601 in UTC with milliseconds.
	CheckedAt time.Time `json:"checked_at"`
}

// BulkWriteResult: an answer of the service.
type BulkWriteResult struct {
	// One per grant, in the order of the request.
	Grants []WrittenGrant `json:"grants"`

	// One per revocation, in the order of the request.
	Revocations []Revocation `json:"revocations"`
}

// Change: A change of the grants, namespaces or rules of the tenant. Actions on grants have `grant`: as it is after
// the change, or was before its end. `grant.updated` has `former_terms`: until when the grant was to hold before,
// and on which condition. `namespace.created` has `namespace`. `rules.updated` has `rules`, and `former`: the
// previous ones; both only for a key with the scope `admin`, which alone reads rules.
type Change struct {
	// The position of the write in the log of the tenant’s slot.
	Seq int64 `json:"seq"`

	// The number of the change at its position: (`seq`, `index`) identifies a change and orders them.
	Index int64 `json:"index"`

	// When it was decided. ISO 8601 in UTC with milliseconds.
	At time.Time `json:"at"`

	// The id of a key, `operator:` and a name, or `system`.
	Actor string `json:"actor"`

	// The request that caused it.
	RequestID string `json:"request_id"`

	// Later versions may add actions.
	Action string `json:"action"`

	// A stored relationship, unique per (subject, relation, object).
	Grant *Grant `json:"grant,omitempty"`

	// Only for `namespace.created`.
	Namespace *ChangedNamespace `json:"namespace,omitempty"`

	Rules *RuleSet `json:"rules,omitempty"`

	Former *RuleSet `json:"former,omitempty"`

	// Only for `grant.updated`: the terms that the grant had before. Absent from changes that version 0.2 recorded,
	// which did not keep them.
	FormerTerms *FormerTerms `json:"former_terms,omitempty"`
}

// ChangeLine: One line of the stream. A `change` has `change`, a `checkpoint` has `at` and `seq`.
type ChangeLine struct {
	// Later versions may add types.
	Type string `json:"type"`

	// Where to continue: everything up to here that passes the filter has been sent.
	Cursor string `json:"cursor"`

	// A change of the grants, namespaces or rules of the tenant. Actions on grants have `grant`: as it is after the
	// change, or was before its end. `grant.updated` has `former_terms`: until when the grant was to hold before, and
	// on which condition. `namespace.created` has `namespace`. `rules.updated` has `rules`, and `former`: the previous
	// ones; both only for a key with the scope `admin`, which alone reads rules.
	Change *Change `json:"change,omitempty"`

	// Only for a `checkpoint`: when everything up to its cursor had been sent.
	At *time.Time `json:"at,omitempty"`

	// An entry of the log: every change of it and of all earlier ones that passes the filter has been sent, on this
	// page or before. No entry is half sent: if a page ends within one, this is the one before. At the end of the
	// feed, the last entry of the log.
	Seq *int64 `json:"seq,omitempty"`
}

// ChangeList: an answer of the service.
type ChangeList struct {
	// In the order in which they were decided.
	Changes []Change `json:"changes"`

	// The `cursor` of the next request. Always there: more may come.
	NextCursor string `json:"next_cursor"`

	// An entry of the log: every change of it and of all earlier ones that passes the filter has been sent, on this
	// page or before. No entry is half sent: if a page ends within one, this is the one before. At the end of the
	// feed, the last entry of the log.
	Seq int64 `json:"seq"`
}

// ChangedNamespace: Only for `namespace.created`.
type ChangedNamespace struct {
	// The part of subjects and objects before the first colon.
	Name string `json:"name"`
}

// CheckResult: an answer of the service.
type CheckResult struct {
	// Whether the relationship holds.
	Authorized bool `json:"authorized"`

	// When it was decided. ISO 8601 in UTC with milliseconds.
	CheckedAt time.Time `json:"checked_at"`

	// If asked for, and only if authorized: a shortest chain of grants, from the subject to the object, without those
	// of `context_grants`, which are in `proof`. Empty: it has no others, or a group is part of itself. Under rules
	// with gates, the grants of the proof.
	Because []Grant `json:"because,omitempty"`

	// If asked for, and only if not authorized: the fewest grants found that decide it. Without those in
	// `excluded_by`, with the conditions in `unmet` met, and with those in `missing`, the subject would hold the
	// relation; each of them is needed.
	Reason *DenialReason `json:"reason,omitempty"`

	// If asked for, under rules with gates: why, as a tree. Each node says whether `name` holds on `object`, and, if
	// it does, `because` of which grants, and which `gate` gave it; if not, what was `looked_for`, and the `gates`
	// that did not open. A gate has the proofs of `all_of` and of `but_not`, and that of an `all of N from R` the
	// grants of R, its `parents`. A node with `repeated` stands in full elsewhere. A proof takes at most 256 KiB: a
	// node or a gate with `cut` lacks what did not fit.
	Proof map[string]any `json:"proof,omitempty"`
}

// Condition: A condition on the state before the call.
type Condition struct {
	// Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space. Only states have another subject: `*`.
	Subject string `json:"subject"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or one
	// that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
	Relation string `json:"relation"`

	// On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space.
	Object string `json:"object"`

	// Whether the grant must exist before the call.
	Exists bool `json:"exists"`
}

// ConditionDeclaration: What grants may depend on.
type ConditionDeclaration struct {
	// By which grants name the condition.
	Name string `json:"name"`

	// The type of each parameter, by its name; at most 50.
	Parameters map[string]any `json:"parameters"`

	// In CEL, over the parameters; a bool. At most 2048 bytes in UTF-8.
	Expression string `json:"expression"`
}

// ContextGrant: A grant that counts for one call.
type ContextGrant struct {
	// Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space. Only states have another subject: `*`.
	Subject string `json:"subject"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or one
	// that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
	Relation string `json:"relation"`

	// On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space.
	Object string `json:"object"`

	Condition *GrantConditionRequest `json:"condition,omitempty"`
}

// CreatedKey: an answer of the service.
type CreatedKey struct {
	// Names the key; not secret.
	KeyID string `json:"key_id"`

	// For people; may be empty.
	Name string `json:"name"`

	Scopes []string `json:"scopes"`

	// When the key was created. ISO 8601 in UTC with milliseconds.
	CreatedAt time.Time `json:"created_at"`

	// The key is refused from this moment on; `null`: never. ISO 8601 in UTC with milliseconds.
	ExpiresAt *time.Time `json:"expires_at"`

	// The API key itself. Shown here once and never again.
	Key string `json:"key"`
}

// Decision: A decision.
type Decision struct {
	// Whether the access is permitted.
	Decision bool `json:"decision"`

	// Only of a denial that rests on no grants.
	Context *DenialContext `json:"context,omitempty"`
}

// DenialContext: Only of a denial that rests on no grants.
type DenialContext struct {
	// Why the action is denied whatever the grants are.
	Reason string `json:"reason,omitempty"`

	// What is wrong with this element.
	Error *DenialContextError `json:"error,omitempty"`
}

// DenialContextError: What is wrong with this element.
type DenialContextError struct {
	Status int64 `json:"status"`

	Message string `json:"message"`
}

// DenialReason: If asked for, and only if not authorized: the fewest grants found that decide it. Without those in
// `excluded_by`, with the conditions in `unmet` met, and with those in `missing`, the subject would hold the
// relation; each of them is needed.
type DenialReason struct {
	// One sentence, for people.
	Text string `json:"text"`

	// Grants that exclude the subject.
	ExcludedBy []ReasonGrant `json:"excluded_by"`

	// Grants whose condition is not met.
	Unmet []ReasonGrant `json:"unmet"`

	// Grants that do not exist.
	Missing []Tuple `json:"missing"`

	// True: these are not all, or none could be found.
	Cut bool `json:"cut,omitempty"`
}

// EntitySearchResult: an answer of the service.
type EntitySearchResult struct {
	// Where the search goes on.
	Page PageInfo `json:"page"`

	// Ascending by the bytes of the id.
	Results []FoundEntity `json:"results"`
}

// EvaluationRequest: May the subject perform the action on the resource? Unknown fields are ignored.
type EvaluationRequest struct {
	// A subject or a resource: the identifier `type:id`. Unknown fields are ignored.
	Subject AccessEntity `json:"subject,omitzero"`

	// What the subject would do. Unknown fields are ignored.
	Action AccessAction `json:"action,omitzero"`

	// A subject or a resource: the identifier `type:id`. Unknown fields are ignored.
	Resource AccessEntity `json:"resource,omitzero"`

	// Values for parameters of conditions; those that no condition asks for are ignored.
	Context map[string]any `json:"context,omitempty"`
}

// ExcludedName: Of `excluded_by`: what the grant takes away from the subject.
type ExcludedName struct {
	// A name that a rule defines.
	Name string `json:"name"`

	// On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space.
	Object string `json:"object"`
}

// FormerTerms: Only for `grant.updated`: the terms that the grant had before. Absent from changes that version 0.2
// recorded, which did not keep them.
type FormerTerms struct {
	// The grant holds until just before this moment; `null`: it never expires. ISO 8601 in UTC with milliseconds.
	ExpiresAt *time.Time `json:"expires_at"`

	// The grant holds only where this condition is met. Absent: it has none.
	Condition *GrantCondition `json:"condition,omitempty"`
}

// FoundAction: an answer of the service.
type FoundAction struct {
	Name string `json:"name"`
}

// FoundEntity: A subject or resource that was found.
type FoundEntity struct {
	// The namespace of the identifier `type:id`.
	Type string `json:"type"`

	// Unique within its type.
	ID string `json:"id"`

	// Only of the id `*`: whom a gate of the rules takes out of all subjects of the type.
	Properties *FoundEntityProperties `json:"properties,omitempty"`
}

// FoundEntityProperties: Only of the id `*`: whom a gate of the rules takes out of all subjects of the type.
type FoundEntityProperties struct {
	// Ids of subjects in the place of this page that are not permitted.
	Excluded []string `json:"excluded"`
}

// GivenEntity: A subject or resource that is given.
type GivenEntity struct {
	// A namespace. For any other text there are no results.
	Type string `json:"type"`

	// An external id. For any other text there are no results.
	ID string `json:"id"`

	// Ignored.
	Properties map[string]any `json:"properties,omitempty"`
}

// Grant: A stored relationship, unique per (subject, relation, object).
type Grant struct {
	// Opaque. A grant created again after its revocation has a new id.
	GrantID string `json:"grant_id"`

	// Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space. Only states have another subject: `*`.
	Subject string `json:"subject"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or one
	// that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
	Relation string `json:"relation"`

	// On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space.
	Object string `json:"object"`

	// When the grant was created. ISO 8601 in UTC with milliseconds.
	CreatedAt time.Time `json:"created_at"`

	// The grant holds until just before this moment; `null`: it never expires. ISO 8601 in UTC with milliseconds.
	ExpiresAt *time.Time `json:"expires_at"`

	// The grant holds only where this condition is met. Absent: it has none.
	Condition *GrantCondition `json:"condition,omitempty"`
}

// GrantCondition: The grant holds only where this condition is met. Absent: it has none.
type GrantCondition struct {
	// The name of a condition that the rules of the tenant declare.
	Name string `json:"name"`

	// Values for parameters of the condition, at most 512 bytes as compact JSON. They take precedence over those that
	// a call sends. For an int or uint, numbers beyond 2^53 are written as strings of digits.
	Context map[string]any `json:"context"`
}

// GrantConditionRequest: A condition under which a grant holds.
type GrantConditionRequest struct {
	// The name of a condition that the rules of the tenant declare.
	Name string `json:"name"`

	// Values for parameters of the condition, at most 512 bytes as compact JSON. They take precedence over those that
	// a call sends. For an int or uint, numbers beyond 2^53 are written as strings of digits.
	Context map[string]any `json:"context,omitempty"`
}

// GrantList: an answer of the service.
type GrantList struct {
	// Ascending by the bytes of the relation, then of the object (or subject). With `on`: of the subject first.
	Grants []Grant `json:"grants"`

	// The `cursor` of the next request; `null` at the end.
	NextCursor *string `json:"next_cursor"`

	// Only with `on`: no grant of the page is as a later entry of the log made it.
	Seq *int64 `json:"seq,omitempty"`
}

// JoinQuery: an answer of the service.
type JoinQuery struct {
	// That of the objects that are listed.
	Namespace string `json:"namespace"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), one
	// that its rules declare, or a name that one of them defines.
	Name string `json:"name"`

	// As in the request for the join.
	Deep []string `json:"deep,omitempty"`
}

// Key: an answer of the service.
type Key struct {
	// Names the key; not secret.
	KeyID string `json:"key_id"`

	// For people; may be empty.
	Name string `json:"name"`

	Scopes []string `json:"scopes"`

	// When the key was created. ISO 8601 in UTC with milliseconds.
	CreatedAt time.Time `json:"created_at"`

	// The key is refused from this moment on; `null`: never. ISO 8601 in UTC with milliseconds.
	ExpiresAt *time.Time `json:"expires_at"`

	// When the key was last used, to within a few minutes; `null`: no use is known. ISO 8601 in UTC with milliseconds.
	LastUsedAt *time.Time `json:"last_used_at"`
}

// KeyList: an answer of the service.
type KeyList struct {
	Keys []Key `json:"keys"`

	// The `cursor` of the next request; `null` at the end.
	NextCursor *string `json:"next_cursor"`
}

// LogMoment: The moment of which the answer is.
type LogMoment struct {
	// A place in the log: the answer has every change up to it, and no other.
	Seq int64 `json:"seq"`

	// Grants that expire by then have expired. ISO 8601 in UTC with milliseconds.
	Time time.Time `json:"time"`
}

// Namespace: an answer of the service.
type Namespace struct {
	// The part of subjects and objects before the first colon.
	Name string `json:"name"`

	// When it was created, explicitly or by the first grant that names it. ISO 8601 in UTC with milliseconds.
	CreatedAt time.Time `json:"created_at"`
}

// NamespaceList: an answer of the service.
type NamespaceList struct {
	Namespaces []Namespace `json:"namespaces"`
}

// NamespaceRelation: A relation on objects of a namespace.
type NamespaceRelation struct {
	// The part of subjects and objects before the first colon.
	Namespace string `json:"namespace"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or one
	// that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
	Relation string `json:"relation"`
}

// ObjectList: an answer of the service.
type ObjectList struct {
	// Ascending by the bytes of the object.
	Objects []string `json:"objects"`

	// The `cursor` of the next request; `null` at the end.
	NextCursor *string `json:"next_cursor"`
}

// PageInfo: Where the search goes on.
type PageInfo struct {
	// The `page.token` of the next request; empty at the end.
	NextToken string `json:"next_token"`

	// Results in this page.
	Count int64 `json:"count"`
}

// Question: A relationship, granted or following from the rules. Unknown fields are refused.
type Question struct {
	// Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space. Only states have another subject: `*`.
	Subject string `json:"subject"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), one
	// that its rules declare, or a name that one of them defines.
	Relation string `json:"relation"`

	// On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space.
	Object string `json:"object"`
}

// ReasonGrant: A grant of a reason.
type ReasonGrant struct {
	// Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space. Only states have another subject: `*`.
	Subject string `json:"subject"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or one
	// that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
	Relation string `json:"relation"`

	// On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space.
	Object string `json:"object"`

	// Opaque. A grant created again after its revocation has a new id.
	GrantID string `json:"grant_id,omitempty"`

	// When the grant was created. ISO 8601 in UTC with milliseconds.
	CreatedAt *time.Time `json:"created_at,omitempty"`

	// The grant holds until just before this moment; `null`: it never expires. ISO 8601 in UTC with milliseconds.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`

	// The grant holds only where this condition is met. Absent: it has none.
	Condition *GrantCondition `json:"condition,omitempty"`

	// The values that its condition saw.
	ConditionSaw map[string]any `json:"condition_saw,omitempty"`

	// True: the call sent it.
	ContextGrant bool `json:"context_grant,omitempty"`

	// Of `excluded_by`: what the grant takes away from the subject.
	Excludes *ExcludedName `json:"excludes,omitempty"`
}

// ResourceSearch: On which resources of a type may the subject perform the action?
type ResourceSearch struct {
	// A subject or resource that is given.
	Subject GivenEntity `json:"subject,omitzero"`

	// What the subject would do. Unknown fields are ignored.
	Action AccessAction `json:"action,omitzero"`

	// What is searched for. An `id` is ignored.
	Resource WantedType `json:"resource,omitzero"`

	// Values for parameters of conditions; those that no condition asks for are ignored.
	Context map[string]any `json:"context,omitempty"`

	Page *SearchPage `json:"page,omitempty"`
}

// Revocation: A revocation of a bulk write.
type Revocation struct {
	// False: there was no such grant.
	Revoked bool `json:"revoked"`
}

// RevokeResult: an answer of the service.
type RevokeResult struct {
	// Grants that this call has revoked; of a dry run, would revoke.
	Revoked int64 `json:"revoked"`

	// Whether no grant that matches was left at that moment, or would be.
	Complete bool `json:"complete"`
}

// Rule: On objects of the namespace, a subject with one of `any_of` has `name`. One rule per name.
type Rule struct {
	// The part of subjects and objects before the first colon.
	Namespace string `json:"namespace"`

	// A relation, built-in or own, whose own grants always count, or a name that is never granted.
	Name string `json:"name"`

	AnyOf []RuleElement `json:"any_of"`
}

// RuleGate: Either `any_of` or `all_of`, and perhaps `but_not`. At most 5 lie inside of each other.
type RuleGate struct {
	// At least one of these holds.
	AnyOf []RuleElement `json:"any_of,omitempty"`

	// Each of these holds.
	AllOf []RuleElement `json:"all_of,omitempty"`

	// None of these holds.
	ButNot []RuleElement `json:"but_not,omitempty"`
}

// RuleSet: an answer of the service.
type RuleSet struct {
	// Relations of the tenant, which are granted like the built-in ones. Default: none.
	Relations []string `json:"relations,omitempty"`

	// States of objects. A state is granted with the subject `*`, and holds for every subject of every namespace. No
	// rule has its name, and it stands in no `types` and not behind `from`. Default: none.
	States []string `json:"states,omitempty"`

	// Conditions that grants may carry. Default: none.
	Conditions []ConditionDeclaration `json:"conditions,omitempty"`

	// A relation of a namespace that is not named here may be granted to any subject. Default: none.
	Types []TypeRestriction `json:"types,omitempty"`

	Rules []Rule `json:"rules"`

	Groups bool `json:"groups"`

	Public []string `json:"public"`
}

// RuleSetRequest: Unknown fields are refused.
type RuleSetRequest struct {
	// Relations of the tenant, which are granted like the built-in ones. Default: none.
	Relations []string `json:"relations,omitempty"`

	// States of objects. A state is granted with the subject `*`, and holds for every subject of every namespace. No
	// rule has its name, and it stands in no `types` and not behind `from`. Default: none.
	States []string `json:"states,omitempty"`

	// Conditions that grants may carry. Default: none.
	Conditions []ConditionDeclaration `json:"conditions,omitempty"`

	// A relation of a namespace that is not named here may be granted to any subject. Default: none.
	Types []TypeRestriction `json:"types,omitempty"`

	Rules []Rule `json:"rules"`

	// Whether a grant to `ns:id#name` is one to all who have `name` on `ns:id`. Default: false.
	Groups bool `json:"groups,omitempty"`

	// A grant to `ns:*` is one to every subject of these namespaces. Default: none.
	Public []string `json:"public,omitempty"`

	// Only for this write, not part of the rules: stored grants that stricter `types` exclude stay, and count. Absent:
	// the write is refused if there are such grants.
	OutsideTypes string `json:"outside_types,omitempty"`
}

// RulesPreview: an answer of the service.
type RulesPreview struct {
	// The rules as they would stand.
	RuleSet RuleSet `json:"rule_set"`

	// The revision that they would have.
	Revision string `json:"revision"`

	// The revision of the present rules.
	CurrentRevision string `json:"current_revision"`

	// Whether the two revisions differ.
	Changed bool `json:"changed"`

	// Subjects `ns:id#name` with a grant, whose grants become, or cease to be, ones to a group. 0 if `groups` stays as
	// it is.
	GroupSubjects int64 `json:"group_subjects"`

	// Grants to `ns:*` that become, or cease to be, public: those of the namespaces that `public` gains or loses.
	PublicGrants int64 `json:"public_grants"`

	// Grants that the rules could never follow: to a group without `groups`, or of a name that nobody can hold; to
	// `ns:*` where `ns` is not public; to a group or `ns:*` where rules only follow the relation to entities, as
	// `parent` in `viewer from parent`.
	GrantsNotFollowed int64 `json:"grants_not_followed"`

	// Grants that the types of the rules do not allow: they stay, and count, but can only be revoked.
	GrantsOutsideTypes int64 `json:"grants_outside_types"`

	// Relations on which rules rely (as an element, or after `from`), but of which no object of the namespace has a
	// grant.
	Ungranted []NamespaceRelation `json:"ungranted"`

	// Names that the present rules define, and these do not: a check of one would be refused. Those that were asked
	// about most recently come first.
	Vanishing []VanishingName `json:"vanishing"`

	// Who would lose and gain names of the present rules, each subject compared at one moment.
	Access AccessChanges `json:"access"`

	// Whether all grants that matter to the counts were examined. If not, the counts are lower bounds, and a relation
	// in `ungranted` may have grants.
	Complete bool `json:"complete"`

	// How many grants were examined; one that is examined for two of the counts counts twice.
	ScannedGrants int64 `json:"scanned_grants"`

	// How many are examined at most; fewer if the store is slow.
	ScannedGrantsMax int64 `json:"scanned_grants_max"`
}

// RulesVersion: A version of the rules: who changed them, and when.
type RulesVersion struct {
	// Its number: 1 for the first change of the rules, without gaps.
	Version int64 `json:"version"`

	// The revision of its rules. Versions with the same rules have the same one.
	Revision string `json:"revision"`

	// When it was decided. ISO 8601 in UTC with milliseconds.
	At time.Time `json:"at"`

	// The id of a key, or `operator:` and a name.
	Actor string `json:"actor"`

	// The request that wrote it.
	RequestID string `json:"request_id"`

	// How many rules, conditions, types and settings are new, or differ from the version before.
	Added int64 `json:"added"`

	// How many of those of the version before are gone, or differ.
	Removed int64 `json:"removed"`
}

// RulesVersionList: an answer of the service.
type RulesVersionList struct {
	// The newest 100, from the newest back.
	Versions []RulesVersion `json:"versions"`
}

// SearchPage: Which page. Requests for further pages repeat the first one with a token; the limit may be left out.
type SearchPage struct {
	// The `next_token` of the page before.
	Token string `json:"token,omitempty"`

	// Results of a page at most; more than 1000, or none given: 1000.
	Limit *int64 `json:"limit,omitempty"`

	// Ignored.
	Properties map[string]any `json:"properties,omitempty"`
}

// SetsRequest: an answer of the service.
type SetsRequest struct {
	// Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space. Only states have another subject: `*`.
	Subject string `json:"subject"`

	Join JoinQuery `json:"join,omitzero"`

	// Values for parameters of conditions, at most 32 KiB as compact JSON. What a grant stores takes precedence; what
	// no condition asks for is ignored. For an int or uint, numbers beyond 2^53 are written as strings of digits.
	Context map[string]any `json:"context,omitempty"`

	// Grants that count for this call as if they were stored. They are not, and no other call sees them.
	ContextGrants []ContextGrant `json:"context_grants,omitempty"`

	// True: sets whose conditions lack a parameter are in `perhaps`. Otherwise such a set refuses the call as
	// `context-incomplete`.
	Perhaps bool `json:"perhaps,omitempty"`
}

// SubjectList: an answer of the service.
type SubjectList struct {
	// Ascending by the bytes of the subject.
	Subjects []string `json:"subjects"`

	// The `cursor` of the next request; `null` at the end.
	NextCursor *string `json:"next_cursor"`

	// Under rules with gates: subjects whom a gate excludes, although `ns:*` of their namespace, or `*`, holds the
	// relation; `ns:*` among them stands for every subject of its namespace. They lie in the range of the page, and
	// count against its limit. Absent: there are none in it.
	Excluded []string `json:"excluded,omitempty"`
}

// SubjectSearch: Which subjects of a type may perform the action on the resource?
type SubjectSearch struct {
	// What is searched for. An `id` is ignored.
	Subject WantedType `json:"subject,omitzero"`

	// What the subject would do. Unknown fields are ignored.
	Action AccessAction `json:"action,omitzero"`

	// A subject or resource that is given.
	Resource GivenEntity `json:"resource,omitzero"`

	// Values for parameters of conditions; those that no condition asks for are ignored.
	Context map[string]any `json:"context,omitempty"`

	Page *SearchPage `json:"page,omitempty"`
}

// SubjectSets: an answer of the service.
type SubjectSets struct {
	// The subject, `ns:*` and `*` where their grants are also its own, and the groups in which it is.
	Subjects []string `json:"subjects"`

	// `container#name`: what it holds on containers, of what the join asks.
	Held []string `json:"held"`

	// Sets of which a parameter is missing. In no other list.
	Perhaps []string `json:"perhaps"`

	// The `object#name` that the subject is itself. Empty: none.
	Own string `json:"own"`

	// The tenant. A mirror of its grants is joined with no other.
	TenantID string `json:"tenant_id"`

	// That of the rules. The join must have the same.
	Revision string `json:"revision"`

	// The moment of which the answer is.
	At LogMoment `json:"at"`

	// A place in the log up to `at.seq`, after which nothing has changed that the join mirrors: a mirror that has it
	// is complete for this answer.
	Through int64 `json:"through"`
}

// Tuple: A relationship. Unknown fields are refused.
type Tuple struct {
	// Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space. Only states have another subject: `*`.
	Subject string `json:"subject"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or one
	// that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
	Relation string `json:"relation"`

	// On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space.
	Object string `json:"object"`
}

// TypeRestriction: To which subjects the relation may be granted on objects of the namespace.
type TypeRestriction struct {
	// The part of subjects and objects before the first colon.
	Namespace string `json:"namespace"`

	Relation string `json:"relation"`

	// Each `NAMESPACE`, `NAMESPACE:*` or, for groups, `NAMESPACE#NAME`; with ` with CONDITION` behind it, grants to
	// them carry the condition, without, they carry none.
	Subjects []string `json:"subjects"`
}

// VanishingName: A name that checks can no longer ask about.
type VanishingName struct {
	// The name.
	Name string `json:"name"`

	// When a key of the tenant last asked about the name, in a check or a listing, to the minute; `null`: not in the
	// last day, as far as is known. ISO 8601 in UTC with milliseconds.
	AskedAt *time.Time `json:"asked_at"`
}

// WantedType: What is searched for. An `id` is ignored.
type WantedType struct {
	// The namespace of the identifier `type:id`.
	Type string `json:"type"`

	// Ignored.
	Properties map[string]any `json:"properties,omitempty"`
}

// WrittenGrant: A grant of a bulk write.
type WrittenGrant struct {
	// Opaque. A grant created again after its revocation has a new id.
	GrantID string `json:"grant_id"`

	// Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space. Only states have another subject: `*`.
	Subject string `json:"subject"`

	// One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or one
	// that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
	Relation string `json:"relation"`

	// On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
	// letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
	// without control characters or white space.
	Object string `json:"object"`

	// When the grant was created. ISO 8601 in UTC with milliseconds.
	CreatedAt time.Time `json:"created_at"`

	// The grant holds until just before this moment; `null`: it never expires. ISO 8601 in UTC with milliseconds.
	ExpiresAt *time.Time `json:"expires_at"`

	// The grant holds only where this condition is met. Absent: it has none.
	Condition *GrantCondition `json:"condition,omitempty"`

	// False: the grant existed already; at most its expiry or its condition was changed.
	Created bool `json:"created"`
}

func decodeAccessChanges(value any) (AccessChanges, error) {
	var decoded AccessChanges
	o := objectOf(value)
	decoded.Lost = required(o, "lost", decodeAccessSide)
	decoded.Gained = required(o, "gained", decodeAccessSide)
	decoded.UnknownBecause = required(o, "unknown_because", listOf(decodeText))
	return decoded, o.err
}

func decodeAccessRow(value any) (AccessRow, error) {
	var decoded AccessRow
	o := objectOf(value)
	decoded.Subjects = required(o, "subjects", listOf(decodeText))
	decoded.SubjectCount = required(o, "subject_count", decodeInteger)
	decoded.Names = required(o, "names", listOf(decodeText))
	decoded.Objects = required(o, "objects", listOf(decodeText))
	decoded.ObjectCount = required(o, "object_count", decodeInteger)
	return decoded, o.err
}

func decodeAccessSide(value any) (AccessSide, error) {
	var decoded AccessSide
	o := objectOf(value)
	decoded.Subjects = required(o, "subjects", decodeInteger)
	decoded.Objects = required(o, "objects", decodeInteger)
	decoded.Rows = required(o, "rows", listOf(decodeAccessRow))
	decoded.RowsLeft = required(o, "rows_left", decodeInteger)
	decoded.ByName = required(o, "by_name", decodeBoolean)
	return decoded, o.err
}

func decodeActionSearchResult(value any) (ActionSearchResult, error) {
	var decoded ActionSearchResult
	o := objectOf(value)
	decoded.Page = required(o, "page", decodePageInfo)
	decoded.Results = required(o, "results", listOf(decodeFoundAction))
	return decoded, o.err
}

func decodeBulkCheckAnswer(value any) (BulkCheckAnswer, error) {
	var decoded BulkCheckAnswer
	o := objectOf(value)
	decoded.Authorized = required(o, "authorized", decodeBoolean)
	return decoded, o.err
}

func decodeBulkCheckResult(value any) (BulkCheckResult, error) {
	var decoded BulkCheckResult
	o := objectOf(value)
	decoded.Results = required(o, "results", listOf(decodeBulkCheckAnswer))
	decoded.CheckedAt = required(o, "checked_at", decodeTime)
	return decoded, o.err
}

func decodeBulkWriteResult(value any) (BulkWriteResult, error) {
	var decoded BulkWriteResult
	o := objectOf(value)
	decoded.Grants = required(o, "grants", listOf(decodeWrittenGrant))
	decoded.Revocations = required(o, "revocations", listOf(decodeRevocation))
	return decoded, o.err
}

func decodeChange(value any) (Change, error) {
	var decoded Change
	o := objectOf(value)
	decoded.Seq = required(o, "seq", decodeInteger)
	decoded.Index = required(o, "index", decodeInteger)
	decoded.At = required(o, "at", decodeTime)
	decoded.Actor = required(o, "actor", decodeText)
	decoded.RequestID = required(o, "request_id", decodeText)
	decoded.Action = required(o, "action", decodeText)
	decoded.Grant = optional(o, "grant", decodeGrant)
	decoded.Namespace = optional(o, "namespace", decodeChangedNamespace)
	decoded.Rules = optional(o, "rules", decodeRuleSet)
	decoded.Former = optional(o, "former", decodeRuleSet)
	decoded.FormerTerms = optional(o, "former_terms", decodeFormerTerms)
	return decoded, o.err
}

func decodeChangeLine(value any) (ChangeLine, error) {
	var decoded ChangeLine
	o := objectOf(value)
	decoded.Type = required(o, "type", decodeText)
	decoded.Cursor = required(o, "cursor", decodeCursor)
	decoded.Change = optional(o, "change", decodeChange)
	decoded.At = optional(o, "at", decodeTime)
	decoded.Seq = optional(o, "seq", decodeInteger)
	return decoded, o.err
}

func decodeChangeList(value any) (ChangeList, error) {
	var decoded ChangeList
	o := objectOf(value)
	decoded.Changes = required(o, "changes", listOf(decodeChange))
	decoded.NextCursor = required(o, "next_cursor", decodeCursor)
	decoded.Seq = required(o, "seq", decodeInteger)
	return decoded, o.err
}

func decodeChangedNamespace(value any) (ChangedNamespace, error) {
	var decoded ChangedNamespace
	o := objectOf(value)
	decoded.Name = required(o, "name", decodeText)
	return decoded, o.err
}

func decodeCheckResult(value any) (CheckResult, error) {
	var decoded CheckResult
	o := objectOf(value)
	decoded.Authorized = required(o, "authorized", decodeBoolean)
	decoded.CheckedAt = required(o, "checked_at", decodeTime)
	decoded.Because = orZero(o, "because", listOf(decodeGrant))
	decoded.Reason = optional(o, "reason", decodeDenialReason)
	decoded.Proof = orZero(o, "proof", decodeMap)
	return decoded, o.err
}

func decodeConditionDeclaration(value any) (ConditionDeclaration, error) {
	var decoded ConditionDeclaration
	o := objectOf(value)
	decoded.Name = required(o, "name", decodeText)
	decoded.Parameters = required(o, "parameters", decodeMap)
	decoded.Expression = required(o, "expression", decodeText)
	return decoded, o.err
}

func decodeCreatedKey(value any) (CreatedKey, error) {
	var decoded CreatedKey
	o := objectOf(value)
	decoded.KeyID = required(o, "key_id", decodeText)
	decoded.Name = required(o, "name", decodeText)
	decoded.Scopes = required(o, "scopes", listOf(decodeText))
	decoded.CreatedAt = required(o, "created_at", decodeTime)
	decoded.ExpiresAt = nullable(o, "expires_at", decodeTime)
	decoded.Key = required(o, "key", decodeText)
	return decoded, o.err
}

func decodeDecision(value any) (Decision, error) {
	var decoded Decision
	o := objectOf(value)
	decoded.Decision = required(o, "decision", decodeBoolean)
	decoded.Context = optional(o, "context", decodeDenialContext)
	return decoded, o.err
}

func decodeDenialContext(value any) (DenialContext, error) {
	var decoded DenialContext
	o := objectOf(value)
	decoded.Reason = orZero(o, "reason", decodeText)
	decoded.Error = optional(o, "error", decodeDenialContextError)
	return decoded, o.err
}

func decodeDenialContextError(value any) (DenialContextError, error) {
	var decoded DenialContextError
	o := objectOf(value)
	decoded.Status = required(o, "status", decodeInteger)
	decoded.Message = required(o, "message", decodeText)
	return decoded, o.err
}

func decodeDenialReason(value any) (DenialReason, error) {
	var decoded DenialReason
	o := objectOf(value)
	decoded.Text = required(o, "text", decodeText)
	decoded.ExcludedBy = required(o, "excluded_by", listOf(decodeReasonGrant))
	decoded.Unmet = required(o, "unmet", listOf(decodeReasonGrant))
	decoded.Missing = required(o, "missing", listOf(decodeTuple))
	decoded.Cut = orZero(o, "cut", decodeBoolean)
	return decoded, o.err
}

func decodeEntitySearchResult(value any) (EntitySearchResult, error) {
	var decoded EntitySearchResult
	o := objectOf(value)
	decoded.Page = required(o, "page", decodePageInfo)
	decoded.Results = required(o, "results", listOf(decodeFoundEntity))
	return decoded, o.err
}

func decodeExcludedName(value any) (ExcludedName, error) {
	var decoded ExcludedName
	o := objectOf(value)
	decoded.Name = required(o, "name", decodeText)
	decoded.Object = required(o, "object", decodeText)
	return decoded, o.err
}

func decodeFormerTerms(value any) (FormerTerms, error) {
	var decoded FormerTerms
	o := objectOf(value)
	decoded.ExpiresAt = nullable(o, "expires_at", decodeTime)
	decoded.Condition = optional(o, "condition", decodeGrantCondition)
	return decoded, o.err
}

func decodeFoundAction(value any) (FoundAction, error) {
	var decoded FoundAction
	o := objectOf(value)
	decoded.Name = required(o, "name", decodeText)
	return decoded, o.err
}

func decodeFoundEntity(value any) (FoundEntity, error) {
	var decoded FoundEntity
	o := objectOf(value)
	decoded.Type = required(o, "type", decodeText)
	decoded.ID = required(o, "id", decodeText)
	decoded.Properties = optional(o, "properties", decodeFoundEntityProperties)
	return decoded, o.err
}

func decodeFoundEntityProperties(value any) (FoundEntityProperties, error) {
	var decoded FoundEntityProperties
	o := objectOf(value)
	decoded.Excluded = required(o, "excluded", listOf(decodeText))
	return decoded, o.err
}

func decodeGrant(value any) (Grant, error) {
	var decoded Grant
	o := objectOf(value)
	decoded.GrantID = required(o, "grant_id", decodeText)
	decoded.Subject = required(o, "subject", decodeText)
	decoded.Relation = required(o, "relation", decodeText)
	decoded.Object = required(o, "object", decodeText)
	decoded.CreatedAt = required(o, "created_at", decodeTime)
	decoded.ExpiresAt = nullable(o, "expires_at", decodeTime)
	decoded.Condition = optional(o, "condition", decodeGrantCondition)
	return decoded, o.err
}

func decodeGrantCondition(value any) (GrantCondition, error) {
	var decoded GrantCondition
	o := objectOf(value)
	decoded.Name = required(o, "name", decodeText)
	decoded.Context = required(o, "context", decodeMap)
	return decoded, o.err
}

func decodeGrantList(value any) (GrantList, error) {
	var decoded GrantList
	o := objectOf(value)
	decoded.Grants = required(o, "grants", listOf(decodeGrant))
	decoded.NextCursor = nullable(o, "next_cursor", decodeCursor)
	decoded.Seq = optional(o, "seq", decodeInteger)
	return decoded, o.err
}

func decodeKey(value any) (Key, error) {
	var decoded Key
	o := objectOf(value)
	decoded.KeyID = required(o, "key_id", decodeText)
	decoded.Name = required(o, "name", decodeText)
	decoded.Scopes = required(o, "scopes", listOf(decodeText))
	decoded.CreatedAt = required(o, "created_at", decodeTime)
	decoded.ExpiresAt = nullable(o, "expires_at", decodeTime)
	decoded.LastUsedAt = nullable(o, "last_used_at", decodeTime)
	return decoded, o.err
}

func decodeKeyList(value any) (KeyList, error) {
	var decoded KeyList
	o := objectOf(value)
	decoded.Keys = required(o, "keys", listOf(decodeKey))
	decoded.NextCursor = nullable(o, "next_cursor", decodeCursor)
	return decoded, o.err
}

func decodeLogMoment(value any) (LogMoment, error) {
	var decoded LogMoment
	o := objectOf(value)
	decoded.Seq = required(o, "seq", decodeInteger)
	decoded.Time = required(o, "time", decodeTime)
	return decoded, o.err
}

func decodeNamespace(value any) (Namespace, error) {
	var decoded Namespace
	o := objectOf(value)
	decoded.Name = required(o, "name", decodeText)
	decoded.CreatedAt = required(o, "created_at", decodeTime)
	return decoded, o.err
}

func decodeNamespaceList(value any) (NamespaceList, error) {
	var decoded NamespaceList
	o := objectOf(value)
	decoded.Namespaces = required(o, "namespaces", listOf(decodeNamespace))
	return decoded, o.err
}

func decodeNamespaceRelation(value any) (NamespaceRelation, error) {
	var decoded NamespaceRelation
	o := objectOf(value)
	decoded.Namespace = required(o, "namespace", decodeText)
	decoded.Relation = required(o, "relation", decodeText)
	return decoded, o.err
}

func decodeObjectList(value any) (ObjectList, error) {
	var decoded ObjectList
	o := objectOf(value)
	decoded.Objects = required(o, "objects", listOf(decodeText))
	decoded.NextCursor = nullable(o, "next_cursor", decodeCursor)
	return decoded, o.err
}

func decodePageInfo(value any) (PageInfo, error) {
	var decoded PageInfo
	o := objectOf(value)
	decoded.NextToken = required(o, "next_token", decodeText)
	decoded.Count = required(o, "count", decodeInteger)
	return decoded, o.err
}

func decodeReasonGrant(value any) (ReasonGrant, error) {
	var decoded ReasonGrant
	o := objectOf(value)
	decoded.Subject = required(o, "subject", decodeText)
	decoded.Relation = required(o, "relation", decodeText)
	decoded.Object = required(o, "object", decodeText)
	decoded.GrantID = orZero(o, "grant_id", decodeText)
	decoded.CreatedAt = optional(o, "created_at", decodeTime)
	decoded.ExpiresAt = nullable(o, "expires_at", decodeTime)
	decoded.Condition = optional(o, "condition", decodeGrantCondition)
	decoded.ConditionSaw = orZero(o, "condition_saw", decodeMap)
	decoded.ContextGrant = orZero(o, "context_grant", decodeBoolean)
	decoded.Excludes = optional(o, "excludes", decodeExcludedName)
	return decoded, o.err
}

func decodeRevocation(value any) (Revocation, error) {
	var decoded Revocation
	o := objectOf(value)
	decoded.Revoked = required(o, "revoked", decodeBoolean)
	return decoded, o.err
}

func decodeRevokeResult(value any) (RevokeResult, error) {
	var decoded RevokeResult
	o := objectOf(value)
	decoded.Revoked = required(o, "revoked", decodeInteger)
	decoded.Complete = required(o, "complete", decodeBoolean)
	return decoded, o.err
}

func decodeRule(value any) (Rule, error) {
	var decoded Rule
	o := objectOf(value)
	decoded.Namespace = required(o, "namespace", decodeText)
	decoded.Name = required(o, "name", decodeText)
	decoded.AnyOf = required(o, "any_of", listOf(decodeRuleElement))
	return decoded, o.err
}

func decodeRuleGate(value any) (RuleGate, error) {
	var decoded RuleGate
	o := objectOf(value)
	decoded.AnyOf = orZero(o, "any_of", listOf(decodeRuleElement))
	decoded.AllOf = orZero(o, "all_of", listOf(decodeRuleElement))
	decoded.ButNot = orZero(o, "but_not", listOf(decodeRuleElement))
	return decoded, o.err
}

func decodeRuleSet(value any) (RuleSet, error) {
	var decoded RuleSet
	o := objectOf(value)
	decoded.Relations = orZero(o, "relations", listOf(decodeText))
	decoded.States = orZero(o, "states", listOf(decodeText))
	decoded.Conditions = orZero(o, "conditions", listOf(decodeConditionDeclaration))
	decoded.Types = orZero(o, "types", listOf(decodeTypeRestriction))
	decoded.Rules = required(o, "rules", listOf(decodeRule))
	decoded.Groups = required(o, "groups", decodeBoolean)
	decoded.Public = required(o, "public", listOf(decodeText))
	return decoded, o.err
}

func decodeRulesPreview(value any) (RulesPreview, error) {
	var decoded RulesPreview
	o := objectOf(value)
	decoded.RuleSet = required(o, "rule_set", decodeRuleSet)
	decoded.Revision = required(o, "revision", decodeText)
	decoded.CurrentRevision = required(o, "current_revision", decodeText)
	decoded.Changed = required(o, "changed", decodeBoolean)
	decoded.GroupSubjects = required(o, "group_subjects", decodeInteger)
	decoded.PublicGrants = required(o, "public_grants", decodeInteger)
	decoded.GrantsNotFollowed = required(o, "grants_not_followed", decodeInteger)
	decoded.GrantsOutsideTypes = required(o, "grants_outside_types", decodeInteger)
	decoded.Ungranted = required(o, "ungranted", listOf(decodeNamespaceRelation))
	decoded.Vanishing = required(o, "vanishing", listOf(decodeVanishingName))
	decoded.Access = required(o, "access", decodeAccessChanges)
	decoded.Complete = required(o, "complete", decodeBoolean)
	decoded.ScannedGrants = required(o, "scanned_grants", decodeInteger)
	decoded.ScannedGrantsMax = required(o, "scanned_grants_max", decodeInteger)
	return decoded, o.err
}

func decodeRulesVersion(value any) (RulesVersion, error) {
	var decoded RulesVersion
	o := objectOf(value)
	decoded.Version = required(o, "version", decodeInteger)
	decoded.Revision = required(o, "revision", decodeText)
	decoded.At = required(o, "at", decodeTime)
	decoded.Actor = required(o, "actor", decodeText)
	decoded.RequestID = required(o, "request_id", decodeText)
	decoded.Added = required(o, "added", decodeInteger)
	decoded.Removed = required(o, "removed", decodeInteger)
	return decoded, o.err
}

func decodeRulesVersionList(value any) (RulesVersionList, error) {
	var decoded RulesVersionList
	o := objectOf(value)
	decoded.Versions = required(o, "versions", listOf(decodeRulesVersion))
	return decoded, o.err
}

func decodeSubjectList(value any) (SubjectList, error) {
	var decoded SubjectList
	o := objectOf(value)
	decoded.Subjects = required(o, "subjects", listOf(decodeText))
	decoded.NextCursor = nullable(o, "next_cursor", decodeCursor)
	decoded.Excluded = orZero(o, "excluded", listOf(decodeText))
	return decoded, o.err
}

func decodeSubjectSets(value any) (SubjectSets, error) {
	var decoded SubjectSets
	o := objectOf(value)
	decoded.Subjects = required(o, "subjects", listOf(decodeText))
	decoded.Held = required(o, "held", listOf(decodeText))
	decoded.Perhaps = required(o, "perhaps", listOf(decodeText))
	decoded.Own = required(o, "own", decodeText)
	decoded.TenantID = required(o, "tenant_id", decodeText)
	decoded.Revision = required(o, "revision", decodeText)
	decoded.At = required(o, "at", decodeLogMoment)
	decoded.Through = required(o, "through", decodeInteger)
	return decoded, o.err
}

func decodeTuple(value any) (Tuple, error) {
	var decoded Tuple
	o := objectOf(value)
	decoded.Subject = required(o, "subject", decodeText)
	decoded.Relation = required(o, "relation", decodeText)
	decoded.Object = required(o, "object", decodeText)
	return decoded, o.err
}

func decodeTypeRestriction(value any) (TypeRestriction, error) {
	var decoded TypeRestriction
	o := objectOf(value)
	decoded.Namespace = required(o, "namespace", decodeText)
	decoded.Relation = required(o, "relation", decodeText)
	decoded.Subjects = required(o, "subjects", listOf(decodeText))
	return decoded, o.err
}

func decodeVanishingName(value any) (VanishingName, error) {
	var decoded VanishingName
	o := objectOf(value)
	decoded.Name = required(o, "name", decodeText)
	decoded.AskedAt = nullable(o, "asked_at", decodeTime)
	return decoded, o.err
}

func decodeWrittenGrant(value any) (WrittenGrant, error) {
	var decoded WrittenGrant
	o := objectOf(value)
	decoded.GrantID = required(o, "grant_id", decodeText)
	decoded.Subject = required(o, "subject", decodeText)
	decoded.Relation = required(o, "relation", decodeText)
	decoded.Object = required(o, "object", decodeText)
	decoded.CreatedAt = required(o, "created_at", decodeTime)
	decoded.ExpiresAt = nullable(o, "expires_at", decodeTime)
	decoded.Condition = optional(o, "condition", decodeGrantCondition)
	decoded.Created = required(o, "created", decodeBoolean)
	return decoded, o.err
}
