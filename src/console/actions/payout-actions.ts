import type { ConsoleInput, ConsolePart } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { wakeOrders } from '#orders/order/order-wishes.store.ts';
import { insertPayouts, lockPayouts, payablePayouts } from '#payouts/asking/ask-payouts.ts';
import { askRevenueIn, readRevenueIn } from '#payouts/asking/ask-revenue.ts';
import { cancelPayoutIn, lockCancellable } from '#payouts/asking/cancel-payout.ts';
import { readShares } from '#payouts/payout/payout.store.ts';
import { type PayoutShare, recipientsOf, satsOf } from '#payouts/payout/payout.ts';
import type { PartnerName } from '#payouts/planning/payable.ts';
import { endReturn } from '#tokenpay/crediting/decisions.store.ts';
import {
  type ActionFields,
  addressInput,
  type OperatorAction,
  payingWallet,
  rateNow,
  requireForeignAddress,
  scriptOfAddress,
  valueOf,
  words,
} from './operator-action.ts';

const path = '/console/payouts';
/** Maximum number of shares that a confirmation lists. The sum has all of them. */
const sharesShown = 200;

const sharesTable = (shares: readonly PayoutShare[]): ConsolePart[] => [
  {
    kind: 'table',
    label: 'Payments',
    columns: ['Partner', 'Sats', 'Goes to'],
    rows: shares
      .slice(0, sharesShown)
      .map(({ account, owner, address, sats }) => [
        account === 'referral' ? `code ${owner ?? ''}` : account,
        Number(sats),
        address,
      ]),
    empty: 'Nothing is paid.',
  },
  ...(shares.length > sharesShown ? [words(`${shares.length - sharesShown} more are not listed.`)] : []),
];

const seenShares = (shares: readonly PayoutShare[]) =>
  shares.map(({ account, owner, address, sats }) => [account, owner, address, sats]);

const optional = (name: string, label: string): ConsoleInput => ({
  name,
  label,
  maxLength: 100,
  isRequired: false,
});

/** The partner that a form names; null for all partners. Throws `payouts_refuses`. */
function partnerOf(fields: ActionFields): PartnerName | null {
  const [code, creator] = [valueOf(fields, 'code'), valueOf(fields, 'creator')];
  if (code !== '' && creator !== '')
    throw new AppError('payouts_refuses', 'A code and a creator name two partners. Leave one of them empty.');
  if (code !== '') return { account: 'referral', owner: code };
  return creator === '' ? null : { account: 'creator', owner: creator };
}

const send: OperatorAction = {
  title: 'Pay partners',
  button: 'Pay',
  given: [],
  inputs: [
    optional('code', 'Referral code; empty: all partners'),
    optional('creator', 'Address of a creator; empty: all partners'),
  ],
  about: 'Pays partners everything that they can be paid now. The operator pays the fees.',
  target: () => 'payouts of partners',
  back: () => path,
  async propose(tx, parts, fields) {
    await lockPayouts(tx);
    await payingWallet(tx, parts);
    const asked = { partner: partnerOf(fields), confirmations: parts.confirmations };
    const payouts = await payablePayouts(tx, asked);
    const shares = payouts.flatMap((payout) => payout.shares);
    const outputs = payouts.reduce((sum, payout) => sum + recipientsOf(payout.shares).length, 0);
    const sum = `${satsOf(shares)} sats in ${outputs} ${outputs === 1 ? 'output' : 'outputs'}`;
    return {
      seen: seenShares(shares),
      parts: [
        words(`${sum} are paid to partners. The operator pays the fee of the transactions in addition.`),
        { kind: 'facts', facts: [['Fee rate now', await rateNow(tx)]] },
        ...sharesTable(shares),
      ],
      act: async () => {
        // the payouts that were compared: a block may have changed the shares since they were read
        const ids = await insertPayouts(tx, payouts);
        await wakeOrders(tx);
        return `${sum} are asked for, in ${ids.length} ${ids.length === 1 ? 'payout' : 'payouts'}: ${ids.join(', ')}.`;
      },
    };
  },
};

/** The amount that a form names; null for everything. Throws `payouts_refuses`. */
function satsOfForm(text: string): bigint | null {
  if (text === '') return null;
  if (/^[1-9]\d{0,15}$/u.test(text)) return BigInt(text);
  throw new AppError('payouts_refuses', `The amount ${text} must be a whole number of sats above 0.`);
}

const revenue: OperatorAction = {
  title: 'Take out revenue',
  button: 'Take out',
  given: [],
  inputs: [addressInput, optional('sats', 'Sats; empty: everything that can be taken')],
  about: 'Sends revenue of the service to an address outside it. The fee is paid in addition.',
  target: () => 'payouts of revenue',
  back: () => path,
  check: requireForeignAddress,
  async propose(tx, parts, fields) {
    await lockPayouts(tx);
    const wallet = await payingWallet(tx, parts);
    const to = valueOf(fields, 'to');
    const { proveFree, confirmations } = parts;
    const { takeable } = await readRevenueIn(tx, { proveFree, confirmations });
    const sats = satsOfForm(valueOf(fields, 'sats')) ?? takeable;
    const script = scriptOfAddress(to, wallet.network);
    const asked = { proveFree, confirmations, script, address: to, sats };
    await askRevenueIn(tx, { ...asked, isDryRun: true });
    return {
      seen: { sats, to },
      // the confirmation names the amount, so that it pays what was shown
      fixed: { sats: sats.toString() },
      parts: [
        words(
          `${sats} sats of the service's revenue go to ${to}. The fee is paid in addition, from the same coins.`,
        ),
        {
          kind: 'facts',
          facts: [
            ['Amount (sats)', Number(sats)],
            ['Can be taken (sats)', Number(takeable)],
            ['Goes to', to],
            ['Fee rate now', await rateNow(tx)],
          ],
        },
      ],
      act: async () => {
        const { ids } = await askRevenueIn(tx, asked);
        await wakeOrders(tx);
        return `${sats} sats to ${to} are asked for, in the payout ${ids.join(', ')}.`;
      },
    };
  },
};

const cancel: OperatorAction = {
  title: 'Cancel a payout',
  button: 'Cancel the payout',
  given: ['id'],
  inputs: [],
  about: '',
  target: (fields) => `payout ${valueOf(fields, 'id')}`,
  back: () => path,
  async propose(tx, _parts, fields) {
    const id = valueOf(fields, 'id');
    if (!isOrderId(id)) throw new AppError('payouts_refuses', `There is no payout ${id}.`);
    const { kind, state, stuck } = await lockCancellable(tx, id);
    if (state === 'cancelled')
      throw new AppError('payouts_refuses', `The payout ${id} is already cancelled.`);
    const shares = await readShares(tx, id);
    return {
      seen: { id, state, shares: seenShares(shares) },
      parts: [
        words(
          `This payout of ${satsOf(shares)} sats is not made. Its sats are owed again, or belong to the service again.${kind === 'return' ? ' The output stays set aside, and waits for another decision.' : ''}`,
        ),
        {
          kind: 'facts',
          facts: [
            ['Payout', id],
            ['Kind', kind],
            ['State', state],
            ['Why it waits', stuck],
          ],
        },
        ...sharesTable(shares),
      ],
      act: async () => {
        await cancelPayoutIn(tx, id, endReturn);
        return `The payout of ${satsOf(shares)} sats is cancelled.`;
      },
    };
  },
};

/** Actions on payouts, by name. */
export const payoutActions = {
  'payouts-send': send,
  'payouts-revenue': revenue,
  'payout-cancel': cancel,
} as const;
