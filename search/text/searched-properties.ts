import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import { foldText } from '#kernel/text/fold.ts';
import { traitNeedle } from '#kernel/text/property-texts.ts';

/** Bytes that every match contains in a column of texts (src/kernel/text/property-texts.ts). */
export interface PropertyCondition {
  readonly column: 'title' | 'traits';
  /** The placeholder of the value. */
  readonly value: string;
}

/**
 * Conditions of a filter on titles and traits.
 *
 * @param place adds a value and returns its placeholder
 */
export function propertyConditions(
  { title, traits = [] }: SearchFilter,
  place: (value: Buffer) => string,
): PropertyCondition[] {
  return [
    ...(title === undefined
      ? []
      : [{ column: 'title' as const, value: place(Buffer.from(foldText(title))) }]),
    ...traits.map(({ name, value }) => ({
      column: 'traits' as const,
      value: place(Buffer.from(traitNeedle(name, value))),
    })),
  ];
}

/**
 * Whether all texts are valid. Half of a surrogate pair is not UTF-8, so it equals nothing on chain; as bytes it would
 * be another character.
 */
export function asksOnlyText({ title, traits = [] }: SearchFilter): boolean {
  const texts = traits.flatMap(({ name, value }) => [name, value]);
  return [title, ...texts].every((text) => text === undefined || text.isWellFormed());
}
