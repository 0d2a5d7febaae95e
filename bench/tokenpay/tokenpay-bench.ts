import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { withBenchNode } from '../bench-node.ts';
import { broadcastAt } from '../broadcast-at.ts';
import { byClients, clients } from '../clients.ts';
import { nameOption, numberOption } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { percentile } from '../statistics.ts';
import { planFigures } from './plan-figures.ts';
import { type BenchOrder, TokenShop } from './token-shop.ts';

const parts = ['orders', 'balances', 'webhooks', 'block', 'plan'] as const;
const outputsOfOne = 100;
const betweenPaymentsMs = 100;

/**
 * `npm run bench -- tokenpay`: orders of shops, balances, webhooks and blocks of payments while many orders are open,
 * and plans of withdrawals.
 */
export async function tokenpayBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      open: { type: 'string', default: '10000' },
      accounts: { type: 'string', default: '1000' },
      reads: { type: 'string', default: '10000' },
      paid: { type: 'string', default: '100' },
      block: { type: 'string', default: '1000' },
    },
  });
  const only = nameOption('only', values.only, parts);
  const open = numberOption('open', values.open, clients);
  const accounts = numberOption('accounts', values.accounts, 1);
  const reads = numberOption('reads', values.reads, clients);
  const paid = numberOption('paid', values.paid, 1);
  const block = numberOption('block', values.block, 1);
  const figures: Figure[] = only === null || only === 'plan' ? planFigures() : [];
  if (only !== 'plan') figures.push(...(await serviceFigures(only, { open, accounts, reads, paid, block })));
  return {
    bench: 'tokenpay',
    notes: [
      'a service process, a real node, embedded Postgres; all requests over HTTP with keys of shops',
      `orders: ${open} of ${accounts} accounts by ${clients} clients at once, which stay open during all that follows`,
      `balances: ${reads} reads by ${clients} clients at once, of accounts that hold BTC and a rune`,
      `webhooks: ${paid} payments, one each ${betweenPaymentsMs} ms, from just before their broadcast to the first webhook`,
      `block: from a block with ${block} payments in runes until all are credited, less that of a block that pays strangers until it is indexed`,
      'plan: processor time of one pure plan for 500 withdrawals of 100 accounts, from 10,000 coins',
    ],
    figures,
    details: [],
  };
}

interface Counts {
  readonly open: number;
  readonly accounts: number;
  readonly reads: number;
  readonly paid: number;
  readonly block: number;
}

/** Figures of a running service. */
async function serviceFigures(
  only: (typeof parts)[number] | null,
  { open, accounts, reads, paid, block }: Counts,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  await withBenchNode('tokenpay', async (node, dir) => {
    // each payment with a webhook spends its own mature coinbase
    const chain = await RegtestChain.start(node.rpc, 120 + paid);
    const shop = await TokenShop.open(node, chain, dir, accounts);
    try {
      const created = await orderFigures(shop, open);
      if (only === null || only === 'orders') figures.push(...created);
      if (only === null || only === 'balances') figures.push(...(await balanceFigures(shop, reads)));
      if (only === null || only === 'webhooks') figures.push(...(await webhookFigures(shop, paid)));
      if (only === null || only === 'block') figures.push(...(await blockFigures(shop, block)));
    } finally {
      await shop.close();
    }
  });
  return figures;
}

async function orderFigures(shop: TokenShop, count: number): Promise<Figure[]> {
  await byClients(clients, async (nth) => void (await shop.order(nth)));
  const startedAt = performance.now();
  const times = await byClients(count, async (nth) => void (await shop.order(nth)));
  const seconds = (performance.now() - startedAt) / 1000;
  return [
    { name: `ordersPerSecondOf${clients}`, value: count / seconds, unit: '/s', target: { least: 100 } },
    { name: `orderP99MsOf${clients}`, value: percentile(times, 0.99), unit: 'ms' },
  ];
}

