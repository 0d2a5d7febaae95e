import type pg from 'pg';
import { together, withTransaction } from '#kernel/pg/transaction.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import type { IndexLeases } from '#wallet/indices/index-leases.ts';
import { areKnown } from './known-scripts.queries.ts';

/** Keys of the wallet that a caller needs, which are derived from indices. */
export interface WantedKeys<Keys> {
  readonly counts: Partial<BranchEnds>;
  /** Derives the keys from the first indices of the branches. */
  readonly at: (first: BranchEnds) => Keys | Promise<Keys>;
  /** The addresses of these keys that customers will see. */
  readonly shown: (keys: Keys) => readonly { readonly script: Uint8Array }[];
}

/** Thrown if the keys cannot be used, to roll the transaction back. */
class UnusableKeys extends Error {}

/**
 * Runs a transaction that creates something with new keys, whose addresses no one has seen before. If an address is
 * already known, the transaction runs again with later keys. An address can be known after a restore of an older
 * database without the mark. The transaction also runs again if the release of the indices has ended. Throws
 * `wallet_indices_unreleased`.
 *
 * @param make stores things in the transaction, and must do nothing else. On a pipelined connection, `make` sends its
 *   first statements beside the checks of the keys, and these statements are undone if a check fails. `make` must wait
 *   for `checked` before any further statement, because a failed check would make long work useless. The answers to the
 *   checks come before the answers to the first statements, so waiting takes no time
 */
export async function withNewKeys<Keys, Made>(
  pool: pg.Pool,
  leases: Pick<IndexLeases, 'take' | 'confirm'>,
  { counts, at, shown }: WantedKeys<Keys>,
  make: (tx: pg.ClientBase, keys: Keys, checked: Promise<unknown>) => Promise<Made>,
): Promise<Made> {
  for (;;) {
    const taken = await leases.take(counts);
    const keys = await at(taken.first);
    try {
      return await withTransaction(pool, async (tx) => {
        const check = (): Promise<unknown> =>
          together<[unknown, unknown]>(tx, [
            async () => {
              if (!(await leases.confirm(tx, taken)))
                throw new UnusableKeys('the release of its keys has ended');
            },
            async () => {
              if (await areKnown(tx, shown(keys)))
                throw new UnusableKeys('an address of the wallet was shown before');
            },
          ]);
        let checked: Promise<unknown> = Promise.resolve();
        const [, made] = await together<[unknown, Made]>(tx, [
          () => (checked = check()),
          () => make(tx, keys, checked),
        ]);
        return made;
      });
    } catch (error) {
      if (!(error instanceof UnusableKeys)) throw error;
    }
  }
}
