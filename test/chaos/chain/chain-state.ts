import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Coin, ValidBlock } from '#test/builders/valid-blocks.ts';

/** A transaction in the mempool, which a later block may include. */
export interface SentTransaction {
  readonly inputs: readonly { readonly coin: Coin; readonly witness: readonly Uint8Array[] }[];
  readonly outputs: readonly { readonly value: number; readonly script: Uint8Array }[];
}

/** The spendable outputs after a block, as the generator knows them. Immutable: every block has its own. */
export interface ChainState {
  readonly height: number;
  readonly hash: Uint8Array;
  /** Outputs that probably hold no inscription. */
  readonly coins: readonly Coin[];
  /** Outputs that probably hold an inscription. */
  readonly held: readonly Coin[];
  /** Outputs of 0 sats: a reveal that spends one is unbound. */
  readonly empty: readonly Coin[];
  /** Coinbases by the height from which they may be spent. */
  readonly maturing: readonly { readonly from: number; readonly coin: Coin }[];
  /** Ids of reveals, for fields; the newest last, bounded. */
  readonly reveals: readonly Uint8Array[];
  /** Ids that are probably runes; the newest last, bounded. */
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
