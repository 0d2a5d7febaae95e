import { tokenFailpoints, webhookFailpoints } from '#kernel/process/failpoint.ts';

/** Failpoints that the answering process passes. */
export const shopAims = [
  'token-order-making' as const,
  'items-held' as const,
  'order-made' as const,
  'withdrawal-reserving' as const,
  'withdrawal-reserved' as const,
  ...webhookFailpoints,
  'payments-block' as const,
  'payments-mempool' as const,
  'payments-undo' as const,
];
const takingAims = [
  'withdrawals-signed' as const,
  'withdrawals-stored' as const,
  'withdrawals-settling' as const,
  'payout-sent' as const,
  'payout-marked' as const,
  'payout-mined' as const,
];
/** Failpoints that a process with the seed passes. */
export const makerAims = [...tokenFailpoints.filter((name) => name !== 'token-order-making'), ...takingAims];
/** Failpoints that withdrawals pass. */
export const takersPass: ReadonlySet<string> = new Set([
  'withdrawal-reserving',
  'withdrawal-reserved',
  ...takingAims,
]);
/** Failpoints that orders of items pass. */
export const buyersPass: ReadonlySet<string> = new Set(['items-held', 'order-made']);
export type Aim = (typeof shopAims)[number] | (typeof makerAims)[number];
