import type { Txid } from '#kernel/primitives/hash.ts';
import type { ChargeState, TokenOrderState } from './charge-state.ts';

/**
 * The charges of an order. `fee` is in sats and paid to a P2WPKH address. `token` is in a rune and paid to a P2TR
 * address.
 */
export const chargeKinds = ['fee', 'token'] as const;
export type ChargeKind = (typeof chargeKinds)[number];

/** A rune with which customers pay. */
export interface TokenRune {
  /** Number in service.assets. */
  readonly asset: number;
  /** The transaction that etched the rune. After a reorganisation another transaction can etch the same name. */
  readonly etching: Txid;
  /** Name of the rune with spacers. */
  readonly name: string;
  readonly divisibility: number;
}

/** Text that is shown if an order cannot be paid, because another rune now has the name of the order's rune. */
export const etchedAgain =
  'After a reorganisation, another transaction etched the rune of this order again. Ask the shop for a new order.';

export interface Charge {
  readonly kind: ChargeKind;
  /** Amount in sats, or in base units of the rune. */
  readonly amount: bigint;
  readonly address: string;
  readonly script: Uint8Array;
  /**
   * Index of the address's key, in the branch of the charge's kind. Null if the address belongs to an inscription
   * order.
   */
  readonly keyIndex: number | null;
  readonly state: ChargeState;
  /** The first payment of the charge that was seen, or null if no payment is known. */
  readonly txid: Txid | null;
}

/**
 * State of an inscription order's sats that came in time, as the inscription order reports it. The states mean: no
 * sats, too few sats, all sats, or all sats deep enough. `cancelled` means that the order was cancelled.
 */
export const feePayments = ['nothing', 'part', 'seen', 'deep', 'cancelled'] as const;
export type FeePayment = (typeof feePayments)[number];

/** The inscription order whose charge is the fee charge of a token order. */
export interface InscriptionFee {
  readonly orderId: string;
  readonly paid: FeePayment;
}

/** An order of a shop. The shop's customer pays both charges, and the shop's account receives the payments. */
export interface TokenOrder {
  readonly id: string;
  readonly account: string;
  readonly createdAt: Date;
  /** Time after which new payments do not pay a charge. The time at which a payment is first seen decides. */
  readonly expiresAt: Date;
  /**
   * The time at which an unpaid order ends as an error. It is `expiresAt`, or an hour after a payment that came in time
   * was last seen, if this is later. The hour is needed because a restarted node or a reorganisation can hide payments
   * for a while.
   */
  readonly endsAt: Date;
  readonly state: TokenOrderState;
  readonly rune: TokenRune;
  /** Sats of the fee charge that become revenue when the order is completed. */
  readonly baseFee: bigint;
  /** Sats of the fee charge that belong to the account. */
  readonly additionalFee: bigint;
  readonly description: string | null;
  readonly webhookUrl: string | null;
  readonly successUrl: string | null;
  /** Public key of the service's secret from which the webhook secret is derived. Null if the order has no webhook. */
  readonly secretKey: Uint8Array | null;
  readonly charges: Readonly<Record<ChargeKind, Charge>>;
  /**
   * The inscription order whose charge is the fee charge. Null if the order has its own fee charge, which pays the
   * account or the service.
   */
  readonly inscription: InscriptionFee | null;
}
