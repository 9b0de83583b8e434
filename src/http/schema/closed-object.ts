// Objects that clients send: a member that is none of theirs is refused. Those that the service sends stay open, so
// that later versions may add members.

import { z } from 'zod';
import { isUnknown } from '../../core/json-members.ts';

/** `must`: the message for what is no object. */
export const closedObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape, must = 'must be an object') =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? isUnknown(issue.keys[0] ?? '', Object.keys(shape)) : must),
  });
