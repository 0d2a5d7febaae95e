import assert from 'node:assert/strict';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import type { LedgerAccount, ReferralShare, Settlement } from '#orders/ledger.ts';
import type { Order } from '#orders/order.store.ts';
import type { OrderTransaction, StoredPlan } from '#orders/order-transactions.store.ts';
import type { Payment } from '#payments/payments.queries.ts';

/** An output that holds money of a customer that no delivery uses. */
export interface OwedMoney extends Pick<Payment, 'txid' | 'vout' | 'value'> {
  /** Sats of it that are the customer's. */
  readonly owed: bigint;
  /** A payment to the order's address, or our output of its transactions. */
  readonly at: 'address' | 'own';
}

/** Accounts of what a transaction of ours pays. Outputs that a later one of the order spends stay owed until then. */
const accountOfKind: Readonly<Record<string, LedgerAccount>> = {
  postage: 'postage',
  parent: 'deposit',
  service: 'service',
  change: 'service',
  bump: 'service',
  commit: 'owed',
  anchor: 'operator',
  burn: 'postage',
  refund: 'outside',
};

/** The account of what a transaction of ours pays to an output of this kind. */
export function accountOfOutput(kind: string): LedgerAccount {
  const account = accountOfKind[kind];
  assert(account !== undefined, `no account for an output of kind ${kind}`);
  return account;
}

/** The settlements of mined transactions of an order. Pure. */
export function settlementsOf(mined: readonly OrderTransaction[], excess: OwedMoney | null): Settlement[] {
  return mined.map(({ txid, kind, plan, fee }) => {
    const parts = plan.outputs.flatMap((output, vout) => {
      const to = accountOfOutput(output.kind);
      // what is ours of the outputs that a refund spends is ours already
      if (kind === 'refund' && output.kind === 'change') return [];
      const isExcess = excess !== null && outpointOf({ txid, vout }) === outpointOf(excess);
      return [{ to, sats: BigInt(output.value) - (isExcess ? excess.owed : 0n) }];
    });
    return { txid: hexOf(txid), from: 'owed', parts: [...parts, { to: 'fee', sats: BigInt(fee) }] };
  });
}

/** What the referral of an order gets, as it was quoted: later settings change no order. */
export const shareOf = ({ quote: { additionalFeeCharged, referralFee = 0 } }: Order): ReferralShare => ({
  additional: BigInt(additionalFeeCharged),
  commission: BigInt(referralFee),
});

/**
 * What a customer paid too much lies in our output of the transaction that spent it. From dust on it is the customer's;
 * less is revenue. If what is ours of that output would be dust, all of it is the customer's.
 */
export function excessOf(
  { amount }: Pick<Order, 'amount'>,
  transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan'>[],
): OwedMoney | null {
  const spending =
    transactions.find(({ kind }) => kind === 'commit') ?? transactions.find(({ kind }) => kind === 'reveal');
  if (spending === undefined) return null;
  const paid = spending.plan.inputs.reduce((sum, { value }) => sum + BigInt(value), 0n);
  const vout = spending.plan.outputs.findIndex(({ kind }) => kind === 'service' || kind === 'change');
  const output = spending.plan.outputs[vout];
  if (paid - amount < p2trDust || output === undefined) return null;
  const value = BigInt(output.value);
  const owed = value - (paid - amount) < p2trDust ? value : paid - amount;
  return { txid: spending.txid, vout, value, owed, at: 'own' };
}

/** What a settlement needs of a bump. */
export interface SettledBump {
  readonly txid: Txid;
  readonly plan: StoredPlan;
  /** Sats of its fee that the order bears. */
  readonly share: number;
  readonly isMined: boolean;
  /** It can never be mined, as far as is known. */
  readonly isDead: boolean;
}

/** What the mined bumps of an order cost: the operator's money, whatever the order brings. Pure. */
export const bumpSettlements = (bumps: readonly SettledBump[]): Settlement[] =>
  bumps
    .filter(({ isMined }) => isMined)
    .map(({ txid, share }) => ({
      txid: hexOf(txid),
      from: 'operator',
      parts: [{ to: 'fee', sats: BigInt(share) }],
    }));

/**
 * Where what a customer paid too much lies, if a bump has spent the output: in what is left of that. Null: it lies nowhere
 * until a block has one of the bumps that spend it. Pure.
 */
export function movedExcess(excess: OwedMoney, bumps: readonly SettledBump[]): OwedMoney | null {
  const outpoint = outpointOf(excess);
  const spending = bumps.filter(
    ({ plan, isDead }) => !isDead && plan.inputs.some((input) => input.outpoint === outpoint),
  );
  if (spending.length === 0) return excess;
  const mined = spending.find(({ isMined }) => isMined);
  const [rest] = mined?.plan.outputs ?? [];
  return mined === undefined || rest === undefined
    ? null
    : { ...excess, txid: mined.txid, vout: 0, value: BigInt(rest.value) };
}

/** `<txid>:<vout>`, as it is shown. */
export const outpointOf = ({ txid, vout }: { readonly txid: Txid; readonly vout: number }): string =>
  `${displayHash(txid)}:${vout}`;

/** In internal order, as the ledger has it. */
export const hexOf = (txid: Uint8Array): string => Buffer.from(txid).toString('hex');
