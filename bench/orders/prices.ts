import { byClients, clients } from '../clients.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';

/** Number of files in the order with the long price. */
export const filesOfPrice = 10_000;
/** Number of prices of one file that one client asks for, one after the other. */
export const pricesAlone = 500;
/** Number of prices of one file that 16 clients ask for at once. */
const pricesTogether = 2000;
/** Number of long prices. */
const longPrices = 20;
/** Share of the prices that is asked for first, until the code is compiled. */
const warmUpShare = 0.2;

/** Measures how long customers wait for a price over HTTP: of one file, alone and together, and of very many files. */
export async function priceFigures(origin: string, receiveAddress: string): Promise<Figure[]> {
  const one = bodyOf(receiveAddress, 1, 500);
  const many = bodyOf(receiveAddress, filesOfPrice, 100);
  const oneMs = await oneByOne(origin, one, pricesAlone);
  await byClients(pricesTogether * warmUpShare, () => price(origin, one));
  const startedAt = performance.now();
  await byClients(pricesTogether, () => price(origin, one));
  const seconds = (performance.now() - startedAt) / 1000;
  const manyMs = await oneByOne(origin, many, longPrices);
  return [
    { name: 'priceP50Ms', value: percentile(oneMs, 0.5), unit: 'ms' },
    { name: 'priceP99Ms', value: percentile(oneMs, 0.99), unit: 'ms' },
    { name: `pricesPerSecondOf${clients}`, value: pricesTogether / seconds, unit: '/s' },
    { name: `priceOf${filesOfPrice}P50Ms`, value: percentile(manyMs, 0.5), unit: 'ms' },
    {
      name: `priceOf${filesOfPrice}P95Ms`,
      value: percentile(manyMs, 0.95),
      unit: 'ms',
      target: { most: 3000 },
    },
  ];
}

/** Time of each price in ms, without those of the warm-up. */
async function oneByOne(origin: string, body: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let asked = -Math.ceil(count * warmUpShare); asked < count; asked++) {
    const at = performance.now();
    await price(origin, body);
    if (asked >= 0) times.push(performance.now() - at);
  }
  return times;
}

async function price(origin: string, body: string): Promise<void> {
  const answer = await fetch(`${origin}/price`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`a price was answered ${answer.status}: ${text.slice(0, 300)}`);
}

/** A price of files whose contents are not made yet, so the request has their sizes only. */
const bodyOf = (receiveAddress: string, files: number, size: number): string =>
  JSON.stringify({
    type: 'direct',
    order: {
      files: Array.from({ length: files }, (_, index) => ({
        name: `${index}.txt`,
        size,
        type: 'text/plain;charset=utf-8',
      })),
      receiveAddress,
      fee: 2,
    },
  });
