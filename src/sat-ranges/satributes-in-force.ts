import type pg from 'pg';
import { provenanceStamp, readProvenance } from '#chain/sats/provenance.store.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';

/** The definitions in force in a process: a book, and another one once the database knows other outputs. */
export class SatributesInForce {
  readonly #pool: pg.Pool;
  readonly #own: readonly Satribute[];
  #book: SatributeBook;
  #stamp: string | null = null;

  /** @param own definitions of the operator's */
  constructor(pool: pg.Pool, network: NetworkName, own: readonly Satribute[]) {
    this.#pool = pool;
    this.#own = own;
    this.#book = new SatributeBook(network, own);
  }

  get book(): SatributeBook {
    return this.#book;
  }

  /** Whether anything in the database can change the book. */
  get changes(): boolean {
    return this.#book.outputs.length > 0;
  }

  /** Reads the results since the last time. */
  async refresh(): Promise<void> {
    const { network, outputs } = this.#book;
    // before the rows: changes between the two are read again
    const stamp = await provenanceStamp(this.#pool);
    if (stamp === this.#stamp) return;
    const found = await readProvenance(this.#pool, outputs);
    this.#book = new SatributeBook(network, this.#own, found);
    this.#stamp = stamp;
  }
}
