import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { CoinsFilling } from '#orders/coins/fill-coins.ts';
import { postEntries, readEntries } from '#purse/ledger/ledger.store.ts';
import type { LedgerEntry, Subject } from '#purse/ledger/ledger.ts';
import { databaseFolder } from '#test/support/database-folder.ts';
import { startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoind } from '../follow/follow-bench.ts';
import { numberOption } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { percentile } from '../statistics.ts';
import { fillOrders, migrateToEarlierVersion, type StoredOrders } from './stored-orders.ts';

const satsOfBitcoin = 100_000_000;
/** Number of measured postings of orders. Some earlier ones warm up the connection. */
const postings = 2000;
const warmUps = 200;

/**
 * Measures the ledger with many orders. They are stored like in an earlier version, and then migrated. With `--until
 * filled` the server keeps running for other measurements, and its URL is printed.
 */
export async function ledgerBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: { orders: { type: 'string', default: '100000' }, until: { type: 'string' } },
  });
  const orders = numberOption('orders', values.orders, 100);
  const dataDir = await mkdtemp(join(databaseFolder(), 'satscribe-bench-ledger-'));
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  const client = await connectClient(server.url);
  try {
    await migrateToEarlierVersion(client);
    const stored = await fillOrders(client, orders);
    if (values.until === 'filled') {
      console.log(`${server.url}\nControl-C ends the server.`);
      await new Promise((resolve) => process.once('SIGINT', resolve));
      return { bench: 'ledger', notes: [`${orders} orders of an earlier version`], figures: [], details: [] };
    }
    const before = await bytesOf(client, 'service.ledger_entries');
    const migrateS = await secondsOf(() => migrate(server.url));
    await client.query('VACUUM ANALYZE');
    const after = await bytesOf(client, 'service.ledger_entries');
    const figures: Figure[] = [
      { name: 'migrateS', value: migrateS, unit: 's' },
      { name: 'bytesBefore', value: before / orders, unit: 'bytes an order' },
      { name: 'bytes', value: after / orders, unit: 'bytes an order' },
      ...(await postingFigures(client)),
    ];
    const fillS = await secondsOf(() => fillCoins(client));
    await client.query('VACUUM ANALYZE');
    const others =
      (await bytesOf(client, 'service.wallet_coins')) + (await bytesOf(client, 'service.wallet_spends'));
    figures.push(
      { name: 'fillS', value: fillS, unit: 's' },
      { name: 'allBytes', value: (after + others) / orders, unit: 'bytes an order', target: { most: 2000 } },
      await auditFigure(client, stored),
    );
    return {
      bench: 'ledger',
      notes: [
        `${orders} orders of one file, nearly all delivered; embedded Postgres in memory, not durable`,
        'migrateS: from the version before all subjects shared a ledger to this one, all migrations',
        'fillS: the coins of all orders are listed; allBytes: of the ledger, the coins, and the transactions that spend them',
        `post: one transaction that adds a payment to the ledger of an order, one of ${postings}; look: one that adds nothing`,
        'auditS: a real node is asked each question, and its answer is replaced by that of the chain of these orders',
      ],
      figures,
      details: [],
    };
  } finally {
    await client.end();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

/** Lists the coins of all orders, like the service does between its rounds. */
async function fillCoins(client: pg.Client): Promise<void> {
  const filling = new CoinsFilling(pino({ level: 'silent' }));
  while (!filling.isComplete) await filling.next(client);
}

/** The size of a table with its indexes, in bytes. */
async function bytesOf(client: pg.Client, table: string): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>('SELECT pg_total_relation_size($1) AS bytes', [
    table,
  ]);
  return Number(rows[0]?.bytes);
}

async function postingFigures(client: pg.Client): Promise<Figure[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.orders WHERE state = 'completed' ORDER BY script LIMIT $1`,
    [postings],
  );
  const posted: number[] = [];
  const looked: number[] = [];
  for (const { id } of rows) {
    const subject: Subject = { kind: 'order', id };
    const entries = await readEntries(client, subject);
    const [payment] = entries;
    if (payment === undefined) continue;
    const late: LedgerEntry = { ...payment, vout: 1 };
    await withTransaction(client, async (tx) => {
      looked.push(await secondsOf(() => postEntries(tx, subject, entries)));
      posted.push(await secondsOf(() => postEntries(tx, subject, [...entries, late])));
      posted.push(await secondsOf(() => postEntries(tx, subject, entries)));
    });
  }
  const ms = (name: string, all: readonly number[], share: number): Figure => ({
    name,
    value: percentile(all.slice(warmUps), share) * 1000,
    unit: 'ms',
  });
  return [
    { ...ms('postMs', posted, 0.5), target: { most: 1 } },
    ms('postP99Ms', posted, 0.99),
    ms('lookMs', looked, 0.5),
  ];
}

async function auditFigure(client: pg.Client, stored: StoredOrders): Promise<Figure> {
  const node = await startBitcoind({ executable: bitcoind() });
  try {
    const parts = { database: client, node: nodeOf(node.rpc, stored), looks: 1 };
    let differing = 0;
    const value = await secondsOf(async () => {
      const audit = await auditOrders(parts);
      differing = audit.differing;
      for (const { order, kind, where, ledger, chain } of audit.differences.slice(0, 5))
        console.error(`${order.id} ${kind} ${where}: ledger ${ledger}, chain ${chain}`);
    });
    if (differing > 0) throw new Error(`${differing} orders differ from the chain`);
    return { name: 'auditS', value, unit: 's', target: { most: 120 } };
  } finally {
    await node.stop();
  }
}

/** Sends requests to a node, but returns results that fit the chain of these orders. */
const nodeOf = (rpc: BatchRpc, { tip, coins }: StoredOrders): BatchRpc => ({
  url: rpc.url,
  async call<Result>(...asked: Parameters<BatchRpc['call']>): Promise<Result> {
    const answer = await rpc.call<unknown>(...asked);
    return (asked[0] === 'getbestblockhash' ? tip : answer) as Result;
  },
  async batch<Result>(...asked: Parameters<BatchRpc['batch']>): Promise<Result[]> {
    await rpc.batch(...asked);
    return asked[0].map(({ parameters }) => {
      const coin = coins.get(parameters.slice(0, 2).join(':'));
      return (
        coin === undefined ? null : { value: coin.value / satsOfBitcoin, scriptPubKey: { hex: coin.script } }
      ) as Result;
    });
  },
});
