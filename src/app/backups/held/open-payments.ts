import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { lockPayouts } from '#payouts/asking/ask-payouts.ts';
import { readPartnerBalances } from '#payouts/owed/partner-balances.queries.ts';
import { lockOpenPayouts, openPayouts, readShares } from '#payouts/payout/payout.store.ts';
import { isBatch, type Payout, recipientsOf } from '#payouts/payout/payout.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { partnerAccounts } from '#purse/ledger/ledger.ts';
import { nameWithdrawals } from '#tokenpay/withdrawing/name-withdrawals.ts';
import { receivedSats, type Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { lockPending, pendingOfAll, withdrawalsOf } from '#tokenpay/withdrawing/withdrawals.store.ts';
import type { OwedPartner } from './match-partners.ts';

/** An output that an open payment makes or would make. */
export interface Payee {
  /** Script in hex. */
  readonly script: string;
  readonly address: string;
  readonly sats: bigint;
  /** Units of a rune that the output carries, or null if it carries only sats. */
  readonly rune: { readonly id: string | null; readonly units: bigint } | null;
  /** The withdrawal that the output pays, or null for a share of a payout. */
  readonly withdrawal: string | null;
}

/** A payout or a batch that may still be signed or mined. */
export interface OpenPayout {
  readonly payout: Payout;
  readonly payees: readonly Payee[];
  /** The family of its signed transaction, or null if it has no transaction that can be mined. */
  readonly family: Txid | null;
  /** Outputs that its signed transactions spend, as `<txid>:<vout>`. */
  readonly spends: ReadonlySet<string>;
}

/** Payments to others that no block of the database has. */
export interface OpenPayments {
  /** Payouts, and batches that were signed. */
  readonly payouts: readonly OpenPayout[];
  /** Withdrawals without a signed transaction. */
  readonly withdrawals: readonly Payee[];
}

/**
 * Locks all payments that are open until the transaction ends, so that none is cancelled, replaced or put into another
 * batch while found transactions are booked, and no payout is asked for. Payouts come before their withdrawals, as
 * everywhere.
 */
export async function lockOpenPayments(tx: pg.ClientBase): Promise<void> {
  await lockPayouts(tx);
  await lockOpenPayouts(tx);
  await lockPending(tx);
}

/** Reads all payments that are open. */
export async function readOpenPayments(tx: pg.ClientBase): Promise<OpenPayments> {
  const payouts: OpenPayout[] = [];
  for (const payout of await openPayouts(tx)) {
    if (payout.state === 'mined') continue;
    const transactions = await readPayoutTransactions(tx, payout.id);
    const live = transactions.filter(({ isSuperseded }) => !isSuperseded);
    const isOfWithdrawals = isBatch(payout.kind);
    // the withdrawals of a batch that was never signed are pending
    if (isOfWithdrawals && transactions.length === 0) continue;
    const payees = isOfWithdrawals
      ? await payeesOf(tx, await withdrawalsOf(tx, payout.id))
      : await payeesOfShares(tx, payout.id);
    const spends = new Set(live.flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)));
    payouts.push({ payout, payees, family: live[0]?.family ?? null, spends });
  }
  return { payouts, withdrawals: await payeesOf(tx, await pendingOfAll(tx)) };
}

/** Reads what partners are owed, except what open payouts pay. */
export async function readOwedPartners(tx: pg.ClientBase, network: NetworkName): Promise<OwedPartner[]> {
  const balances = await readPartnerBalances(tx, {
    accounts: partnerAccounts,
    owner: null,
    // a payout after the backup paid deep deliveries, so every delivery may have been paid
    confirmations: 1,
    network: networks[network],
  });
  return balances.flatMap(({ account, owner, script, address, earned, paid, open }) => {
    const sats = earned - paid - open;
    if (script === null || address === null || sats <= 0n) return [];
    return [{ account, owner, script: Buffer.from(script).toString('hex'), address, sats }];
  });
}

async function payeesOfShares(tx: pg.ClientBase, id: string): Promise<Payee[]> {
  const shares = await readShares(tx, id);
  const addresses = new Map(
    shares.map(({ script, address }) => [Buffer.from(script).toString('hex'), address]),
  );
  return recipientsOf(shares).map(({ script, sats }) => {
    const hex = Buffer.from(script).toString('hex');
    return { script: hex, address: addresses.get(hex) ?? '', sats, rune: null, withdrawal: null };
  });
}

async function payeesOf(tx: pg.ClientBase, withdrawals: readonly Withdrawal[]): Promise<Payee[]> {
  const named = new Map((await nameWithdrawals(tx, withdrawals)).map((each) => [each.id, each]));
  return withdrawals.map((each) => {
    const rune = named.get(each.id)?.rune ?? null;
    return {
      script: Buffer.from(each.script).toString('hex'),
      address: each.address,
      sats: receivedSats(each),
      // a rune whose etching is in no block has no id now, so nothing in the chain can be compared with it
      rune:
        each.postage === 0n ? null : { id: rune === null ? null : formatRuneId(rune), units: each.amount },
      withdrawal: each.id,
    };
  });
}
