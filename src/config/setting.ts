// The type of a setting: a row of the table in settings.ts. A row contains everything about a setting, so that the
// parser, `--help` and the documentation cannot disagree.

/**
 * The reader of a setting: `dev` is the whole service in one process, `front`, `shard`, `console` and `migrate` are the
 * parts of a cluster, `cli` is the commands that call a service.
 */
export type Role = 'dev' | 'front' | 'shard' | 'console' | 'migrate' | 'cli';

/** The source of a text. */
export interface Origin {
  readonly role: Role;
  /** The file it was read from; undefined: the variable itself. */
  readonly path: string | undefined;
}

interface SettingBody<Value> {
  /** `GRANTD_…` */
  readonly name: string;
  /** Throws a WrongSetting for an invalid text. */
  readonly parse: (text: string, origin: Origin) => Value;
  /**
   * May also be given as the path of a file, in the variable with `_FILE` appended. Every secret may. Default: false.
   */
  readonly file?: boolean;
  /** Its value is never printed. Default: false. */
  readonly secret?: boolean;
  /** The form of a value, in a few words. */
  readonly form: string;
  /** A sentence or two. */
  readonly description: string;
  /** The effect of leaving it unset; shown in place of a default. Default: `none`. */
  readonly unset?: string;
}

export interface Setting<Value> extends SettingBody<Value> {
  readonly roles: readonly Role[];
  /** The default by role, parsed like any other text. A role without a default has no value. */
  readonly defaults: Readonly<Partial<Record<Role, string>>>;
  /** Roles that do not start without a value. */
  readonly requiredBy: readonly Role[];
}

/** A row with a value in every role: `default`, or the role's own in `defaults`. */
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
  // Object.fromEntries forgets that its keys are exactly these roles.
  return Object.freeze({ ...rest, defaults: defaults as Record<Roles[number], string>, requiredBy: [] });
}

/** A row whose value may be undefined, except for roles that require it or have a default. */
export function optional<
  Value,
  const Roles extends readonly Role[],
  const Required extends readonly Role[] = readonly never[],
  const Filled extends Role = never,
>(
  body: SettingBody<Value> & {
    readonly roles: Roles;
    readonly requiredBy?: Required;
    readonly defaults?: Readonly<Record<Filled, string>>;
  },
): SettingBody<Value> & {
  readonly roles: Roles;
  readonly defaults: Readonly<Record<Filled, string>>;
  readonly requiredBy: Required;
} {
  const { requiredBy = [], defaults = {}, ...rest } = body;
  // An omitted parameter has the empty type of its default.
  return Object.freeze({
    unset: 'none',
    ...rest,
    defaults: defaults as Record<Filled, string>,
    requiredBy: requiredBy as Required,
  });
}

/** A text is not a valid value of a setting. The message is a phrase that follows the name: `must be …`. */
export class WrongSetting extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WrongSetting';
  }
}
