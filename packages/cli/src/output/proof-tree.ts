// Why a check is answered as it is, as indented lines: the proof that the APIs return, or the grants on which a yes
// rests.

import { isJsonObject, type JsonObject, objectsIn } from '../../../../src/core/json-members.ts';
import { tupleText } from '../../../../src/core/tuples.ts';

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const indent = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

const VERDICTS: ReadonlyMap<unknown, string> = new Map([
  [true, 'yes'],
  [false, 'no'],
]);

function grantLine({ subject, relation, object, condition, condition_saw: saw }: JsonObject): string {
  const tuple = tupleText({ subject, relation, object });
  if (!isJsonObject(condition)) return tuple;
  return `${tuple} with ${condition.name} ${JSON.stringify(saw ?? condition.context)}`;
}

/** Grants, one a line. */
export const grantLines = (grants: unknown): readonly string[] => objectsIn(grants).map(grantLine);

const cutLines = (cut: unknown): string[] => (cut === true ? ['the proof is too long: the rest is left out'] : []);

function gateLines({ gate, object, parents, all_of: all, but_not: none, cut }: JsonObject): string[] {
  const excluded = objectsIn(none);
  return [
    `gate ${gate} on ${object}`,
    ...indent([
      ...grantLines(parents),
      ...objectsIn(all).flatMap(proofLines),
      ...(excluded.length === 0 ? [] : ['but not', ...indent(excluded.flatMap(proofLines))]),
      ...cutLines(cut),
    ]),
  ];
}

/** A proof, as the field `proof` of a check has it. */
export function proofLines(proof: JsonObject): string[] {
  const { name, object, holds, because, gate, gates, looked_for: lookedFor, repeated, cut } = proof;
  const verdict = VERDICTS.get(holds) ?? 'undecided';
  const head = `${verdict}: ${name} on ${object}${repeated === true ? ', as above' : ''}`;
  const wanted = listOf(lookedFor);
  return [
    head,
    ...indent([
      ...grantLines(because),
      ...(wanted.length === 0 ? [] : [`found none of: ${wanted.join(', ')}`]),
      ...objectsIn(gate === undefined ? gates : [gate]).flatMap(gateLines),
      ...cutLines(cut),
    ]),
  ];
}

/** The sentence of a denial. */
export const reasonLines = (reason: unknown): readonly string[] =>
  isJsonObject(reason) && typeof reason.text === 'string' ? [reason.text] : [];
