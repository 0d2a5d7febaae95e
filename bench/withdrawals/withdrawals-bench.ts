import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { familyCpuMs } from '#kernel/stages/process-times.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { withBenchNode } from '../bench-node.ts';
import { byClients } from '../clients.ts';
import { nameOption, numberOption } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { percentile } from '../statistics.ts';
import { type BenchOrder, TokenShop } from '../tokenpay/token-shop.ts';
import { historyFigures } from './history-figures.ts';

const parts = ['arrivals', 'batch', 'history'] as const;
const betweenArrivalsMs = 500;
/** Number of withdrawals that arrive between two blocks. */
const betweenBlocks = 20;
/** Number of withdrawals of the baseline, without open orders. */
const alone = 20;
/** Number of orders that one transaction pays. Each order has two outputs. */
const ordersOfOne = 100;
const additionalFee = 20_000;
const firstReceiver = 40_000;

interface Counts {
  readonly open: number;
  readonly accounts: number;
  readonly seconds: number;
  readonly batch: number;
}

/**
 * `npm run bench -- withdrawals`: how long accounts wait when they withdraw runes and sats, and the cost of a large
 * batch.
 */
export async function withdrawalsBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      open: { type: 'string', default: '10000' },
      accounts: { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '60' },
      batch: { type: 'string', default: '500' },
      history: { type: 'string', default: '100000' },
    },
  });
  const only = nameOption('only', values.only, parts);
  const counts = {
    open: numberOption('open', values.open, 0),
    accounts: numberOption('accounts', values.accounts, 1),
    seconds: numberOption('seconds', values.seconds, 1),
    batch: numberOption('batch', values.batch, 1),
  };
  const history = numberOption('history', values.history, 10);
  const needed = alone + 2 * counts.seconds + counts.batch + 1;
  assert(needed <= counts.accounts, `each of ${needed} withdrawals is of an account of its own: --accounts`);
  const figures: Figure[] = only === null || only === 'history' ? await historyFigures(history) : [];
  if (only !== 'history') figures.push(...(await besideNode(only, counts)));
  return {
    bench: 'withdrawals',
    notes: notesOf(counts, history),
    figures,
    details: [],
  };
}

async function besideNode(only: 'arrivals' | 'batch' | null, counts: Counts): Promise<Figure[]> {
  const figures: Figure[] = [];
  await withBenchNode('withdrawals', async (node, dir) => {
    const chain = await RegtestChain.start(node.rpc, 120);
    const shop = await TokenShop.open(node, chain, dir, counts.accounts);
    try {
      await earn(shop, counts.accounts);
      figures.push(...(await serviceFigures(shop, only, counts)));
    } finally {
      await shop.close();
    }
  });
  return figures;
}

const notesOf = ({ open, accounts, seconds, batch }: Counts, history: number): string[] => [
  `statements of a batch of 500: beside ${history} spent coins, three times as many entries and half as many completed withdrawals, and beside a tenth`,
  'a service process, a real node, embedded Postgres; all withdrawals over HTTP, each of an account of its own, one in four of sats',
  `alone: ${alone} withdrawals, one each ${betweenArrivalsMs} ms, beside no open orders: the baseline`,
  `reserved to sent: one each ${betweenArrivalsMs} ms for ${seconds} s beside ${open} open orders of ${accounts} accounts, with a block each ${(betweenBlocks * betweenArrivalsMs) / 1000} s`,
  `batch: ${batch} withdrawals that wait together, from their batch to its broadcast; the processor time is that of the service with its Postgres`,
];

async function serviceFigures(
  shop: TokenShop,
  only: 'arrivals' | 'batch' | null,
  { open, seconds, batch }: Counts,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const arrivals = 2 * seconds;
  if (only !== 'batch') {
    const times = await arrive(shop, 0, alone);
    figures.push({ name: 'reservedToSentP95MsAlone', value: percentile(times, 0.95), unit: 'ms' });
  }
  await byClients(open, async (nth) => void (await shop.order(nth)));
  if (only !== 'batch') {
    const times = await arrive(shop, alone, arrivals);
    figures.push(
      { name: 'reservedToSentP50Ms', value: percentile(times, 0.5), unit: 'ms' },
      { name: 'reservedToSentP95Ms', value: percentile(times, 0.95), unit: 'ms', target: { most: 2000 } },
    );
  }
  if (only !== 'arrivals') figures.push(...(await batchFigures(shop, alone + arrivals, batch)));
  return figures;
}

