// The OpenAPI document of the public interface. Invariant: nothing in it depends on the machine except the two
// addresses passed in.

import type { z } from 'zod';
import {
  conditionDeclarationSchema,
  ruleElementSchema,
  ruleGateSchema,
  ruleRequestSchema,
  ruleSchema,
  typeRestrictionSchema,
} from '../../rules/rule-set-schema.ts';
import { OPERATIONS } from '../operation-table.ts';
import type { PublicOperation } from '../operations/operation.ts';
import {
  actionSchema,
  defaultEntitySchema,
  entitySchema,
  foundEntitySchema,
  pageInfoSchema,
  SEARCH_PARTS,
} from '../schema/authzen-schemas.ts';
import { changeSchema } from '../schema/change-schemas.ts';
import { joinedFromSchema, joinedNodeSchema, joinFormulaSchema } from '../schema/join-schemas.ts';
import {
  accessRowSchema,
  accessSideSchema,
  namespaceRelationSchema,
  rulesPreviewSchema,
  rulesVersionSchema,
} from '../schema/rule-schemas.ts';
import { dryRunSchema } from '../schema/schema-parts.ts';
import {
  bulkAnswerSchema,
  conditionRequestSchema,
  conditionSchema,
  contextGrantSchema,
  denialReasonSchema,
  grantConditionSchema,
  listedKeySchema,
  objectSchema,
  questionSchema,
  reasonGrantSchema,
  relationNameSchema,
  relationSchema,
  revocationSchema,
  scopeSchema,
  subjectSchema,
  viaSchema,
  writtenGrantSchema,
} from '../schema/schemas.ts';
import { type JsonObject, PARAMETERS, RATE_LIMIT, REQUEST_ID } from './headers.ts';
import { createDocument, type DescribedInterface, type OpenapiAddresses } from './openapi-document.ts';

/** Announced but not served: named so that clients do not look for it in vain, and the paths stay free. */
const ANNOUNCED =
  'OAuth 2.0 is announced for a later version and not served by this one: `GET /v1/oauth/authorize`, `POST /v1/oauth/token`, `POST /v1/oauth/revoke` and `GET /v1/oauth/introspect` return 404 until then.';

/** Schemas that occur only within others: those about a tenant, which the operator's API has too. */
export const TENANT_PARTS = {
  SubjectIdentifier: subjectSchema,
  Relation: relationSchema,
  RelationName: relationNameSchema,
  Question: questionSchema,
  Via: viaSchema,
  DryRun: dryRunSchema,
  ObjectIdentifier: objectSchema,
  Scope: scopeSchema,
  BulkCheckAnswer: bulkAnswerSchema,
  Condition: conditionSchema,
  GrantCondition: grantConditionSchema,
  GrantConditionRequest: conditionRequestSchema,
  ContextGrant: contextGrantSchema,
  WrittenGrant: writtenGrantSchema,
  DenialReason: denialReasonSchema,
  ReasonGrant: reasonGrantSchema,
  Revocation: revocationSchema,
  Key: listedKeySchema,
  ConditionDeclaration: conditionDeclarationSchema,
  TypeRestriction: typeRestrictionSchema,
  RuleElement: ruleElementSchema,
  RuleGate: ruleGateSchema,
  Rule: ruleSchema,
  RuleRequest: ruleRequestSchema,
  RulesPreview: rulesPreviewSchema,
  AccessSide: accessSideSchema,
  AccessRow: accessRowSchema,
  RulesVersion: rulesVersionSchema,
  Change: changeSchema,
  JoinedFrom: joinedFromSchema,
  JoinedNode: joinedNodeSchema,
  JoinFormula: joinFormulaSchema,
  NamespaceRelation: namespaceRelationSchema,
} satisfies Record<string, z.ZodType>;

/** No site has the guides. */
const guide = (name: string): string => `Guide in the repository: \`docs/guides/${name}.md\`.`;

const PUBLIC_INTERFACE: DescribedInterface<PublicOperation> = {
  title: 'grantd',
  summary: 'Does this subject hold this relation on this object?',
  description: `Stores grants (subject, relation, object) and answers checks. Everything is scoped to the tenant of the API key. Clients must tolerate new optional fields in responses. The version is that of the interface; the program has its own.\n\n${ANNOUNCED}`,
  tags: {
    Checks: `Does this subject hold this relation on this object? ${guide('tutorial')}`,
    Grants: `Create and revoke grants, one by one or many at once, and list them in both directions. ${guide('many-changes')}`,
    Namespaces: 'The namespaces of the tenant. Grants create theirs automatically.',
    Keys: `API keys, with scopes and expiry. ${guide('keys-for-services')}`,
    Rules: `What follows from grants: relations that imply others, groups, and what is public. ${guide('modelling-permissions')}`,
    Changes: `What has changed: as pages, or as a stream of events. ${guide('following-changes')}`,
    AuthZEN: `The AuthZEN Authorization API 1.0, in the words of policy decision and enforcement points. \`GET /.well-known/authzen-configuration\` needs no key and says where its endpoints are; it is a 404 where the base URL of the service is not https. ${guide('authzen')}`,
    Description: 'This document.',
  },
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'gk1_ and 81 characters of base62',
      description:
        'An API key. It belongs to one tenant and carries the scopes check:read, grant:write and admin; no scope implies another.',
    },
  },
  parameters: PARAMETERS,
  parts: {
    ...TENANT_PARTS,
    AccessEntity: entitySchema,
    AccessAction: actionSchema,
    DefaultEntity: defaultEntitySchema,
    PageInfo: pageInfoSchema,
    FoundEntity: foundEntitySchema,
    ...SEARCH_PARTS,
  },
  // Responses given before the rate limit is consulted cannot show its state.
  headersOf: (status) => ({ ...REQUEST_ID, ...(status === 401 || status === 431 ? {} : RATE_LIMIT) }),
  refusalsOf: ({ scope }) => (scope === undefined ? ['tenant-suspended'] : ['insufficient-scope', 'tenant-suspended']),
  detailsOf(operation) {
    const { description, scope } = operation;
    const needs = scope === undefined ? 'Any valid key may call it.' : `Needs the scope \`${scope}\`.`;
    return {
      description: `${description}\n\n${needs}`,
      security: [{ apiKey: scope === undefined ? [] : [scope] }],
    };
  },
};

export const createOpenapiDocument = (addresses: OpenapiAddresses): JsonObject =>
  createDocument(PUBLIC_INTERFACE, OPERATIONS, addresses);

/** The document as committed: with relative addresses, so that it is the same on every machine. */
export const createCommittedOpenapi = (): JsonObject =>
  createOpenapiDocument({ serverUrl: '/', errorsBase: '/errors' });

/** The text of docs/reference/openapi.json. */
export const committedOpenapiText = (): string => `${JSON.stringify(createCommittedOpenapi(), undefined, 2)}\n`;
