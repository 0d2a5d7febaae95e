import type pg from 'pg';
import { mempoolState } from '#chain/pending/pending.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { readStanding, type Standing } from '#http/operations/chain-lag.ts';
import { unsealedOf } from '#http/operations/status-answer.ts';
import type { Metrics, ReadValue } from '#kernel/reports/metrics.ts';
import { type LastAudit, readLastAudit } from '#orders/audit/audit.store.ts';
import { countUnlisted } from '#orders/coins/unlisted-orders.queries.ts';
import { countOrders, type OrderCounts } from '#orders/order/order-counts.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { countUnscanned } from '#payments/store/watches.store.ts';
import { countPayouts, type PayoutCounts } from '#payouts/payout/payout-counts.queries.ts';
import { satsOfFreeCoins } from '#purse/coins/coins.store.ts';
import { readHold } from '#purse/holding/payment-hold.store.ts';
import { countAccountsBelowZero } from '#purse/ledger/token-balances.queries.ts';
import { readWatchesStanding } from '#watches/store/watches-offset.store.ts';
import { readWaiting, type WaitingWebhooks } from '#webhooks/webhooks.queries.ts';

/**
 * Adds metrics that come only from the database, so they are equal in every process. `isSearched` is true if Postgres
 * may have to answer searches.
 */
export function readDatabase(metrics: Metrics, pool: pg.Pool, isSearched: boolean): void {
  readStandings(metrics, pool);
  readPayments(metrics, pool);
  readWebhooks(metrics, pool);
  readWatches(metrics, pool);
  readOrders(metrics, pool);
  readPayouts(metrics, pool);
  readAudits(metrics, pool);
  metrics.read({
    name: 'satscribe_wallet_coins_unlisted_orders',
    help: 'Orders of an earlier version whose coins are not listed yet; while it is above 0, no coin pays for costs of the service',
    values: async () => [{ value: await countUnlisted(pool) }],
  });
  metrics.read({
    name: 'satscribe_wallet_free_sats',
    help: 'Sats of free coins in blocks, which pay what orders cost the service',
    values: async () => [{ value: Number(await satsOfFreeCoins(pool)) }],
  });
  metrics.read({
    name: 'satscribe_restored_on_hold',
    help: '1 while payouts, withdrawals and refunds wait after a restore, until satscribe payouts release; else 0',
    values: async () => [{ value: (await readHold(pool)) === null ? 0 : 1 }],
  });
  metrics.read({
    name: 'satscribe_tokenpay_accounts_below_zero',
    help: 'Accounts of shops with a balance below 0, after a reorganisation removed payments that were already withdrawn',
    values: async () => [{ value: await countAccountsBelowZero(pool) }],
  });
  metrics.read({
    name: 'satscribe_mempool_transactions',
    help: 'Transactions of the mempool: all, kept (they touch inscriptions), and left out because there was no space',
    labels: ['kind'],
    values: () => mempoolValues(pool),
  });
  metrics.read({
    name: 'satscribe_search_unsealed',
    help: 'Texts and inscriptions that every search scans, because they are not in a sealed segment yet',
    labels: ['kind'],
    values: async () => {
      if (!isSearched) return [];
      const unsealed = await withSnapshot(pool, ({ client }) => unsealedOf(client), null);
      return Object.entries(unsealed).map(([kind, value]) => ({ labels: { kind }, value }));
    },
  });
  metrics.read({
    name: 'satscribe_database_up',
    help: '1 while the database answers',
    values: async () => {
      const isUp = await pool.query('SELECT 1').then(
        () => true,
        () => false,
      );
      return [{ value: isUp ? 1 : 0 }];
    },
  });
}

