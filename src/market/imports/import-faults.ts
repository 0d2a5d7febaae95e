import { AppError } from '#kernel/errors/app-error.ts';
import type { ReadText } from '#market/collections/collection-texts.ts';

/** A part of a collection's files that cannot be imported. */
export interface Fault {
  /** The file, and the field or the item in it. */
  readonly where: string;
  readonly why: string;
}

/** Maximum number of kept faults of each kind. A list of 100,000 items may have that many faults. */
const keptMax = 100;

/** An error that ends the reading of a file. */
export function invalid(where: string, why: string): AppError {
  return new AppError('collection_invalid', `${where}: ${why}.`, { faults: [{ where, why }], count: 1 });
}

/**
 * Faults of a collection's files. They are collected while both files are read, so that an operator sees all faults at
 * once.
 */
export class ImportFaults {
  readonly #refused: Fault[] = [];
  readonly #leftOut: Fault[] = [];
  readonly #unreadable: AppError[] = [];
  #refusedCount = 0;
  #leftOutCount = 0;

  /** Adds a fault of a required field. */
  refuse(where: string, why: string): void {
    this.#refusedCount++;
    if (this.#refused.length < keptMax) this.#refused.push({ where, why });
  }

  /** Adds a fault of an optional field. The collection is imported without this field. */
  leaveOut(where: string, why: string): void {
    this.#leftOutCount++;
    if (this.#leftOut.length < keptMax) this.#leftOut.push({ where, why });
  }

  /** Adds the error that ended the reading of a file. Throws the error if it is not about a file. */
  add(error: unknown): void {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'collection_unreadable') this.#unreadable.push(error);
    else if (error.code === 'collection_invalid') {
      for (const { where, why } of error.details['faults'] as readonly Fault[]) this.refuse(where, why);
    } else throw error;
  }

  /** The first 100 left-out fields, and the number of all left-out fields. */
  get leftOut(): { readonly first: readonly Fault[]; readonly count: number } {
    return { first: this.#leftOut, count: this.#leftOutCount };
  }

  /** Throws `collection_unreadable` or `collection_invalid` with all refusals, if there is at least one. */
  throwRefusals(): void {
    const [unreadable] = this.#unreadable;
    const faults = this.#refused;
    const count = this.#refusedCount;
    if (unreadable === undefined && count === 0) return;
    const sentences = [
      ...this.#unreadable.map(({ message }) => message),
      ...faults.map(({ where, why }) => `${where}: ${why}.`),
    ];
    if (count > faults.length) sentences.push(`… and ${count - faults.length} more faults.`);
    const code = unreadable === undefined ? 'collection_invalid' : 'collection_unreadable';
    const details = { ...unreadable?.details, faults, count };
    throw new AppError(code, sentences.join('\n  '), details, unreadable?.cause);
  }
}

/** The text of an optional field. Returns null if the field is missing or left out. */
export function optional({ text, why }: ReadText, where: string, faults: ImportFaults): string | null {
  if (why !== null) faults.leaveOut(where, why);
  return text;
}
