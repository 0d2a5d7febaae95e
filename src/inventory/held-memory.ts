import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { nextTurn } from '#kernel/turns.ts';
import { outpointText } from '#utxos/utxo.ts';
import type { InventoryOutput } from './inventory.store.ts';
import { type HeldTypes, heldTypesOf } from './inventory-standing.ts';
import type { BaseFees } from './inventory-types.ts';

/** What outputs hold, each looked at once: the sats of an output of a block never change. */
export class HeldMemory {
  readonly #fees: BaseFees;
  readonly #network: NetworkName;
  #held: ReadonlyMap<string, HeldTypes> = new Map();

  constructor(fees: BaseFees, network: NetworkName) {
    this.#fees = fees;
    this.#network = network;
  }

  /** What each of these holds. Those that are not among them are forgotten. */
  async of(outputs: readonly InventoryOutput[]): Promise<HeldTypes[]> {
    const held = new Map<string, HeldTypes>();
    const found: HeldTypes[] = [];
    for (const output of outputs) {
      const { txid, vout, blockHash } = output;
      const name = `${outpointText(displayHash(txid), vout)} ${blockHash}`;
      const known = this.#held.get(name);
      // a thousand ranges take some milliseconds
      if (known === undefined) await nextTurn();
      const types = known ?? heldTypesOf(output.ranges, this.#fees, this.#network);
      held.set(name, types);
      found.push(types);
    }
    this.#held = held;
    return found;
  }
}
