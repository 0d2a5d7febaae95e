import type { ByteCursor } from './byte-cursor.ts';
import { psbtFault } from './psbt-faults.ts';

/** A field of a map: the part of its key after the type, and its value. */
export interface Field {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * Maximum number of fields of a map. An input has the most fields if a Taproot script requires the maximum number of
 * signatures: 999, each with the origin of its key. A few such scripts fit. Without this bound, a client could fill 1
 * MB with small fields and keep a processor busy.
 */
const fieldsMax = 5_000;

/** A map of a PSBT (BIP 174). The fields are grouped by their type. */
export class KeyMap {
  /** Name of the map in messages, for example `input 2`. */
  readonly name: string;
  readonly #fields = new Map<number, Field[]>();
  /** Number of fields in the map. */
  readonly size: number;

  /** Reads a map, including the byte at its end. Throws `BrokenBytes` and `PsbtFaults`. */
  constructor(cursor: ByteCursor, name: string) {
    this.name = name;
    const keys = new Set<string>();
    for (;;) {
      const length = cursor.compactSize();
      if (length === 0) break;
      if (keys.size === fieldsMax) throw psbtFault(`psbt has more than ${fieldsMax} fields for ${name}`);
      const start = cursor.at;
      const type = cursor.compactSize();
      const typeLength = cursor.at - start;
      if (typeLength > length)
        throw psbtFault(`psbt is damaged, because a key of ${name} is shorter than its type`);
      const key = cursor.take(length - typeLength);
      const field = { key, value: cursor.sized() };
      const whole = `${type} ${Buffer.from(key).toString('latin1')}`;
      if (keys.has(whole)) throw psbtFault(`psbt is damaged, because ${name} has the same key twice`);
      keys.add(whole);
      const fields = this.#fields.get(type);
      if (fields === undefined) this.#fields.set(type, [field]);
      else fields.push(field);
    }
    this.size = keys.size;
  }

  /** All fields of a type. Each has a different key. */
  all(type: number): readonly Field[] {
    return this.#fields.get(type) ?? [];
  }

  /** The value of a field whose type has no key. Returns null if the field is missing. Throws `PsbtFaults`. */
  only(type: number, what: string): Uint8Array | null {
    const [field] = this.all(type);
    if (field === undefined) return null;
    if (this.all(type).some(({ key }) => key.length > 0))
      throw psbtFault(`psbt is damaged, because the key of ${what} of ${this.name} is too long`);
    return field.value;
  }
}
