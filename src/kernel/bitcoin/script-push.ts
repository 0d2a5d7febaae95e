const opPushData1 = 0x4c;
/** The last opcode that pushes bytes of the script. */
export const opPushData4 = 0x4e;

/** The bytes of a script that a push puts on the stack. */
export interface Push {
  readonly start: number;
  readonly end: number;
}

/**
 * The push whose opcode is at `at`. The opcode must be at most `opPushData4`. `null` if the script ends within the
 * push. `indexer/parse` has a faster reader that makes no object, because it runs over the witness of every input.
 */
export function pushAt(script: Uint8Array, at: number, end: number): Push | null {
  const opcode = script[at]!;
  let start = at + 1;
  let length = opcode;
  if (opcode >= opPushData1) {
    const width = 1 << (opcode - opPushData1);
    if (start + width > end) return null;
    length = 0;
    for (let index = width - 1; index >= 0; index--) length = length * 256 + script[start + index]!;
    start += width;
  }
  return start + length > end ? null : { start, end: start + length };
}

/** The opcode of a push and its length, in the shortest form. Empty if the length is 0. */
export function pushPrefix(length: number): number[] {
  if (length === 0) return [];
  if (length < opPushData1) return [length];
  const width = length < 2 ** 8 ? 1 : length < 2 ** 16 ? 2 : 4;
  const opcode = opPushData1 + Math.log2(width);
  return [opcode, ...Array.from({ length: width }, (_, index) => Math.floor(length / 256 ** index) % 256)];
}
