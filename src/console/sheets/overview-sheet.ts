import type pg from 'pg';
import { listCollections } from '#collections/collection/collection.store.ts';
import type { ConsoleCell, ConsoleSheet } from '#kernel/contracts/console-sheet.ts';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import { readLastAudit } from '#orders/audit/audit.store.ts';
import { type BumpBudgets, revenueDays } from '#orders/bumping/budgets.ts';
import { readBumpFigures } from '#orders/bumping/bump-costs.ts';
import { type OwingOrder, owingOrders } from '#orders/ledger/owed.queries.ts';
import { showCoins, sumsOfCoins } from '#orders/operator/operator-coins.ts';
import { countTroubles } from '#orders/order/order.store.ts';
import { listPayouts } from '#payouts/payout/payout.store.ts';
import { readHold } from '#purse/holding/payment-hold.store.ts';
import { listTokenOrders } from '#tokenpay/operator/listed-orders.ts';
import { listWithdrawals } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { listDeliveries, readFailingReceivers } from '#webhooks/webhooks.queries.ts';

/** Maximum number of things that are counted. A person who has more of one kind looks at the list anyway. */
const countedMax = 500;

/** The first page: how much waits for a person, and the state of the wallet. */
export async function overviewSheet(pool: pg.Pool, budgets: BumpBudgets): Promise<ConsoleSheet> {
  const owing = await owingOrders(pool, countedMax + 1);
  const waiting = await readWaiting(pool, owing);
  const work = waiting.filter(([, count]) => count > 0);
  return {
    title: 'Overview',
    parts: [
      { kind: 'heading', words: 'Waits for you' },
      {
        kind: 'table',
        label: 'Work that waits for a person',
        columns: ['Where', 'Number', 'What to do'],
        rows: work.map(([words, count, href, action]) => [
          { words, href },
          count > countedMax ? `more than ${countedMax}` : count,
          action,
        ]),
        empty: 'Nothing waits for you.',
      },
      { kind: 'heading', words: 'State' },
      { kind: 'facts', facts: await readState(pool, owing, budgets) },
    ],
  };
}

type Waiting = readonly [words: string, count: number, href: string, action: string];

async function readWaiting(pool: pg.Pool, owing: readonly OwingOrder[]): Promise<readonly Waiting[]> {
  const limit = countedMax + 1;
  const troubles = await countTroubles(pool);
  const failing = await readFailingReceivers(pool);
  const payouts = await listPayouts(pool, limit);
  const withdrawals = await listWithdrawals(pool, { account: null, state: 'pending', limit });
  const aside = await listTokenOrders(pool, { state: null, account: null, withAside: true, limit });
  const undecided = aside.orders.flatMap(({ credits }) =>
    credits.filter((credit) => credit.aside !== null && credit.decision === null),
  );
  return [
    [
      'Payments on hold after a restore',
      (await readHold(pool)) === null ? 0 : 1,
      '/console/payouts',
      'Compare them with satscribe payouts held, then run satscribe payouts release.',
    ],
    ['Failed orders', troubles.failed, '/console/orders?state=error', 'Try them again, or refund them.'],
    ['Stuck orders', troubles.stuck, '/console/orders?state=stuck', 'Add a coin, or raise the named budget.'],
    [
      'Refunds without an address',
      owing.filter(({ refundAddress }) => refundAddress === null).length,
      '/console/orders?state=owed',
      'Ask the customer for an address, then refund.',
    ],
    [
      'Payouts that wait',
      payouts.filter(({ state, stuck }) => stuck !== null && (state === 'asked' || state === 'signed'))
        .length,
      '/console/payouts',
      'Each says why.',
    ],
    [
      'Withdrawals that wait',
      withdrawals.filter(({ reason }) => reason !== null).length,
      '/console/withdrawals?state=pending',
      'Each says why.',
    ],
    ['Outputs set aside', undecided.length, '/console/shops', 'Credit the account, or send them away.'],
    [
      'Collections to decide',
      (await listCollections(pool, 'pending', { after: null, limit })).length,
      '/console/collections?state=pending',
      'Approve or refuse.',
    ],
    [
      'Messages that were given up',
      (await listDeliveries(pool, { state: 'given-up', limit })).length,
      '/console/webhooks?state=given-up',
      'Send them again, once the receiver answers.',
    ],
    [
      'Receivers that fail now',
      failing.length,
      '/console/webhooks?state=waiting',
      `Their messages are tried again more and more seldom: ${failing.map(({ host, count }) => `${host} (${count})`).join(', ')}.`,
    ],
    [
      'Receivers that are gone (410)',
      (await listDeliveries(pool, { state: 'gone', limit })).length,
      '/console/webhooks?state=gone',
      'Send them again, if the receiver is back.',
    ],
  ];
}

async function readState(
  pool: pg.Pool,
  owing: readonly OwingOrder[],
  budgets: BumpBudgets,
): Promise<readonly (readonly [string, ConsoleCell])[]> {
  const { cost, budget } = await readBumpFigures(pool, budgets, new Date());
  const audit = await readLastAudit(pool);
  const release = await readRelease(pool);
  const isSigned = await isAdvisoryLockHeld(pool, 'orders');
  const free = sumsOfCoins((await showCoins(pool, 'free')).coins)[0];
  return [
    [
      'Last audit',
      audit === null
        ? 'no audit has ended yet'
        : `${audit.differing} of ${audit.orders} orders differ, ${Math.round(audit.ageSeconds / 60)} minutes ago`,
    ],
    ['Process with the seed', isSigned ? 'runs' : 'none runs: nothing is signed (WALLET_SEED_FILE)'],
    ['Addresses', releaseWords(release)],
    ['Free coins (sats)', free?.sats ?? 0],
    ['Late and partial payments', owedWords(owing)],
    ['Bumps of one day (sats)', `${cost.day} of at most ${budget.day}`],
    [`Bumps of ${revenueDays} days (sats)`, `${cost.revenue} of at most ${budget.revenue}`],
  ];
}

function releaseWords(release: Awaited<ReturnType<typeof readRelease>>): string {
  if (release === null) return 'the database has no wallet';
  if (release.problem !== null) return `none are released: ${release.problem} (docs/errors.md)`;
  return release.isLive ? 'are released' : 'none are released: the process with the seed releases them';
}

/** The money of customers that no delivery uses, and how it goes back. */
function owedWords(owing: readonly OwingOrder[]): string {
  if (owing.length === 0) return 'no customer is owed money';
  const sats = owing.reduce((sum, { owed }) => sum + owed, 0);
  const homeless = owing.filter(({ refundAddress }) => refundAddress === null).length;
  const orders = owing.length > countedMax ? `more than ${countedMax}` : String(owing.length);
  return `${sats} sats of ${orders} ${owing.length === 1 ? 'order' : 'orders'}; ${homeless} without an address for the refund`;
}
