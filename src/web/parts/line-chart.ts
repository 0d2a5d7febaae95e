import { grouped } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';

/** A value at a moment. */
export interface ChartPoint {
  /** Unix seconds. */
  readonly time: number;
  /** `null` if the value is unknown, so the line has a gap. */
  readonly value: number | null;
}

/** The subject of a line chart. */
export interface LineOf {
  /** Prefix of the ids of the chart's elements, unique for each chart of a page. */
  readonly id: string;
  readonly title: string;
  /** The unit after each value, such as ` ms`. Empty if there is no unit. */
  readonly unit: string;
  /**
   * True if the vertical axis begins at 0. False if the axis begins at the lowest value, for values that are never near
   * 0.
   */
  readonly fromZero: boolean;
}

const width = 400;
const height = 64;
/** Margin above and below the line, because the line has a width. */
const margin = 2;
/** Maximum number of rows of the table. This is one row for each hour of a day. */
const tableRows = 24;

/**
 * A chart of values over time: a line, and the same values as a table. `null` if there are fewer than two known values.
 */
export function lineChart(points: readonly ChartPoint[], of: LineOf): Markup | null {
  const values = points.map(({ value }) => value).filter((value) => value !== null);
  const [first] = points;
  const last = points.at(-1);
  if (values.length < 2 || first === undefined || last === undefined) return null;
  const { id, title, unit, fromZero } = of;
  const most = values.reduce((a, b) => Math.max(a, b));
  const least = fromZero ? 0 : values.reduce((a, b) => Math.min(a, b));
  const x = (time: number): number =>
    last.time === first.time ? 0 : ((time - first.time) / (last.time - first.time)) * width;
  const y = (value: number): number => {
    const part = most === least ? 0 : (value - least) / (most - least);
    return height - margin - part * (height - 2 * margin);
  };
  const words = `${clock(first.time)} to ${clock(last.time)} UTC, from ${valueWords(least, unit)} to ${valueWords(most, unit)}`;
  const latest = valueWords(values.at(-1) ?? 0, unit);
  return html`<figure class="chart line">
<h3>${title} <span>${latest}</span></h3>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-words">
<title id="${id}-title">${title}</title><desc id="${id}-words">${words}</desc>
<path class="curve" d="${pathOf(points, x, y)}" vector-effect="non-scaling-stroke"></path>
</svg>
<figcaption><span>${clock(first.time)}</span><span>${valueWords(least, unit)} to ${valueWords(most, unit)}</span><span>${clock(last.time)} UTC</span><details><summary>As a table</summary>${table(points, title, unit)}</details></figcaption>
</figure>`;
}

/** The path of the line. The path has a gap at each unknown value. */
function pathOf(
  points: readonly ChartPoint[],
  x: (time: number) => number,
  y: (value: number) => number,
): string {
  let isDown = false;
  let path = '';
  for (const { time, value } of points) {
    if (value !== null) path += `${isDown ? 'L' : 'M'}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = value !== null;
  }
  return path;
}

function table(points: readonly ChartPoint[], title: string, unit: string): Markup {
  const step = Math.max(1, Math.ceil(points.length / tableRows));
  const rows = points.filter((_, place) => (points.length - 1 - place) % step === 0);
  return html`<table><thead><tr><th scope="col">Time (UTC)</th><th scope="col">${title}</th></tr></thead><tbody>${rows.map(
    ({ time, value }) =>
      html`<tr><th scope="row">${clock(time)}</th><td>${value === null ? 'unknown' : valueWords(value, unit)}</td></tr>`,
  )}</tbody></table>`;
}

const valueWords = (value: number, unit: string): string =>
  `${value < 10 && !Number.isInteger(value) ? value.toFixed(1) : grouped(Math.round(value))}${unit}`;

/** Unix seconds as hours and minutes. */
const clock = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 16);
