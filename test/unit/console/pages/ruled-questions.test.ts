// Checks and listings of a tenant with rules: why, why not, and who.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { Relation } from '../../../../src/core/tuples.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { NO_RULES } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { useConsole } from '../../../kit/console-service.ts';
import { type ConsoleVisitor, context, visitTenant } from '../console-visitor.ts';

const RULES = parseRuleSet({
  rules: [
    { namespace: 'folder', name: 'viewer', any_of: ['owner'] },
    { namespace: 'doc', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'can_write'] },
    { namespace: 'doc', name: 'can_write', any_of: ['owner'] },
  ],
  groups: true,
});
const GRANTS: readonly (readonly [string, Relation, string])[] = [
  ['user:ada', 'member', 'team:eng'],
  ['team:eng#member', 'owner', 'folder:1'],
  ['folder:1', 'parent', 'doc:1'],
  ['team:ops#member', 'editor', 'doc:1'],
  ['doc:1#viewer', 'guest', 'doc:1'],
  ['user:bob', 'editor', 'doc:1'],
];

const service = await useConsole();
let visitor: ConsoleVisitor;
let session: OperatorTenantSession;
let base: string;

beforeEach(async () => {
  service.operator.faults.length = 0;
  const { tenantId, ...visit } = await visitTenant(service);
  ({ visitor, session } = visit);
  await session.call(
    'writeGrants',
    context,
    GRANTS.map(([subject, relation, object]) => ({ subject, relation, object, revoke: false })),
  );
  await session.call('writeRules', context, { rules: RulesText.of(RULES), ifMatch: undefined });
  base = `/console/tenants/${tenantId}`;
});

const query = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString();
const check = async (subject: string, relation: string, object: string) => {
  const { status, text } = await visitor.get(`${base}/check?${query({ subject, relation, object })}`);
  return { status, text: text.replaceAll(/\s+/g, ' ') };
};
const linksIn = (text: string): readonly string[] =>
  [...text.matchAll(/<ul class="subjects">(.*?)<\/ul>/gs)].flatMap(([, list = '']) =>
    [...list.matchAll(/<bdi[^>]*>([^<]*)<\/bdi>/g)].map(([, name = '']) => name),
  );

describe('a check of a tenant with rules', () => {
  it('shows the chain of grants that allows it, with links', async () => {
    const { status, text } = await check('user:ada', 'can_read', 'doc:1');
    assert.equal(status, 200);
    assert.match(text, /<h2 id="answer-title">Authorized<\/h2>/);
    assert.match(text, /this chain of grants/);
    const steps = [
      ...(/<ol class="chain">(.*?)<\/ol>/.exec(text)?.[1] ?? '').matchAll(/<li><a href="([^"]*)">.*?<\/li>/g),
    ].map(([, link = '']) => link);
    assert.deepEqual(
      steps.map((link) => link.replaceAll('&amp;', '&')),
      [
        `${base}/grants?subject=user%3Aada`,
        `${base}/grants?object=team%3Aeng&relation=member`,
        `${base}/grants?subject=folder%3A1`,
      ],
    );
    assert.match(text, /<a href="[^"]*grants\?object=doc%3A1">/);
  });

  it('never says that a list of grants, or a revocation, is all there is under rules', async () => {
    const onObject = await visitor.get(`${base}/grants?object=doc%3A1`);
    assert.match(onObject.text, /the grants on the object itself\. Others may hold a name on it by the rules/);
    const ofSubject = await visitor.get(`${base}/grants?subject=user%3Abob`);
    assert.match(ofSubject.text, /its own grants\..*href="[^"]*\/objects\?subject=user%3Abob"/s);
    for (const path of ['revoke?subject=user%3Abob&relation=editor&object=doc%3A1', 'revoke-all?object=doc%3A1']) {
      const { text } = await visitor.get(`${base}/grants/${path}`);
      // By the rules, an editor is a viewer, who can read.
      assert.match(text, /loses? access to 1 object.*user:bob.*can_read/s, path);
    }
  });

  it('shows the one grant that suffices', async () => {
    assert.match(
      (await check('user:bob', 'editor', 'doc:1')).text,
      /Allowed by the grant <span class="copyable"><code/,
    );
    assert.match(
      (await check('user:bob', 'viewer', 'doc:1')).text,
      /Allowed by this grant and the <a [^>]*>rules<\/a>/,
    );
    assert.match((await check('doc:1#viewer', 'viewer', 'doc:1')).text, /The subject is the group of those/);
  });

  it('says what was looked for in vain, each a link to the check of that', async () => {
    const { text } = await check('user:eve', 'can_read', 'doc:1');
    assert.match(text, /Not authorized/);
    assert.match(text, /a grant of owner, editor or viewer on the object/);
    assert.match(text, /the derived name can_write on the object/);
    assert.match(text, /href="[^"]*check\?subject=user%3Aeve&amp;relation=member&amp;object=team%3Aops"/);
    assert.match(text, /viewer on an entity that is <strong>parent<\/strong> of the object/);
    assert.match(text, /href="[^"]*check\?subject=user%3Aeve&amp;relation=viewer&amp;object=folder%3A1"/);
    assert.doesNotMatch(text, /do not imply/);
    assert.match((await check('user:eve', 'can_read', 'doc:2')).text, /of the object: no grant names one\./);
  });

  it('says so where there are no rules from which it could follow', async () => {
    await session.call('writeRules', context, { rules: RulesText.of(NO_RULES), ifMatch: undefined });
    assert.match(
      (await check('user:eve', 'editor', 'doc:1')).text,
      /No such grant exists, and the tenant has no rules/,
    );
  });

  it('warns of a namespace that the tenant has never used, and so do many checks and the listings', async () => {
    const warning = /<p class="warning">.*?The tenant has no grant, rule or namespace &quot;dco&quot;\./;
    assert.match((await check('user:eve', 'editor', 'dco:1')).text, warning);
    assert.doesNotMatch((await check('user:eve', 'editor', 'doc:1')).text, /class="warning"/);
    for (const path of [
      `objects?${query({ subject: 'user:ada', relation: 'owner', namespace: 'dco' })}`,
      `grants?${query({ object: 'dco:1', relation: 'viewer' })}`,
    ]) {
      assert.match((await visitor.get(`${base}/${path}`)).text.replaceAll(/\s+/g, ' '), warning, path);
    }
  });

  it('offers the names of the tenant, and refuses others beside the field', async () => {
    const { text } = await visitor.get(`${base}/check`);
    assert.match(text, /<input[^>]* list="relation-names"/);
    assert.match(text, /<datalist id="relation-names">.*<option value="can_read"\/?>/s);
    const unknown = await check('user:ada', 'can_fly', 'doc:1');
    assert.equal(unknown.status, 400);
    assert.match(
      unknown.text,
      /id="relation-error" role="alert">[^<]*&quot;can_fly&quot; is none of them\..*Names on doc: [^<]*can_read, /,
    );
    assert.equal((await check('user:ada', '<b>', 'doc:1')).status, 422);
  });

  it('is told apart from a denial where it is too large', async () => {
    service.operator.faults.push(undefined, undefined, undefined, new GrantdError('evaluation-too-large', 'Too deep.'));
    const { status, text } = await check('user:ada', 'can_read', 'doc:1');
    assert.equal(status, 422);
    assert.match(text, /role="alert"[^>]*>Too deep\./);
    assert.doesNotMatch(text, /Not authorized/);
  });
});

