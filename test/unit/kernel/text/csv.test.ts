import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvValue, csvLine } from '#kernel/text/csv.ts';

/** Splits a line into fields by RFC 4180, character by character. */
function fieldsOf(line: string): string[] {
  const fields = [''];
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    const isQuote = char === '"';
    if (isQuote && isQuoted && line.charAt(at + 1) === '"') at++;
    else if (isQuote) {
      isQuoted = !isQuoted;
      continue;
    } else if (!isQuoted && char === ',') {
      fields.push('');
      continue;
    } else if (!isQuoted && line.startsWith('\r\n', at)) {
      expect(at).toBe(line.length - 2);
      return fields;
    }
    fields[fields.length - 1] += char;
  }
  throw new Error('the line has no end');
}

const text = fc.string({
  unit: fc.constantFrom('a', ',', '"', '\r', '\n', '\t', '=', '+', '-', '@', '＝', ' ', "'"),
});
const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)) satisfies fc.Arbitrary<CsvValue>;

describe('a line of a table', () => {
  test('is read back field by field; a text that a spreadsheet would run begins with an apostrophe', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), (values) => {
        const shown = values.map((one) => {
          if (one === null) return '';
          const isRun = typeof one === 'string' && /^[=+\-@\t\r\n＝]/u.test(one);
          return isRun ? `'${one}` : String(one);
        });
        expect(fieldsOf(csvLine(values))).toEqual(shown);
      }),
    );
  });

  test.each([
    ['=cmd|" /C calc"!A0', `"'=cmd|"" /C calc""!A0"\r\n`],
    ['\r\n=1+1', `"'\r\n=1+1"\r\n`],
    ['＠SUM(1)', "'＠SUM(1)\r\n"],
    [-5, '-5\r\n'],
    ['Frog #3', 'Frog #3\r\n'],
  ])('%j is written as %j', (field, line) => {
    expect(csvLine([field])).toBe(line);
  });
});
