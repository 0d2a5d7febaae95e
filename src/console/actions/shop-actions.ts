import type pg from 'pg';
import { parseOutpoint } from '#kernel/bitcoin/parse-outpoint.ts';
import type { ConsoleCell, ConsolePart } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { wakeOrders } from '#orders/order/order-wishes.store.ts';
import { lockPayouts } from '#payouts/asking/ask-payouts.ts';
import type { PlannedPayout } from '#payouts/planning/plan-payout.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { decideCreditIn, lockAside, type OpenAside } from '#tokenpay/operator/decide-credit.ts';
import { tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';
import { notCancelled } from '#tokenpay/withdrawing/asking-faults.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { shownRuneOf } from '#tokenpay/withdrawing/withdrawal-answer.ts';
import { cancelForOperator, requireWithdrawal } from '#withdrawals/cancel-withdrawal.ts';
import { askReturnIn, previewReturnIn } from '#withdrawals/return-aside.ts';
import {
  type ActionFields,
  addressInput,
  type OperatorAction,
  payingWallet,
  rateNow,
  reasonInput,
  requireForeignAddress,
  scriptOfAddress,
  valueOf,
  words,
} from './operator-action.ts';

/** The amount of a withdrawal, as in "1000 sats" or "5.00 DOG". */
async function amountOf(tx: pg.ClientBase, withdrawal: Withdrawal): Promise<string> {
  const { asset, amount } = withdrawal;
  const runes = await tokenRunesOf(tx, asset === satsAsset ? [] : [asset]);
  const rune = shownRuneOf(withdrawal, runes);
  return rune === null
    ? `${amount} sats`
    : `${shownAmount(trustedU128(amount), rune.divisibility)} ${rune.name}`;
}

const cancelWithdrawal: OperatorAction = {
  title: 'Cancel a withdrawal',
  button: 'Cancel the withdrawal',
  given: ['id'],
  inputs: [reasonInput('which the account reads')],
  about: 'A withdrawal that has no signed transaction ends, and its amount is in the balance again.',
  target: (fields) => `withdrawal ${valueOf(fields, 'id')}`,
  back: () => '/console/withdrawals?state=pending',
  async propose(tx, _parts, fields) {
    const id = valueOf(fields, 'id');
    if (!isOrderId(id)) throw new AppError('tokenpay_withdrawal_unknown', `There is no withdrawal ${id}.`);
    const found = await requireWithdrawal(tx, id);
    const { account, state, address, payout, reason } = found;
    if (state !== 'pending') throw notCancelled(found);
    const amount = await amountOf(tx, found);
    return {
      seen: { id, state, payout, txid: found.txid },
      parts: [
        words(`${amount} are not sent to ${address}. They are in the balance of ${account} again.`),
        {
          kind: 'facts',
          facts: [
            ['Account', account],
            ['Amount', amount],
            ['Address', address],
            ['Why it waits', reason],
            ['Your reason', valueOf(fields, 'reason')],
          ],
        },
      ],
      act: async () => {
        await cancelForOperator(tx, id, valueOf(fields, 'reason'));
        return `The withdrawal of ${amount} by ${account} is cancelled.`;
      },
    };
  },
};

/** The output that a form names, with the operator and the reason. Throws `tokenpay_unknown`. */
function asideOf(fields: ActionFields, by: string) {
  const output = valueOf(fields, 'output');
  const named = parseOutpoint(output);
  if (named === null)
    throw new AppError(
      'tokenpay_unknown',
      `${output} is not an output; an output has the form <txid>:<vout>. The page of shops lists outputs that are set aside.`,
    );
  return { ...named, by, reason: valueOf(fields, 'reason') };
}

/** Facts about an output that is set aside. */
async function asideFacts(
  tx: pg.ClientBase,
  { order, credit }: OpenAside,
  more: readonly (readonly [string, ConsoleCell])[],
): Promise<ConsolePart> {
  const runes = await tokenRunesOf(
    tx,
    credit.runes.map(({ asset }) => asset),
  );
  const shown = credit.runes.map(({ asset, amount }): readonly [string, ConsoleCell] => {
    const rune = runes.get(asset);
    return [rune?.name ?? `Token ${asset}`, shownAmount(trustedU128(amount), rune?.divisibility ?? 0)];
  });
  return {
    kind: 'facts',
    facts: [
      ['Account', order.account],
      ['Order of the account', order.id],
      ['Found in it', credit.aside],
      ['Sats', Number(credit.sats)],
      ...shown,
      ...more,
    ],
  };
}

const seenAside = ({ order, credit }: OpenAside) => ({
  order: order.id,
  state: order.state,
  account: order.account,
  sats: credit.sats,
  runes: credit.runes,
  aside: credit.aside,
});

const ofAside = {
  given: ['output'],
  target: (fields: ActionFields) => `output ${valueOf(fields, 'output')}`,
  back: () => '/console/shops',
} as const;

const credit: OperatorAction = {
  ...ofAside,
  title: 'Credit an output',
  button: 'Credit',
  inputs: [reasonInput('which is stored with the decision')],
  about: 'Credits an output that was set aside to the account of its order. The shop is told by its webhook.',
  async propose(tx, _parts, fields, by) {
    const named = asideOf(fields, by);
    const open = await lockAside(tx, named);
    const { account } = open.order;
    const sats = `${open.credit.sats} sats`;
    return {
      seen: seenAside(open),
      parts: [
        words(
          `The output is credited to ${account}, with its ${sats} and all its runes. The account can then withdraw them. Anything else in the output stays in the wallet.`,
        ),
        await asideFacts(tx, open, [['Your reason', named.reason]]),
      ],
      act: async () => {
        await decideCreditIn(tx, named, new Date());
        return `The output with ${sats} is credited to ${account}.`;
      },
    };
  },
};

const feeWords = (planned: PlannedPayout): string =>
  planned.kind === 'plan'
    ? `about ${planned.fee} sats, which the operator pays`
    : 'the return waits until a coin can pay its fee';

const sendAway: OperatorAction = {
  ...ofAside,
  title: 'Send an output away',
  button: 'Send away',
  inputs: [addressInput, reasonInput('which is stored with the decision')],
  about: 'Sends an output that was set aside to an address, whole, with everything in it.',
  check: requireForeignAddress,
  async propose(tx, parts, fields, by) {
    await lockPayouts(tx);
    const wallet = await payingWallet(tx, parts);
    const to = valueOf(fields, 'to');
    const named = asideOf(fields, by);
    const asked = { ...named, feeRate: null, script: scriptOfAddress(to, wallet.network), address: to };
    const { planned, ...open } = await previewReturnIn(tx, asked, { wallet, proveFree: parts.proveFree });
    return {
      seen: { ...seenAside(open), to },
      parts: [
        words(
          `The whole output with ${open.credit.sats} sats and everything in it goes to ${to}. ${open.order.account} is not credited.`,
        ),
        await asideFacts(tx, open, [
          ['Goes to', to],
          ['Fee', feeWords(planned)],
          ['Fee rate now', await rateNow(tx)],
          ['Your reason', named.reason],
        ]),
      ],
      act: async () => {
        const payout = await askReturnIn(tx, asked);
        await wakeOrders(tx);
        return `The return of the output to ${to} is asked for, in the payout ${payout}.`;
      },
    };
  },
};

/** Actions on accounts of shops, by name. */
export const shopActions = {
  'withdrawal-cancel': cancelWithdrawal,
  'aside-credit': credit,
  'aside-return': sendAway,
} as const;
