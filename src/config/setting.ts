// What one setting is: a row of the table in settings.ts. A row says everything there is to know of a setting, so that
// the parser, `--help` and the documentation cannot disagree.

/** Who reads a setting: `dev` the whole service in one process, `cli` the operator's commands. */
export type Role = 'dev' | 'cli';

export interface Setting<Value> {
  /** `GRANTD_…` */
  readonly name: string;
  readonly roles: readonly Role[];
  /** Throws a WrongSetting for a text that is not one of its values. */
  readonly parse: (text: string) => Value;
  /** Where it is not set: this text, parsed like any other. Undefined: there is no value. */
  readonly default: string | undefined;
  /** Says what happens without a value; shown in place of a default. */
  readonly unset?: string;
  /** May also be given as the path of a file, in the variable of that name with `_FILE` appended. Every secret may. */
  readonly file: boolean;
  /** Its value is never printed. */
  readonly secret: boolean;
  /** The form of a value, in a few words. */
  readonly form: string;
  /** A sentence or two. */
  readonly description: string;
}

/** Why a text is no value of a setting. The message is a half sentence that follows the name: `must be …`. */
export class WrongSetting extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WrongSetting';
  }
}
