import { nextTurn } from '#kernel/concurrency/turns.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { outpointText } from '#utxos/utxo.ts';
import type { InventoryOutput } from './inventory.store.ts';
import { type HeldTypes, heldTypesOf } from './inventory-standing.ts';
import type { BaseFees } from './inventory-types.ts';
import type { TypeRules } from './type-rules.ts';

/**
 * A cache of the contents of outputs. Each output is examined only once by the same rules, because the sats of an
 * output in a block never change.
 */
export class HeldMemory {
  readonly #fees: BaseFees;
  #rules: TypeRules | null = null;
  #held: ReadonlyMap<string, HeldTypes> = new Map();

  constructor(fees: BaseFees) {
    this.#fees = fees;
  }

  /** The contents of these outputs. The cache drops all other outputs. */
  async of(outputs: readonly InventoryOutput[], rules: TypeRules): Promise<HeldTypes[]> {
    const before = this.#rules === rules ? this.#held : new Map<string, HeldTypes>();
    const held = new Map<string, HeldTypes>();
    const found: HeldTypes[] = [];
    for (const output of outputs) {
      const { txid, vout, blockHash } = output;
      const name = `${outpointText(displayHash(txid), vout)} ${blockHash}`;
      const known = before.get(name);
      // an output with a thousand ranges takes some milliseconds
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