describe('the listings of a tenant with rules', () => {
  it('follow the rules, or only grants', async () => {
    const objects = async (fields: Readonly<Record<string, string>>) =>
      linksIn(
        (await visitor.get(`${base}/objects?${query({ subject: 'user:ada', relation: 'viewer', ...fields })}`)).text,
      );
    assert.deepEqual(await objects({}), ['doc:1', 'folder:1']);
    assert.deepEqual(await objects({ relation: 'can_read' }), ['doc:1']);
    assert.deepEqual(await objects({ direct: 'yes' }), []);
    const wrong = await visitor.get(`${base}/objects?${query({ subject: 'user:ada', relation: 'can_fly' })}`);
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /id="relation-error"/);
  });

  it('show who may on an object; groups lead to their object, and its own are left out', async () => {
    const path = `${base}/grants?${query({ object: 'doc:1', relation: 'viewer' })}`;
    const { status, text } = await visitor.get(path);
    assert.equal(status, 200);
    assert.deepEqual(linksIn(text), [
      'folder:1#owner',
      'folder:1#viewer',
      'team:eng#member',
      'team:ops#member',
      'user:ada',
      'user:bob',
    ]);
    assert.match(text, /href="[^"]*grants\?object=team%3Aops&amp;relation=member"/);
    assert.match(text, /href="[^"]*check\?subject=user%3Aada&amp;relation=viewer&amp;object=doc%3A1"/);
    assert.deepEqual(linksIn((await visitor.get(`${path}&direct=yes`)).text), []);
    const direct = await visitor.get(`${base}/grants?${query({ object: 'doc:1', relation: 'editor', direct: 'yes' })}`);
    assert.deepEqual(linksIn(direct.text), ['team:ops#member', 'user:bob']);
    assert.match(direct.text, /name="direct" value="yes" checked/);
  });

  it('show the grants on an object as long as no name is asked for', async () => {
    const { text } = await visitor.get(`${base}/grants?object=doc:1`);
    assert.match(text, /<caption class="unseen">Grants of the object<\/caption>/);
    assert.match(text, /<datalist id="held-relation-names">/);
    assert.match(text, /href="[^"]*grants\?object=team%3Aops&amp;relation=member"/);
    const wrong = await visitor.get(`${base}/grants?object=doc:1&relation=can_fly`);
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /id="held-relation-error"/);
  });
});
