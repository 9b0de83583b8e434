// A store of OpenFGA with tests, as its command line reads it (`fga model test`).

import { createReadStream } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { parseCallContext } from '../../../../src/core/call-context.ts';
import { peerFormatOf } from '../../../cli/src/converter.ts';
import {
  type ModelFile,
  type ModelTest,
  type Question,
  type TestGrant,
  within,
} from '../../../cli/src/model/model-tests.ts';
import { Cursor, plainOf, type YamlMap } from '../../../cli/src/yaml-file.ts';
import { ModelReader } from '../model/model-reader.ts';
import { entriesOfNodes } from '../tuples/openfga-tuples.ts';
import { openPeerFile } from '../tuples/peer-file.ts';
import { PeerModel } from './peer-model.ts';

const ITEMS_MAX = 100_000;
const TUPLES = ['tuples', 'tuple_file', 'tuple_files'];
const ROOT = ['name', 'model', 'model_file', ...TUPLES, 'tests'];
const TEST = ['name', 'description', ...TUPLES, 'check', 'list_objects', 'list_users'];
const TUPLE_FILE = /\.(ya?ml|json|jsonl|csv)$/i;

export interface TestFileOptions {
  readonly file: string;
  readonly root: YamlMap;
  readonly nowMs: () => number;
}

const itemsIn = (cursor: Cursor, map: YamlMap, name: string): readonly Cursor[] =>
  cursor.field(map, name)?.list(ITEMS_MAX) ?? [];

/** The texts of `one`, or of the list `many`. */
const textsIn = (cursor: Cursor, map: YamlMap, one: string, many: string): readonly Cursor[] => {
  const single = cursor.field(map, one);
  return [...(single === undefined ? [] : [single]), ...itemsIn(cursor, map, many)];
};

class StoreReader {
  readonly #file: string;
  readonly #model: PeerModel;

  constructor(file: string, model: PeerModel) {
    this.#file = file;
    this.#model = model;
  }

