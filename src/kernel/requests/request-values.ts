import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { textFault } from '#kernel/text/text-fault.ts';

/** A text of a body. Texts of large bodies stay UTF-8 bytes. */
export type RequestText = string | Uint8Array;

/** One fault of a request, in words for people. */
export interface RequestFault {
  readonly message: string;
  /** The field with the fault, for example `files[2].name`. Absent if the fault is not about a single field. */
  readonly parameter?: string;
}

/** Refusal of a request, with at least one fault. */
export interface Faulty {
  readonly kind: 'faulty';
  readonly faults: readonly RequestFault[];
}

/** A refusal with one fault. */
export const faulty = (parameter: string, message: string): Faulty => ({
  kind: 'faulty',
  faults: [{ message, parameter }],
});

/** Maximum number of faults that are reported for a request. */
export const faultsMax = 50;
/** Assumed values. Only a few of them are named, because a price can have 10,000. */
export interface Assumed {
  readonly named: readonly string[];
  readonly count: number;
}

/** Maximum number of names in a sentence. */
const assumedMax = 5;
/** Maximum number of characters of a name, id or address. Longer texts cannot be any of them. */
export const textCharsMax = 4096;

/**
 * Reads the values of a request in the form that clients send. Absent values are null or undefined. Collects faults.
 */
export class RequestValues {
  readonly faults: RequestFault[] = [];
  readonly #assumed: string[] = [];
  #assumedCount = 0;

  /** True if no more faults are added. */
  get isFull(): boolean {
    return this.faults.length >= faultsMax;
  }

  fault(parameter: string, words: string): null {
    return this.sentence(parameter, `${parameter} ${words}`);
  }

  /** Adds a fault whose sentence names its field. */
  sentence(parameter: string, message: string): null {
    if (!this.isFull) this.faults.push({ message, parameter });
    return null;
  }

  /** Values that a price had to assume, because only the later order has them. */
  get assumed(): Assumed {
    return { named: this.#assumed, count: this.#assumedCount };
  }

  /** @param value words such as `receiveAddress`, or `the content of ` before a field */
  assume(value: string, field = ''): void {
    if (this.#assumedCount++ < assumedMax) this.#assumed.push(value + field);
  }

  /** Reads an object. `null` for any other value. */
  object(value: unknown, name: string): Readonly<Record<string, unknown>> | null {
    if (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      !(value instanceof Uint8Array)
    ) {
      return value as Readonly<Record<string, unknown>>;
    }
    return this.fault(name, 'must be an object');
  }

  list(value: unknown, name: string): readonly unknown[] {
    if (isAbsent(value)) return [];
    if (Array.isArray(value)) return value as readonly unknown[];
    this.fault(name, 'must be a list');
    return [];
  }

  /** Reads a short text. `null` if it is absent or empty. */
  text(value: unknown, name: string): string | null {
    if (!isGiven(value)) return null;
    const text = value instanceof Uint8Array ? shortText(value) : value;
    if (typeof text !== 'string') return this.fault(name, 'must be a text');
    if (text.length > textCharsMax) return this.fault(name, `has more than ${textCharsMax} characters`);
    const reason = textFault(text);
    return reason === null ? text : this.fault(name, reason);
  }

  /** Reads an inscription id, which must be in lower case, as in ord. Required. */
  inscriptionId(value: unknown, name: string): InscriptionId | null {
    const text = this.text(value, name);
    if (text === null) return this.required(value, name);
    const id = /^[0-9a-f]{64}i(?:0|[1-9]\d*)$/u.test(text) ? parseInscriptionId(text) : null;
    return (
      id ?? this.fault(name, 'is not an inscription id, which has the form <txid>i<index> in lower case')
    );
  }

  /** Adds a fault if a field is absent, unless its value already has a fault. */
  required(value: unknown, name: string): null {
    return isGiven(value) ? null : this.sentence(name, `${name} is required.`);
  }

  /** Reads a text that may be as long as a file. */
  longText(value: unknown, name: string): RequestText | null {
    if (!isGiven(value)) return null;
    if (typeof value === 'string' || value instanceof Uint8Array) return value;
    return this.fault(name, 'must be a text');
  }

  boolean(value: unknown, name: string): boolean {
    if (!isGiven(value)) return false;
    if (value === true || value === 'true' || value === '1' || value === 1) return true;
    if (value === false || value === 'false' || value === '0' || value === 0) return false;
    this.fault(name, 'must be true or false');
    return false;
  }

  /** Reads one of some words. Returns `otherwise` if the value is absent. */
  choice<Word extends string>(value: unknown, name: string, words: readonly Word[], otherwise: Word): Word {
    if (!isGiven(value)) return otherwise;
    const word = words.find((one) => one === value);
    if (word !== undefined) return word;
    this.fault(name, `must be one of ${words.join(', ')}`);
    return otherwise;
  }

  /** Reads a whole number of at least 0, as a number or in digits. `null` if it is absent. */
  whole(value: unknown, name: string): bigint | null {
    if (!isGiven(value)) return null;
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text === 'string' && /^\d{1,15}$/u.test(text)) return BigInt(text);
    const isLong = typeof text === 'string' && /^\d{16,}$/u.test(text);
    return this.fault(name, isLong ? 'has more than 15 digits' : 'must be a whole number of at least 0');
  }

  /** Reads a number with at most three decimals, in thousandths. `null` if it is absent. */
  thousandths(value: unknown, name: string): bigint | null {
    if (!isGiven(value)) return null;
    const text = typeof value === 'number' ? String(value) : value;
    const [, whole, decimals = ''] =
      typeof text === 'string' ? (/^(\d{1,15})(?:\.(\d{1,18}))?$/u.exec(text) ?? []) : [];
    if (whole === undefined) return this.fault(name, 'must be a number above 0, in digits');
    let end = decimals.length;
    while (decimals[end - 1] === '0') end--;
    const kept = decimals.slice(0, end);
    if (kept.length > 3) return this.fault(name, 'has more than three decimals');
    return BigInt(whole) * 1000n + BigInt(kept.padEnd(3, '0'));
  }
}

const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;

/** The beginning of a text of a large body. It is long enough to decide whether the text is too long. */
const shortText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4 * textCharsMax + 1)).toString();

/** Whether a field has a value, valid or not. */
export const isGiven = (value: unknown): boolean => !isAbsent(value) && value !== '';
