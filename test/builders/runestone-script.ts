import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';

/** The script of a runestone that does this, and nothing else. */
export const runestoneScript = (does: Partial<Omit<Runestone, 'kind'>>): Uint8Array =>
  encipher({ kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null, ...does });
