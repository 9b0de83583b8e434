// A file of Permify's playground: its scenarios, as `permify validate` reads them.

import { parseContext } from '../../../../src/core/call-context.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { type ModelFile, type ModelTest, type Question, within } from '../../../cli/src/model/model-tests.ts';
import { Cursor, plainOf } from '../../../cli/src/yaml-file.ts';
import { ModelReader, parseModel } from '../model/model-reader.ts';
import { entriesOfAttributes, entriesOfRelationships } from '../tuples/permify-data.ts';
import type { TestFileOptions } from './openfga-store.ts';
import { PeerModel } from './peer-model.ts';

const ROOT = ['schema', 'schema_file', 'relationships', 'attributes', 'scenarios'];
const ITEMS_MAX = 100_000;

const listIn = (cursor: Cursor | undefined): readonly Cursor[] =>
  cursor === undefined || cursor.node.kind === 'null' ? [] : cursor.list(ITEMS_MAX);

/** Only `context.data`: other parts of the context of a check are refused. */
function dataIn(context: Cursor | undefined) {
  if (context === undefined || context.node.kind === 'null') return {};
  const map = context.map(['tuples', 'attributes', 'data']);
  for (const name of ['tuples', 'attributes']) {
    const list = context.field(map, name);
    if (listIn(list).length > 0) throw context.failure(`has "${name}", which this command does not read.`);
  }
  const data = context.field(map, 'data');
  if (data === undefined || data.node.kind === 'null') return {};
  return within(data, () => {
    const value = plainOf(data.node);
    if (!isJsonObject(value)) throw new GrantdError('invalid-request', '"data" must be a map.');
    return parseContext({ data: value });
  });
}

function checksIn(model: PeerModel, cursor: Cursor): readonly Question[] {
  const map = cursor.map(['entity', 'subject', 'context', 'assertions', 'depth']);
  const context = dataIn(cursor.field(map, 'context'));
  const assertions = cursor.demand(map, 'assertions');
  const { node } = assertions;
  if (node.kind !== 'map') throw assertions.failure('must be a map.');
  // A name without a value asserts nothing.
  const asserted = [...node.fields].filter(([, value]) => value.kind !== 'null');
  if (asserted.length === 0) throw assertions.failure('asks nothing: no name has a value.');
  return asserted.map(([name, value]) =>
    within(assertions, () => {
      if (value.kind !== 'value' || typeof value.value !== 'boolean') {
        throw new GrantdError('invalid-request', `"${name}" must be true or false.`);
      }
      const { type, identifier } = model.entity(cursor.demand(map, 'entity').text().text);
      const subject = model.subject(cursor.demand(map, 'subject').text().text);
      const question = { subject, relation: model.nameOf(type, name), object: identifier };
      return { kind: 'check', place: assertions.location, question, context, expected: value.value };
    }),
  );
}

function scenarioIn(model: PeerModel, cursor: Cursor, index: number): ModelTest {
  const map = cursor.map(['name', 'description', 'checks', 'entity_filters', 'subject_filters']);
  for (const name of ['entity_filters', 'subject_filters']) {
    const list = cursor.field(map, name);
    if (listIn(list).length > 0) throw cursor.failure(`has "${name}", which this command does not read.`);
  }
  const questions = listIn(cursor.field(map, 'checks')).flatMap((each) => checksIn(model, each));
  const name = cursor.field(map, 'name')?.name() ?? `scenario ${index + 1}`;
  return { name, place: cursor.location, grants: [], questions };
}

/** Throws a CliFailure that names file and line. */
export async function readShape({ file, root, nowMs }: TestFileOptions): Promise<ModelFile> {
  const cursor = new Cursor(file, root, '');
  // Misspelled "scenarios" would be no test.
  cursor.map(ROOT);
  const texts = await new ModelReader().readInYaml(file, root, 'permify');
  const model = new PeerModel(texts, nowMs);
  const itemsOf = (name: string) => listIn(cursor.field(root, name)).map(({ node }) => node);
  const entries = [
    ...entriesOfRelationships(itemsOf('relationships')),
    ...entriesOfAttributes(parseModel(texts), itemsOf('attributes')),
  ];
  const scenarios = listIn(cursor.field(root, 'scenarios'));
  const { ruleSet, notes } = model;
  return {
    ruleSet,
    notes,
    grants: model.grantsOf(file, entries),
    tests: scenarios.map((each, index) => scenarioIn(model, each, index)),
  };
}
