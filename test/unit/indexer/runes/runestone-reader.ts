import type { Artifact } from '#indexer/runes/artifact.ts';
import { decipher } from '#indexer/runes/decipher.ts';
import { runestoneScript } from '#indexer/runes/runestone-script.ts';
import { writeInteger } from '#indexer/runes/varint.ts';
import { asU128 } from '#kernel/runes/u128.ts';

/** What a script says, of a transaction with so many outputs. */
export const read = (script: Uint8Array, outputs: number): Artifact =>
  decipher(script, 0, script.length, outputs);

/** The script of a payload of integers. */
export function scriptOf(integers: readonly bigint[]): Uint8Array {
  const payload: number[] = [];
  for (const integer of integers) writeInteger(payload, asU128(integer));
  return runestoneScript(payload);
}
