/**
 * Minimum number of characters of a piece, except the last. Such a piece is large enough to be cheap, and small enough
 * that a slow client holds little memory.
 */
const pieceChars = 32 * 1024;

/** Joins the lines of a stream into pieces that are sent one by one. */
export function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < pieceChars) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