  async grantsIn(cursor: Cursor, map: YamlMap): Promise<readonly TestGrant[]> {
    const listed = itemsIn(cursor, map, 'tuples').map(({ node }) => node);
    const grants = [...this.#model.grantsOf(this.#file, [...entriesOfNodes(listed)])];
    for (const named of textsIn(cursor, map, 'tuple_file', 'tuple_files')) {
      const { text } = named.text();
      if (isAbsolute(text) || text.includes('\0') || !TUPLE_FILE.test(text)) {
        throw named.failure('is not followed: it must be a relative path of a file of tuples.');
      }
      const file = join(dirname(this.#file), text);
      const format = peerFormatOf(file, 'openfga', undefined);
      const { entries } = await openPeerFile(createReadStream(file), { file, origin: 'openfga', format });
      for await (const group of entries) grants.push(...this.#model.grantsOf(file, group));
    }
    return grants;
  }

  async test(cursor: Cursor, index: number): Promise<ModelTest> {
    const map = cursor.map(TEST);
    const name = cursor.field(map, 'name')?.name() ?? `test ${index + 1}`;
    const questions = [
      ...itemsIn(cursor, map, 'check').flatMap((each) => this.#checks(each)),
      ...itemsIn(cursor, map, 'list_objects').flatMap((each) => this.#objects(each)),
      ...itemsIn(cursor, map, 'list_users').flatMap((each) => this.#users(each)),
    ];
    return { name, place: cursor.location, grants: await this.grantsIn(cursor, map), questions };
  }

  #contextIn(cursor: Cursor, map: YamlMap) {
    const context = cursor.field(map, 'context');
    return within(cursor, () => parseCallContext(context === undefined ? {} : { context: plainOf(context.node) }));
  }

  /** Names and what is expected of them. */
  #assertions(cursor: Cursor, map: YamlMap): readonly (readonly [name: string, expected: Cursor])[] {
    const at = cursor.demand(map, 'assertions');
    const { node } = at;
    if (node.kind !== 'map') throw at.failure('must be a map.');
    if (node.fields.size === 0) throw at.failure('asks nothing: it is empty.');
    return [...node.fields.keys()].flatMap((name) => {
      const expected = at.field(node, name);
      return expected === undefined ? [] : [[name, expected] as const];
    });
  }

  #checks(cursor: Cursor): readonly Question[] {
    const map = cursor.map(['user', 'users', 'object', 'objects', 'context', 'assertions']);
    const context = this.#contextIn(cursor, map);
    const [users, objects] = [textsIn(cursor, map, 'user', 'users'), textsIn(cursor, map, 'object', 'objects')];
    if (users.length === 0 || objects.length === 0) throw cursor.failure('has no "user" or no "object".');
    return users.flatMap((user) =>
      objects.flatMap((object) =>
        this.#assertions(cursor, map).map(([name, at]) => {
          const expected = plainOf(at.node);
          if (typeof expected !== 'boolean') throw at.failure('must be true or false.');
          return within(at, () => {
            const { type, identifier } = this.#model.entity(object.text().text);
            const subject = this.#model.subject(user.text().text);
            const question = { subject, relation: this.#model.nameOf(type, name), object: identifier };
            return { kind: 'check', place: at.location, question, context, expected };
          });
        }),
      ),
    );
  }

  #objects(cursor: Cursor): readonly Question[] {
    const map = cursor.map(['user', 'type', 'context', 'assertions']);
    const context = this.#contextIn(cursor, map);
    const namespace = cursor.demand(map, 'type').text().text;
    return this.#assertions(cursor, map).map(([name, at]) =>
      within(at, () => ({
        kind: 'objects',
        place: at.location,
        subject: this.#model.subject(cursor.demand(map, 'user').text().text),
        relation: this.#model.nameOf(namespace, name),
        namespace,
        context,
        expected: this.#identifiers(at),
      })),
    );
  }

  #identifiers(cursor: Cursor): readonly string[] {
    if (cursor.node.kind === 'null') return [];
    return cursor.list(ITEMS_MAX).map((each) => within(each, () => this.#model.subject(each.text().text)));
  }

  #users(cursor: Cursor): readonly Question[] {
    const map = cursor.map(['object', 'user_filter', 'context', 'assertions']);
    const context = this.#contextIn(cursor, map);
    const [filter, ...more] = cursor.demand(map, 'user_filter').list(ITEMS_MAX);
    if (filter === undefined || more.length > 0) throw cursor.failure('must have one "user_filter".');
    const filterMap = filter.map(['type', 'relation']);
    const namespace = filter.demand(filterMap, 'type').text().text;
    const relation = filter.field(filterMap, 'relation')?.text().text;
    return this.#assertions(cursor, map).map(([name, at]) =>
      within(at, () => {
        const { type, identifier } = this.#model.entity(cursor.demand(map, 'object').text().text);
        const expected = at.map(['users', 'excluded_users']);
        const [users, excluded] = [at.field(expected, 'users'), at.field(expected, 'excluded_users')];
        return {
          kind: 'subjects',
          place: at.location,
          object: identifier,
          relation: this.#model.nameOf(type, name),
          namespace,
          group: relation === undefined ? '' : this.#model.nameOf(namespace, relation),
          context,
          expected: users === undefined ? [] : this.#identifiers(users),
          excluded: excluded === undefined ? undefined : this.#identifiers(excluded),
        };
      }),
    );
  }
}

/** Throws a CliFailure that names file and line. */
export async function readStoreTests({ file, root, nowMs }: TestFileOptions): Promise<ModelFile> {
  const cursor = new Cursor(file, root, '');
  const map = cursor.map(ROOT);
  const model = new PeerModel(await new ModelReader().readInYaml(file, root, 'openfga'), nowMs);
  const reader = new StoreReader(file, model);
  const tests: ModelTest[] = [];
  for (const [index, each] of itemsIn(cursor, map, 'tests').entries()) tests.push(await reader.test(each, index));
  const { ruleSet, notes } = model;
  return { ruleSet, notes, grants: await reader.grantsIn(cursor, map), tests };
}
