import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { ChargeKind } from '#tokenpay/order/token-order.ts';

/** Contents that make an output more than money: an inscription, or a special sat. */
export type FoundAside = 'inscribed' | 'special';

/** Units of a rune in an output. */
export interface CreditedRune {
  /** The number in service.assets. */
  readonly asset: number;
  readonly amount: bigint;
}

/**
 * A confirmed output at the address of a charge, with the contents that the index reported for its block. A credit
 * changes only if a reorganisation removes this block. It does not change if the output is spent, indexed again or
 * deleted from the index later.
 */
export interface Credit {
  readonly txid: Txid;
  readonly vout: number;
  readonly charge: ChargeKind;
  readonly block: BlockRef;
  readonly firstSeen: Date;
  readonly sats: bigint;
  readonly runes: readonly CreditedRune[];
  /**
   * The reason why the output is more than money, so that nothing of it is credited. Null if the output is only money.
   */
  readonly aside: FoundAside | null;
}

/** Sorts credits by block, txid and output. Payments fill a charge in this sequence. */
export function inChainOrder(credits: readonly Credit[]): readonly Credit[] {
  return credits.toSorted(
    (a, b) => a.block.height - b.block.height || Buffer.compare(a.txid, b.txid) || a.vout - b.vout,
  );
}
