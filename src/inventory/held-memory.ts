import { nextTurn } from '#kernel/concurrency/turns.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { outpointText } from '#utxos/utxo.ts';
import type { InventoryOutput } from './inventory.store.ts';
import { type HeldTypes, heldTypesOf } from './inventory-standing.ts';
import type { BaseFees } from './inventory-types.ts';
import type { TypeRules } from './type-rules.ts';

/** Contents of outputs, each examined once by the same rules: the sats of an output of a block never change. */
export class HeldMemory {
  readonly #fees: BaseFees;
  #rules: TypeRules | null = null;
  #held: ReadonlyMap<string, HeldTypes> = new Map();

  constructor(fees: BaseFees) {
    this.#fees = fees;
  }

  /** Contents of these outputs. All others are forgotten. */
  async of(outputs: readonly InventoryOutput[], rules: TypeRules): Promise<HeldTypes[]> {
    const before = this.#rules === rules ? this.#held : new Map<string, HeldTypes>();
    const held = new Map<string, HeldTypes>();
    const found: HeldTypes[] = [];
    for (const output of outputs) {
      const { txid, vout, blockHash } = output;
      const name = `${outpointText(displayHash(txid), vout)} ${blockHash}`;
      const known = before.get(name);
      // a thousand ranges take some milliseconds
      if (known === undefined) await nextTurn();
      const types = known ?? heldTypesOf(output.ranges, this.#fees, rules);
      held.set(name, types);
      found.push(types);
    }
    this.#rules = rules;
    this.#held = held;
    return found;
  }
}
