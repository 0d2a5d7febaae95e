import type pg from 'pg';
import type { ClientBase } from 'pg';
import { blockMoments } from '#chain/blocks/header.queries.ts';
import { addressOutputs, hasAddressIndex, largestAddressOutputs } from '#chain/outputs/address.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import {
  inChainOrder,
  type ListedOutput,
  type Listing,
  type Owner,
  outputsMax,
  type PartListing,
  tooManyOutputs,
  type UtxoSource,
} from './utxo.ts';

/** The index of addresses (--index-addresses). A list takes milliseconds, and shows the chain at one moment. */
export class IndexSource implements UtxoSource {
  readonly name = 'index';
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Whether every output of every block is indexed. */
  isThere({ signal }: Asker): Promise<boolean> {
    return withSnapshot(this.#pool, ({ client }) => hasAddressIndex(client), signal);
  }

  /**
   * Lists the unspent outputs of these scripts. Throws `utxo_source_missing` if there is no such index, and
   * `index_missing` during the first sync.
   */
  async list(owners: readonly Owner[], { signal }: Asker): Promise<Listing> {
    return withSnapshot(
      this.#pool,
      async ({ client, tip }) => {
        await requireAddressIndex(client);
        const found: Omit<ListedOutput, 'blockHash' | 'blockTime'>[] = [];
        for (const { script } of owners) {
          const outputs = await addressOutputs(client, script, outputsMax + 1 - found.length);
          for (const output of outputs) found.push({ ...output, script });
          if (found.length > outputsMax) throw tooManyOutputs();
        }
        const outputs = await withBlocks(client, found);
        return { tipHeight: tip?.height ?? genesisHeight, outputs: inChainOrder(outputs) };
      },
      signal,
    );
  }

  /** The largest unspent outputs of a script. Throws the same errors as `list`. */
  async largest({ script }: Owner, limit: number, { signal }: Asker): Promise<PartListing> {
    return withSnapshot(
      this.#pool,
      async ({ client, tip }) => {
        await requireAddressIndex(client);
        const found = await largestAddressOutputs(client, script, { limit, most: outputsMax });
        const outputs = await withBlocks(
          client,
          found.outputs.map((output) => ({ ...output, script })),
        );
        return { tipHeight: tip?.height ?? genesisHeight, outputs, isAll: found.isAll };
      },
      signal,
    );
  }
}

async function requireAddressIndex(client: ClientBase): Promise<void> {
  if (!(await hasAddressIndex(client)))
    throw new AppError('utxo_source_missing', 'this server has no index of addresses');
}

/** Adds the blocks to outputs of the index. All these blocks are indexed. */
async function withBlocks(
  client: ClientBase,
  found: readonly Omit<ListedOutput, 'blockHash' | 'blockTime'>[],
): Promise<ListedOutput[]> {
  const moments = await blockMoments(client, [...new Set(found.map(({ height }) => height))]);
  return found.flatMap((output): ListedOutput[] => {
    const block = moments.get(output.height);
    return block === undefined
      ? []
      : [{ ...output, blockHash: displayHash(block.hash), blockTime: block.time }];
  });
}
