/** Maximum number of code points of a compared word. The rows below have room for it. */
export const comparedCodePointsMax = 64;

const width = comparedCodePointsMax + 1;
// three rows of the table, which are the current row and the two rows before it
const rows = [new Int32Array(width), new Int32Array(width), new Int32Array(width)] as const;

/**
 * Whether at most `editsMax` edits turn the first `aLength` code points of `a` into the first `bLength` code points of
 * `b`. An edit inserts, removes or changes a code point, or swaps two neighbours. No code point is edited twice
 * (optimal string alignment). Both lengths are at most `comparedCodePointsMax`.
 */
export function isWithinEdits(
  a: Int32Array,
  aLength: number,
  b: Int32Array,
  bLength: number,
  editsMax: number,
): boolean {
  if (Math.abs(aLength - bLength) > editsMax) return false;
  let [twoBefore, before, row] = rows as unknown as [Int32Array, Int32Array, Int32Array];
  for (let j = 0; j <= bLength; j++) before[j] = j;
  for (let i = 1; i <= aLength; i++) {
    if (fillRow(i, a, b, bLength, editsMax, twoBefore, before, row) > editsMax) return false;
    [twoBefore, before, row] = [before, row, twoBefore];
  }
  return before[bLength]! <= editsMax;
}

/**
 * Fills the cells near the diagonal of a row, because cells further away need more edits than allowed. Returns the
 * smallest cell.
 */
function fillRow(
  i: number,
  a: Int32Array,
  b: Int32Array,
  bLength: number,
  editsMax: number,
  twoBefore: Int32Array,
  before: Int32Array,
  row: Int32Array,
): number {
  const from = Math.max(1, i - editsMax);
  const to = Math.min(bLength, i + editsMax);
  const point = a[i - 1]!;
  row[from - 1] = from === 1 ? i : editsMax + 1;
  let least = row[from - 1]!;
  for (let j = from; j <= to; j++) {
    const other = b[j - 1]!;
    let edits = Math.min(before[j - 1]! + Number(point !== other), row[j - 1]! + 1);
    // the row before ends one cell earlier
    if (j < i + editsMax) edits = Math.min(edits, before[j]! + 1);
    if (i > 1 && j > 1 && point === b[j - 2] && a[i - 2] === other) {
      edits = Math.min(edits, twoBefore[j - 2]! + 1);
    }
    row[j] = edits;
    least = Math.min(least, edits);
  }
  return least;
}
