import type { Artifact } from '#kernel/runes/runestone/artifact.ts';
import { decipher } from '#kernel/runes/runestone/decipher.ts';
import { runestoneScript } from '#kernel/runes/runestone/runestone-script.ts';
import { writeInteger } from '#kernel/runes/runestone/varint.ts';
import { asU128 } from '#kernel/runes/u128.ts';

/** The artifact of a script. The script's transaction has this number of outputs. */
export const read = (script: Uint8Array, outputs: number): Artifact =>
  decipher(script, 0, script.length, outputs);

/** A script whose payload has these integers. */
export function scriptOf(integers: readonly bigint[]): Uint8Array {
  const payload: number[] = [];
  for (const integer of integers) writeInteger(payload, asU128(integer));
  return runestoneScript(payload);
}
