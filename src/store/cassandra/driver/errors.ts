// Translates the driver's errors into the store's. Every failure at run time is `unavailable`; for a write, the outcome
// is then unknown. Only a call that was certainly never sent, because every connection is full, is `overloaded`.

import cassandra from 'cassandra-driver';
import { GrantdError } from '../../../core/errors.ts';

const { errors, types } = cassandra;

const RESPONSE_REASONS: ReadonlyMap<number, string> = new Map([
  [types.responseErrorCodes.badCredentials, 'Cassandra rejects the user name or password'],
  [types.responseErrorCodes.unavailableException, 'too few replicas are alive'],
  [types.responseErrorCodes.overloaded, 'a node has more work than it can take'],
  [types.responseErrorCodes.isBootstrapping, 'a node is still starting'],
  [types.responseErrorCodes.writeTimeout, 'too few replicas answered in time'],
  [types.responseErrorCodes.readTimeout, 'too few replicas answered in time'],
  [types.responseErrorCodes.readFailure, 'a replica failed to read'],
  [types.responseErrorCodes.writeFailure, 'a replica failed to write'],
  [types.responseErrorCodes.unauthorized, 'the role lacks a right'],
  [types.responseErrorCodes.invalid, 'Cassandra rejects a statement'],
  [types.responseErrorCodes.syntaxError, 'Cassandra rejects a statement'],
  [types.responseErrorCodes.configError, 'Cassandra rejects a statement'],
]);
/** A conditional write that collided with another one. */
const CAS_WRITE_UNKNOWN = 0x1700;

/** One per node: an error, or the state of a node that was not tried. */
function innerErrorsOf(error: Error): unknown[] {
  return error instanceof errors.NoHostAvailableError && typeof error.innerErrors === 'object'
    ? Object.values(error.innerErrors ?? {})
    : [];
}

const isFull = (error: unknown): boolean => error instanceof errors.BusyConnectionError;

/** Why the driver failed, in a few words that name no value of a request. */
export function reasonOf(error: unknown): string {
  if (error instanceof errors.AuthenticationError) return 'Cassandra rejects the user name or password';
  if (error instanceof errors.OperationTimedOutError) return 'a node did not respond in time';
  if (error instanceof errors.ResponseError) {
    if (error.code === CAS_WRITE_UNKNOWN) return 'a conditional write conflicted with another one';
    return RESPONSE_REASONS.get(error.code) ?? `Cassandra returns error 0x${error.code.toString(16)}`;
  }
  if (error instanceof errors.NoHostAvailableError) {
    const inner = innerErrorsOf(error).find((each) => each instanceof Error && !isFull(each));
    return inner === undefined ? 'no node can be reached' : `no node can be reached: ${reasonOf(inner)}`;
  }
  if (error instanceof errors.DriverError) return 'the connection was lost';
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? `the connection failed (${code})` : 'the driver failed';
}

/** A wrong setting that the driver detects once it has seen the cluster, such as an unknown datacenter. */
export function wrongSettingOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return [error, ...innerErrorsOf(error)].find((each) => each instanceof errors.ArgumentError)?.message;
}

/** A table, or the whole keyspace, does not exist. */
export class SchemaMissing extends GrantdError {
  constructor() {
    super('unavailable', 'The keyspace has no tables of grantd yet.');
  }
}

/** A table lacks a column. */
export class SchemaUnknown extends GrantdError {
  constructor(cause: unknown) {
    super('unavailable', 'The tables are not those of this version of grantd.', { cause: causeOf(cause) });
  }
}

/** Whether the error says that a table lacks a column of a statement. */
export function isSchemaUnknown(error: unknown): boolean {
  return (
    error instanceof errors.ResponseError &&
    error.code === types.responseErrorCodes.invalid &&
    /undefined column name|unknown identifier/i.test(error.message)
  );
}

/** Whether the error says that a table or the whole keyspace does not exist. */
export function isSchemaMissing(error: unknown): boolean {
  return (
    error instanceof errors.ResponseError &&
    error.code === types.responseErrorCodes.invalid &&
    /keyspace .* does not exist|(unconfigured )?table .* does not exist|unconfigured table/i.test(error.message)
  );
}

/** Only the first line of the driver's message: its error objects carry the request. */
export const causeOf = (error: unknown): Error =>
  new Error((error instanceof Error ? error.message : String(error)).split('\n', 1)[0]);

/** Any error of the driver as a GrantdError. */
export function toGrantdError(error: unknown): GrantdError {
  if (error instanceof GrantdError) return error;
  const inner = error instanceof Error ? innerErrorsOf(error) : [];
  if (
    isFull(error) ||
    (inner.length > 0 && inner.some(isFull) && inner.every((each) => isFull(each) || isDown(each)))
  ) {
    return new GrantdError('overloaded', 'The store has more work than it can handle.', { cause: causeOf(error) });
  }
  return new GrantdError('unavailable', 'The store failed; the outcome of a write is not known.', {
    cause: causeOf(error),
  });
}

/** The state of a node that was not tried at all. */
const isDown = (error: unknown): boolean => typeof error === 'string' && error.includes('DOWN');
