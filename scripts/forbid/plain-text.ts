import { allowedTexts, bannedStarts, bannedWords } from './plain-words.ts';

/** A banned word or a banned start in a text. */
export interface Offence {
  readonly kind: 'words' | 'starts';
  /** From 1. */
  readonly line: number;
  readonly found: string;
  readonly use: string;
}

/** Pattern for a blank: any gap, even across the end of a line in a comment or a quote. */
const gap = String.raw`(?:\s+(?:(?://|[*#>])\s*)?)`;

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const wordRules = bannedWords.map(({ pattern, use, inNames }) => {
  const whole = String.raw`(?<!\w)(?:${pattern.replaceAll(' ', gap)})(?!\w)`;
  if (inNames === undefined) return { use, expression: new RegExp(whole, 'giu') };
  const capital = capitalised(pattern);
  const parts = String.raw`(?<![A-Za-z])${pattern}(?![a-z])|(?<![A-Z])${capital}(?![a-z])`;
  return { use, expression: new RegExp(parts, 'gu') };
});

const useOfStart = new Map(bannedStarts.map(({ start, use }) => [start, use]));
const startExpression = new RegExp(
  String.raw`/\*\*\s+(?:\*\s+)?(${bannedStarts.map(({ start }) => start.replaceAll(' ', gap)).join('|')})(?!\w)`,
  'gu',
);

/** All offences in a file's text, by line. Only code has doc comments. */
export function offencesIn(path: string, text: string): Offence[] {
  const lineStarts = lineStartsOf(text);
  const offences: (readonly [offset: number, Offence])[] = [];
  const add = (kind: Offence['kind'], offset: number, found: string, use: string): unknown =>
    offences.push([offset, { kind, line: lineAt(lineStarts, offset), found, use }]);
  const judged = withoutAllowed(path, text);
  for (const { expression, use } of wordRules)
    for (const { 0: found, index } of judged.matchAll(expression)) add('words', index, oneLine(found), use);
  if (/\.(?:ts|mjs|js|java)$/u.test(path))
    for (const { 0: whole, 1: found = '', index } of text.matchAll(startExpression)) {
      const start = oneLine(found);
      add('starts', index + whole.length - found.length, `/** ${start}`, useOfStart.get(start) ?? '');
    }
  return offences.toSorted(([a], [b]) => a - b).map(([, offence]) => offence);
}

/** Replaces the texts that `allowedTexts` has for the file with blanks, so that offsets do not change. */
function withoutAllowed(path: string, text: string): string {
  let judged = text;
  for (const allowed of allowedTexts)
    if (allowed.path === path) judged = judged.replaceAll(allowed.text, (each) => ' '.repeat(each.length));
  return judged;
}

const oneLine = (found: string): string => found.replaceAll(new RegExp(gap, 'gu'), ' ');

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The number of the line at an offset, counted from 1. This is how many lines start at or before the offset. */
function lineAt(lineStarts: readonly number[], offset: number): number {
  let [low, high] = [0, lineStarts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
