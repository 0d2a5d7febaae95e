/*
 * Palindromes are counted and found by their first halves, which have the same order as the palindromes. So no number
 * is tried in vain. Numbers stay below 10^16, so that every step is exact or larger than any sat.
 */

/** Number of palindromes below a number. The number is from 0 to the supply of sats. Takes one step per digit. */
export function palindromesBelow(end: number): number {
  if (end <= 0) return 0;
  const digits = String(end);
  let count = 1; // 0
  for (let length = 1; length < digits.length; length++) count += 9 * 10 ** (halfOf(length) - 1);
  const half = halfOf(digits.length);
  const first = Number(digits.slice(0, half));
  // palindromes with a smaller half, and the palindrome with the same half if it is below the number
  count += first - 10 ** (half - 1);
  return mirrored(first, digits.length) < end ? count + 1 : count;
}

/** The first palindrome that is not below a number. */
export function palindromeFrom(start: number): number {
  if (start <= 0) return 0;
  const { length } = String(start);
  const half = Number(String(start).slice(0, halfOf(length)));
  const same = mirrored(half, length);
  if (same >= start) return same;
  // for example, 99 becomes 101
  return String(half + 1).length > halfOf(length) ? 10 ** length + 1 : mirrored(half + 1, length);
}

const halfOf = (length: number): number => Math.ceil(length / 2);

/** The palindrome of this length that begins with this half. */
function mirrored(half: number, length: number): number {
  const digits = String(half);
  const mirror = digits
    .slice(0, length - digits.length)
    .split('')
    .reverse()
    .join('');
  return Number(digits + mirror);
}
