// Text of a service or a file, as it may go to a terminal: without characters that move the cursor, rename the window
// or reverse the order of what follows, with which one tenant could rewrite what an operator reads. They become
// escapes of JSON, so that JSON keeps its meaning.

/** Control characters (C0 without tabs and line feeds, DEL, C1), and those that change the direction of text. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const LINE_CONTROLS = /[\t\n]/g;

const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text of several lines, perhaps with tabs. */
export const escapeControls = (text: string): string => text.replaceAll(CONTROLS, escapeOf);

/** A value within a line. */
export const escapeInLine = (text: string): string => escapeControls(text).replaceAll(LINE_CONTROLS, escapeOf);
