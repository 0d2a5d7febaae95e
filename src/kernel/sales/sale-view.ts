import type { SaleEvidence } from './sale-evidence.ts';

/** A sale with its evidence, as `satscribe sales explain` and `/sale` show it (docs/marketplace.md). */
export interface SaleView extends SaleEvidence {
  readonly inscriptionId: string;
  readonly txid: string;
  readonly height: number;
  /** Time of the block, in Unix seconds. */
  readonly time: number;
  readonly input: number;
  readonly rules: number;
  /** Addresses; a script without one in hex, above 128 bytes as `sha256:` and its hash. */
  readonly maker: string;
  /** Null: the inscription went into the fee. */
  readonly taker: string | null;
  readonly wash: boolean;
}
