import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';

/** The script of a runestone with these effects, and no others. */
export const runestoneScript = (does: Partial<Omit<Runestone, 'kind'>>): Uint8Array =>
  encipher({ kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null, ...does });
