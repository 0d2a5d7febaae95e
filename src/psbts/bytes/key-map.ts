import type { ByteCursor } from './byte-cursor.ts';
import { psbtFault } from './psbt-faults.ts';

/** A field of a map: its key after the type, and its value. */
export interface Field {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * Fields of a map. An input has most where a script of Taproot wants as many signatures as it can: 999, each with the origin
 * of its key. A few such scripts fit. Fields of some bytes would keep a processor busy with all that fit into 1 MB.
 */
const fieldsMax = 5_000;

/** A map of a PSBT (BIP 174): fields by their type. */
export class KeyMap {
  /** For messages: `input 2`. */
  readonly name: string;
  readonly #fields = new Map<number, Field[]>();
  /** How many fields it has. */
  readonly size: number;

  /** Reads a map with the byte that ends it. Throws `BrokenBytes` and `PsbtFaults`. */
  constructor(cursor: ByteCursor, name: string) {
    this.name = name;
    const keys = new Set<string>();
    for (;;) {
      const length = cursor.compactSize();
      if (length === 0) break;
      if (keys.size === fieldsMax)
        throw psbtFault(`psbt has more than ${fieldsMax} fields for ${name}, and no more are taken`);
      const start = cursor.at;
      const type = cursor.compactSize();
      const typeLength = cursor.at - start;
      if (typeLength > length) throw psbtFault(`psbt is damaged: a key of ${name} is shorter than its type`);
      const key = cursor.take(length - typeLength);
      const field = { key, value: cursor.sized() };
      const whole = `${type} ${Buffer.from(key).toString('latin1')}`;
      if (keys.has(whole)) throw psbtFault(`psbt is damaged: ${name} has the same key twice`);
      keys.add(whole);
      const fields = this.#fields.get(type);
      if (fields === undefined) this.#fields.set(type, [field]);
      else fields.push(field);
    }
    this.size = keys.size;
  }

  /** All fields of a type, each with another key. */
  all(type: number): readonly Field[] {
    return this.#fields.get(type) ?? [];
  }

  /** The value of a type that has no key; null: it is not there. Throws `PsbtFaults`. */
  only(type: number, what: string): Uint8Array | null {
    const [field] = this.all(type);
    if (field === undefined) return null;
    if (this.all(type).some(({ key }) => key.length > 0))
      throw psbtFault(`psbt is damaged: the key of ${what} of ${this.name} is too long`);
    return field.value;
  }
}
