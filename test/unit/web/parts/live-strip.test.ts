import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type LiveView, liveStrip } from '#web/parts/live-strip.ts';

const txid = 'ab'.repeat(32);
const known: LiveView = {
  block: { height: asHeight(840_672), time: 1_713_571_767, inscriptions: 1 },
  pending: { count: 10_000, isMore: true },
  sales: [{ inscriptionId: `${txid}i0`, number: -7, price: 1_234_567, txid }],
  fees: { next: 12, hour: 8, day: 1 },
};
const unknown: LiveView = { block: null, pending: null, sales: null, fees: null };

describe('the strip of the present moment', () => {
  test('links to the things that it names', () => {
    const { text } = liveStrip(known);
    for (const words of [
      '<a href="/block/840672">840,672</a>',
      '1 inscription, 2024-04-20 00:09 UTC',
      '<a href="/mempool">more than 10,000 inscriptions</a>',
      `<a href="/inscription/${txid}i0">#-7</a>`,
      `<a href="/sale/${txid}">1,234,567 sats</a>`,
      '12 sat/vB',
      '8 within an hour, 1 within a day',
    ])
      expect(text).toContain(words);
    expect(text).not.toContain('unknown');
  });

  test('gives the reason for each unknown part, in the same four places', () => {
    const { text } = liveStrip(unknown);
    expect(text.match(/unknown/gu)).toHaveLength(4);
    for (const view of [known, unknown]) expect(liveStrip(view).text.match(/<dt>/gu)).toHaveLength(4);
  });

  test('has no sales without any, and ids of inscriptions without a number', () => {
    expect(liveStrip({ ...known, sales: [] }).text).toContain('none yet');
    const [sale] = known.sales ?? [];
    const { text } = liveStrip({ ...known, sales: [{ ...sale!, number: null }] });
    expect(text).toContain('abababab…');
  });
});
