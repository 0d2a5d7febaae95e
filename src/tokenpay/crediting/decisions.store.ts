import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { FoundAside } from './credit.ts';

/**
 * An operator's decision about an output that was set aside. `credit`: the output is money. `return`: the output is
 * sent to an address, so it is never credited. A decision is valid in any block that contains the output.
 */
export interface AsideDecision {
  readonly txid: Txid;
  readonly vout: number;
  readonly orderId: string;
  readonly kind: 'credit' | 'return';
  /** The reason why the output was set aside. */
  readonly found: FoundAside;
  readonly decidedAt: Date;
  readonly decidedBy: string;
  readonly reason: string;
  /** The payout that sends the output, or null if the output is credited. */
  readonly payout: string | null;
}

export type NewDecision = Omit<AsideDecision, 'decidedAt'>;

/** Decisions about outputs of orders, by outpoint. */
export async function readDecisions(
  client: pg.Pool | pg.ClientBase,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, AsideDecision>> {
  const { rows } = await client.query<
    Pick<AsideDecision, 'txid' | 'vout' | 'kind' | 'found' | 'reason' | 'payout'> & {
      order_id: string;
      decided_at: Date;
      decided_by: string;
    }
  >(
    `SELECT txid, vout, order_id, kind, found, decided_at, decided_by, reason, payout FROM service.token_decisions
      WHERE order_id = ANY($1::uuid[])`,
    [orderIds],
  );
  return new Map(
    rows.map(({ order_id: orderId, decided_at: decidedAt, decided_by: decidedBy, ...row }) => [
      outpointOf(row),
      { ...row, orderId, decidedAt, decidedBy },
    ]),
  );
}

/** Stores a decision. Returns false if this output already has a decision. */
export async function insertDecision(tx: pg.ClientBase, decision: NewDecision): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO service.token_decisions (txid, vout, order_id, kind, found, decided_by, reason, payout)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (txid, vout) DO NOTHING`,
    [
      Buffer.from(decision.txid),
      decision.vout,
      decision.orderId,
      decision.kind,
      decision.found,
      decision.decidedBy,
      decision.reason,
      decision.payout,
    ],
  );
  return rowCount === 1;
}

/** Deletes the decision about an output whose return was cancelled. No transaction was ever signed for this return. */
export async function endReturn(tx: pg.ClientBase, payout: string): Promise<void> {
  await tx.query('DELETE FROM service.token_decisions WHERE payout = $1', [payout]);
}
