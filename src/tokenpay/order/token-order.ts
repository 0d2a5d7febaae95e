import type { Txid } from '#kernel/primitives/hash.ts';
import type { ChargeState, TokenOrderState } from './charge-state.ts';

/** The charges of an order: `fee` in sats to a P2WPKH address, `token` in a rune to a P2TR address. */
export const chargeKinds = ['fee', 'token'] as const;
export type ChargeKind = (typeof chargeKinds)[number];

/** A rune that payments are made in. */
export interface TokenRune {
  /** Its number in service.assets. */
  readonly asset: number;
  /** The transaction that etched it. After a reorganisation another transaction can etch its name. */
  readonly etching: Txid;
  /** Its name with spacers. */
  readonly name: string;
  readonly divisibility: number;
}

/** The reason why an order cannot be paid if another rune has the name of its rune now. */
export const etchedAgain =
  'The rune of this order was etched again by another transaction after a reorganisation: ask the shop for a new order.';

export interface Charge {
  readonly kind: ChargeKind;
  /** Sats, or base units of the rune. */
  readonly amount: bigint;
  readonly address: string;
  readonly script: Uint8Array;
  /**
   * The index of the key of its address, in the branch of its kind; null: its address belongs to an inscription order.
   */
  readonly keyIndex: number | null;
  readonly state: ChargeState;
  /** The first payment of it that was seen; null: no payment is known. */
  readonly txid: Txid | null;
}

/**
 * The state of sats for an inscription order that came in time, as that order reports it: nothing, too little, all, or
 * all deep enough. Or the order was cancelled.
 */
export const feePayments = ['nothing', 'part', 'seen', 'deep', 'cancelled'] as const;
export type FeePayment = (typeof feePayments)[number];

/** The inscription order whose charge is the fee charge of a token order. */
export interface InscriptionFee {
  readonly orderId: string;
  readonly paid: FeePayment;
}

/** An order of a shop: its customer pays both charges, and the shop's account gets the payments. */
export interface TokenOrder {
  readonly id: string;
  readonly account: string;
  readonly createdAt: Date;
  /** A payment that is first seen later does not count towards any charge. */
  readonly expiresAt: Date;
  /**
   * The time at which it ends as an error unless it is paid: `expiresAt`, or an hour after a payment in time was last
   * seen. A restarted node and a reorganisation lose sight of payments for a while.
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
  /** The public key of the service's secret that its webhook secret is derived from; null: it has no webhook. */
  readonly secretKey: Uint8Array | null;
  readonly charges: Readonly<Record<ChargeKind, Charge>>;
  /** Null: its fee is its own, and belongs to the account or the service. */
  readonly inscription: InscriptionFee | null;
}
