import type pg from 'pg';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { readShares } from '#payouts/payout/payout.store.ts';
import { isBatch, type Payout } from '#payouts/payout/payout.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { readCoinsOf } from '#purse/coins/coins.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentByMined } from '#purse/transactions/spent-by-mined.queries.ts';
import type { AuditedPayout } from './audit-payout.ts';

/** Maximum number of payouts per page. If each payout has 1,000 shares, a page needs some ten megabytes. */
const pagePayouts = 50;

/**
 * The ids of the next payouts after the id `after`, or from the first payout if `after` is null. The list is empty if
 * no payouts are left. Batches of withdrawals are omitted, because they also move runes. The audit of token payments
 * checks these batches.
 */
export async function nextPayoutIds(client: pg.ClientBase, after: string | null): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.payouts WHERE kind <> 'withdrawal' AND ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2`,
    [after, pagePayouts],
  );
  return rows.map(({ id }) => id);
}

async function kindsOf(client: pg.ClientBase, ids: readonly string[]): Promise<Map<string, Payout['kind']>> {
  const { rows } = await client.query<Pick<Payout, 'id' | 'kind'>>(
    'SELECT id, kind FROM service.payouts WHERE id = ANY($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ id, kind }) => [id, kind]));
}

/**
 * Reads payouts with all data that the audit compares. Runs some statements for each payout, which is fast enough for a
 * few payouts per day.
 */
export async function readAuditedPayouts(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<AuditedPayout[]> {
  const kinds = await kindsOf(client, ids);
  const isListed = (await readCoinsFill(client)).isComplete;
  const listed = Map.groupBy(await readCoinsOf(client, ids, []), ({ subject }) => subject);
  const payouts: AuditedPayout[] = [];
  for (const id of ids) {
    const kind = kinds.get(id);
    const isOfAccounts = kind !== undefined && isBatch(kind);
    const transactions = await readPayoutTransactions(client, id);
    const entries = await readEntries(client, { kind: isOfAccounts ? 'withdrawal' : 'payout', id });
    const spent = await spentByMined(
      client,
      transactions.map(({ txid }) => txid),
    );
    payouts.push({
      id,
      isOfAccounts,
      shares: await readShares(client, id),
      transactions: transactions.map(({ txid, plan, height }) => ({ txid: displayHash(txid), plan, height })),
      entries: entries.map((entry) => ({
        ...entry,
        txid: displayHash(trustedTxid(Buffer.from(entry.txid, 'hex'))),
      })),
      listed: isListed
        ? (listed.get(id) ?? []).map((coin) => ({
            outpoint: outpointOf(coin),
            value: coin.value,
            script: coin.script ?? '',
            isFree: coin.isFree,
            isInBlock: coin.isInBlock,
          }))
        : null,
      spent: spent.map(outpointOf),
    });
  }
  return payouts;
}
