import { countWithin, rangesWithin } from '#kernel/satributes/rule-ranges.ts';
import type { Satribute, SatributeRule } from '#kernel/satributes/satribute.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { satSupply } from '#kernel/sats/sat.ts';
import { type InventoryType, inventoryTypes } from './inventory-types.ts';

/** The rules of the types of the inventory, from one set of definitions. An object of this class never changes. */
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

  /** The satributes of those types whose sats can be found. */
  get satributes(): readonly Satribute[] {
    return [...this.#satributes.values()];
  }

  /** The rule of a type. Returns null if the sats of the type are unknown here, so that no output can have them. */
  of(type: InventoryType): SatributeRule | null {
    return this.#satributes.get(type)?.rule ?? null;
  }

  /**
   * Whether all sats of a type are also of another type. For example, all sats of block 286 are vintage. The higher
   * price of the other type is then ignored, because otherwise no sat of block 286 could be sold at its lower price.
   */
  isPartOf(type: InventoryType, other: InventoryType): boolean {
    this.#partOf ??= new Map(inventoryTypes.map((each) => [each, this.#typesOfAll(each)]));
    return this.#partOf.get(type)?.has(other) === true;
  }

  #typesOfAll(type: InventoryType): ReadonlySet<InventoryType> {
    const rule = this.of(type);
    // the sats of these kinds are spread over all blocks
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
