/** The limit on how often something is allowed: `burst` times at once, and then as many times in every `perSeconds`. */
export interface Rate {
  readonly burst: number;
  readonly perSeconds: number;
}

/** Maximum burst. The sum of wanted and returned tokens is at most twice this number, which fits into an int4. */
export const burstMax = 1_000_000;
/** Maximum time span of a rate, in seconds: a day. A longer span would be a quota, which usage counts show. */
const perSecondsMax = 86_400;
const minute = 60;

/** The rate that a text contains. `rate` is `null` if the text removes the limit. */
export interface ReadRate {
  readonly rate: Rate | null;
}

/**
 * Parses `N` (N per minute), `N/S` (N in S seconds) or `0` (no limit). N is at most 1,000,000, and S is from 1 to
 * 86,400. Returns `null` for any other text.
 */
export function parseRate(text: string): ReadRate | null {
  const [, burstText, perText = String(minute)] = /^(\d{1,7})(?:\/(\d{1,5}))?$/u.exec(text) ?? [];
  if (burstText === undefined) return null;
  const rate = { burst: Number(burstText), perSeconds: Number(perText) };
  if (rate.burst > burstMax || rate.perSeconds < 1 || rate.perSeconds > perSecondsMax) return null;
  return { rate: rate.burst === 0 ? null : rate };
}

/** A rate in words: `600 a minute`, `2 in 10 s`. */
export function rateInWords({ burst, perSeconds }: Rate): string {
  return perSeconds === minute ? `${burst} a minute` : `${burst} in ${perSeconds} s`;
}
