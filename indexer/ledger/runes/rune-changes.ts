import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { U128 } from '#kernel/runes/u128.ts';
import type { RuneEntry } from './rune-entry.ts';
import type { RuneOutputs } from './rune-outputs.ts';

/** A mint. The rune is given by its key; `tx` is the index of the transaction. */
export interface Minted {
  readonly tx: number;
  readonly key: number;
  readonly amount: U128;
  /** How often the rune was minted, including this mint. */
  readonly mints: number;
}

export interface Burned {
  readonly txid: Txid;
  readonly tx: number;
  readonly key: number;
  readonly amount: U128;
  /** Burned total of the rune, including this burn. */
  readonly total: U128;
}

/** One event of a block. */
export type RuneEvent =
  | { readonly kind: 'etched'; readonly txid: Txid; readonly entry: RuneEntry }
  | (Minted & { readonly kind: 'minted'; readonly txid: Txid })
  | {
      readonly kind: 'transferred';
      readonly txid: Txid;
      readonly vout: number;
      readonly key: number;
      readonly amount: U128;
    }
  | (Burned & { readonly kind: 'burned' });

/** Receiver of a block's events. */
export interface RuneEventVisitor {
  etched(entry: RuneEntry): void;
  /** @param txids contains the txid of the mint at `txidAt` */
  minted(minted: Minted, txids: Uint8Array, txidAt: number): void;
  /** Receives an output with its balances. */
  transferred(outputs: RuneOutputs, row: number): void;
  burned(burned: Burned): void;
}

const kinds = { etched: 0, minted: 1, transferred: 2, burned: 3 } as const;
const kindCount = 4;
const hashLength = 32;

/**
 * Rows that a block adds to the runes. Earlier rows never change, except when their outputs are spent. The outputs
 * themselves are rows of the state.
 */
export class RuneChanges {
  readonly etched: RuneEntry[] = [];
  readonly minted: Minted[] = [];
  readonly burned: Burned[] = [];
  /**
   * Spent outputs from before the state's own blocks: rows of the state's `held`. Spent outputs of its own blocks are
   * only marked.
   */
  readonly spent: number[] = [];
  /** First row with outputs of this block in the state's `made`. `endOutput` is the row after the last. */
  readonly firstOutput: number;
  endOutput: number;
  /** Number of events. Each rune that an output gets is a transfer. */
  eventCount = 0;
  readonly #made: RuneOutputs;
  readonly #txids: Uint8Array;
  /** Offset of the txid of each mint. */
  readonly #txidsAt: number[] = [];
  /** Events in ord's order: a kind, then the index in the list of that kind, or the row of the output. */
  readonly #order: number[] = [];

  /** @param txids txids of the block's messages */
  constructor(made: RuneOutputs, txids: Uint8Array) {
    this.#made = made;
    this.#txids = txids;
    this.firstOutput = made.size;
    this.endOutput = made.size;
  }

  etch(entry: RuneEntry): void {
    this.#add(kinds.etched, this.etched.push(entry) - 1);
  }

  mint(minted: Minted, txidAt: number): void {
    this.#txidsAt.push(txidAt);
    this.#add(kinds.minted, this.minted.push(minted) - 1);
  }

  burn(burned: Burned): void {
    this.#add(kinds.burned, this.burned.push(burned) - 1);
  }

  /** Adds the transfers of the state's newest row. All balances of the row must have been added. */
  transfer(): void {
    const row = this.#made.size - 1;
    this.endOutput = row + 1;
    this.#add(kinds.transferred, row);
    this.eventCount += this.#made.countOf(row) - 1;
  }

  /** The 32 bytes of the txid of a mint. */
  txidOf(mint: number): Txid {
    const at = this.#txidsAt[mint]!;
    return trustedTxid(this.#txids.slice(at, at + hashLength));
  }

  /** Calls the visitor for each event, in ord's order. */
  visit(visitor: RuneEventVisitor): void {
    for (const event of this.#order) {
      const place = Math.floor(event / kindCount);
      const kind = event % kindCount;
      if (kind === kinds.transferred) visitor.transferred(this.#made, place);
      else if (kind === kinds.minted) visitor.minted(this.minted[place]!, this.#txids, this.#txidsAt[place]!);
      else if (kind === kinds.etched) visitor.etched(this.etched[place]!);
      else visitor.burned(this.burned[place]!);
    }
  }

  /** The events as a list. Use it only for a small number of events. */
  events(): RuneEvent[] {
    const events: RuneEvent[] = [];
    let mints = 0;
    this.visit({
      etched: (entry) => events.push({ kind: 'etched', txid: entry.etching, entry }),
      minted: (minted) => events.push({ kind: 'minted', txid: this.txidOf(mints++), ...minted }),
      burned: (burned) => events.push({ kind: 'burned', ...burned }),
      transferred: (outputs, row) => {
        const txid = outputs.txidOf(row);
        const first = outputs.firstOf(row);
        for (let balance = first; balance < first + outputs.countOf(row); balance++)
          events.push({
            kind: 'transferred',
            txid,
            vout: outputs.voutOf(row),
            key: outputs.keyOf(balance),
            amount: outputs.amountOf(balance),
          });
      },
    });
    return events;
  }

  #add(kind: number, place: number): void {
    this.#order.push(place * kindCount + kind);
    this.eventCount++;
  }
}
