import type { Txid } from '#kernel/primitives/hash.ts';
import type { ChargeState, TokenOrderState } from './charge-state.ts';

/** The charges of an order: `fee` in sats to a P2WPKH address, `token` in a rune to a P2TR address. */
export const chargeKinds = ['fee', 'token'] as const;
export type ChargeKind = (typeof chargeKinds)[number];

/** A rune that payments are made in. */
export interface TokenRune {
  /** Its number in service.assets. */
  readonly asset: number;
  /** The transaction that etched it: after a reorganisation another one can etch its name. */
  readonly etching: Txid;
  /** Its name with spacers. */
  readonly name: string;
  readonly divisibility: number;
}

/** The reason why an order cannot be paid whose rune is not the one that has its name now. */
export const etchedAgain =
  'The rune of this order was etched again by another transaction after a reorganisation: ask the shop for a new order.';

export interface Charge {
  readonly kind: ChargeKind;
  /** Sats, or base units of the rune. */
  readonly amount: bigint;
  readonly address: string;
  readonly script: Uint8Array;
  /**
   * The index of the key of its address, in the branch of its kind; null: the address is that of an inscription order.
   */
  readonly keyIndex: number | null;
  readonly state: ChargeState;
  /** The first payment of it that was seen; null: none is there. */
  readonly txid: Txid | null;
}

/**
 * The sats that came for an inscription order in time, as it says: nothing, too little, all of them, all as deep as
 * it asks. Or it was cancelled.
 */
export const feePayments = ['nothing', 'part', 'seen', 'deep', 'cancelled'] as const;
export type FeePayment = (typeof feePayments)[number];

/** The inscription order whose charge is the fee charge of a token order. */
export interface InscriptionFee {
  readonly orderId: string;
  readonly paid: FeePayment;
}

/** An order of a shop: its customer pays both charges, and the shop's account gets what comes. */
export interface TokenOrder {
  readonly id: string;
  readonly account: string;
  readonly createdAt: Date;
  /** A payment that is first seen later counts towards no charge. */
  readonly expiresAt: Date;
  /**
   * The time at which it ends as an error unless it is paid: `expiresAt`, or an hour after a payment that came in time
   * was there, as a node that is started again, and a reorganisation, lose sight of payments for a while.
   */
  readonly endsAt: Date;
  readonly state: TokenOrderState;
  readonly rune: TokenRune;
  /** Sats of the fee charge that are revenue once the order is completed. */
  readonly baseFee: bigint;
  /** Sats of the fee charge that are the account's. */
  readonly additionalFee: bigint;
  readonly description: string | null;
  readonly webhookUrl: string | null;
  readonly successUrl: string | null;
  /** The public key of the service's secret from which its webhook secret is derived; null: it has no webhook. */
  readonly secretKey: Uint8Array | null;
  readonly charges: Readonly<Record<ChargeKind, Charge>>;
  /** Null: its fee is its own, and the account's or the service's. */
  readonly inscription: InscriptionFee | null;
}
