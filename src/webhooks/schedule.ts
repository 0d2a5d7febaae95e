const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The pauses between two tries. A deployment that is broken passes in minutes, a weekend in three days. */
const pausesMs: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  ...Array.from({ length: 24 }, () => 3 * hour),
];
/** Random part of each pause: receivers that were away do not get everything at one moment. */
const jitter = 0.2;

/**
 * Milliseconds until the next try of a message, after a number of failed ones; null: it is given up.
 *
 * @param random from 0 to below 1
 */
export function pauseAfter(failures: number, random: number): number | null {
  const pauseMs = pausesMs[failures - 1];
  return pauseMs === undefined ? null : pauseMs * (1 - jitter + 2 * jitter * random);
}
