const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * The pauses between tries. The first pauses are long enough for an outage of some minutes. The sum of all pauses is
 * three days, which is longer than a weekend.
 */
const pausesMs: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  ...Array.from({ length: 24 }, () => 3 * hour),
];
/**
 * Random part of each pause. Without it, a receiver that was unavailable would get all its messages at the same moment.
 */
const jitter = 0.2;

/**
 * Milliseconds until the next try of a message, after a number of failed tries. Returns null if there is no further
 * try.
 *
 * @param random a number from 0 to below 1
 */
export function pauseAfter(failures: number, random: number): number | null {
  const pauseMs = pausesMs[failures - 1];
  return pauseMs === undefined ? null : pauseMs * (1 - jitter + 2 * jitter * random);
}
