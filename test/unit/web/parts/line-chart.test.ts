import { expect, test } from 'vitest';
import { lineChart } from '#web/parts/line-chart.ts';

const of = { id: 'lag', title: 'Blocks behind', unit: ' ms', fromZero: true };
const minutes = (values: readonly (number | null)[]) =>
  values.map((value, minute) => ({ time: 1_700_000_000 + minute * 60, value }));

test('a line is interrupted where a value is unknown', () => {
  const { text } = lineChart(minutes([0, 10, null, 5]), of)!;
  expect(/ d="([^"]+)"/u.exec(text)?.[1]).toBe('M0.0 62.0L133.3 2.0M400.0 32.0');
  expect(text).toContain('<h3>Blocks behind <span>5 ms</span></h3>');
  expect(text).toContain('22:13 to 22:16 UTC, from 0 ms to 10 ms');
  expect(text).toContain('<th scope="row">22:15</th><td>unknown</td>');
});

test('a line of values that are never near zero starts at its lowest', () => {
  const text = lineChart(minutes([840_000, 840_010]), { ...of, unit: '', fromZero: false })?.text;
  expect(text).toContain('d="M0.0 62.0L400.0 2.0"');
  expect(text).toContain('840,000 to 840,010');
});

test('a line without a change or at one moment is drawn', () => {
  expect(lineChart(minutes([0, 0]), of)?.text).toContain('d="M0.0 62.0L400.0 62.0"');
  const moment = { time: 5, value: 1 };
  expect(lineChart([moment, moment], of)?.text).not.toContain('NaN');
});

test('a day has a table of 24 rows', () => {
  const text = lineChart(minutes(Array.from({ length: 1440 }, (_, minute) => minute)), of)!.text;
  expect(text.match(/<tr><th scope="row">/gu)?.length).toBe(24);
});

test('a line needs at least two known values', () => {
  for (const values of [[], [1], [null, 1], [null, null]]) expect(lineChart(minutes(values), of)).toBeNull();
});
