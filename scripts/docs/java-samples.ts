// How each operation is called with the client for Java. `grantd` is a client that exists already.

const lines = (...text: readonly string[]): string => text.join('\n');

/** By the id of the operation. All but `readOpenapi`, as of the other clients. */
export const JAVA_SAMPLES: Readonly<Record<string, string>> = {
  check: 'boolean allowed = grantd.check("user:alice", "viewer", "document:readme");',
  checkBulk: lines(
    'BulkCheckResult result = grantd.checkBulk(List.of(',
    '    new Question("user:alice", "viewer", "document:readme"),',
    '    new Question("user:alice", "editor", "document:readme")));',
  ),
  listGrants: lines(
    'for (Grant grant : grantd.listGrants(GrantsQuery.ofSubject("user:alice"))) {',
    '    System.out.println(grant.object());',
    '}',
  ),
  createGrant: 'WrittenGrant grant = grantd.createGrant("user:alice", "viewer", "document:readme");',
  revokeGrant: 'boolean revoked = grantd.revokeGrant("user:alice", "viewer", "document:readme");',
  writeBulk: lines(
    'grantd.writeBulk(BulkWrite.of()',
    '    .withGrants(List.of(GrantRequest.of("user:alice", "editor", "document:readme")))',
    '    .withRevocations(List.of(new Tuple("user:alice", "viewer", "document:readme"))));',
  ),
  revokeGrants: 'long revoked = grantd.revokeGrants(GrantFilter.ofSubject("user:alice")); // all of them',
  listObjects: lines(
    'ObjectsQuery query = ObjectsQuery.of("user:alice", "viewer").withNamespace("document");',
    'for (String object : grantd.listObjects(query)) System.out.println(object);',
  ),
  listSubjects: lines(
    'SubjectsQuery query = SubjectsQuery.of("document:readme", "viewer").withNamespace("user");',
    'for (String subject : grantd.listSubjects(query)) System.out.println(subject);',
  ),
  listObjectsInContext: lines(
    'CallContext context = CallContext.of(Map.of("zone", "Europe/Vienna"));',
    'ObjectsQuery query = ObjectsQuery.of("user:alice", "viewer").withContext(context);',
    'for (String object : grantd.listObjects(query)) System.out.println(object);',
  ),
  listSubjectsInContext: lines(
    'CallContext context = CallContext.of(Map.of("zone", "Europe/Vienna"));',
    'SubjectsQuery query = SubjectsQuery.of("document:readme", "viewer").withContext(context);',
    'for (String subject : grantd.listSubjects(query)) System.out.println(subject);',
  ),
  listNamespaces: 'for (Namespace namespace : grantd.listNamespaces()) System.out.println(namespace.name());',
  createNamespace: 'CreatedNamespace namespace = grantd.createNamespace("document");',
  listKeys: 'for (Key key : grantd.listKeys(KeysQuery.all())) System.out.println(key.keyId() + " " + key.name());',
  createKey: 'CreatedKey created = grantd.createKey(KeyRequest.of(List.of("check:read")).withName("web frontend"));',
  revokeKey: 'boolean revoked = grantd.revokeKey("key_01jhm9r0g0e8xsg4k6t2v8w0yz");',
  readRules: 'Rules rules = grantd.readRules();',
  writeRules: lines(
    'String revision = grantd.readRules().revision();',
    'Rule rule = new Rule("document", "viewer", RuleElement.names("editor", "viewer from parent"));',
    'grantd.writeRules(RuleSetRequest.of(List.of(rule)).withGroups(true), revision);',
  ),
  listRulesVersions: lines(
    'for (RulesVersion version : grantd.listRulesVersions()) {',
    '    System.out.println(version.version() + " " + version.actor() + " " + version.at());',
    '}',
  ),
  readRulesVersion: lines(
    'String revision = grantd.readRules().revision();',
    'grantd.writeRules(grantd.readRulesVersion(1).toRequest(), revision);',
  ),
  listChanges: lines(
    'try (ChangeFeed feed = grantd.changes(ChangesQuery.since("now"))) {',
    '    while (feed.hasNext()) {',
    '        ChangeEvent event = feed.next();',
    '        System.out.println(event.change().action() + " " + event.cursor());',
    '    }',
    '}',
  ),
  evaluate: lines(
    'Decision decision = grantd.evaluate(EvaluationRequest.of(',
    '    AccessEntity.of("user", "alice"), AccessAction.of("viewer"), AccessEntity.of("document", "readme")));',
  ),
  evaluateMany: lines(
    'PartialEvaluation defaults = PartialEvaluation.of()',
    '    .withSubject(AccessEntity.of("user", "alice"))',
    '    .withResource(AccessEntity.of("document", "readme"));',
    'List<Decision> decisions = grantd.evaluateMany(EvaluationsRequest.of(defaults, List.of(',
    '    PartialEvaluation.of().withAction(AccessAction.of("viewer")),',
    '    PartialEvaluation.of().withAction(AccessAction.of("editor")))));',
  ),
  searchSubjects: lines(
    'SubjectSearch search = SubjectSearch.of(',
    '    WantedType.of("user"), AccessAction.of("viewer"), GivenEntity.of("document", "readme"));',
    'for (FoundEntity subject : grantd.searchSubjects(search)) System.out.println(subject.id());',
  ),
  searchResources: lines(
    'ResourceSearch search = ResourceSearch.of(',
    '    GivenEntity.of("user", "alice"), AccessAction.of("viewer"), WantedType.of("document"));',
    'for (FoundEntity resource : grantd.searchResources(search)) System.out.println(resource.id());',
  ),
  searchActions: lines(
    'ActionSearch search = ActionSearch.of(GivenEntity.of("user", "alice"), GivenEntity.of("document", "readme"));',
    'for (FoundAction action : grantd.searchActions(search)) System.out.println(action.name());',
  ),
};
