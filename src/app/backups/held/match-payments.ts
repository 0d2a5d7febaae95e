import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { isBatch, type PayoutShare } from '#payouts/payout/payout.ts';
import type { CoinKey } from '#purse/coins/coin-keys.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import {
  type FoundInput,
  type FoundOutput,
  type FoundTransaction,
  isOfWallet,
  isReturn,
  ownOutputs,
  paymentsOf,
  spendsOwnMoney,
} from './found-transaction.ts';
import { type OwedPartner, owedAfter, sharesOf } from './match-partners.ts';
import type { OpenPayments, OpenPayout, Payee } from './open-payments.ts';

/** Units of runes that an output of a found transaction has, by rune. */
export type UnitsOfRunes = ReadonlyMap<string, bigint>;

/** A found transaction that makes open payments. */
export interface Booking {
  readonly found: FoundTransaction;
  /** The payout that it makes. Null for withdrawals and for shares of partners that have no signed transaction. */
  readonly open: OpenPayout | null;
  /** The shares of partners that it pays, if no payout of the database pays them. Otherwise empty. */
  readonly shares: readonly PayoutShare[];
  /** Whether it replaces the signed transaction of the payout. */
  readonly isReplacement: boolean;
  /** The open payment of each output that pays others. Null for an output that no open payment explains. */
  readonly paid: readonly { readonly output: FoundOutput; readonly payee: Payee | null }[];
}

/** An open payment that a transaction seems to have made, which the service cannot book. */
export interface UnsurePayment {
  readonly found: FoundTransaction;
  readonly payee: Payee;
  /** The payout of the payment. Null for a withdrawal without a signed transaction. */
  readonly payout: string | null;
  readonly why: 'unmined' | 'foreign' | 'runes' | 'others' | 'change' | 'amount';
}

/** A payment after the backup that no open payment explains. */
export interface UnknownPayment {
  readonly found: FoundTransaction;
  readonly output: FoundOutput;
}

/** Found transactions beside the open payments. */
export interface MatchedPayments {
  readonly bookings: readonly Booking[];
  readonly unsure: readonly UnsurePayment[];
  /** Payments of accounts or of the service that the database does not know. Their payers have the old balances. */
  readonly unknown: readonly UnknownPayment[];
  /**
   * Transactions in the mempool that a release would book if a block had them, or that spend a coin of a signed payout.
   */
  readonly unmined: readonly FoundTransaction[];
  /** Found transactions that make no open payment. */
  readonly unexplained: readonly FoundTransaction[];
}

/**
 * Finds the open payments that found transactions make. Only a transaction in a block that the wallet signed as a whole
 * is booked: a payout if the transaction pays exactly its receivers, a withdrawal if it pays exactly its receiver. A
 * transaction that spends coins of accounts is always booked, because its change belongs to accounts. A payout of
 * partners is also booked if the database does not have it, but owes the partners that much. Pure.
 *
 * @param unitsAt units of runes in an output, by `<txid>:<vout>`
 * @param partners what partners are owed beside the open payments
 */
export function matchPayments(
  found: readonly FoundTransaction[],
  open: OpenPayments,
  unitsAt: ReadonlyMap<string, UnitsOfRunes>,
  partners: readonly OwedPartner[] = [],
): MatchedPayments {
  const left: Left = {
    payouts: [...open.payouts],
    withdrawals: [...open.withdrawals],
    partners,
    change: new Set(),
  };
  const bookings: Booking[] = [];
  const unmined: FoundTransaction[] = [];
  const unexplained: FoundTransaction[] = [];
  for (const made of found) {
    const booking = bookingOf(made, left, unitsAt);
    if (made.height === null) {
      if (booking !== null || isRival(made, open)) unmined.push(made);
    } else if (booking !== null) {
      bookings.push(booking);
      remove(left, booking);
      continue;
    }
    unexplained.push(made);
  }
  // after all bookings, because a payment may be made by one transaction and only look like another one
  const rest = [
    ...unexplained.map((made) => ({ made, outputs: paymentsOf(made) })),
    ...bookings.map((booking) => ({ made: booking.found, outputs: unpaired(booking) })),
  ];
  const unsure = rest.flatMap(({ made, outputs }) => unsureOf(made, outputs, left));
  const unknown = rest.flatMap(({ made, outputs }) =>
    spendsOwnMoney(made) ? outputs.map((output) => ({ found: made, output })) : [],
  );
  return { bookings, unsure, unknown, unmined, unexplained };
}

