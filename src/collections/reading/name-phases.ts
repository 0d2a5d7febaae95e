import type { SentPhase } from './read-phases.ts';

export interface NamedPhase extends SentPhase {
  readonly phase: string;
}

/**
 * Gives each phase without a name the smallest number that no phase has. Pure.
 *
 * @param known names that are taken: orders may have bought from these phases
 */
export function namePhases(
  phases: readonly SentPhase[],
  known: readonly string[] = [],
): readonly NamedPhase[] {
  const used = new Set([...known, ...phases.flatMap(({ phase }) => phase ?? [])]);
  let number = 0;
  return phases.map((given) => {
    if (given.phase !== null) return { ...given, phase: given.phase };
    do number++;
    while (used.has(String(number)));
    return { ...given, phase: String(number) };
  });
}
