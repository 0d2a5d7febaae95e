import { displayHash } from '#kernel/primitives/hash.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import type { TokenRune } from '#tokenpay/order/token-order.ts';
import { bitcoinToken, coinDecimals, displayed } from '#tokenpay/telling/token-order-answer.ts';
import type { WebhookMessages } from '#webhooks/outbox.ts';
import { secretPlace } from '#webhooks/secret-place.ts';
import { type NewWithdrawal, receivedUnits, type Withdrawal } from './withdrawal.ts';

/** The rune of a withdrawal in its displayed form, or null if the asset is BTC. */
export type ShownRune = Pick<TokenRune, 'name' | 'divisibility'> | null;

/** A withdrawal with its price, in the form of responses and webhooks (interface 2.7, client-compat 3.14). */
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

/** The reason that people see. If the account has requested to cancel the withdrawal, this request comes first. */
const reasonOf = ({ state, cancelAskedAt, reason }: Withdrawal): string | null =>
  state === 'pending' && cancelAskedAt !== null
    ? 'Its account cancelled the withdrawal. No transaction of the withdrawal is signed any more, and its units will be in the balance again in a moment.'
    : reason;

/** The response to a dry run: the withdrawal that would be stored, and its price. */
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

/** The rune of a withdrawal, or null if BTC is withdrawn. */
export function shownRuneOf(
  { asset }: Pick<Withdrawal, 'asset'>,
  runes: ReadonlyMap<number, TokenRune>,
): ShownRune {
  if (asset === satsAsset) return null;
  return runes.get(asset) ?? { name: String(asset), divisibility: 0 };
}

/** The subject of webhook messages about a withdrawal (docs/webhooks.md). */
export const withdrawalWebhookSubjectOf = (id: string): string => `withdrawal ${id}`;

/**
 * The name of a withdrawal's webhook secret. The name includes the key of the service's secret at the time of the
 * withdrawal.
 */
export const withdrawalSecretName = (id: string, secretKey: Uint8Array): string =>
  `${Buffer.from(secretKey).toString('hex')}:withdrawal ${id}`;

/** Messages that notify accounts of these withdrawals. Only withdrawals with a webhook have messages. */
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