/** Outputs of a booked transaction that no open payment explains. */
const unpaired = ({ paid }: Booking): FoundOutput[] =>
  paid.flatMap(({ output, payee }) => (payee === null ? [output] : []));

/** Whether a transaction spends a coin of a signed payout, so that only one of the two is ever mined. */
const isRival = ({ inputs }: FoundTransaction, { payouts }: OpenPayments): boolean =>
  payouts.some(({ spends }) => inputs.some(({ outpoint }) => spends.has(outpoint)));

interface Left {
  payouts: OpenPayout[];
  withdrawals: Payee[];
  partners: readonly OwedPartner[];
  /** Change of accounts that booked transactions made, as `<txid>:<vout>`. */
  readonly change: Set<string>;
}

function remove(left: Left, { found, open, shares, paid }: Booking): void {
  left.partners = owedAfter(left.partners, shares);
  if (open === null ? shares.length === 0 : isBatch(open.payout.kind))
    for (const outpoint of ownOutputs(found)) left.change.add(outpoint);
  left.payouts = left.payouts.filter((each) => each !== open);
  const gone = new Set(paid.map(({ payee }) => payee));
  left.withdrawals = left.withdrawals.filter((each) => !gone.has(each));
}

/** The booking of a transaction, as if a block had it. */
function bookingOf(
  found: FoundTransaction,
  left: Left,
  unitsAt: ReadonlyMap<string, UnitsOfRunes>,
): Booking | null {
  if (!isOfWallet(found)) return null;
  const payments = paymentsOf(found);
  const isSame = sameAt(found, unitsAt);
  const ofPayout = payoutBooking(found, payments, left.payouts, isSame);
  if (ofPayout !== null) return ofPayout;
  if (!hasOneChange(found, null)) return null;
  return batchBooking(found, payments, left, isSame) ?? partnerBooking(found, payments, left, unitsAt);
}

/** A transaction that pays open withdrawals, or spends coins of accounts. */
function batchBooking(
  found: FoundTransaction,
  payments: readonly FoundOutput[],
  left: Left,
  isSame: (output: FoundOutput, payee: Payee) => boolean,
): Booking | null {
  if (!mayBeOfAccounts(found)) return null;
  const paid = pairs(payments, left.withdrawals, isSame);
  // the change of a consolidation, and of a payment that the database does not know, belongs to accounts, too
  const isBooked =
    paid.some(({ payee }) => payee !== null) || found.inputs.some((input) => isOfAccounts(input, left));
  return isBooked ? { found, open: null, shares: [], isReplacement: false, paid } : null;
}

/** A payout after the backup that paid partners with coins of the service, and at most what the partners are owed. */
function partnerBooking(
  found: FoundTransaction,
  payments: readonly FoundOutput[],
  left: Left,
  unitsAt: ReadonlyMap<string, UnitsOfRunes>,
): Booking | null {
  const isOfService = ({ coin, key, outpoint }: FoundInput): boolean =>
    coin === null ? key?.branch === 1 && !left.change.has(outpoint) : coin.held === 'free';
  const hasOthers = found.outputs.some(
    (output, vout) => isReturn(output) || unitsAt.has(`${found.txid}:${vout}`),
  );
  if (hasOthers || !found.inputs.every(isOfService)) return null;
  const shares = sharesOf(payments, left.partners);
  if (shares === null) return null;
  const paid = payments.map((output) => {
    const { script, value: sats } = output;
    return {
      output,
      payee: { script, address: output.address ?? script, sats, rune: null, withdrawal: null },
    };
  });
  return { found, open: null, shares, isReplacement: false, paid };
}

/** The payout whose receivers, and no others, the transaction pays. */
function payoutBooking(
  found: FoundTransaction,
  payments: readonly FoundOutput[],
  payouts: readonly OpenPayout[],
  isSame: (output: FoundOutput, payee: Payee) => boolean,
): Booking | null {
  for (const open of payouts) {
    if (payments.length !== open.payees.length || !mayBeOf(found, open)) continue;
    if (payments.length === 0 && open.payout.kind !== 'consolidation') continue;
    // a return sends its output with all runes in it, whichever they are
    const paid = pairs(payments, open.payees, open.payout.spends === null ? isSame : paysSats);
    if (paid.every(({ payee }) => payee !== null))
      return { found, open, shares: [], isReplacement: open.family !== null, paid };
  }
  return null;
}

