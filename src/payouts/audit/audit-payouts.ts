import { setTimeout as sleep } from 'node:timers/promises';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { atOneBlock, snapshot } from '#orders/audit/at-one-block.ts';
import { type AuditParts, lookAgainMs, looksUsual } from '#orders/audit/audit-orders.ts';
import type { OrderDifference } from '#orders/audit/audited-order.ts';
import { auditPayout, questionsOfPayout } from './audit-payout.ts';
import { nextPayoutIds, readAuditedPayouts } from './audited-payouts.queries.ts';

/** A difference, with the payout that has it. */
export interface PayoutDifference extends OrderDifference {
  readonly payout: string;
}

/**
 * Checks payouts against the ledger and the chain. Each page of payouts is checked at one block. A payout with a
 * difference is checked again, because a new block may have just caused the difference. Changes nothing. Throws
 * `audit_impossible`, and the codes of NodeRpc.
 */
export async function auditPayouts(parts: AuditParts): Promise<PayoutDifference[]> {
  const { database, signal, rest, looks = looksUsual } = parts;
  let differences: PayoutDifference[] = [];
  for (let after: string | null = null; ; ) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const from: string | null = after;
    const ids: string[] = await withTransaction(database, (tx) => nextPayoutIds(tx, from), snapshot);
    after = ids.at(-1) ?? null;
    if (after === null) break;
    differences.push(...(await auditPage(parts, ids)));
    await rest?.(performance.now() - startedAt);
  }
  for (let look = 1; look < Math.min(looks, looksUsual) && differences.length > 0; look++) {
    await sleep(lookAgainMs, undefined, signal === undefined ? {} : { signal });
    differences = await auditPage(parts, [...new Set(differences.map(({ payout }) => payout))]);
  }
  return differences;
}

async function auditPage(parts: AuditParts, ids: readonly string[]): Promise<PayoutDifference[]> {
  const { read, unspent } = await atOneBlock(
    parts,
    (tx) => readAuditedPayouts(tx, ids),
    (payouts) => payouts.flatMap(questionsOfPayout),
  );
  return read.flatMap((payout) =>
    auditPayout(payout, unspent).map((each) => ({ ...each, payout: payout.id })),
  );
}
