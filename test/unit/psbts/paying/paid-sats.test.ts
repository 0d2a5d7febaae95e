import { expect, test } from 'vitest';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { ownAsker } from '#kernel/contracts/asker.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import { lookedUpMax } from '#orders/order/coin-selection.ts';
import { openOrder } from '#orders/paying/open-order.ts';
import { withSats } from '#psbts/paying/paid-sats.ts';
import { oneFile, prices } from '#test/unit/orders/inscribing/made-orders.ts';
import { payment, recordsOf, storedOrder, tip } from '#test/unit/orders/paying/open-orders.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';

test('if a stranger sends a thousand coins, twenty of them are looked up', async () => {
  // at this rate an input with dust costs more than its value
  const terms = { ...oneFile, feeRate: 10_000n };
  const quote = quoteOrder(terms, prices);
  if (quote.kind === 'refused') throw new Error(quote.reason);
  const stored = storedOrder(terms, quote);
  const order = { ...stored, request: { ...stored.request, allowedSatributes: ['vintage'] } };
  const txid = asTxid(new Uint8Array(32).fill(5));
  const paid = payment(order, txid, 0, 2_000n, tip);
  const dust = Array.from({ length: 1_000 }, (_, vout) => ({
    ...payment(order, txid, vout + 1, 331n, tip),
    firstSeen: new Date(paid.firstSeen.getTime() + 1),
  }));
  const found = openOrder(recordsOf(order, [...dust, paid]), null);
  if (found.kind !== 'open') throw new Error(found.kind);
  const asked: Outpoint[] = [];
  const utxos = {
    outputs: async (outpoints: readonly Outpoint[]) => {
      asked.push(...outpoints);
      return outpoints;
    },
    sats: async (outputs: readonly Outpoint[]) =>
      outputs.map(({ vout }) => ({ state: 'known', ranges: [{ start: vout, end: vout + 331 }] })),
  } as unknown as UtxoReader;
  const { coins } = await withSats(utxos, found.order, ownAsker('test'));
  expect(asked.length).toBeLessThanOrEqual(lookedUpMax);
  expect(coins.find(({ vout }) => vout === 0)?.ranges).toEqual([{ start: 0, end: 331 }]);
  expect(coins).toHaveLength(1_001);
});