/**
 * Whether a transaction can be the transaction of a payout. A transaction that shares no coin with a signed one does
 * not replace it, and both may be mined. A return spends its output.
 */
function mayBeOf(
  found: FoundTransaction,
  { family, spends, payout: { kind, ownIndex, spends: returned } }: OpenPayout,
): boolean {
  const spendsOne = (outpoints: ReadonlySet<string>): boolean =>
    found.inputs.some(({ outpoint }) => outpoints.has(outpoint));
  const isRival = family === null || spendsOne(spends);
  const isReturning = returned === null || spendsOne(new Set([outpointOf(returned)]));
  const isOfKind = !isBatch(kind) || mayBeOfAccounts(found);
  return isRival && isReturning && isOfKind && hasOneChange(found, ownIndex);
}

/** Whether all known inputs are coins that withdrawals spend. A delivery of an order has inputs of other kinds. */
const mayBeOfAccounts = ({ inputs }: FoundTransaction): boolean =>
  inputs.every(({ coin }) => coin === null || isCoinOfAccounts(coin));

const isCoinOfAccounts = ({ kind, held }: CoinKey): boolean => kind === 'token-order' || held === 'accounts';

/** Whether an input is a coin of accounts: in the database, or the change of a booked transaction. */
const isOfAccounts = ({ coin, outpoint }: FoundInput, { change }: Left): boolean =>
  coin === null ? change.has(outpoint) : isCoinOfAccounts(coin);

/** Pairs outputs with payees that they pay exactly, each payee once. */
function pairs(
  outputs: readonly FoundOutput[],
  payees: readonly Payee[],
  isSame: (output: FoundOutput, payee: Payee) => boolean,
): Booking['paid'] {
  const free = [...payees];
  return outputs.map((output) => {
    const place = free.findIndex((payee) => isSame(output, payee));
    const [payee = null] = place < 0 ? [] : free.splice(place, 1);
    return { output, payee };
  });
}

const paysSats = ({ script, value }: FoundOutput, payee: Payee): boolean =>
  script === payee.script && value === payee.sats;

/** Whether an output of a found transaction pays a payee: the script, the sats and the runes. */
const sameAt =
  (found: FoundTransaction, unitsAt: ReadonlyMap<string, UnitsOfRunes>) =>
  (output: FoundOutput, payee: Payee): boolean => {
    if (!paysSats(output, payee)) return false;
    const units = unitsAt.get(`${found.txid}:${found.outputs.indexOf(output)}`) ?? new Map<string, bigint>();
    if (payee.rune === null) return units.size === 0;
    return payee.rune.id !== null && units.size === 1 && units.get(payee.rune.id) === payee.rune.units;
  };

/**
 * Whether all outputs of the wallet are change at one key, that of the payout if it has one. A batch has change of sats
 * and of runes at its key.
 */
function hasOneChange({ outputs }: FoundTransaction, ownIndex: number | null): boolean {
  const keys = outputs.flatMap(({ key }): WalletKey[] => (key === null ? [] : [key]));
  const own = ownIndex ?? keys[0]?.index;
  return keys.every(({ branch, index }) => branch === 1 && index === own);
}

/**
 * Open payments that outputs of a transaction seem to make. A payment of the wallet to the same script seems so with
 * every amount, because the fee that a withdrawal pays may have been another one.
 */
function unsureOf(found: FoundTransaction, outputs: readonly FoundOutput[], left: Left): UnsurePayment[] {
  const isOwn = spendsOwnMoney(found);
  const seems = (payee: Payee): boolean =>
    outputs.some((output) => paysSats(output, payee) || (isOwn && output.script === payee.script));
  const unsigned = left.payouts.flatMap(({ payout, payees }) =>
    payees.filter(seems).map((payee) => ({ payee, payout: payout.id })),
  );
  const withdrawals = left.withdrawals.filter(seems).map((payee) => ({ payee, payout: null }));
  return [...unsigned, ...withdrawals].map((each) => ({ found, ...each, why: whyUnsure(found, each.payee) }));
}

function whyUnsure(found: FoundTransaction, payee: Payee): UnsurePayment['why'] {
  if (found.height === null) return 'unmined';
  if (!isOfWallet(found)) return 'foreign';
  if (!found.outputs.some((output) => paysSats(output, payee))) return 'amount';
  if (!hasOneChange(found, null)) return 'change';
  return payee.rune === null ? 'others' : 'runes';
}
