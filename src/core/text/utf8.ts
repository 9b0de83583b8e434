// Bytes as text. Invariant: no byte is replaced, since an id with replaced bytes is another id.

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** With its byte order mark, if it has one. Throws an error that says in a clause what is wrong. */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Error('it is not valid UTF-8');
  }
}
