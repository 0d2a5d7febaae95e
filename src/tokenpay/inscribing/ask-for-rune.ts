import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';
import { insertTokenOrder } from '#tokenpay/order/token-order.store.ts';
import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import { type IndexedRune, storedRunes } from '#tokenpay/order/token-runes.store.ts';
import { tokenWatcherOf } from '#tokenpay/order/watchers.ts';

/** The rune amount that pays for an inscription order, in addition to the order's sats. */
export interface AskedRune {
  /** The account that receives the payments. */
  readonly account: string;
  readonly rune: IndexedRune;
  /** Amount in base units. */
  readonly amount: bigint;
  /** Text that the account sees. */
  readonly description: string;
}

/** An address that receives a rune, in the wallet branch of orders. */
export interface RuneAddress {
  readonly address: string;
  readonly script: Uint8Array;
  readonly keyIndex: number;
}

/** The parts of an inscription order that are needed for its token order. */
export interface InscribingOrder {
  readonly id: string;
  readonly amount: bigint;
  readonly script: Uint8Array;
  readonly address: string;
  readonly expiresAt: Date;
}

/**
 * Stores the token order of an inscription order, in the transaction that creates the inscription order. The charge of
 * the inscription order is also the fee charge of the token order. The sats of this charge belong only to the
 * inscription order (ADR 96).
 *
 * @param address address that receives the rune, which no one has seen before
 */
export async function askForRune(
  tx: pg.ClientBase,
  asked: AskedRune,
  order: InscribingOrder,
  { address, script, keyIndex }: RuneAddress,
  now: Date,
): Promise<TokenOrder> {
  const [rune] = await storedRunes(tx, [asked.rune]);
  if (rune === undefined) throw new Error('a stored rune has a number');
  const fresh = { state: 'pending_payment', txid: null } as const;
  const made: TokenOrder = {
    id: randomUUID(),
    account: asked.account,
    createdAt: now,
    expiresAt: order.expiresAt,
    endsAt: order.expiresAt,
    state: 'pending',
    rune,
    baseFee: 0n,
    additionalFee: 0n,
    description: asked.description,
    webhookUrl: null,
    successUrl: null,
    secretKey: null,
    charges: {
      fee: {
        ...fresh,
        kind: 'fee',
        amount: order.amount,
        address: order.address,
        script: order.script,
        keyIndex: null,
      },
      token: { ...fresh, kind: 'token', amount: asked.amount, address, script, keyIndex },
    },
    inscription: { orderId: order.id, paid: 'nothing' },
  };
  await insertTokenOrder(tx, made);
  await watchScripts(tx, tokenWatcherOf(made.id), [{ script, sinceHeight: nextBlock }]);
  return made;
}
