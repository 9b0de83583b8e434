// `grantd import --from`: the entries of a file of OpenFGA or SpiceDB as grants to import, and notes about them.

import type { MapOption, Origin, PeerFormat } from '../../cli/src/converter.ts';
import type { ImportEntry } from '../../cli/src/import/import-lines.ts';
import { formatCount } from '../../cli/src/output/render.ts';
import type { RevisedRules } from '../../cli/src/tenant-rules.ts';
import { compileConditions } from './model/conditions.ts';
import { convertModel } from './model/conversion.ts';
import { parseModel } from './model/model-reader.ts';
import { openPeerFile, type PeerFile } from './tuples/peer-file.ts';
import { type Needs, translateEntries } from './tuples/translation.ts';
import {
  mapOf,
  namesOfMap,
  namesOfModel,
  namesOfOptions,
  readRelationMap,
  type TupleNames,
} from './tuples/tuple-names.ts';

export interface PeerImportOptions {
  readonly file: string;
  readonly origin: Origin;
  readonly format: PeerFormat;
  readonly map: readonly MapOption[];
  /** The file with the relation map. */
  readonly relationMap: string | undefined;
  /** The wall clock. */
  readonly nowMs: () => number;
}

export interface PeerImport {
  readonly entries: AsyncIterable<readonly ImportEntry[]>;
  /** Notes to print before the import, as sentences. */
  readonly notes: readonly string[];
  /** Parts that the rules of the tenant lack for the grants read so far to count, as sentences. */
  missingIn(rules: RevisedRules): string[];
  readonly needs: Needs;
}

interface Names {
  readonly names: TupleNames;
  readonly notes: readonly string[];
}

async function namesOf(peerFile: PeerFile, options: PeerImportOptions): Promise<Names> {
  const { relationMap, map } = options;
  const { model: texts, hasExpirations } = peerFile;
  const [source] = texts;
  const given = relationMap === undefined ? undefined : await readRelationMap(relationMap);
  if (source === undefined) return { names: given === undefined ? namesOfOptions(map) : namesOfMap(given), notes: [] };
  const model = parseModel(texts);
  const modelOptions = { hasExpirations, usableConditions: compileConditions(model).usable };
  if (given !== undefined) return { names: namesOfModel(model, given, modelOptions), notes: [] };
  const { mapped, findings } = convertModel(model, map);
  const unfit = findings.filter(({ lost }) => lost !== undefined).length;
  const notes = [
    `The model is in ${source.file}. An import sets no rules: do that with "grantd rules convert" and "grantd rules set", with the same --map.`,
    ...(unfit === 0
      ? []
      : [
          `The model says ${unfit === 1 ? 'one thing' : `${formatCount(unfit)} things`} that rules cannot say: "grantd rules convert" names them.`,
        ]),
  ];
  return { names: namesOfModel(model, mapOf(mapped), modelOptions), notes };
}

function missingIn({ ruleSet }: RevisedRules, needs: Needs): string[] {
  const lines: string[] = [];
  const grants = (count: number): string => (count === 1 ? '1 grant is' : `${formatCount(count)} grants are`);
  if (needs.groups > 0 && !ruleSet.groups) {
    lines.push(
      `${grants(needs.groups)} to groups (namespace:id#name), which count only once the rules of the tenant have "groups": true.`,
    );
  }
  for (const [namespace, count] of needs.public) {
    if (ruleSet.public.includes(namespace)) continue;
    lines.push(
      `${grants(count)} to ${namespace}:*, which apply to every subject only once the rules of the tenant have "public": ["${namespace}"].`,
    );
  }
  return lines;
}

/** Throws a CliFailure, here or from `entries`, if the file is not in the given format. */
export async function openPeerImport(
  chunks: AsyncIterable<Uint8Array>,
  options: PeerImportOptions,
): Promise<PeerImport> {
  const peerFile = await openPeerFile(chunks, options);
  const { names, notes } = await namesOf(peerFile, options);
  const needs: Needs = { groups: 0, public: new Map() };
  async function* entries(): AsyncGenerator<readonly ImportEntry[]> {
    for await (const group of peerFile.entries) yield translateEntries(group, names, needs, options.nowMs);
  }
  return {
    entries: entries(),
    notes: [...peerFile.notes, ...notes],
    missingIn: (rules) => missingIn(rules, needs),
    needs,
  };
}
