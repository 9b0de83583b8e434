// Rules to start from, for a tenant that has none.

import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';

interface RulesExample {
  /** In the address. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly ruleSet: RuleSet;
}

export const RULES_EXAMPLES: readonly RulesExample[] = [
  {
    name: 'documents',
    title: 'A document app',
    about: 'Owners edit, editors view; access to a folder covers its content; teams, and public links.',
    ruleSet: parseRuleSet({
      rules: [
        { namespace: 'folder', name: 'editor', any_of: ['owner', 'editor from parent'] },
        { namespace: 'folder', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
        { namespace: 'document', name: 'editor', any_of: ['owner', 'editor from parent'] },
        { namespace: 'document', name: 'commenter', any_of: ['editor'] },
        { namespace: 'document', name: 'viewer', any_of: ['commenter', 'viewer from parent'] },
        { namespace: 'document', name: 'can_share', any_of: ['owner'] },
      ],
      groups: true,
      public: ['user'],
    }),
  },
  {
    name: 'saas',
    title: 'A SaaS with organizations',
    about: 'Roles in an organization, and what they may do in its projects.',
    ruleSet: parseRuleSet({
      rules: [
        { namespace: 'organization', name: 'admin', any_of: ['owner'] },
        { namespace: 'organization', name: 'member', any_of: ['admin'] },
        { namespace: 'organization', name: 'can_invite', any_of: ['admin'] },
        { namespace: 'organization', name: 'can_see_invoices', any_of: ['owner'] },
        { namespace: 'project', name: 'editor', any_of: ['owner', 'admin from parent'] },
        { namespace: 'project', name: 'viewer', any_of: ['editor', 'guest', 'member from parent'] },
        { namespace: 'project', name: 'can_deploy', any_of: ['editor'] },
      ],
      groups: false,
      public: [],
    }),
  },
  {
    name: 'rbac',
    title: 'Roles, as in Kubernetes',
    about: 'Admin, editor and viewer of a cluster, of its projects, and of the resources in them; groups of users.',
    ruleSet: parseRuleSet({
      rules: [
        { namespace: 'cluster', name: 'editor', any_of: ['admin'] },
        { namespace: 'cluster', name: 'viewer', any_of: ['editor'] },
        { namespace: 'project', name: 'admin', any_of: ['admin from parent'] },
        { namespace: 'project', name: 'editor', any_of: ['admin', 'editor from parent'] },
        { namespace: 'project', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
        { namespace: 'resource', name: 'can_get', any_of: ['can_update', 'viewer', 'viewer from parent'] },
        { namespace: 'resource', name: 'can_update', any_of: ['editor', 'editor from parent'] },
        { namespace: 'resource', name: 'can_delete', any_of: ['admin', 'admin from parent'] },
      ],
      groups: true,
      public: [],
    }),
  },
];
