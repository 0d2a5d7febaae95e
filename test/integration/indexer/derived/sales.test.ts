import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { salesOfTransaction } from '#chain/sales/sale.queries.ts';
import { completeEventHashes } from '#indexer/apply/complete-event-hashes.ts';
import { saleEvents } from '#indexer/events/sale-events.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { verifyChain } from '#indexer/verify/verify-chain.ts';
import { asTxid, type Txid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import {
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { readHashes, textsOfTables } from '#test/support/chain/events/event-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { runCli } from '#test/support/run-cli.ts';
import { alice, bob, carol, listed, pairType, postage, Trades } from '#test/support/sales/trades.ts';
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

/** Sales of a database, and hashes of their events. */
async function soldIn(pool: TestDatabase['pool']): Promise<unknown> {
  const { rows } = await pool.query<{ sale: string }>(
    'SELECT s::text AS sale FROM chain.sales s ORDER BY height, tx_index, input, place',
  );
  return { sales: rows.map(({ sale }) => sale), hashes: [...(await readHashes(pool, storedSaleKind))] };
}

/** Runs `sales explain` for a transaction, with the node's blocks. Returns its output. */
async function explainedBy(...words: readonly string[]): Promise<string> {
  const { rpcUrl, cookieFile } = node.bitcoind;
  const source = ['--node', rpcUrl, '--cookie-file', cookieFile];
  const { stdout, exitCode } = await runCli(['sales', 'explain', ...words, ...source], {
    DATABASE_URL: node.database.url,
  });
  expect(exitCode).toBe(0);
  return stdout;
}

/** Asserts that an index that has never seen another branch has the same rows. */
async function expectClean(): Promise<void> {
  const clean = await createTestDatabase();
  const connected = await connectNode(node.bitcoind.settings);
  const source = openNodeSource(connected);
  const until = asHeight(await node.bitcoind.rpc.call<number>('getblockcount'));
  const signal = new AbortController().signal;
  await follow({ source, pool: clean.pool, signal, threads: parseThreads(), until });
  await source.close();
  expect(await soldIn(node.database.pool)).toEqual(await soldIn(clean.pool));
  await clean.drop();
}

describe('sales of a real chain', () => {
  test('are the signed and paid ones', async () => {
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
    const explained = await salesOfTransaction(client, txidOf(bought), null);
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
    expect(explained[0]).toMatchObject({ price: 70_000, sighash: pairType, rules: 3, isWash: false });
    const [refused] = JSON.parse(await explainedBy(moved.txid, '--json')) as unknown[];
    expect(refused).toMatchObject({ inscriptionId: sent.id(), class: 'transfer', refusedBy: 'change' });
    // no inscription has this block as its own, and the node has no index of transactions
    expect(await explainedBy(fees.money.txid)).toContain('moves no inscription, so it sells nothing');
    expect(await explainedBy('ab'.repeat(32))).toContain('No indexed block has the transaction.');
  });

  test('are two if the item is sold twice in one block; a reorganisation gives it to another buyer', {
    tags: ['proof'],
  }, async () => {
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
    await expectClean();
  });

  test('disappear if a reorganisation makes the sale a transfer, which cancels the listing', {
    tags: ['proof'],
  }, async () => {
    const sold = await trades.item(alice);
    const bought = await trades.purchase(sold.coin(0), bob, 50_000);
    const { money } = await trades.purse(alice);
    const cancelled = transaction(
      [sold.coin(0), money],
      [
        { value: postage, to: carol },
        { value: 990_000, to: alice },
      ],
    );
    const { hash } = await node.chain.mine([bought]);
    await node.chain.mine();
    await node.atTip();
    expect(await salesOf(bought)).toMatchObject([{ id: idOf(sold), taker: hexOf(bob) }]);
    await node.bitcoind.rpc.call('invalidateblock', [hash]);
    await node.chain.mine([cancelled]);
    await node.chain.mineEmpty(2);
    await node.atTip();
    expect(await salesOf(bought, cancelled)).toEqual([]);
    expect(await verified()).toEqual([]);
    await expectClean();
    // go back: the longer branch with the sale is the best again
    await node.bitcoind.rpc.call('invalidateblock', [
      await node.bitcoind.rpc.call<string>('getblockhash', [
        (await node.bitcoind.rpc.call<number>('getblockcount')) - 2,
      ]),
    ]);
    await node.bitcoind.rpc.call('reconsiderblock', [hash]);
    await node.atTip();
    expect(await salesOf(bought)).toMatchObject([{ id: idOf(sold), taker: hexOf(bob) }]);
    await expectClean();
  });

  test('in the mempool, each on top of the one before, are all found in the next block', async () => {
    const sold = await trades.item(alice);
    const toBob = await trades.purchase(sold.coin(0), bob, 50_000);
    const toCarol = await trades.purchase(toBob.coin(1), carol, 60_000);
    const { money } = await trades.purse(bob);
    const offer = transaction(
      [toCarol.coin(1), money],
      [
        { value: postage, to: bob },
        { value: 80_000, to: carol },
        { value: 900_000, to: bob },
      ],
    );
    const last = await trades.purchase(offer.coin(0), alice, 90_000);
    for (const pending of [toBob, toCarol, offer, last]) await node.chain.broadcast(pending);
    const { ancestorcount: ancestors } = await node.bitcoind.rpc.call<{ ancestorcount: number }>(
      'getmempoolentry',
      [last.txid],
    );
    expect(ancestors).toBe(4);
    await node.atTip();
    expect(await salesOf(toBob, toCarol, offer, last)).toEqual([]);
    await node.chain.mineMempool();
    await node.atTip();
    const rows = await salesOf(toBob, toCarol, offer, last);
    expect(rows.map((row) => [row.class, row.maker, row.taker, row.price])).toEqual([
      [1, hexOf(alice), hexOf(bob), 50_000],
      [1, hexOf(bob), hexOf(carol), 60_000],
      [2, hexOf(carol), hexOf(bob), 80_000 - postage],
      [1, hexOf(bob), hexOf(alice), 90_000],
    ]);
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([idOf(sold)]));
    expect(await verified()).toEqual([]);
    await expectClean();
  });

  test('with a missing or a wrong row are found by verify', { tags: ['proof'] }, async () => {
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

  test('have texts and hashes that the tables and another path to the same chain give again', async () => {
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
