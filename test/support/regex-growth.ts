import fc from 'fast-check';

/** How often an adversarial text repeats its pumped part, and the factor for the second, longer text. */
const repeats = 1_024;
const times = 4;
/**
 * A search above this time is measured again, in ms. A linear search of such a text takes at most 0.05 ms, a quadratic
 * one at least 1.5 ms.
 */
const suspiciousMs = 0.7;
/** Maximum growth of the time from the first to the second text. Linear growth is 4, quadratic growth is 16. */
const growthMax = 8;
/**
 * Lengths of ever longer pumped parts, in characters. They are tried before 1,024 repeats, with which an exponential
 * search would never end. Such a search doubles its steps with each character: 2^26 steps take 200 ms on a quick
 * machine. No length takes more than 16 times as long as the one before.
 */
const exponentialChars = [16, 20, 24, 26];
const exponentialMs = 20;
const samplesPerExpression = 8;
/** Maximum length of a sample. Longer ones only repeat their own parts. */
const sampleChars = 24;
/** Lengths of repeated parts: of a class, and of a literal at which a search can start repeatedly. */
const pumpedChars = [1, 2, 4];

/** Returns an adversarial text for which the expression takes more than linear time, or `null`. */
export function superlinearText(expression: RegExp): string | null {
  for (const { before, pumped, after } of pumps(expression)) {
    const textOf = (count: number): string => before + pumped.repeat(count) + after;
    for (const chars of exponentialChars) {
      const text = textOf(Math.ceil(chars / pumped.length));
      if (isSlow(expression, text, exponentialMs)) return text;
    }
    if (!isSlow(expression, textOf(repeats), suspiciousMs)) continue;
    const small = fastestMs(expression, textOf(repeats));
    const large = fastestMs(expression, textOf(repeats * times));
    if (large > suspiciousMs && large / small > growthMax) return textOf(8);
  }
  return null;
}

interface Pump {
  readonly before: string;
  readonly pumped: string;
  readonly after: string;
}

/**
 * Texts that nearly match. Each is a sample of what the expression matches, with one part repeated and the end changed
 * so that it fails.
 */
function pumps(expression: RegExp): Iterable<Pump> {
  return new Map(
    [...allPumps(expression)].map((pump) => [Object.values(pump).join('\u0001'), pump]),
  ).values();
}

function* allPumps(expression: RegExp): Generator<Pump> {
  for (const sample of samplesOf(expression)) {
    for (let start = 0; start < sample.length; start++) {
      for (const length of pumpedChars) {
        const pumped = sample.slice(start, start + length);
        const rest = sample.slice(start + length);
        for (const before of ['', sample.slice(0, start)]) {
          for (const after of ['\0', `${rest}\0`, `${rest}\n\0`]) yield { before, pumped, after };
        }
      }
    }
  }
}

function samplesOf({ source, flags }: RegExp): string[] {
  // fast-check would guess letters until one fits; few of all code points do, so it would never end
  if (source.includes('[^\\P{')) throw new Error(`${source} has no samples: write it without [^\\P{…}]`);
  // removes parts that fast-check does not generate, and parts that do not affect a search
  const generated = new RegExp(
    source.replaceAll(/\(\?<?[=!](?:[^()]|\([^()]*\))*\)|\\b/gu, ''),
    flags.replaceAll(/[gi]/gu, ''),
  );
  const samples = fc.sample(fc.stringMatching(generated, { size: 'small' }), {
    seed: 1,
    numRuns: samplesPerExpression,
  });
  return [...new Set(samples.map((sample) => sample.slice(0, sampleChars)))];
}

/** Whether a search is slow every time. Once is not enough, because a loaded machine sometimes stops a search. */
function isSlow(expression: RegExp, text: string, bound: number): boolean {
  return spentMs(expression, text) > bound && fastestMs(expression, text) > bound;
}

function fastestMs(expression: RegExp, text: string): number {
  return Math.min(...[1, 2, 3].map(() => spentMs(expression, text)));
}

function spentMs(expression: RegExp, text: string): number {
  const startedAt = performance.now();
  expression.lastIndex = 0;
  text.replace(expression, '');
  return performance.now() - startedAt;
}
