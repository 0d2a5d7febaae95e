import { satributeId } from '#kernel/satributes/definitions.ts';

/**
 * The types of sats that orders can name, with the names of the public interface. For each type, there is the price of
 * one inscription on such a sat, in sats. The price is the price in the interface's documentation if it names one.
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
  // the documentation has no price for this type, so the price of the most similar types is used
  nakamoto: 10_000,
  pizza: 5_000,
  silkroad: 5_000,
  uncommon: 40_000,
  vintage: 5_000,
} as const;

export type InventoryType = keyof typeof defaults;
export type BaseFees = Readonly<Record<InventoryType, number>>;

/** The types, in the order in which answers list them. */
export const inventoryTypes = Object.keys(defaults) as readonly InventoryType[];

/**
 * Maximum price, which is one bitcoin. No one sells a sat for more. The bound detects prices with one or two digits too
 * many.
 */
const baseFeeMost = 100_000_000;

/**
 * Reads prices from a text such as `black:40000,uncommon:20000`. Types that are not in the text keep their default.
 * Returns null if the text has another form.
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
 * The type that a text names by a key of the public interface, or as a satribute (docs/satributes.md). Returns null if
 * the type is unknown.
 */
export function inventoryTypeOf(text: string): InventoryType | null {
  const id = satributeId(text);
  return inventoryTypes.find((type) => type === text || (id !== null && satributeId(type) === id)) ?? null;
}
