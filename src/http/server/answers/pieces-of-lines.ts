/** Characters of a piece: large enough to be cheap, small enough that a slow client holds little memory. */
const pieceChars = 32 * 1024;

/** Joins the lines of a stream to pieces that are sent one by one. */
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
