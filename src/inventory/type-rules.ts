import { countWithin, rangesWithin } from '#kernel/satributes/rule-ranges.ts';
import type { Satribute, SatributeRule } from '#kernel/satributes/satribute.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { satSupply } from '#kernel/sats/sat.ts';
import { type InventoryType, inventoryTypes } from './inventory-types.ts';

/** The rules of the types of the inventory, by the definitions in force. It never changes. */
export class TypeRules {
  readonly #satributes: ReadonlyMap<InventoryType, Satribute>;
  #partOf: ReadonlyMap<InventoryType, ReadonlySet<InventoryType>> | null = null;

  constructor(book: SatributeBook) {
    this.#satributes = new Map(
      inventoryTypes.flatMap((type) => {
        const satribute = book.find(type);
        return satribute !== null && book.isFindable(satribute) ? [[type, satribute] as const] : [];
      }),
    );
  }

  /** The satributes of the types that can be found. */
  get satributes(): readonly Satribute[] {
    return [...this.#satributes.values()];
  }

  /** The rule of a type; null: its sats are unknown here, so there are none. */
  of(type: InventoryType): SatributeRule | null {
    return this.#satributes.get(type)?.rule ?? null;
  }

  /**
   * Whether each sat of a type is of another type too: all sats of block 286 are vintage, and none could ever be sold
   * for its own lower price, if the other's counted.
   */
  isPartOf(type: InventoryType, other: InventoryType): boolean {
    this.#partOf ??= new Map(inventoryTypes.map((each) => [each, this.#typesOfAll(each)]));
    return this.#partOf.get(type)?.has(other) === true;
  }

  #typesOfAll(type: InventoryType): ReadonlySet<InventoryType> {
    const rule = this.of(type);
    // the others are scattered over all blocks
    if (rule === null || rule.kind === 'firsts' || rule.kind === 'lasts') return new Set();
    const own = [...rangesWithin(rule, { start: 0, end: satSupply })];
    return new Set(
      inventoryTypes.filter((other) => {
        const otherRule = this.of(other);
        return (
          otherRule !== null &&
          own.every((range) => countWithin(otherRule, range) === range.end - range.start)
        );
      }),
    );
  }
}
