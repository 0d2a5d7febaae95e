import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { failpoint } from '#kernel/process/failpoint.ts';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';
import { type WantedKeys, withNewKeys } from '#purse/destinations/with-new-keys.ts';
import { chargeState } from '#tokenpay/order/charge-state.ts';
import { insertTokenOrder } from '#tokenpay/order/token-order.store.ts';
import type { Charge, TokenOrder } from '#tokenpay/order/token-order.ts';
import { type IndexedRune, storedRunes } from '#tokenpay/order/token-runes.store.ts';
import { tokenWatcherOf } from '#tokenpay/order/watchers.ts';
import type { SentTokenOrder } from '#tokenpay/reading/read-token-order.ts';
import type { IndexLeases } from '#wallet/indices/index-leases.ts';
import type { PublicWallet, WalletAddress } from '#wallet/public-wallet.ts';

/** Keys of the wallet for the addresses of charges. */
export interface ChargeKeys {
  readonly wallet: PublicWallet;
  readonly leases: Pick<IndexLeases, 'take' | 'confirm'>;
}

/** A requested order whose fields are checked and whose price is known. */
export interface WantedTokenOrder
  extends Pick<SentTokenOrder, 'additionalFee' | 'description' | 'webhookUrl' | 'successUrl'> {
  readonly account: string;
  readonly rune: IndexedRune;
  /** Amount in base units. */
  readonly amount: bigint;
  readonly baseFee: bigint;
  readonly timeoutMinutes: number;
  /** Public key of the service's secret, or null if the order has no webhook. */
  readonly secretKey: Uint8Array | null;
}

/**
 * Stores an order with two new addresses that no one has seen before. The addresses are watched from the next block on.
 * Everything happens in one transaction (`withNewKeys`). Throws `wallet_indices_unreleased`.
 *
 * @param onMade stores more data in the same transaction
 */
export async function createTokenOrder(
  pool: pg.Pool,
  { wallet, leases }: ChargeKeys,
  wanted: WantedTokenOrder,
  now: Date,
  onMade: (tx: pg.ClientBase, order: TokenOrder) => Promise<void>,
): Promise<TokenOrder> {
  return withNewKeys(pool, leases, chargeKeysOf(wallet), async (tx, keys, checked) => {
    const order = await newOrder(tx, wanted, keys, now);
    await checked;
    await insertTokenOrder(tx, order);
    const scripts = [keys.fee, keys.token].map(({ script }) => ({ script, sinceHeight: nextBlock }));
    await watchScripts(tx, tokenWatcherOf(order.id), scripts);
    await onMade(tx, order);
    failpoint('token-order-making');
    return order;
  });
}

interface NewCharges {
  readonly fee: WalletAddress;
  readonly token: WalletAddress;
}

const chargeKeysOf = (wallet: PublicWallet): WantedKeys<NewCharges> => ({
  counts: { orders: 1, fees: 1 },
  at: (first) => ({ fee: wallet.feesAddress(first.fees), token: wallet.orderAddress(first.orders, null) }),
  shown: ({ fee, token }) => [fee, token],
});

async function newOrder(
  tx: pg.ClientBase,
  wanted: WantedTokenOrder,
  keys: NewCharges,
  now: Date,
): Promise<TokenOrder> {
  const { account, additionalFee, amount, baseFee, description, secretKey, successUrl, webhookUrl } = wanted;
  const [rune] = await storedRunes(tx, [wanted.rune]);
  if (rune === undefined) throw new Error('a stored rune has a number');
  const expiresAt = new Date(now.getTime() + wanted.timeoutMinutes * 60_000);
  return {
    id: randomUUID(),
    account,
    createdAt: now,
    expiresAt,
    endsAt: expiresAt,
    state: 'pending',
    rune,
    baseFee,
    additionalFee,
    description,
    webhookUrl,
    successUrl,
    secretKey,
    charges: {
      fee: newCharge('fee', baseFee + additionalFee, keys.fee),
      token: newCharge('token', amount, keys.token),
    },
    inscription: null,
  };
}

/** Makes a new charge. A charge of amount 0 is completed at once. */
const newCharge = (
  kind: Charge['kind'],
  amount: bigint,
  { address, script, key }: WalletAddress,
): Charge => ({
  kind,
  amount,
  address,
  script,
  keyIndex: key.index,
  state: chargeState({ amount, credited: 0n, isWaiting: false }, false),
  txid: null,
});