/** Pays an order of each account, which gives the account 5 units and sats. */
async function earn(shop: TokenShop, accounts: number): Promise<void> {
  const orders: BenchOrder[] = [];
  await byClients(accounts, async (nth) => {
    orders[nth] = await shop.order(nth, { additionalFee });
  });
  const payments = [];
  for (let from = 0; from < accounts; from += ordersOfOne) {
    const paid = orders.slice(from, from + ordersOfOne);
    const tokens = await Promise.all(paid.map(({ tokenCharge }) => shop.scriptOf(tokenCharge.address)));
    const fees = await Promise.all(
      paid.map(async ({ feeCharge: { address, amount } }) => ({
        value: amount,
        outputScript: await shop.scriptOf(address),
      })),
    );
    payments.push(shop.payment(tokens, fees));
  }
  await shop.chain.mine(payments);
  await shop.until('SELECT count(*)::integer AS count FROM service.token_credits', [], 2 * accounts);
}

const kindOf = (nth: number): 'rune' | 'bitcoin' => (nth % 4 === 3 ? 'bitcoin' : 'rune');
const ask = (shop: TokenShop, nth: number) => shop.withdraw(nth, kindOf(nth), addressOf(firstReceiver + nth));

/**
 * Requests withdrawals one by one. Returns the time from each reservation to the broadcast in ms, by the database's
 * clock.
 */
async function arrive(shop: TokenShop, first: number, count: number): Promise<number[]> {
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    ids.push((await ask(shop, first + nth)).id);
    await sleep(betweenArrivalsMs);
    if (nth % betweenBlocks === betweenBlocks - 1) await shop.chain.mineMempool();
  }
  await untilSent(shop, ids);
  const { rows } = await shop.pool.query<{ ms: number }>(
    `SELECT extract(epoch FROM p.sent_at - w.created_at)::float8 * 1000 AS ms
       FROM service.withdrawals AS w JOIN service.payouts AS p ON p.id = w.payout WHERE w.id = ANY($1::uuid[])`,
    [ids],
  );
  await shop.chain.mineMempool();
  return rows.map(({ ms }) => ms);
}

const untilSent = (shop: TokenShop, ids: readonly string[]): Promise<number> =>
  shop.until(
    `SELECT count(*)::integer AS count FROM service.withdrawals AS w JOIN service.payouts AS p ON p.id = w.payout
      WHERE w.id = ANY($1::uuid[]) AND p.sent_at IS NOT NULL`,
    [ids],
    ids.length,
  );

/**
 * Measures withdrawals that wait together. The batch of the first one waits for the lock, and the others join this
 * batch, which may have up to 500.
 */
async function batchFigures(shop: TokenShop, first: number, count: number): Promise<Figure[]> {
  const ids: string[] = [];
  const holder = await shop.pool.connect();
  await holder.query('BEGIN');
  try {
    // the lock stops inserts, but withdrawals can still read which batch they join
    await holder.query('LOCK TABLE service.payouts IN SHARE ROW EXCLUSIVE MODE');
    ids.push((await ask(shop, first)).id);
    await byClients(count, async (nth) => void ids.push((await ask(shop, first + 1 + nth)).id));
  } catch (error) {
    holder.release(true);
    throw error;
  }
  const cpuMs = (): number => familyCpuMs(shop.pid) ?? Number.NaN;
  const before = cpuMs();
  const startedAt = performance.now();
  await holder.query('COMMIT');
  holder.release();
  const sentAt = await untilSent(shop, ids);
  const spentMs = cpuMs() - before;
  const { rows } = await shop.pool.query<{ members: number; inputs: number }>(
    `SELECT count(*)::integer AS members, max(jsonb_array_length(t.plan->'inputs')) AS inputs
       FROM service.withdrawals AS w JOIN service.wallet_transactions AS t ON t.payout_id = w.payout
      WHERE w.id = ANY($1::uuid[]) GROUP BY w.payout ORDER BY 1 DESC`,
    [ids],
  );
  const [largest] = rows;
  return [
    { name: 'batchWithdrawals', value: largest?.members ?? 0, unit: '' },
    { name: 'batchInputs', value: largest?.inputs ?? 0, unit: '' },
    { name: 'batchSentMs', value: sentAt - startedAt, unit: 'ms' },
    { name: 'batchSentCpuS', value: spentMs / 1000, unit: 's', target: { most: 10 } },
  ];
}
