import type pg from 'pg';
import { provenanceStamp, readProvenance } from '#chain/sats/provenance.store.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';

/**
 * The satribute definitions that are active in a process. The book is replaced when the database has new results for
 * outputs.
 */
export class SatributesInForce {
  readonly #pool: pg.Pool;
  readonly #own: readonly Satribute[];
  #book: SatributeBook;
  #stamp: string | null = null;

  /** @param own definitions of the operator */
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

  /** Replaces the book if results have changed since the last call. */
  async refresh(): Promise<void> {
    const { network, outputs } = this.#book;
    // the stamp is read before the rows, so that changes between the two reads cause another read next time
    const stamp = await provenanceStamp(this.#pool);
    if (stamp === this.#stamp) return;
    const found = await readProvenance(this.#pool, outputs);
    this.#book = new SatributeBook(network, this.#own, found);
    this.#stamp = stamp;
  }
}
