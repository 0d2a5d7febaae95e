import { expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { hexOf } from '#orders/ledger/settlements.ts';
import { refundOutcome } from '#orders/operator/refund-outcome.ts';
import { entriesOf, type Receipt } from '#purse/ledger/ledger.ts';

const refund = trustedTxid(Buffer.from(Array.from({ length: 32 }, (_, byte) => byte)));
const paid = (fill: number): Receipt => ({
  to: 'owed',
  txid: hexOf(Buffer.alloc(32, fill)),
  vout: 0,
  value: 5000n,
});
const transactions = [
  {
    txid: refund,
    kind: 'refund' as const,
    plan: { inputs: [{ outpoint: 'a:0', value: 5000 }], outputs: [] },
    sentAt: new Date(0),
    height: null,
  },
];

test('the open amount excludes what a stored refund spends, until the ledger has the refund', () => {
  const stored = refundOutcome('regtest', transactions, entriesOf([paid(1), paid(2)], []));
  expect(stored.open).toBe(5000);
  const settled = {
    txid: hexOf(refund),
    from: 'owed' as const,
    parts: [{ to: 'outside' as const, sats: 5000n }],
  };
  expect(refundOutcome('regtest', transactions, entriesOf([paid(1), paid(2)], [settled])).open).toBe(5000);
});
