import type { Coin, ValidBlock } from '#test/builders/valid-blocks.ts';

/** A transaction that was sent to the mempool, as a block may take it in later. */
export interface SentTransaction {
  readonly inputs: readonly { readonly coin: Coin; readonly witness: readonly Uint8Array[] }[];
  readonly outputs: readonly { readonly value: number; readonly script: Uint8Array }[];
}

/** What may be spent after a block, as the generator knows it. Never changed: every block has its own. */
export interface ChainState {
  readonly height: number;
  readonly hash: Uint8Array;
  /** Outputs that most likely hold nothing. */
  readonly coins: readonly Coin[];
  /** Outputs that most likely hold an inscription. */
  readonly held: readonly Coin[];
  /** Outputs without a satoshi: what is revealed there is unbound. */
  readonly empty: readonly Coin[];
  /** Coinbases by the height from which on they may be spent. */
  readonly maturing: readonly { readonly from: number; readonly coin: Coin }[];
  /** Ids of reveals, as fields name them; the newest last, bounded. */
  readonly reveals: readonly Uint8Array[];
}

export interface ModelBlock {
  readonly block: ValidBlock;
  readonly after: ChainState;
}

/** Key of an outpoint. */
export function coinKey({ txid, vout }: Pick<Coin, 'txid' | 'vout'>): string {
  return `${Buffer.from(txid).toString('hex')}:${vout}`;
}
