// What a program that a test starts sees of the surroundings: the path, and where compiled code is kept, with which it
// starts in half the time. Settings of the person who runs the tests stay outside.

const { PATH = '', NODE_COMPILE_CACHE } = process.env;

export const BARE_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH,
  ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
};
