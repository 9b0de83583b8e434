// A validation file of SpiceDB, as `zed validate` reads it: its assertions, and the subjects that it lists.

import { parseContext } from '../../../../src/core/call-context.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { CliFailure } from '../../../cli/src/failures.ts';
import {
  type CheckQuestion,
  type ExpectedAnswer,
  type ModelFile,
  type ModelTest,
  type Question,
  within,
} from '../../../cli/src/model/model-tests.ts';
import { Cursor } from '../../../cli/src/yaml-file.ts';
import { ModelReader } from '../model/model-reader.ts';
import { entriesOfText } from '../tuples/spicedb-relationships.ts';
import type { TestFileOptions } from './openfga-store.ts';
import { PeerModel } from './peer-model.ts';

const ROOT = ['schema', 'schemaFile', 'relationships', 'assertions', 'validation'];
const ITEMS_MAX = 100_000;
const ASSERTIONS: readonly (readonly [list: string, expected: ExpectedAnswer])[] = [
  ['assertTrue', true],
  ['assertFalse', false],
  // Some parameter of a caveat is missing.
  ['assertCaveated', 'context-incomplete'],
];
/** `document:1#view@user:ann`, perhaps `with {"day": "monday"}` */
const ASSERTION = /^(?<relationship>\S+)(?:\s+with\s+(?<context>\{.*\}))?$/s;
/** `[user:ann] is <document:1#viewer>`, where the paths need not be the same here. */
const FOUND = /^\[(?<subject>.*?)\](?:\s+is\s.*)?$/s;
const EVERYONE = /^(?<everyone>\S+:\*)\s*-\s*\{(?<excluded>[^}]*)\}$/;
const CAVEATED = '[...]';

const wrong = (message: string): GrantdError => new GrantdError('invalid-request', message);

class ValidationReader {
  readonly #model: PeerModel;

  constructor(model: PeerModel) {
    this.#model = model;
  }

  assertion(cursor: Cursor, expected: ExpectedAnswer): CheckQuestion {
    return within(cursor, () => {
      const { relationship = '', context } = ASSERTION.exec(cursor.text().text.trim())?.groups ?? {};
      const [entry] = entriesOfText(relationship, 1);
      if (entry === undefined || !('tuple' in entry)) throw wrong(entry?.problem ?? 'It must be a relationship.');
      const { subjectType, subjectId, subjectRelation = '...', relation, objectType, objectId } = entry.tuple;
      return {
        kind: 'check',
        place: cursor.location,
        question: {
          subject: this.#model.subject(`${subjectType}:${subjectId}#${subjectRelation}`),
          relation: this.#model.nameOf(objectType, relation),
          object: this.#model.entity(`${objectType}:${objectId}`).identifier,
        },
        context: context === undefined ? {} : parseContext(parseJson(context, 'The context')),
        expected,
      };
    });
  }

  /** `key`: `document:1#view`. If a caveat decides about a subject, each subject is checked instead. */
  found(cursor: Cursor, key: string): readonly Question[] {
    const items = cursor.node.kind === 'null' ? [] : cursor.list(ITEMS_MAX);
    return within(cursor, () => {
      const hash = key.lastIndexOf('#');
      const { type, identifier: object } = this.#model.entity(key.slice(0, Math.max(hash, 0)));
      const relation = this.#model.nameOf(type, key.slice(hash + 1));
      const texts = items.map((each) => ({ each, text: FOUND.exec(each.text().text.trim())?.groups?.subject ?? '' }));
      if (texts.some(({ text }) => text.includes(CAVEATED))) {
        return texts.map(({ each, text }) => {
          const [subject = '', ...rest] = text.split(CAVEATED);
          const expected: ExpectedAnswer = rest.length > 0 ? 'context-incomplete' : true;
          const [, everyone = subject] = /^(\S+:\*)/.exec(subject) ?? [];
          const question = { subject: this.#model.subject(everyone), relation, object };
          return { kind: 'check', place: each.location, question, context: {}, expected };
        });
      }
      const expected: string[] = [];
      const excluded: string[] = [];
      for (const { text } of texts) {
        const { everyone, excluded: taken = '' } = EVERYONE.exec(text)?.groups ?? {};
        expected.push(this.#model.subject(everyone ?? text));
        for (const each of taken.split(',').filter((part) => part.trim() !== '')) {
          excluded.push(this.#model.subject(each.trim()));
        }
      }
      return [
        {
          kind: 'subjects',
          place: cursor.location,
          object,
          relation,
          namespace: undefined,
          // SpiceDB names groups that are granted something, and not those that follow from rules.
          moreGroups: true,
          context: {},
          expected,
          excluded,
        },
      ];
    });
  }
}

function testOf(name: string, cursor: Cursor | undefined, questions: readonly Question[]): readonly ModelTest[] {
  return cursor === undefined || questions.length === 0
    ? []
    : [{ name, place: cursor.location, grants: [], questions }];
}

function assertionsIn(reader: ValidationReader, cursor: Cursor | undefined): readonly Question[] {
  if (cursor === undefined || cursor.node.kind === 'null') return [];
  const map = cursor.map(ASSERTIONS.map(([list]) => list));
  return ASSERTIONS.flatMap(([list, expected]) => {
    const at = cursor.field(map, list);
    if (at === undefined || at.node.kind === 'null') return [];
    return at.list(ITEMS_MAX).map((each) => reader.assertion(each, expected));
  });
}

function validationIn(reader: ValidationReader, cursor: Cursor | undefined): readonly Question[] {
  if (cursor === undefined || cursor.node.kind === 'null') return [];
  const { node } = cursor;
  if (node.kind !== 'map') throw cursor.failure('must be a map.');
  return [...node.fields.keys()].flatMap((key) => {
    const at = cursor.field(node, key);
    return at === undefined ? [] : reader.found(at, key);
  });
}

/** Throws a CliFailure that names file and line. */
export async function readValidation({ file, root, nowMs }: TestFileOptions): Promise<ModelFile> {
  const cursor = new Cursor(file, root, '');
  // A misspelled "assertions" would be no test.
  cursor.map(ROOT);
  const texts = await new ModelReader().readInYaml(file, root, 'spicedb');
  if (texts.length === 0) throw new CliFailure(`${file} has no schema.`);
  const model = new PeerModel(texts, nowMs);
  const reader = new ValidationReader(model);
  const fieldOf = (name: string): Cursor | undefined => cursor.field(root, name);
  const relationships = fieldOf('relationships');
  const isText = relationships?.node.kind === 'text';
  const entries = isText ? [...entriesOfText(relationships.text().text, relationships.text().textLine)] : [];
  const [assertions, validation] = [fieldOf('assertions'), fieldOf('validation')];
  const { ruleSet, notes } = model;
  return {
    ruleSet,
    notes,
    grants: model.grantsOf(file, entries),
    tests: [
      ...testOf('assertions', assertions, assertionsIn(reader, assertions)),
      ...testOf('validation', validation, validationIn(reader, validation)),
    ],
  };
}
