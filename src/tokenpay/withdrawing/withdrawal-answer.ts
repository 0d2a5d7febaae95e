import { displayHash } from '#kernel/primitives/hash.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import type { TokenRune } from '#tokenpay/order/token-order.ts';
import { bitcoinToken, coinDecimals, displayed } from '#tokenpay/telling/token-order-answer.ts';
import type { WebhookMessages } from '#webhooks/outbox.ts';
import { secretPlace } from '#webhooks/secret-place.ts';
import { type NewWithdrawal, receivedUnits, type Withdrawal } from './withdrawal.ts';

/** The rune of a withdrawal in the form that is shown. null: the asset is BTC. */
export type ShownRune = Pick<TokenRune, 'name' | 'divisibility'> | null;

/** A withdrawal in the form of answers and webhooks (interface 2.7, client-compat 3.14), with its price. */
export function withdrawalAnswer(withdrawal: Withdrawal, rune: ShownRune): object {
  const { id, createdAt, state, txid, processingAt, paidRate, tries, fee } = withdrawal;
  const isUnderWay = txid !== null;
  return {
    id,
    createdAt: createdAt.getTime(),
    ...askedFields(withdrawal, rune),
    state,
    txid: txid === null ? null : displayHash(txid),
    chainFee: isUnderWay ? Number(fee) : null,
    tries,
    processingAt: processingAt?.getTime() ?? null,
    feePerByte: paidRate === null ? null : Number(paidRate) / 1000,
    reason: reasonOf(withdrawal),
    price: priceFields(withdrawal, rune),
  };
}

/** The reason that people see. If the account asked to cancel the withdrawal, this is shown first. */
const reasonOf = ({ state, cancelAskedAt, reason }: Withdrawal): string | null =>
  state === 'pending' && cancelAskedAt !== null
    ? 'Its account cancelled it: nothing of it is signed any more, and the balance has its units again in a moment.'
    : reason;

/** The answer of a dry run: the withdrawal that would be stored, and its price. */
export const dryRunAnswer = (withdrawal: NewWithdrawal, rune: ShownRune, debt: bigint): object => ({
  dryRun: true,
  ...askedFields(withdrawal, rune),
  price: { ...priceFields(withdrawal, rune), debt: Number(debt) },
});

const askedFields = ({ account, amount, address }: NewWithdrawal, rune: ShownRune) => ({
  accountId: account,
  protocol: rune === null ? 'bitcoin' : 'rune',
  token: rune?.name ?? bitcoinToken,
  ...displayed(amount, rune?.divisibility ?? coinDecimals),
  address,
});

function priceFields(withdrawal: NewWithdrawal, rune: ShownRune) {
  const { fee, postage, payer } = withdrawal;
  const { amount: received, amountBase: receivedBase } = displayed(
    receivedUnits(withdrawal),
    rune?.divisibility ?? coinDecimals,
  );
  return { chainFee: Number(fee), postage: Number(postage), payer, received, receivedBase };
}

/** The rune of a withdrawal. null: the withdrawal is of BTC. */
export function shownRuneOf(
  { asset }: Pick<Withdrawal, 'asset'>,
  runes: ReadonlyMap<number, TokenRune>,
): ShownRune {
  if (asset === satsAsset) return null;
  return runes.get(asset) ?? { name: String(asset), divisibility: 0 };
}

/** The subject of the messages of a withdrawal (docs/webhooks.md). */
export const withdrawalWebhookSubjectOf = (id: string): string => `withdrawal ${id}`;

/**
 * The name of the webhook secret of a withdrawal. It includes the key of the service's secret at the time of the
 * withdrawal.
 */
export const withdrawalSecretName = (id: string, secretKey: Uint8Array): string =>
  `${Buffer.from(secretKey).toString('hex')}:withdrawal ${id}`;

/** Messages that notify accounts of these withdrawals, if they asked for them. */
export const withdrawalMessages = (
  withdrawals: readonly Withdrawal[],
  runes: ReadonlyMap<number, TokenRune>,
): WebhookMessages[] =>
  withdrawals.flatMap((withdrawal): WebhookMessages[] => {
    const { id, webhookUrl: url, secretKey } = withdrawal;
    if (url === null || secretKey === null) return [];
    return [
      {
        subject: withdrawalWebhookSubjectOf(id),
        url,
        secretOf: withdrawalSecretName(id, secretKey),
        bodies: [{ ...withdrawalAnswer(withdrawal, shownRuneOf(withdrawal, runes)), ...secretPlace }],
      },
    ];
  });
