import { strict as assert } from 'node:assert';
import type { MovedBlock } from '#indexer/ledger/sales/find-moves.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';

/** The transaction that revealed an inscription, and its index there. */
export interface RevealPlace {
  readonly revealTxid: Txid;
  readonly index: number;
}

const hashLength = 32;
const idLength = 36;

/** The ids of the inscriptions that a block moves, by key: new inscriptions, and inscriptions in its inputs. */
export class InscriptionIds {
  readonly #block: Pick<MovedBlock, 'columns' | 'ledger' | 'held'>;
  /** Rows of held inscriptions by key. Made on the first request: most blocks sell nothing. */
  #heldRows: Map<number, number> | null = null;

  constructor(block: Pick<MovedBlock, 'columns' | 'ledger' | 'held'>) {
    this.#block = block;
  }

  of(key: number): RevealPlace {
    const { columns, ledger, held } = this.#block;
    const { inscriptions } = ledger;
    const at = key - inscriptions.firstKey;
    if (at >= 0) {
      const reveal = inscriptions.reveal[at]! * hashLength;
      return {
        revealTxid: trustedTxid(columns.revealTxid.slice(reveal, reveal + hashLength)),
        index: inscriptions.index[at]!,
      };
    }
    this.#heldRows ??= new Map(Array.from(held.key, (heldKey, row) => [heldKey, row]));
    const row = this.#heldRows.get(key);
    assert(row !== undefined, 'a moved inscription is new or held');
    const id = Buffer.from(held.id.subarray(row * idLength, (row + 1) * idLength));
    return { revealTxid: trustedTxid(id.subarray(0, hashLength)), index: id.readUInt32LE(hashLength) };
  }
}
