import type { Txid } from '#kernel/primitives/hash.ts';
import type { ChargeState, TokenOrderState } from './charge-state.ts';

/** The charges of an order: `fee` in sats to a P2WPKH address, `token` in a rune to a P2TR address. */
export const chargeKinds = ['fee', 'token'] as const;
export type ChargeKind = (typeof chargeKinds)[number];

/** A rune that customers pay with. */
export interface TokenRune {
  /** The number in service.assets. */
  readonly asset: number;
  /** The transaction that etched the rune. After a reorganisation another transaction can etch the same name. */
  readonly etching: Txid;
  /** The name with spacers. */
  readonly name: string;
  readonly divisibility: number;
}

/** Shown if an order cannot be paid because another rune has the name of its rune now. */
export const etchedAgain =
  'The rune of this order was etched again by another transaction after a reorganisation: ask the shop for a new order.';

export interface Charge {
  readonly kind: ChargeKind;
  /** Sats, or base units of the rune. */
  readonly amount: bigint;
  readonly address: string;
  readonly script: Uint8Array;
  /**
   * The index of the address's key, in the branch of the charge's kind. null: the address belongs to an inscription
   * order.
   */
  readonly keyIndex: number | null;
  readonly state: ChargeState;
  /** The first payment of the charge that was seen. null: no payment is known. */
  readonly txid: Txid | null;
}

/**
 * The state of an inscription order's sats that came in time, as that order reports it: nothing, too little, all, or
 * all deep enough. Or the order was cancelled.
 */
export const feePayments = ['nothing', 'part', 'seen', 'deep', 'cancelled'] as const;
export type FeePayment = (typeof feePayments)[number];

/** The inscription order whose charge is the fee charge of a token order. */
export interface InscriptionFee {
  readonly orderId: string;
  readonly paid: FeePayment;
}

/** An order of a shop. Its customer pays both charges, and the shop's account gets the payments. */
export interface TokenOrder {
  readonly id: string;
  readonly account: string;
  readonly createdAt: Date;
  /** A payment that is first seen after this time pays no charge. */
  readonly expiresAt: Date;
  /**
   * The time at which an unpaid order ends as an error: `expiresAt`, or an hour after a payment in time was last seen.
   * The hour is needed because a restarted node or a reorganisation can hide payments for a while.
   */
  readonly endsAt: Date;
  readonly state: TokenOrderState;
  readonly rune: TokenRune;
  /** Sats of the fee charge that are revenue once the order is completed. */
  readonly baseFee: bigint;
  /** Sats of the fee charge that belong to the account. */
  readonly additionalFee: bigint;
  readonly description: string | null;
  readonly webhookUrl: string | null;
  readonly successUrl: string | null;
  /**
   * The public key of the service's secret from which the webhook secret is derived. null: the order has no webhook.
   */
  readonly secretKey: Uint8Array | null;
  readonly charges: Readonly<Record<ChargeKind, Charge>>;
  /**
   * The inscription order whose charge is the fee charge. null: the order has its own fee charge, which is paid to the
   * account or the service.
   */
  readonly inscription: InscriptionFee | null;
}
