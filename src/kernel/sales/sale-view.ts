import type { SaleEvidence } from './sale-evidence.ts';

/** A sale with its evidence, in the form of `satscribe sales explain` and `/sale` (docs/marketplace.md). */
export interface SaleView extends SaleEvidence {
  readonly inscriptionId: string;
  readonly txid: string;
  readonly height: number;
  /** Time of the block, in Unix seconds. */
  readonly time: number;
  readonly input: number;
  readonly rules: number;
  /**
   * Owner as text. It is the address, or the script in hex if there is no address. For a script above 128 bytes, it is
   * `sha256:` and the hash.
   */
  readonly maker: string;
  /** Receiver of the inscription. `null` if the inscription went into the fee. */
  readonly taker: string | null;
  readonly wash: boolean;
}