async function balanceFigures(shop: TokenShop, count: number): Promise<Figure[]> {
  // rows like those that the ledger's trigger keeps
  await shop.pool.query(
    `INSERT INTO service.token_balances (account, asset, amount)
     SELECT a.name, s.id, 12345 FROM service.accounts AS a
       CROSS JOIN (SELECT 0 AS id UNION SELECT asset FROM service.token_runes) AS s
     ON CONFLICT DO NOTHING`,
  );
  const read = async (nth: number): Promise<void> =>
    void (await shop.ask('GET', '/tokenpay/user/account/balance', nth));
  await byClients(clients, read);
  const startedAt = performance.now();
  const times = await byClients(count, read);
  const seconds = (performance.now() - startedAt) / 1000;
  const alone: number[] = [];
  for (let nth = 0; nth < count / clients; nth++) {
    const from = performance.now();
    await read(nth);
    alone.push(performance.now() - from);
  }
  return [
    { name: `balancesPerSecondOf${clients}`, value: count / seconds, unit: '/s', target: { least: 500 } },
    { name: `balanceP99MsOf${clients}`, value: percentile(times, 0.99), unit: 'ms' },
    { name: 'balanceP99MsAlone', value: percentile(alone, 0.99), unit: 'ms', target: { most: 20 } },
  ];
}

async function webhookFigures(shop: TokenShop, count: number): Promise<Figure[]> {
  const times: number[] = [];
  const waits: Promise<void>[] = [];
  for (let nth = 0; nth < count; nth++) {
    const { url, heard } = shop.hook(`order-${nth}`);
    const { feeCharge } = await shop.order(nth, { webhookUrl: url });
    const payment = await shop.chain.paymentTo(feeCharge.address, feeCharge.amount);
    const sentAt = await broadcastAt(shop.chain, payment);
    waits.push(heard.then((at) => void times.push(at - sentAt)));
    await sleep(betweenPaymentsMs);
  }
  await Promise.all(waits);
  await shop.chain.mineMempool();
  return [
    { name: 'paymentToWebhookP50Ms', value: percentile(times, 0.5), unit: 'ms' },
    { name: 'paymentToWebhookP95Ms', value: percentile(times, 0.95), unit: 'ms', target: { most: 1500 } },
  ];
}

async function blockFigures(shop: TokenShop, count: number): Promise<Figure[]> {
  const orders: BenchOrder[] = [];
  await byClients(count, async (nth) => void orders.push(await shop.order(nth)));
  const scripts: Uint8Array[] = [];
  for (const { tokenCharge } of orders) scripts.push(await shop.scriptOf(tokenCharge.address));
  // any 32 bytes are the program of a P2TR output
  const strangers = scripts.map((script) =>
    Buffer.concat([Buffer.of(0x51, 0x20), Buffer.from(script.subarray(2)).reverse()]),
  );
  const mined = async (to: readonly Uint8Array[]) => {
    const payments = [];
    for (let from = 0; from < to.length; from += outputsOfOne)
      payments.push(shop.payment(to.slice(from, from + outputsOfOne)));
    const startedAt = performance.now();
    const { height } = await shop.chain.mine(payments);
    return { startedAt, height };
  };
  const plain = await mined(strangers);
  const indexed = 'SELECT count(*)::integer AS count FROM chain.blocks WHERE height = $1';
  const plainMs = (await shop.until(indexed, [plain.height], 1)) - plain.startedAt;
  const paid = await mined(scripts);
  const credits = 'SELECT count(*)::integer AS count FROM service.token_credits WHERE height = $1';
  const paidMs = (await shop.until(credits, [paid.height], count)) - paid.startedAt;
  return [
    { name: 'blockOfStrangersMs', value: plainMs, unit: 'ms' },
    { name: 'blockOfPaymentsMs', value: paidMs, unit: 'ms' },
    { name: 'blockMoreMs', value: paidMs - plainMs, unit: 'ms', target: { most: 500 } },
  ];
}
