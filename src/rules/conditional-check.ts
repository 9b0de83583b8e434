// A check of names that depend on unions alone, where grants may have conditions: first over the grants that hold for
// certain. Only if that finds nothing, and met a grant that may hold, over all of those too: whatever they could give
// is undefined.

import { CheckEvaluation, type Evaluation, type EvaluationLimits, type Question } from './check-evaluation.ts';
import type { CompiledRules } from './compiled-rules.ts';
import type { Grants } from './gate-evaluation.ts';
import type { GrantedSearch } from './granted-search.ts';
import type { Step } from './graph.ts';

export class ConditionalCheck {
  readonly #rules: CompiledRules;
  readonly #grants: Grants;
  readonly #limits: EvaluationLimits;
  readonly #question: Question;
  readonly #certain: CheckEvaluation;
  #possible: CheckEvaluation | undefined;

  /** `granted`: a search over the certain grants of this subject that other checks of the same moment have begun. */
  constructor(
    rules: CompiledRules,
    grants: Grants,
    limits: EvaluationLimits,
    question: Question,
    granted?: GrantedSearch,
  ) {
    this.#rules = rules;
    this.#grants = grants;
    this.#limits = limits;
    this.#question = question;
    this.#certain = new CheckEvaluation(rules, grants.certain, limits, question, granted);
  }

  get spent(): number {
    return this.#certain.spent + (this.#possible?.spent ?? 0);
  }

  get chain(): readonly Step[] {
    return this.#certain.chain;
  }

  run(): Evaluation {
    return this.#run((evaluation) => evaluation.run());
  }

  runForShortest(): Evaluation {
    return this.#run((evaluation) => evaluation.runForShortest());
  }

  restsOn(subject: string, object: string): boolean {
    return this.#certain.restsOn(subject, object) || this.#possible?.restsOn(subject, object) === true;
  }

  #run(run: (evaluation: CheckEvaluation) => Evaluation): Evaluation {
    if (this.#possible === undefined) {
      const decided = run(this.#certain);
      if (decided.kind !== 'decided' || decided.authorized || !this.#grants.differ) return decided;
      this.#possible = new CheckEvaluation(this.#rules, this.#grants.possible, this.#limits, this.#question);
    }
    const decided = run(this.#possible);
    return decided.kind === 'decided' && decided.authorized ? { kind: 'undefined', circle: [] } : decided;
  }
}
