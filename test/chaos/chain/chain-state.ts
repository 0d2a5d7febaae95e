import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Coin, ValidBlock } from '#test/builders/valid-blocks.ts';

/** A transaction in the mempool, which a later block may include. */
export interface SentTransaction {
  readonly inputs: readonly { readonly coin: Coin; readonly witness: readonly Uint8Array[] }[];
  readonly outputs: readonly { readonly value: number; readonly script: Uint8Array }[];
}

/**
 * The spendable outputs after a block, as the generator knows them. Immutable, because every block has its own state.
 */
export interface ChainState {
  readonly height: number;
  readonly hash: Uint8Array;
  /** Outputs that probably hold no inscription. */
  readonly coins: readonly Coin[];
  /** Outputs that probably hold an inscription. */
  readonly held: readonly Coin[];
  /** Outputs of 0 sats. If a reveal spends such an output, its inscription is unbound. */
  readonly empty: readonly Coin[];
  /** Coinbases, with the height from which they may be spent. */
  readonly maturing: readonly { readonly from: number; readonly coin: Coin }[];
  /** Ids of reveals for fields of envelopes, the newest last. The list has a maximum length. */
  readonly reveals: readonly Uint8Array[];
  /** Ids that are probably runes, the newest last. The list has a maximum length. */
  readonly runes: readonly RuneId[];
}

export interface ModelBlock {
  readonly block: ValidBlock;
  readonly after: ChainState;
}

/** Key of an outpoint. */
export function coinKey({ txid, vout }: Pick<Coin, 'txid' | 'vout'>): string {
  return `${Buffer.from(txid).toString('hex')}:${vout}`;
}
