import type { SentPhase } from './read-phases.ts';

export interface NamedPhase extends SentPhase {
  readonly phase: string;
}

/**
 * Names each phase that has no name. Its name is the smallest number that no other phase has. Pure.
 *
 * @param known names that must not be used again, because orders may have bought from these phases
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
