import { plural } from '#web/format.ts';
import { type HtmlValue, html } from '#web/html.ts';
import { type Bar, type ChartOf, timeChart } from './chart.ts';

const sats = (amount: number): string => plural(amount, 'sat');

const volumeChart: ChartOf = {
  id: 'volume',
  title: 'Volume over time',
  column: 'Volume',
  amountWords: sats,
};
const priceChart: ChartOf = {
  id: 'price',
  title: 'Mean price over time',
  column: 'Mean price',
  amountWords: sats,
};

export interface ChartedSales {
  /** Volumes and mean prices in sats. The bars at the same index are about the same days. */
  readonly volumes: readonly Bar[];
  readonly prices: readonly Bar[];
}

/**
 * Charts of the volume and mean price of a collection over time. `null` if there are no sales, or only sales of one
 * day.
 */
export function salesCharts({ volumes, prices }: ChartedSales): HtmlValue {
  const volume = timeChart(volumes, volumeChart);
  const price = timeChart(prices, priceChart);
  if (volume === null || price === null) return null;
  return html`<section><h2>Volume and price <span class="faint">in sats</span></h2>
<h3>Volume</h3>${volume}
<h3>Mean price</h3>${price}
</section>`;
}
