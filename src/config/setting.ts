// What one setting is: a row of the table in settings.ts. A row says everything there is to know of a setting, so that
// the parser, `--help` and the documentation cannot disagree.

/**
 * Who reads a setting: `dev` the whole service in one process, `front`, `shard`, `console` and `migrate` the parts of a
 * cluster, `cli` the operator's commands.
 */
export type Role = 'dev' | 'front' | 'shard' | 'console' | 'migrate' | 'cli';

/** Where a text comes from. */
export interface Origin {
  readonly role: Role;
  /** The file it was read from; undefined: the variable itself. */
  readonly path: string | undefined;
}

interface SettingBody<Value> {
  /** `GRANTD_…` */
  readonly name: string;
  /** Throws a WrongSetting for a text that is not one of its values. */
  readonly parse: (text: string, origin: Origin) => Value;
  /** May also be given as the path of a file, in the variable of that name with `_FILE` appended. Every secret may. */
  readonly file: boolean;
  /** Its value is never printed. */
  readonly secret: boolean;
  /** The form of a value, in a few words. */
  readonly form: string;
  /** A sentence or two. */
  readonly description: string;
  /** Says what happens where there is no value; shown in place of a default. */
  readonly unset?: string;
}

export interface Setting<Value> extends SettingBody<Value> {
  readonly roles: readonly Role[];
  /** Where it is not set, by role: this text, parsed like any other. A role that is not named has no value then. */
  readonly defaults: Readonly<Partial<Record<Role, string>>>;
  /** Roles that do not start without a value. */
  readonly requiredBy: readonly Role[];
}

/** Of a setting that is neither a secret nor to be had from a file. */
export const plain = { file: false, secret: false } as const;

/** A row that has a value in every role: `default`, or what `defaults` says for a role. */
export function row<Value, const Roles extends readonly Role[]>(
  body: SettingBody<Value> & {
    readonly roles: Roles;
    readonly default: string;
    readonly defaults?: Readonly<Partial<Record<Role, string>>>;
  },
): SettingBody<Value> & {
  readonly roles: Roles;
  readonly defaults: Readonly<Record<Roles[number], string>>;
  readonly requiredBy: readonly never[];
} {
  const { default: common, defaults: byRole, ...rest } = body;
  const defaults = Object.fromEntries(body.roles.map((role) => [role, byRole?.[role] ?? common]));
  // Object.fromEntries forgets that its keys are the very roles it was given.
  return Object.freeze({ ...rest, defaults: defaults as Record<Roles[number], string>, requiredBy: [] });
}

/** A row whose value may be undefined, but for the roles that require it or have a default. */
export function optional<
  Value,
  const Roles extends readonly Role[],
  const Required extends readonly Role[] = readonly never[],
  const Filled extends Role = never,
>(
  body: SettingBody<Value> & {
    readonly roles: Roles;
    readonly unset: string;
    readonly requiredBy?: Required;
    readonly defaults?: Readonly<Record<Filled, string>>;
  },
): SettingBody<Value> & {
  readonly roles: Roles;
  readonly defaults: Readonly<Record<Filled, string>>;
  readonly requiredBy: Required;
} {
  const { requiredBy = [], defaults = {}, ...rest } = body;
  // What was left out stands for the empty types of the parameters' defaults.
  return Object.freeze({ ...rest, defaults: defaults as Record<Filled, string>, requiredBy: requiredBy as Required });
}

/** Why a text is no value of a setting. The message is a half sentence that follows the name: `must be …`. */
export class WrongSetting extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WrongSetting';
  }
}
