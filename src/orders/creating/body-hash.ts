import { createHash } from 'node:crypto';
import { nextTurn } from '#kernel/concurrency/turns.ts';

/**
 * Maximum number of bytes that are hashed before other work gets a turn. Hashing these bytes takes a few milliseconds.
 */
const turnBytes = 4_194_304;

/** The sha256 of the values of a body. Spaces and the sequence of fields do not change the hash. */
export async function bodyHash(body: unknown): Promise<Buffer> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const piece of piecesOf(body)) {
    hash.update(piece);
    bytes += piece.length;
    if (bytes < turnBytes) continue;
    bytes = 0;
    await nextTurn();
  }
  return hash.digest();
}

/** Pieces that represent a value unambiguously, because each begins with its kind and length. */
function* piecesOf(value: unknown): Generator<string | Uint8Array> {
  if (value instanceof Uint8Array) {
    yield `bytes ${value.length} `;
    for (let at = 0; at < value.length; at += turnBytes) yield value.subarray(at, at + turnBytes);
  } else if (Array.isArray(value)) {
    yield `list ${value.length} `;
    for (const item of value as readonly unknown[]) yield* piecesOf(item);
  } else if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    yield `object ${fields.length} `;
    for (const [name, field] of fields) {
      yield* piecesOf(name);
      yield* piecesOf(field);
    }
  } else {
    const text = JSON.stringify(value) ?? '';
    yield `value ${text.length} ${text}`;
  }
}