function readStandings(metrics: Metrics, pool: pg.Pool): void {
  // all metrics of one scrape come from one query, so they belong to one moment
  let asking: Promise<Standing> | null = null;
  const standing = (): Promise<Standing> => {
    asking ??= readStanding(pool, null).finally(() => {
      asking = null;
    });
    return asking;
  };
  const gauge = (name: string, help: string, of: (standing: Standing) => number | null): void =>
    metrics.read({
      name,
      help,
      values: async () => {
        const value = of(await standing());
        return value === null ? [] : [{ value }];
      },
    });
  gauge('satscribe_tip_height', 'Height of the indexed tip', ({ tip }) => tip?.height ?? null);
  gauge(
    'satscribe_source_tip_height',
    'Height of the best block in the source',
    ({ status }) => status?.sourceTip?.height ?? null,
  );
  gauge('satscribe_lag_blocks', 'Blocks of the source that are not indexed yet', ({ lag }) =>
    lag === null ? null : lag.blocks,
  );
  gauge(
    'satscribe_lag_seconds',
    'Age of the indexed tip while the source has newer blocks, else 0',
    ({ lag }) => (lag === null ? null : lag.seconds),
  );
  gauge(
    'satscribe_indexer_silence_seconds',
    'Time since the last report of the process that indexes',
    ({ ageSeconds }) => ageSeconds,
  );
  metrics.read({
    name: 'satscribe_indexer_problem',
    help: 'Problems that stop the indexing process, by error code',
    labels: ['code'],
    values: async () => {
      const problem = (await standing()).status?.problem ?? null;
      return problem === null ? [] : [{ labels: { code: problem.code }, value: 1 }];
    },
  });
}

function readPayments(metrics: Metrics, pool: pg.Pool): void {
  metrics.read({
    name: 'satscribe_payments_height',
    help: 'Height up to which blocks were scanned for payments to watched scripts',
    values: async () => {
      const offset = await readPaymentsOffset(pool);
      return offset === null ? [] : [{ value: offset.height }];
    },
  });
  metrics.read({
    name: 'satscribe_payments_lag_blocks',
    help: 'Blocks of the source that are not scanned for payments yet',
    values: async () => {
      const [offset, { status }] = await Promise.all([readPaymentsOffset(pool), readStanding(pool, null)]);
      const height = status?.sourceTip?.height;
      if (offset === null || height === undefined) return [];
      return [{ value: Math.max(0, height - offset.height) }];
    },
  });
  metrics.read({
    name: 'satscribe_payments_watched_scripts',
    help: 'Scripts that are watched for payments; unscanned: older blocks are not scanned for these scripts yet',
    labels: ['kind'],
    values: async () => {
      const offset = await readPaymentsOffset(pool);
      if (offset === null) return [];
      return [
        { labels: { kind: 'all' }, value: offset.scripts },
        { labels: { kind: 'unscanned' }, value: await countUnscanned(pool) },
      ];
    },
  });
}

function readWebhooks(metrics: Metrics, pool: pg.Pool): void {
  // all metrics of one scrape come from one query
  let asking: Promise<WaitingWebhooks> | null = null;
  const waiting = (): Promise<WaitingWebhooks> => {
    asking ??= readWaiting(pool).finally(() => {
      asking = null;
    });
    return asking;
  };
  metrics.read({
    name: 'satscribe_webhooks_waiting',
    help: 'Webhooks that wait to be sent or to be sent again',
    values: async () => [{ value: (await waiting()).count }],
  });
  metrics.read({
    name: 'satscribe_webhooks_oldest_seconds',
    help: 'Age of the oldest waiting webhook',
    values: async () => {
      const { oldestSeconds } = await waiting();
      return oldestSeconds === null ? [] : [{ value: oldestSeconds }];
    },
  });
  metrics.read({
    name: 'satscribe_webhooks_failed',
    help: 'Webhooks of the last 30 days that never arrived: given_up (all tries failed), gone (the URL answered 410)',
    labels: ['why'],
    values: async () => {
      const { givenUp, gone } = await waiting();
      return [
        { labels: { why: 'given_up' }, value: givenUp },
        { labels: { why: 'gone' }, value: gone },
      ];
    },
  });
}

