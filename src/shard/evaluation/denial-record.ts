// The reason of a denial as the APIs show it: one sentence, and the grants that it names. Invariant: it takes a bounded
// number of bytes as JSON; what conditions saw is left out first.

import { EVERY_SUBJECT, namespaceOf, tupleText } from '../../core/tuples.ts';
import type { CompiledRules } from '../../rules/compiled-rules.ts';
import type { Denial, DenialPart, TakenName } from '../../rules/denial-search.ts';
import type { Step } from '../../rules/graph.ts';
import type { NamedTuple } from '../../rules/questions.ts';

/** What a condition saw may take so many bytes; the grants besides have their own bounds. */
const SEEN_BYTES_MAX = 16 * 1024;
/** Characters of them in the sentence, and grants that it lists. */
const SEEN_SHOWN_MAX = 200;
const LISTED_MAX = 3;

export interface DenialTexts {
  readonly rules: CompiledRules;
  readonly question: NamedTuple;
  /** What would suffice, one level deep. */
  readonly wanted: readonly string[];
  /** A grant as both APIs show it, with what its condition saw. */
  readonly recordOf: (step: Step) => { readonly condition_saw?: object };
}

type Exclusion = Extract<DenialPart, { kind: 'excluding' }>;

/** `a`, `a and b`, `a, b, c and 2 more` */
function listed(texts: readonly string[], more = texts.length - LISTED_MAX): string {
  const shown = texts.slice(0, LISTED_MAX);
  const last = more > 0 ? `${more} more` : shown.pop();
  return shown.length === 0 ? `${last}` : `${shown.join(', ')} and ${last}`;
}

class DenialWriter {
  readonly #texts: DenialTexts;
  readonly #denial: Denial;
  #seenBytes = 0;

  constructor(denial: Denial, texts: DenialTexts) {
    this.#denial = denial;
    this.#texts = texts;
  }

  write(): string {
    const { parts, cut } = this.#denial;
    const excluding = parts.filter((part): part is Exclusion => part.kind === 'excluding');
    const stepsOf = (kind: DenialPart['kind']): readonly Step[] =>
      parts.filter((part) => part.kind === kind).map(({ step }) => step);
    const unmet = stepsOf('unmet').map((step) => ({ step, record: this.#record(step) }));
    const missing = stepsOf('missing');
    const sentence = [
      ...this.#excludingTexts(excluding),
      ...unmet.map(({ step, record }) => this.#unmetText(step, record)),
      ...this.#missingText(missing, parts.length > missing.length),
    ].join('; ');
    const text = `${sentence === '' ? this.#nothingText() : sentence}${cut && sentence !== '' ? ', and that is not all' : ''}.`;
    return JSON.stringify({
      // A sentence that begins with an object keeps its spelling.
      text: text.replace(/^(?:no|the) /, (word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`),
      excluded_by: excluding.map(({ step, takes: { name, object } }) => ({
        ...this.#record(step),
        excludes: { name, object },
      })),
      unmet: unmet.map(({ record }) => record),
      missing: missing.map(({ subject, relation, object }) => ({
        subject,
        relation: this.#texts.rules.describe(relation),
        object,
      })),
      ...(cut ? { cut } : {}),
    });
  }

  #record(step: Step): { readonly condition_saw?: object } {
    const { condition_saw: saw, ...record } = this.#texts.recordOf(step);
    if (saw === undefined) return record;
    this.#seenBytes += Buffer.byteLength(JSON.stringify(saw));
    return this.#seenBytes > SEEN_BYTES_MAX ? record : { ...record, condition_saw: saw };
  }

  #tuple(step: Step): string {
    return `\`${this.#phrase(step)}\``;
  }

  #phrase({ subject, relation, object }: Step): string {
    return tupleText({ subject, relation: this.#texts.rules.describe(relation), object });
  }

  /** Those that take away the same, in one clause. */
  #excludingTexts(excluding: readonly Exclusion[]): readonly string[] {
    const byTaken = Map.groupBy(excluding, ({ takes: { name, object } }) => `${name} ${object}`);
    return [...byTaken.values()].flatMap((parts) => {
      const [states, steps] = [true, false].map((isOfState) =>
        parts.map(({ step }) => step).filter(({ subject }) => (subject === EVERY_SUBJECT) === isOfState),
      );
      return parts
        .slice(0, 1)
        .flatMap(({ takes }) => [
          ...(states?.length ? [this.#takingText(states, takes)] : []),
          ...(steps?.length ? [this.#excludingText(steps, takes)] : []),
        ]);
    });
  }

  #excludingText(steps: readonly Step[], takes: TakenName): string {
    const verb = steps.length === 1 ? 'excludes' : 'exclude';
    const texts = steps.map((step) => this.#tuple(step));
    return `${listed(texts)} ${verb} ${this.#texts.question.subject} from ${this.#takenText(takes)}`;
  }

  /** A state takes from every subject. */
  #takingText(states: readonly Step[], takes: TakenName): string {
    const { object } = this.#texts.question;
    const isOfObject = takes.object === object && states.every((state) => state.object === object);
    const verb = states.length === 1 ? 'takes' : 'take';
    const taken = isOfObject ? `${verb} ${takes.name} away` : `${verb} away ${this.#takenText(takes)}`;
    return `${listed(states.map((state) => this.#phrase(state)))}, which ${taken}`;
  }

  #takenText({ name, object, isInherited }: TakenName): string {
    const { question } = this.#texts;
    const taken = `${name} of ${object}`;
    if (object === question.object) return taken;
    return isInherited
      ? `${taken}, from which ${question.object} inherits`
      : `${taken}, on which ${question.relation} of ${question.object} rests`;
  }

  #unmetText(step: Step, { condition_saw: saw }: { readonly condition_saw?: object }): string {
    const seen = JSON.stringify(saw ?? {});
    const shown = seen.length > SEEN_SHOWN_MAX ? `${seen.slice(0, SEEN_SHOWN_MAX)}…` : seen;
    return `the condition of ${this.#tuple(step)} is not met: it saw ${shown}`;
  }

  #missingText(missing: readonly Step[], isRest: boolean): readonly string[] {
    if (missing.length === 0) return [];
    const grants = listed(missing.map((step) => this.#tuple(step)));
    if (isRest) return [`${grants} ${missing.length === 1 ? 'is' : 'are'} missing`];
    return [`${this.#nothingLeads}; ${grants} would suffice`];
  }

  get #nothingLeads(): string {
    const { subject, relation, object } = this.#texts.question;
    return `no grant leads from ${subject} to ${relation} of ${object}`;
  }

  #nothingText(): string {
    const { rules, question, wanted } = this.#texts;
    const { relation, object } = question;
    if (!rules.canHold(object, relation)) {
      return `no grant can give ${relation} of ${object}: no rule defines it for the namespace "${namespaceOf(object)}"`;
    }
    return wanted.length === 0
      ? this.#nothingLeads
      : `${this.#nothingLeads}; it takes ${listed(wanted, wanted.length - LISTED_MAX)}`;
  }
}

/** JSON. */
export const denialRecord = (denial: Denial, texts: DenialTexts): string => new DenialWriter(denial, texts).write();
