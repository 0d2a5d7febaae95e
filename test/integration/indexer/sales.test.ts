import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { salesOfTransaction } from '#chain/sales/sale.queries.ts';
import { completeEventHashes } from '#indexer/apply/complete-event-hashes.ts';
import { saleEvents } from '#indexer/events/sale-events.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { verifyChain } from '#indexer/verify/verify-chain.ts';
import { asTxid, type Txid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import {
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { readHashes, textsOfTables } from '#test/support/chain/event-rows.ts';
import { alice, bob, carol, listed, pairType, postage, Trades } from '#test/support/chain/trades.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

let node: IndexedNode;
let trades: Trades;
beforeAll(async () => {
  node = await startIndexedNode();
  trades = new Trades(node);
});
afterAll(() => node.close());

interface SaleRow {
  readonly id: string;
  readonly class: number;
  readonly form: number;
  readonly price: number;
  readonly gross: number;
  readonly maker: string;
  readonly taker: string | null;
  readonly bundle: number;
  readonly wash: boolean;
}

/** The stored sales of transactions, in the order of the chain. */
async function salesOf(...transactions: readonly RegtestTransaction[]): Promise<SaleRow[]> {
  const { rows } = await node.database.pool.query<SaleRow>(
    `SELECT encode(i.txid, 'hex') AS id, s.class, s.form, s.price::float8 AS price, s.gross_payout::float8 AS gross,
       encode(s.maker, 'hex') AS maker, encode(s.taker, 'hex') AS taker, s.bundle, s.wash
     FROM chain.sales s JOIN chain.inscriptions i USING (key)
     WHERE s.txid = ANY ($1) ORDER BY s.height, s.tx_index, s.input, s.place`,
    [transactions.map(({ txid }) => Buffer.from(txid, 'hex').reverse())],
  );
  return rows;
}

const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');
const idOf = ({ txid }: RegtestTransaction): string => Buffer.from(txid, 'hex').reverse().toString('hex');
const txidOf = ({ txid }: RegtestTransaction): Txid => asTxid(Buffer.from(txid, 'hex').reverse());

async function verified(): Promise<unknown> {
  const connected = await connectNode(node.bitcoind.settings);
  const source = openNodeSource(connected);
  const { differences } = await verifyChain({
    source,
    pool: node.database.pool,
    signal: new AbortController().signal,
    threads: parseThreads(),
    differencesMax: 9,
  });
  await source.close();
  return differences;
}

describe('sales of a real chain', () => {
  test('are those that were signed and paid', async () => {
    const [forPair, forOrd, forOffer, sent] = [
      await trades.item(alice),
      await trades.item(alice),
      await trades.item(alice),
      await trades.item(alice),
    ];
    const bought = await trades.purchase(forPair.coin(0), bob, 70_000);
    const shifted = await trades.purse(bob);
    const given = transaction(
      [shifted.dummies[0]!, listed(forOrd.coin(0)), shifted.money],
      [
        { value: 600 + postage, to: bob },
        { value: 40_000, to: alice },
        { value: 900_000, to: bob },
      ],
    );
    const offering = await trades.purse(bob);
    const accepted = transaction(
      [forOffer.coin(0), offering.money],
      [
        { value: postage, to: carol },
        { value: 30_000 + postage, to: alice },
        { value: 900_000, to: bob },
      ],
    );
    const fees = await trades.purse(alice);
    const moved = transaction(
      [sent.coin(0), fees.money],
      [
        { value: postage, to: bob },
        { value: 990_000, to: alice },
      ],
    );
    await node.chain.mine([bought, given, accepted, moved]);
    await node.atTip();
    const common = { bundle: 1, wash: false, maker: hexOf(alice) };
    expect(await salesOf(bought, given, accepted, moved)).toEqual([
      { ...common, id: idOf(forPair), class: 1, form: 2, price: 70_000, gross: 80_000, taker: hexOf(bob) },
      { ...common, id: idOf(forOrd), class: 1, form: 1, price: 40_000, gross: 40_000, taker: hexOf(bob) },
      { ...common, id: idOf(forOffer), class: 2, form: 4, price: 30_000, gross: 40_000, taker: hexOf(carol) },
    ]);
    expect(await verified()).toEqual([]);
    const client = await node.database.pool.connect();
    const explained = await salesOfTransaction(client, txidOf(bought));
    client.release();
    expect(explained).toMatchObject([
      {
        class: 'sale',
        form: 'two-dummies',
        confidence: 'bound-known',
        input: 2,
        payoutOutput: 2,
        feeOutput: 3,
      },
    ]);
    expect(explained[0]).toMatchObject({ price: 70_000, sighash: pairType, rules: 1, isWash: false });
  });

  test('sold again in one block are two, and a reorganisation gives the item to another buyer', async () => {
    const sold = await trades.item(alice);
    const toBob = await trades.purchase(sold.coin(0), bob, 50_000);
    const toCarol = await trades.purchase(toBob.coin(1), carol, 60_000);
    const instead = await trades.purchase(sold.coin(0), carol, 50_000);
    const block = await node.chain.mine([toBob, toCarol]);
    await node.atTip();
    expect((await salesOf(toBob, toCarol)).map(({ maker, taker, price }) => [maker, taker, price])).toEqual([
      [hexOf(alice), hexOf(bob), 50_000],
      [hexOf(bob), hexOf(carol), 60_000],
    ]);
    await node.bitcoind.rpc.call('invalidateblock', [block.hash]);
    await node.chain.mine([instead]);
    await node.chain.mine();
    await node.atTip();
    expect(await salesOf(toBob, toCarol)).toEqual([]);
    expect(await salesOf(instead)).toMatchObject([{ id: idOf(sold), taker: hexOf(carol), price: 50_000 }]);
    expect(await verified()).toEqual([]);
  });

  test('verify tells a row that is missing, and one that differs', async () => {
    const sold = await trades.item(alice);
    const bought = await trades.purchase(sold.coin(0), bob, 50_000);
    await node.chain.mine([bought]);
    await node.atTip();
    const { pool } = node.database;
    const where = 'WHERE height = (SELECT max(height) FROM chain.sales)';
    await pool.query(`UPDATE chain.sales SET price = price + 1 ${where}`);
    expect(await verified()).toHaveLength(1);
    await pool.query(`UPDATE chain.sales SET price = price - 1 ${where}`);
    expect(await verified()).toEqual([]);
  });

  test('have texts and hashes that the tables give again, and that another way to the same chain gives', async () => {
    const sold = await trades.item(alice);
    const bought = await trades.purchase(sold.coin(0), bob, 50_000);
    const block = await node.chain.mine([bought]);
    await node.atTip();
    const { pool } = node.database;
    const hashes = await readHashes(pool, storedSaleKind);
    const texts = await textsOfTables(pool, 'regtest', storedSaleKind);
    expect(texts.map(({ height, sha256 }) => [height, sha256])).toEqual(
      [...hashes].map(([height, { sha256 }]) => [height, sha256]),
    );
    const { rows } = await pool.query<{ events: Buffer; event_count: number }>(
      `SELECT events, event_count FROM chain.outbox_texts WHERE kind = 2 ORDER BY sequence DESC LIMIT 1`,
    );
    const [, line] = inflateSync(rows[0]!.events).toString('latin1').split('\n');
    expect(rows[0]!.event_count).toBe(1);
    expect(line).toBe(
      `sold ${sold.txid}i0 ${bought.txid} 2 50000 60000 1 2 3 131 sale two-dummies bound-known - ${hexOf(alice)} ${hexOf(bob)}`,
    );
    expect(texts.at(-1)?.text).toContain(line);
    await pool.query('DELETE FROM chain.event_hashes WHERE kind = 2');
    const client = await pool.connect();
    await completeEventHashes(client, { network: networks.regtest, kinds: [saleEvents] });
    client.release();
    expect(await readHashes(pool, storedSaleKind)).toEqual(hashes);
    expect(await verified()).toEqual([]);
    await node.bitcoind.rpc.call('invalidateblock', [block.hash]);
    await node.bitcoind.rpc.call('reconsiderblock', [block.hash]);
    await node.atTip();
    expect(await readHashes(pool, storedSaleKind)).toEqual(hashes);
  });
});
