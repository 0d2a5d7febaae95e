import type { U128 } from './u128.ts';

/** An amount in units of the rune, as ord prints it, without zeros at the end. */
export function shownAmount(amount: U128, divisibility: number): string {
  const digits = String(amount).padStart(divisibility + 1, '0');
  const point = digits.length - divisibility;
  let end = digits.length;
  while (end > point && digits[end - 1] === '0') end--;
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
}
