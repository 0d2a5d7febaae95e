import { describe, expect, test } from 'vitest';
import { SignatureReader } from '#indexer/facts/signatures.ts';
import type { ClassifiedMove } from '#indexer/ledger/sales/classify-moves.ts';
import {
  type InputSignatures,
  type PendingSale,
  pendingSalesOf,
  saleSignatures,
  soldInputsMax,
} from '#indexer/mempool/pending/pending-sales.ts';
import {
  type HeldOutput,
  movesOf,
  packedId,
  storedScript,
} from '#indexer/mempool/pending/pending-transaction.ts';
import { type SpentCoin, TransactionBatch } from '#indexer/mempool/stream/transaction-batch.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { classifiedBlock, marketBlock } from '#test/support/sales/classified-block.ts';
import type { MarketTransaction } from '#test/support/sales/market-coins.ts';
import { RandomMarket } from '#test/support/sales/random-market.ts';

const key = Buffer.alloc(32, 9);
const textMaxBytes = 4_000_000;

/** The output that each input spends. The ids of its inscriptions begin with their keys. */
function heldBy({ inputs }: MarketTransaction, firstKey: number): (HeldOutput | null)[] {
  let next = firstKey;
  return inputs.map(({ spent, items }) => {
    if (items.length === 0) return null;
    const holdings = items.map((satOffset) => {
      const inscription = asInscriptionKey(next++);
      const txid = Buffer.alloc(32);
      txid.writeUInt32LE(inscription);
      return { inscription: packedId(asTxid(txid), 0), key: inscription, satOffset };
    });
    return {
      outpoint: Buffer.alloc(36),
      value: asSats(spent.value),
      script: storedScript(spent.script),
      holdings,
    };
  });
}

interface Pending {
  readonly signatures: InputSignatures | null;
  readonly sales: readonly PendingSale[];
}

/**
 * Transactions of a market as the mempool has them. The transactions are independent of each other. Each one has the
 * node's data about its inputs.
 */
function pendingOf(transactions: readonly MarketTransaction[], spentOf: SpentOf): Pending[] {
  const block = marketBlock(transactions);
  const batch = TransactionBatch.ofBlock(block.bytes, block.spent.bytes, key, textMaxBytes);
  if (batch === null) throw new Error('a market makes whole blocks');
  const reader = new SignatureReader(batch.bytes, batch.columns);
  let keys = 0;
  return transactions.map((market, index) => {
    const tx = index + 1;
    const held = heldBy(market, keys);
    keys += market.inputs.reduce((sum, { items }) => sum + items.length, 0);
    const signatures = saleSignatures(batch, tx, held, reader);
    if (signatures === null) return { signatures, sales: [] };
    const spent = held.map((_, input) => spentOf(batch, tx, input));
    const facts = held.map((output, input) => ({ held: output, value: spent[input]?.value ?? null }));
    const { transfers } = movesOf(batch, tx, facts);
    return { signatures, sales: pendingSalesOf(signatures, spent, batch.outputs(tx), transfers) };
  });
}

type SpentOf = (batch: TransactionBatch, tx: number, input: number) => SpentCoin | null;
const known: SpentOf = (batch, tx, input) => batch.spentCoin(tx, input);

/** Sales of a block, written like pending ones. */
function minedSales(moves: readonly ClassifiedMove[]): unknown[] {
  return moves.flatMap(({ move: { input, place, key: of }, class: name, sold }) => {
    if (sold === null) return [];
    const { maker, taker, ...rest } = sold;
    return {
      ...rest,
      of,
      input,
      place,
      class: name,
      maker: ownerOf(maker),
      taker: taker === null ? null : ownerOf(taker),
    };
  });
}

const ownerOf = (script: string): string => Buffer.from(script, 'latin1').toString('hex');
const shown = ({ inscription, maker, taker, ...rest }: PendingSale): unknown => ({
  ...rest,
  of: Buffer.from(inscription, 'latin1').readUInt32LE(),
  maker: Buffer.from(maker).toString('hex'),
  taker: taker === null ? null : Buffer.from(taker).toString('hex'),
});

describe('sales of a pending transaction', () => {
  const market = new RandomMarket('pending');
  const transactions = Array.from({ length: 2_000 }, () => market.next());

  test('are those of its block, in a random market', () => {
    const perBlock = 500;
    let sales = 0;
    for (let at = 0; at < transactions.length; at += perBlock) {
      const part = transactions.slice(at, at + perBlock);
      const mined = classifiedBlock(marketBlock(part));
      const pending = pendingOf(part, known);
      expect(pending.map((each) => each.sales.map(shown))).toEqual(
        part.map((_, index) => minedSales(mined.get(index + 1) ?? [])),
      );
      sales += pending.reduce((sum, each) => sum + each.sales.length, 0);
    }
    expect(sales).toBeGreaterThan(500);
  });

  test('are empty if an input is unknown, and no request is made for transactions that cannot sell', () => {
    const part = transactions.slice(0, 500);
    const pending = pendingOf(part, (batch, tx, input) => (input === 0 ? null : batch.spentCoin(tx, input)));
    expect(pending.flatMap(({ sales }) => sales)).toEqual([]);
    // the labels of the makers say which transactions move an owner's items to the same owner; their inputs are not
    // read
    const own = part.flatMap(({ kind }, at) => (kind === 'a consolidation of 30' ? [pending[at]] : []));
    expect(own.length).toBeGreaterThan(0);
    expect(own.every((each) => each?.signatures === null)).toBe(true);
  });

  test('are not searched in a transaction with more inputs than the node is asked about', () => {
    const [sale] = transactions;
    const filler = sale!.inputs.filter(({ items }) => items.length === 0)[0]!;
    const wide = {
      ...sale!,
      inputs: [...sale!.inputs, ...Array.from({ length: soldInputsMax }, () => filler)],
    };
    const [plain, bounded] = pendingOf([sale!, wide], known);
    expect(plain?.sales.length).toBeGreaterThan(0);
    expect(bounded).toEqual({ signatures: null, sales: [] });
  });
});
