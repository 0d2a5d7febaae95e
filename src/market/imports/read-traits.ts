import { nameOf } from '#market/collections/collection-texts.ts';
import { type ItemTrait, traitCharsMax } from '#market/collections/collection-traits.store.ts';
import { type ImportFaults, optional } from './import-faults.ts';

/**
 * Maximum number of traits of an item. The page of an inscription shows the same number. Honest items have about ten
 * traits.
 */
export const itemTraitsMax = 40;

/** Reads `meta.attributes` of the items of one list: `[{"trait_type": "Sky", "value": "Dawn"}]`. */
export class TraitReader {
  readonly #faults: ImportFaults;
  /** Texts of names and values. Each text is in memory only once, even if many items have it. */
  readonly #texts = new Map<string, string>();

  constructor(faults: ImportFaults) {
    this.#faults = faults;
  }

  /** The traits of an item, without duplicates. Wrong traits are left out, with a fault. */
  traitsOf(attributes: unknown, where: string): readonly ItemTrait[] {
    if (attributes === undefined || attributes === null) return none;
    if (!Array.isArray(attributes)) {
      this.#faults.leaveOut(`${where}, attributes`, 'they are not a list');
      return none;
    }
    if (attributes.length > itemTraitsMax)
      this.#faults.leaveOut(`${where}, attributes`, `only the first ${itemTraitsMax} are kept`);
    const found: ItemTrait[] = [];
    for (const [nth, attribute] of attributes.slice(0, itemTraitsMax).entries()) {
      const trait = this.#traitOf(attribute, `${where}, attribute ${nth + 1}`);
      if (trait !== null && !found.some(({ name, value }) => name === trait.name && value === trait.value))
        found.push(trait);
    }
    return found.length === 0 ? none : found;
  }

  #traitOf(attribute: unknown, where: string): ItemTrait | null {
    if (typeof attribute !== 'object' || attribute === null || Array.isArray(attribute)) {
      this.#faults.leaveOut(where, 'it is not an object');
      return null;
    }
    const { trait_type: type, value } = attribute as Readonly<Record<string, unknown>>;
    const name = optional(nameOf(type, traitCharsMax), `${where}, trait_type`, this.#faults);
    const text = this.#valueOf(value, `${where}, value`);
    // lists write an empty value if an item does not have the trait
    return name === null || text === null ? null : { name: this.#once(name), value: this.#once(text) };
  }

  #valueOf(value: unknown, where: string): string | null {
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      this.#faults.leaveOut(where, 'it is a number with too many digits');
      return null;
    }
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    return optional(nameOf(text, traitCharsMax), where, this.#faults);
  }

  #once(text: string): string {
    const kept = this.#texts.get(text);
    if (kept !== undefined) return kept;
    this.#texts.set(text, text);
    return text;
  }
}

const none: readonly ItemTrait[] = [];
