import { grouped, plural } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';

/** A bar of a chart over time. */
export interface Bar {
  /** A day such as `2023-02-01`, or the first and last day of a longer span. */
  readonly label: string;
  readonly count: number;
  /** URL of the blocks of these days. `null` if the bar is no link. */
  readonly href: string | null;
}

/** The subject of a chart, and the way to show its amounts. */
export interface ChartOf {
  /** Prefix of the ids of the chart's elements, unique for each chart of a page. */
  readonly id: string;
  readonly title: string;
  /** The heading of the value column in the chart's table. */
  readonly column: string;
  readonly amountWords: (count: number) => string;
}

const matches: ChartOf = {
  id: 'chart',
  title: 'Matches over time',
  column: 'Inscriptions',
  amountWords: (count) => plural(count, 'inscription'),
};

const width = 400;
const height = 64;
/** Minimum height of a bar. A bar for an amount of 1 stays visible and clickable next to a bar for a million. */
const leastHeight = 3;

/**
 * A chart of amounts over time: bars that link to their blocks, and the same amounts as a table. `null` if there are
 * fewer than two bars.
 */
export function timeChart(bars: readonly Bar[], of: ChartOf = matches): Markup | null {
  if (bars.length < 2) return null;
  const most = Math.max(...bars.map(({ count }) => count));
  const step = width / bars.length;
  const words = `${bars[0]?.label ?? ''} to ${bars.at(-1)?.label ?? ''}, at most ${grouped(most)} in a bar`;
  const { id, title: name, column, amountWords } = of;
  const shown = bars.map((bar, index) => {
    const size = bar.count === 0 ? 0 : Math.max(leastHeight, Math.round((bar.count / most) * height));
    const title = `${bar.label}: ${amountWords(bar.count)}`;
    const place = html`x="${round(index * step)}" width="${round(step * 0.86)}"`;
    const rect = html`<title>${title}</title><rect class="room" ${place} y="0" height="${height}"></rect><rect class="bar" ${place} y="${height - size}" height="${size}"></rect>`;
    return bar.href === null || bar.count === 0
      ? html`<g>${rect}</g>`
      : html`<a href="${bar.href}" aria-label="${title}">${rect}</a>`;
  });
  return html`<figure class="chart">
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="group" aria-labelledby="${id}-title ${id}-words">
<title id="${id}-title">${name}</title><desc id="${id}-words">${words}</desc>
${shown}
</svg>
<figcaption><span>${bars[0]?.label}</span><details><summary>As a table</summary>${table(bars, column)}</details><span>${bars.at(-1)?.label}</span></figcaption>
</figure>`;
}

function table(bars: readonly Bar[], column: string): Markup {
  const rows = bars
    .filter(({ count }) => count > 0)
    .map(
      ({ label, count, href }) =>
        html`<tr><th scope="row">${href === null ? label : html`<a href="${href}">${label}</a>`}</th><td>${grouped(count)}</td></tr>`,
    );
  return html`<table><thead><tr><th scope="col">Days (UTC)</th><th scope="col">${column}</th></tr></thead><tbody>${rows}</tbody></table>`;
}

const round = (value: number): string => value.toFixed(2);
