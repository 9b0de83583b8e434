// How each operation is called with the clients: one short sample in each language. `grantd` (TypeScript) and `client`
// (Go, Python) are clients that exist already. A test compiles the samples against the clients of this repository.

export interface ClientSamples {
  readonly typescript: string;
  readonly go: string;
  readonly python: string;
}

const lines = (...text: readonly string[]): string => text.join('\n');

/** By the id of the operation. All but `readOpenapi`: clients are generated from its response. */
export const CLIENT_SAMPLES: Readonly<Record<string, ClientSamples>> = {
  check: {
    typescript: lines(
      'const allowed = await grantd.check({',
      "  subject: 'user:alice',",
      "  relation: 'viewer',",
      "  object: 'document:readme',",
      '});',
    ),
    go: 'allowed, err := client.Check(ctx, "user:alice", "viewer", "document:readme")',
    python: 'allowed = client.check("user:alice", "viewer", "document:readme")',
  },
  checkBulk: {
    typescript: lines(
      'const [views, edits] = await grantd.checkBulk({',
      '  checks: [',
      "    { subject: 'user:alice', relation: 'viewer', object: 'document:readme' },",
      "    { subject: 'user:alice', relation: 'editor', object: 'document:readme' },",
      '  ],',
      '});',
    ),
    go: lines(
      'result, err := client.CheckBulk(ctx, []grantd.Question{',
      '\t{Subject: "user:alice", Relation: "viewer", Object: "document:readme"},',
      '\t{Subject: "user:alice", Relation: "editor", Object: "document:readme"},',
      '})',
    ),
    python: lines(
      'views, edits = client.check_bulk([',
      '    ("user:alice", "viewer", "document:readme"),',
      '    ("user:alice", "editor", "document:readme"),',
      '])',
    ),
  },
  listGrants: {
    typescript: "for await (const grant of grantd.listGrants({ subject: 'user:alice' })) console.log(grant.object);",
    go: lines(
      'for grant, err := range client.ListGrants(ctx, grantd.GrantsQuery{Subject: "user:alice"}) {',
      '\tfmt.Println(grant.Object, err)',
      '}',
    ),
    python: lines('for grant in client.list_grants(subject="user:alice"):', '    print(grant)'),
  },
  createGrant: {
    typescript: lines(
      'const grant = await grantd.createGrant({',
      "  subject: 'user:alice',",
      "  relation: 'viewer',",
      "  object: 'document:readme',",
      '});',
    ),
    go: lines(
      'grant, err := client.CreateGrant(ctx, grantd.GrantRequest{',
      '\tSubject: "user:alice", Relation: "viewer", Object: "document:readme",',
      '})',
    ),
    python: 'grant = client.create_grant("user:alice", "viewer", "document:readme")',
  },
  revokeGrant: {
    typescript: lines(
      'const revoked = await grantd.revokeGrant({',
      "  subject: 'user:alice',",
      "  relation: 'viewer',",
      "  object: 'document:readme',",
      '});',
    ),
    go: lines(
      'revoked, err := client.RevokeGrant(ctx, grantd.Tuple{',
      '\tSubject: "user:alice", Relation: "viewer", Object: "document:readme",',
      '})',
    ),
    python: 'revoked = client.revoke_grant("user:alice", "viewer", "document:readme")',
  },
  writeBulk: {
    typescript: lines(
      'await grantd.writeBulk({',
      "  grants: [{ subject: 'user:alice', relation: 'editor', object: 'document:readme' }],",
      "  revocations: [{ subject: 'user:alice', relation: 'viewer', object: 'document:readme' }],",
      '});',
    ),
    go: lines(
      'result, err := client.WriteBulk(ctx, grantd.BulkWrite{',
      '\tGrants:      []grantd.GrantRequest{{Subject: "user:alice", Relation: "editor", Object: "document:readme"}},',
      '\tRevocations: []grantd.Tuple{{Subject: "user:alice", Relation: "viewer", Object: "document:readme"}},',
      '})',
    ),
    python: lines(
      'client.write_bulk(',
      '    grants=[{"subject": "user:alice", "relation": "editor", "object": "document:readme"}],',
      '    revocations=[{"subject": "user:alice", "relation": "viewer", "object": "document:readme"}],',
      ')',
    ),
  },
  revokeGrants: {
    typescript:
      "const revoked = await grantd.revokeGrants({ subject: 'user:alice' }); // all of them, over several calls",
    go: 'revoked, err := client.RevokeGrants(ctx, grantd.GrantFilter{Subject: "user:alice"})',
    python: 'revoked = client.revoke_grants(subject="user:alice")',
  },
  listObjects: {
    typescript: lines(
      "const query = { subject: 'user:alice', relation: 'viewer', namespace: 'document' };",
      'for await (const object of grantd.listObjects(query)) console.log(object);',
    ),
    go: lines(
      'query := grantd.ObjectsQuery{Subject: "user:alice", Relation: "viewer", Namespace: "document"}',
      'for object, err := range client.ListObjects(ctx, query) {',
      '\tfmt.Println(object, err)',
      '}',
    ),
    python: lines(
      'for object in client.list_objects("user:alice", "viewer", namespace="document"):',
      '    print(object)',
    ),
  },
  listSubjects: {
    typescript: lines(
      "const query = { object: 'document:readme', relation: 'viewer', namespace: 'user' };",
      'for await (const subject of grantd.listSubjects(query)) console.log(subject);',
    ),
    go: lines(
      'query := grantd.SubjectsQuery{Object: "document:readme", Relation: "viewer", Namespace: "user"}',
      'for subject, err := range client.ListSubjects(ctx, query) {',
      '\tfmt.Println(subject, err)',
      '}',
    ),
    python: lines(
      'for subject in client.list_subjects("document:readme", "viewer", namespace="user"):',
      '    print(subject)',
    ),
  },
  listObjectsInContext: {
    typescript: lines(
      "const query = { subject: 'user:alice', relation: 'viewer', context: { zone: 'Europe/Vienna' } };",
      'for await (const object of grantd.listObjects(query)) console.log(object);',
    ),
    go: lines(
      'query := grantd.ObjectsQuery{Subject: "user:alice", Relation: "viewer"}',
      'query.Context = map[string]any{"zone": "Europe/Vienna"}',
      'for object, err := range client.ListObjects(ctx, query) {',
      '\tfmt.Println(object, err)',
      '}',
    ),
    python: lines(
      'context = {"zone": "Europe/Vienna"}',
      'for object in client.list_objects("user:alice", "viewer", context=context):',
      '    print(object)',
    ),
  },
  listSubjectsInContext: {
    typescript: lines(
      "const query = { object: 'document:readme', relation: 'viewer', context: { zone: 'Europe/Vienna' } };",
      'for await (const subject of grantd.listSubjects(query)) console.log(subject);',
    ),
    go: lines(
      'query := grantd.SubjectsQuery{Object: "document:readme", Relation: "viewer"}',
      'query.Context = map[string]any{"zone": "Europe/Vienna"}',
      'for subject, err := range client.ListSubjects(ctx, query) {',
      '\tfmt.Println(subject, err)',
      '}',
    ),
    python: lines(
      'context = {"zone": "Europe/Vienna"}',
      'for subject in client.list_subjects("document:readme", "viewer", context=context):',
      '    print(subject)',
    ),
  },
  listNamespaces: {
    typescript: 'for await (const namespace of grantd.listNamespaces()) console.log(namespace.name);',
    go: 'namespaces, err := client.ListNamespaces(ctx)',
    python: lines('for namespace in client.list_namespaces():', '    print(namespace)'),
  },
  createNamespace: {
    typescript: "const namespace = await grantd.createNamespace({ name: 'document' });",
    go: 'namespace, err := client.CreateNamespace(ctx, "document")',
    python: 'namespace = client.create_namespace("document")',
  },
  listKeys: {
    typescript: 'for await (const key of grantd.listKeys()) console.log(key.key_id, key.name);',
    go: lines(
      'for key, err := range client.ListKeys(ctx, grantd.KeysQuery{}) {',
      '\tfmt.Println(key.KeyID, key.Name, err)',
      '}',
    ),
    python: lines('for key in client.list_keys():', '    print(key)'),
  },
  createKey: {
    typescript: "const { key } = await grantd.createKey({ name: 'web frontend', scopes: ['check:read'] });",
    go: 'created, err := client.CreateKey(ctx, grantd.KeyRequest{Name: "web frontend", Scopes: []string{"check:read"}})',
    python: 'created = client.create_key(name="web frontend", scopes=["check:read"])',
  },
  revokeKey: {
    typescript: "const revoked = await grantd.revokeKey({ key_id: 'key_01jhm9r0g0e8xsg4k6t2v8w0yz' });",
    go: 'revoked, err := client.RevokeKey(ctx, "key_01jhm9r0g0e8xsg4k6t2v8w0yz")',
    python: 'revoked = client.revoke_key("key_01jhm9r0g0e8xsg4k6t2v8w0yz")',
  },
  readRules: {
    typescript: 'const { rule_set: ruleSet, revision } = await grantd.readRules();',
    go: 'rules, err := client.ReadRules(ctx)',
    python: 'rules = client.read_rules()',
  },
  writeRules: {
    typescript: lines(
      'const { revision } = await grantd.readRules();',
      "const rules = [{ namespace: 'document', name: 'viewer', any_of: ['editor', 'viewer from parent'] }];",
      'await grantd.writeRules({ rule_set: { rules, groups: true }, revision });',
    ),
    go: lines(
      'anyOf := grantd.Names("editor", "viewer from parent")',
      'rules, err := client.WriteRules(ctx, grantd.RuleSetRequest{',
      '\tRules: []grantd.Rule{{Namespace: "document", Name: "viewer", AnyOf: anyOf}},',
      '}, "")',
    ),
    python: lines(
      'rules = [{"namespace": "document", "name": "viewer", "any_of": ["editor", "viewer from parent"]}]',
      'client.write_rules({"rules": rules, "groups": True})',
    ),
  },
  listRulesVersions: {
    typescript: lines(
      'for await (const { version, actor, at } of grantd.listRulesVersions()) {',
      '  console.log(version, actor, at);',
      '}',
    ),
    go: 'versions, err := client.ListRulesVersions(ctx)',
    python: 'versions = client.list_rules_versions()',
  },
  readRulesVersion: {
    typescript: lines(
      'const { revision } = await grantd.readRules();',
      'const { rule_set } = await grantd.readRulesVersion({ version: 1 });',
      'await grantd.writeRules({ rule_set, revision });',
    ),
    go: 'earlier, err := client.ReadRulesVersion(ctx, 1)',
    python: 'earlier = client.read_rules_version(1)',
  },
  listChanges: {
    typescript: lines(
      "for await (const { change, cursor } of grantd.changes({ since: 'now' })) {",
      '  console.log(change.action, cursor);',
      '}',
    ),
    go: lines(
      'for event, err := range client.Changes(ctx, grantd.ChangesQuery{Since: "now"}) {',
      '\tfmt.Println(event.Change, event.Cursor, err)',
      '}',
    ),
    python: lines('for change in client.changes(since="now"):', '    print(change)'),
  },
  evaluate: {
    typescript: lines(
      'const { decision } = await grantd.evaluate({',
      "  subject: { type: 'user', id: 'alice' },",
      "  action: { name: 'viewer' },",
      "  resource: { type: 'document', id: 'readme' },",
      '});',
    ),
    go: lines(
      'decision, err := client.Evaluate(ctx, grantd.EvaluationRequest{',
      '\tSubject:  grantd.AccessEntity{Type: "user", ID: "alice"},',
      '\tAction:   grantd.AccessAction{Name: "viewer"},',
      '\tResource: grantd.AccessEntity{Type: "document", ID: "readme"},',
      '})',
    ),
    python: lines(
      'decision = client.evaluate({',
      '    "subject": {"type": "user", "id": "alice"},',
      '    "action": {"name": "viewer"},',
      '    "resource": {"type": "document", "id": "readme"},',
      '})',
    ),
  },
  evaluateMany: {
    typescript: lines(
      'const [views, edits] = await grantd.evaluateMany({',
      "  subject: { type: 'user', id: 'alice' },",
      "  resource: { type: 'document', id: 'readme' },",
      "  evaluations: [{ action: { name: 'viewer' } }, { action: { name: 'editor' } }],",
      '});',
    ),
    go: lines(
      'decisions, err := client.EvaluateMany(ctx, grantd.EvaluationsRequest{',
      '\tPartialEvaluation: grantd.PartialEvaluation{',
      '\t\tSubject:  &grantd.AccessEntity{Type: "user", ID: "alice"},',
      '\t\tResource: &grantd.AccessEntity{Type: "document", ID: "readme"},',
      '\t},',
      '\tEvaluations: []grantd.PartialEvaluation{',
      '\t\t{Action: &grantd.AccessAction{Name: "viewer"}},',
      '\t\t{Action: &grantd.AccessAction{Name: "editor"}},',
      '\t},',
      '})',
    ),
    python: lines(
      'views, edits = client.evaluate_many({',
      '    "subject": {"type": "user", "id": "alice"},',
      '    "resource": {"type": "document", "id": "readme"},',
      '    "evaluations": [{"action": {"name": "viewer"}}, {"action": {"name": "editor"}}],',
      '})',
    ),
  },
  searchSubjects: {
    typescript: lines(
      'const search = {',
      "  subject: { type: 'user' },",
      "  action: { name: 'viewer' },",
      "  resource: { type: 'document', id: 'readme' },",
      '};',
      'for await (const { id } of grantd.searchSubjects(search)) console.log(id);',
    ),
    go: lines(
      'search := grantd.SubjectSearch{',
      '\tSubject:  grantd.WantedType{Type: "user"},',
      '\tAction:   grantd.AccessAction{Name: "viewer"},',
      '\tResource: grantd.GivenEntity{Type: "document", ID: "readme"},',
      '}',
      'for subject, err := range client.SearchSubjects(ctx, search) {',
      '\tfmt.Println(subject.ID, err)',
      '}',
    ),
    python: lines(
      'for subject in client.search_subjects({',
      '    "subject": {"type": "user"},',
      '    "action": {"name": "viewer"},',
      '    "resource": {"type": "document", "id": "readme"},',
      '}):',
      '    print(subject)',
    ),
  },
  searchResources: {
    typescript: lines(
      'const search = {',
      "  subject: { type: 'user', id: 'alice' },",
      "  action: { name: 'viewer' },",
      "  resource: { type: 'document' },",
      '};',
      'for await (const { id } of grantd.searchResources(search)) console.log(id);',
    ),
    go: lines(
      'search := grantd.ResourceSearch{',
      '\tSubject:  grantd.GivenEntity{Type: "user", ID: "alice"},',
      '\tAction:   grantd.AccessAction{Name: "viewer"},',
      '\tResource: grantd.WantedType{Type: "document"},',
      '}',
      'for resource, err := range client.SearchResources(ctx, search) {',
      '\tfmt.Println(resource.ID, err)',
      '}',
    ),
    python: lines(
      'for resource in client.search_resources({',
      '    "subject": {"type": "user", "id": "alice"},',
      '    "action": {"name": "viewer"},',
      '    "resource": {"type": "document"},',
      '}):',
      '    print(resource)',
    ),
  },
  searchActions: {
    typescript: lines(
      "const search = { subject: { type: 'user', id: 'alice' }, resource: { type: 'document', id: 'readme' } };",
      'for await (const { name } of grantd.searchActions(search)) console.log(name);',
    ),
    go: lines(
      'search := grantd.ActionSearch{',
      '\tSubject:  grantd.GivenEntity{Type: "user", ID: "alice"},',
      '\tResource: grantd.GivenEntity{Type: "document", ID: "readme"},',
      '}',
      'for action, err := range client.SearchActions(ctx, search) {',
      '\tfmt.Println(action.Name, err)',
      '}',
    ),
    python: lines(
      'for action in client.search_actions({',
      '    "subject": {"type": "user", "id": "alice"},',
      '    "resource": {"type": "document", "id": "readme"},',
      '}):',
      '    print(action)',
    ),
  },
};
