import { satributeId } from '#kernel/satributes/definitions.ts';

/**
 * The types of sats that orders can name, by the names of the public interface, with the price of one inscription on
 * such a sat, in sats. The prices are those in the interface's documentation, if it has one.
 */
const defaults = {
  black: 40_000,
  block286: 1_000,
  block78: 5_000,
  block9: 10_000,
  block9450x: 10_000,
  block999: 10_000,
  hitman: 5_000,
  jpeg: 5_000,
  legacy: 5_000,
  // not in the documentation: prices of the most similar types
  nakamoto: 10_000,
  pizza: 5_000,
  silkroad: 5_000,
  uncommon: 40_000,
  vintage: 5_000,
} as const;

export type InventoryType = keyof typeof defaults;
export type BaseFees = Readonly<Record<InventoryType, number>>;

/** In the order of answers. */
export const inventoryTypes = Object.keys(defaults) as readonly InventoryType[];

/** Highest price: a bitcoin. No one sells a sat for more, and an error of a digit or two is noticed. */
const baseFeeMost = 100_000_000;

/**
 * Prices from a text such as `black:40000,uncommon:20000`; types that it leaves out keep their default. Null: another
 * text.
 */
export function parseBaseFees(text: string): BaseFees | null {
  const fees: Record<InventoryType, number> = { ...defaults };
  for (const part of text.split(',')) {
    const [, name = '', sats = ''] = /^\s*([a-z0-9]+):(\d{1,9})\s*$/u.exec(part) ?? [];
    const type = inventoryTypes.find((known) => known === name);
    if (type === undefined || Number(sats) > baseFeeMost) return null;
    fees[type] = Number(sats);
  }
  return fees;
}

export const defaultBaseFees: BaseFees = defaults;

/**
 * The type that a text names: by its key of the public interface, or as a satribute (docs/satributes.md). Null:
 * unknown.
 */
export function inventoryTypeOf(text: string): InventoryType | null {
  const id = satributeId(text);
  return inventoryTypes.find((type) => type === text || (id !== null && satributeId(type) === id)) ?? null;
}