function readWatches(metrics: Metrics, pool: pg.Pool): void {
  metrics.read({
    name: 'satscribe_watches',
    help: 'Active watches of keys, among them saved searches',
    values: async () => [{ value: (await readWatchesStanding(pool)).active }],
  });
  metrics.read({
    name: 'satscribe_watches_found',
    help: 'Things that active watches ever found',
    values: async () => [{ value: (await readWatchesStanding(pool)).found }],
  });
  metrics.read({
    name: 'satscribe_watches_behind',
    help: 'Blocks, applied or taken back, that were not compared with watches yet',
    values: async () => {
      const { behind } = await readWatchesStanding(pool);
      return behind === null ? [] : [{ value: behind }];
    },
  });
}

function readOrders(metrics: Metrics, pool: pg.Pool): void {
  // all metrics of one scrape come from one query
  let asking: Promise<OrderCounts> | null = null;
  const counts = (): Promise<OrderCounts> => {
    asking ??= countOrders(pool).finally(() => {
      asking = null;
    });
    return asking;
  };
  metrics.read({
    name: 'satscribe_orders',
    help: 'Orders in each state in which someone waits',
    labels: ['state'],
    values: async () => {
      const { open } = await counts();
      return [...open].map(([state, value]) => ({ labels: { state }, value }));
    },
  });
  metrics.read({
    name: 'satscribe_orders_stuck',
    help: 'Orders in this state with a transaction that is stuck and that no other transaction pays for',
    values: async () => [{ value: (await counts()).stuck }],
  });
  metrics.read({
    name: 'satscribe_orders_oldest_unsent_seconds',
    help: 'Time since the payment of the oldest order that is paid and whose transactions are not made yet',
    values: async () => {
      const { oldestUnsentSeconds } = await counts();
      return oldestUnsentSeconds === null ? [] : [{ value: oldestUnsentSeconds }];
    },
  });
}

function readPayouts(metrics: Metrics, pool: pg.Pool): void {
  // all metrics of one scrape come from one query
  let asking: Promise<PayoutCounts> | null = null;
  const counts = (): Promise<PayoutCounts> => {
    asking ??= countPayouts(pool).finally(() => {
      asking = null;
    });
    return asking;
  };
  metrics.read({
    name: 'satscribe_payouts',
    help: 'Payouts that are not in a block, by state',
    labels: ['state'],
    values: async () => {
      const { waiting } = await counts();
      return [...waiting].map(([state, value]) => ({ labels: { state }, value }));
    },
  });
  metrics.read({
    name: 'satscribe_payouts_oldest_seconds',
    help: 'Age of the oldest of these payouts',
    values: async () => {
      const { oldestSeconds } = await counts();
      return oldestSeconds === null ? [] : [{ value: oldestSeconds }];
    },
  });
  metrics.read({
    name: 'satscribe_payouts_stuck',
    help: 'Payouts that cannot be made, sent or mined now',
    values: async () => [{ value: (await counts()).stuck }],
  });
}

function readAudits(metrics: Metrics, pool: pg.Pool): void {
  // all metrics of one scrape come from one query
  let asking: Promise<LastAudit | null> | null = null;
  const gauge = (name: string, help: string, of: (audit: LastAudit) => number): void =>
    metrics.read({
      name,
      help,
      values: async () => {
        asking ??= readLastAudit(pool).finally(() => {
          asking = null;
        });
        const audit = await asking;
        return audit === null ? [] : [{ value: of(audit) }];
      },
    });
  gauge(
    'satscribe_orders_audit_differences',
    'Orders that differed from the chain at the last audit',
    ({ differing }) => differing,
  );
  gauge('satscribe_orders_audit_orders', 'Orders that the last audit compared', ({ orders }) => orders);
  gauge(
    'satscribe_orders_audit_age_seconds',
    'Time since the last audit ended',
    ({ ageSeconds }) => ageSeconds,
  );
  gauge(
    'satscribe_orders_audit_seconds',
    'Duration of the last audit, including its pauses',
    ({ seconds }) => seconds,
  );
}

async function mempoolValues(pool: pg.Pool): Promise<ReadValue[]> {
  const found = await withSnapshot(pool, ({ client }) => mempoolState(client), null);
  if (found === null) return [];
  return [
    { labels: { kind: 'all' }, value: found.transactions },
    { labels: { kind: 'kept' }, value: found.kept },
    { labels: { kind: 'left_out' }, value: found.leftOut },
  ];
}
