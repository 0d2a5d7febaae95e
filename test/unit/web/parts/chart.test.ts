import { describe, expect, test } from 'vitest';
import { timeChart } from '#web/parts/chart.ts';

const bars = [
  { label: '2023-02-01', count: 1_000_000, href: '/?text=%22%3C&from=1&to=2' },
  { label: '2023-02-02', count: 0, href: '/?text=a&from=3&to=4' },
  { label: '2023-02-03', count: 1, href: null },
];

describe('a chart of matches over time', () => {
  const chart = timeChart(bars)!.text;

  test('has a title, a description, and a table of its values', () => {
    expect(chart).toContain('<title id="chart-title">Matches over time</title>');
    expect(chart).toContain('2023-02-01 to 2023-02-03, at most 1,000,000 in a bar');
    expect(chart).toContain('<td>1,000,000</td>');
    expect(chart).not.toContain('<th scope="row"><a href="/?text=a&amp;');
  });

  test('has bars that link to their blocks, and shows the smallest', () => {
    expect(chart).toContain(
      '<a href="/?text=%22%3C&amp;from=1&amp;to=2" aria-label="2023-02-01: 1,000,000 inscriptions">',
    );
    expect(chart).toContain('class="bar" x="266.67" width="114.67" y="61" height="3"');
    expect(chart.match(/<a href/gu)).toHaveLength(2);
  });

  test('of another subject names it, with ids of its own', () => {
    const of = {
      id: 'volume',
      title: 'Volume over time',
      column: 'Volume',
      amountWords: (count: number) => `${count} sats`,
    };
    const volume = timeChart(bars, of)!.text;
    expect(volume).toContain('aria-labelledby="volume-title volume-words"');
    expect(volume).toContain('<title id="volume-title">Volume over time</title>');
    expect(volume).toContain('<th scope="col">Volume</th>');
    expect(volume).toContain('<title>2023-02-03: 1 sats</title>');
  });

  test('needs at least two bars', () => {
    expect(timeChart(bars.slice(1, 2))).toBeNull();
  });
});
