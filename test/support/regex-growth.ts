import fc from 'fast-check';

/** Repeats of the pumped part of an adversarial text, and how many more the second text has. */
const repeats = 1_024;
const times = 4;
/** A linear search of such a text takes at most 0.05 ms, a quadratic one at least 1.5 ms. */
const suspiciousMs = 0.7;
/** 4 for linear growth, 16 for quadratic growth. */
const growthMax = 8;
/**
 * Characters of ever longer pumped parts. An exponential search doubles its steps with each: 2^26 take 200 ms on a
 * quick machine. With 1,024 it would never end, so these come first, and no step takes more than 16 times the last.
 */
const exponentialChars = [16, 20, 24, 26];
const exponentialMs = 20;
const samplesPerExpression = 8;
/** Longest sample: longer ones repeat their own parts. */
const sampleChars = 24;
/** The lengths of repeated parts: of a class, and of a literal that a search can begin at again and again. */
const pumpedChars = [1, 2, 4];

/** An adversarial text for an expression that takes more than linear time, or null. */
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

/** Texts that nearly match: samples of what the expression matches, with each part repeated and the rest spoilt. */
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
  // fast-check guesses letters until one fits, which few of all code points do: it never ends
  if (source.includes('[^\\P{')) throw new Error(`${source} has no samples: write it without [^\\P{…}]`);
  // parts that it does not generate, and parts that do not affect a search
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

/** Whether a search is slow each time: a loaded machine sometimes stops a search. */
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
