import fc from 'fast-check';
import { expect, test } from 'vitest';
import { terminalLines, terminalText } from '#kernel/text/terminal-text.ts';

test.each([
  ['a title that clears the screen', '\u001b[2J\u001b]0;x\u0007', '\\u001b[2J\\u001b]0;x\\u0007'],
  ['a control of eight bits', '\u009b31m', '\\u009b31m'],
  ['DEL and a backspace', 'a\u007f\b', 'a\\u007f\\u0008'],
  ['a line of its own', 'a\r\nb\u0085c\u2028d', 'a\\u000d\\u000ab\\u0085c\\u2028d'],
  ['another direction', '\u202egpj.exe\u2066\u200f\u061c', '\\u202egpj.exe\\u2066\\u200f\\u061c'],
  ['half of a pair', '\ud800a', '\\ud800a'],
  ['NUL', 'a\0', 'a\\u0000'],
])('%s is written as an escape', (_what, text, shown) => {
  expect(terminalText(text)).toBe(shown);
});

test('other texts stay as they are, emoji and scripts from right to left too', () => {
  for (const text of ['gm <3', 'ä ö é', '👩‍🚀🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'שלום', 'نص', 'ก็', '\\u001b', 'a"b'])
    expect(terminalText(text)).toBe(text);
});

test('lines and tabs of an output stay', () => {
  expect(terminalLines('a\tb\n\u001bc\n')).toBe('a\tb\n\\u001bc\n');
});

test('JSON stays JSON with the same values, without control characters of terminals', () => {
  const value = fc.jsonValue({ stringUnit: 'binary' });
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (given, indent) => {
      const json = JSON.stringify(given, null, indent);
      const shown = terminalLines(json);
      expect(JSON.parse(shown)).toEqual(JSON.parse(json));
      expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    }),
  );
});
