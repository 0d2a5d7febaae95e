/** How often something is allowed: `burst` times at once, and as many in every `perSeconds` after that. */
export interface Rate {
  readonly burst: number;
  readonly perSeconds: number;
}

/** Half of an int4, so that the sum of wanted and returned tokens fits into one too. */
export const burstMax = 1_000_000;
/** A day: a longer span would be a quota, which usage counts show. */
const perSecondsMax = 86_400;
const minute = 60;

/** The rate in a text; `rate` is null where the text lifts the limit. */
export interface ReadRate {
  readonly rate: Rate | null;
}

/**
 * Parses `N` (N a minute), `N/S` (N in S seconds) or `0` (no limit). N is at most 1,000,000, S from 1 to 86,400. Null
 * for any other text.
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
