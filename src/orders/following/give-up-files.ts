import type pg from 'pg';
import { deepBlocks } from '#chain/sats/output-standing.queries.ts';
import type { FileMoney } from '#orders/ledger/lost-files.ts';
import type { MintingStanding } from '#orders/minting/minting-standing.ts';
import { type Order } from '#orders/order/order.store.ts';
import { missingMints, missingSat } from '#orders/order/order-notes.store.ts';
import { supersedeOfOrders } from '#orders/order/order-transactions.store.ts';
import { takeUp } from '#purse/transactions/supersede.store.ts';
import type { Known } from './learn-order.ts';

/**
 * Refunds files that can never be inscribed. The refund spends the commit's outputs for their reveals. These reveals
 * are given up, so that the refund is the only transaction that can spend these outputs. If the refund cannot be made,
 * restores the reveals and returns the reason.
 */
export async function refundLost(
  tx: pg.ClientBase,
  { lost, reveals }: Pick<Known, 'lost' | 'reveals'>,
  makeRefund: (money: readonly FileMoney[]) => Promise<string | null>,
): Promise<string | null> {
  const given = reveals.filter(({ index }) => lost.some(({ file }) => file === index));
  await supersedeOfOrders(
    tx,
    given.map(({ txid }) => txid),
  );
  const problem = await makeRefund(lost);
  if (problem !== null)
    await takeUp(
      tx,
      [],
      given.map(({ txid, plan }) => ({ txid, family: txid, plan })),
    );
  return problem;
}

/**
 * The reason why an order with a sent commit is not delivered completely; null if the order is delivered completely.
 */
export function missingReason(
  { refundScript }: Pick<Order, 'refundScript'>,
  { facts, lost, refundedFiles, minting }: Pick<Known, 'facts' | 'lost' | 'refundedFiles' | 'minting'>,
): string | null {
  if (minting !== null) return mintsMissing(minting, refundScript !== null);
  if (refundedFiles.length > 0) return filesMissing(refundedFiles);
  if (!facts.isSatGone) return null;
  const next =
    lost.length > 0 && refundScript === null
      ? 'its money is kept until there is an address for it; write to the operator of this service'
      : `unless the output comes back, its money is refunded after ${deepBlocks} blocks`;
  return `${missingSat}its output was spent, or a reorganisation took it back, after the commit was sent. The other files are inscribed; ${next}.`;
}

/** The reason why these files are missing, once their money is refunded. */
export function filesMissing(files: readonly number[]): string {
  const named = files.map((file) => `file ${file + 1}`).join(', ');
  const whose = files.length === 1 ? 'Its' : 'Their';
  return `${missingSat}${named} of the order cannot be inscribed, because an output was spent, or a reorganisation took it back. ${whose} money is refunded, and the other files are inscribed.`;
}

/** The reason why some mints of an order are not executed; null if all mints are executed or can still be executed. */
export function mintsMissing({ mints }: MintingStanding, hasRefundAddress: boolean): string | null {
  const givenUp = mints.filter(({ fault, height }) => fault !== null && height === null);
  const failed = mints.filter(({ isExecuted }) => isExecuted === false).length;
  if (givenUp.length + failed === 0) return null;
  const money = hasRefundAddress
    ? 'is refunded'
    : 'is kept until there is an address for it; write to the operator of this service';
  const why = givenUp[0]?.fault ?? '';
  const parts = [
    ...(givenUp.length === 0 ? [] : [`${givenUp.length} were not sent. ${why} Their money ${money}.`]),
    ...(failed === 0 ? [] : [`${failed} were mined but not executed. Their fee for the service ${money}.`]),
  ];
  return `${missingMints}of ${mints.length}, ${parts.join(' ')}`;
}
