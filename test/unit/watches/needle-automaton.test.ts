import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { NeedleAutomaton } from '#watches/matching/needle-automaton.ts';
import { NeedleMatcher } from '#watches/matching/needle-matcher.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

const scanned = (needles: readonly Uint8Array[], text: Uint8Array): number[] =>
  needles.flatMap((needle, nth) => (Buffer.from(text).includes(Buffer.from(needle)) ? [nth] : []));

function matched(matcher: Pick<NeedleMatcher, 'match'>, text: Uint8Array): number[] {
  const found: number[] = [];
  matcher.match(text, (needle) => found.push(needle));
  return found.toSorted((a, b) => a - b);
}

test('the automaton finds the needles that one scan for each finds, text after text', () => {
  const unit = fc.constantFrom('a', 'b', '{');
  const needle = fc.string({ unit, minLength: 1, maxLength: 20 }).map(bytes);
  const text = fc.string({ unit, maxLength: 300 }).map(bytes);
  fc.assert(
    fc.property(
      fc.array(needle, { maxLength: 60 }),
      fc.array(text, { minLength: 1, maxLength: 4 }),
      (needles, texts) => {
        const automaton = new NeedleAutomaton(needles);
        for (const each of texts) expect(matched(automaton, each)).toEqual(scanned(needles, each));
      },
    ),
    { numRuns: propertyRuns(2000) },
  );
});

test('needles that are found at each position of a text are reported once', () => {
  const needles = Array.from({ length: 500 }, (_, nth) => bytes('a'.repeat(nth + 1)));
  expect(matched(new NeedleAutomaton([...needles, bytes('aa')]), bytes('a'.repeat(100_000)))).toHaveLength(
    501,
  );
});

test('needles and a text that are made to be compared at each position are read by the automaton', () => {
  // all windows of a needle are in all others, and only its first bytes differ from the text
  const needles = Array.from({ length: 1000 }, (_, nth) =>
    bytes(`${'a'.repeat(20 + (nth % 50))}b${'a'.repeat(20 + Math.floor(nth / 50))}b${'a'.repeat(100)}`),
  );
  const matcher = new NeedleMatcher([...needles, bytes('end')]);
  const text = bytes('a'.repeat(300_000).concat('end'));
  expect(matched(matcher, text)).toEqual([1000]);
  expect(matcher.hasAutomaton).toBe(true);
  expect(matched(matcher, Buffer.concat([text, needles[7]!, needles[900]!]))).toEqual(
    scanned([...needles, bytes('end')], Buffer.concat([text, needles[7]!, needles[900]!])),
  );
});

test('needles that crowd one place of the table are read by the automaton', () => {
  const factor = 0x9e_37_79_b1 | 0;
  // 601 needles have a table of 2,048 places, whose numbers have 11 bits
  const homeOf = (needle: Buffer): number => Math.imul(needle.readInt32BE(0), factor) >>> 21;
  const last = Buffer.from('aaaa');
  const crowd: Buffer[] = [];
  for (let nth = 0; crowd.length < 600; nth++) {
    const needle = Buffer.from(nth.toString(36).padStart(4, '-'));
    if (homeOf(needle) === homeOf(last) && !needle.equals(last)) crowd.push(needle);
  }
  const matcher = new NeedleMatcher([...crowd, last], factor);
  // the needle is found at the first position, and each later position passes over the whole crowd
  expect(matched(matcher, bytes('a'.repeat(10_000)))).toEqual([600]);
  expect(matcher.hasAutomaton).toBe(true);
});

test('usual needles and texts need no automaton', () => {
  const needles = Array.from({ length: 2000 }, (_, nth) =>
    bytes(`{"p":"brc-20","op":"mint","tick":"t${nth}"`),
  );
  const matcher = new NeedleMatcher(needles);
  for (let nth = 0; nth < 2000; nth++)
    expect(matched(matcher, bytes(`{"p":"brc-20","op":"mint","tick":"t${nth}","amt":"1000"}`))).toEqual([
      nth,
    ]);
  expect(matcher.hasAutomaton).toBe(false);
});
