// How each operation is called with the clients: one short sample in each language. `grantd` (TypeScript) and `client`
// (Go, Python) are clients that exist already. A test compiles the samples against the clients of this repository.
// Samples of given checks contain identifiers that come from users: as string literals, in which nothing ends the
// literal or is invisible.

import type { NamedTuple } from '../../rules/questions.ts';
import { EXAMPLE_TUPLE } from '../schema/examples.ts';

export interface ClientSamples {
  readonly typescript: string;
  readonly go: string;
  readonly python: string;
}

/** Characters that are invisible or change the direction of what follows: one text could look like another. */
export const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

const hex = (character: string, digits: number): string =>
  (character.codePointAt(0) ?? 0).toString(16).padStart(digits, '0');

/** TypeScript, Go and Python share these escapes; only those above U+FFFF differ. */
const escaped = (text: string, quote: string, above: (character: string) => string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll(INVISIBLE, (character) => (character.length > 1 ? above(character) : `\\u${hex(character, 4)}`));

const inTypescript = (text: string): string => `'${escaped(text, "'", (character) => `\\u{${hex(character, 1)}}`)}'`;
const inQuotes = (text: string): string => `"${escaped(text, '"', (character) => `\\U${hex(character, 8)}`)}"`;

/** JSON for the command line, with invisible characters escaped. */
export const sampleJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(INVISIBLE, (character) =>
    character === ' '
      ? character
      : Array.from(
          { length: character.length },
          (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
        ).join(''),
  );

const lines = (...text: readonly string[]): string => text.join('\n');

export const inOrder = ({ subject, relation, object }: NamedTuple): readonly string[] => [subject, relation, object];

export function checkSamples(question: NamedTuple): ClientSamples {
  const parts = inOrder(question);
  return {
    typescript: lines(
      'const allowed = await grantd.check({',
      `  subject: ${inTypescript(question.subject)},`,
      `  relation: ${inTypescript(question.relation)},`,
      `  object: ${inTypescript(question.object)},`,
      '});',
    ),
    go: `allowed, err := client.Check(ctx, ${parts.map(inQuotes).join(', ')})`,
    python: `allowed = client.check(${parts.map(inQuotes).join(', ')})`,
  };
}

/** `names`: one for the result of each check; absent: one name for the list of results. */
export function checkBulkSamples(questions: readonly NamedTuple[], names?: readonly string[]): ClientSamples {
  const typescript = questions.map(({ subject, relation, object }) => {
    const [first, second, third] = [subject, relation, object].map(inTypescript);
    return `  { subject: ${first}, relation: ${second}, object: ${third} },`;
  });
  const go = questions.map(({ subject, relation, object }) => {
    const [first, second, third] = [subject, relation, object].map(inQuotes);
    return `\t{Subject: ${first}, Relation: ${second}, Object: ${third}},`;
  });
  const python = questions.map((question) => `    (${inOrder(question).map(inQuotes).join(', ')}),`);
  const results = names?.join(', ');
  return {
    typescript: [
      `const ${results === undefined ? 'results' : `[${results}]`} = await grantd.checkBulk({`,
      '  checks: [',
      ...typescript.map((line) => `  ${line}`),
      '  ],',
      '});',
    ].join('\n'),
    go: ['result, err := client.CheckBulk(ctx, []grantd.Question{', ...go, '})'].join('\n'),
    python: [`${results ?? 'results'} = client.check_bulk([`, ...python, '])'].join('\n'),
  };
}

/** By the id of the operation. All but `readOpenapi`: clients are generated from its response. */
export const CLIENT_SAMPLES: Readonly<Record<string, ClientSamples>> = {
  check: checkSamples(EXAMPLE_TUPLE),
  checkBulk: checkBulkSamples([EXAMPLE_TUPLE, { ...EXAMPLE_TUPLE, relation: 'editor' }], ['views', 'edits']),
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
