/**
 * Reads the envelopes of a script the slow way: first it reads instructions as objects, then it applies the grammar to
 * them. An oracle for `scanScript`, which does both in one pass over the bytes.
 */

type Instruction = { readonly push: Buffer } | { readonly opcode: number };

/** Splits a script into instructions. Returns `null` if a push runs past the end. */
function instructionsOf(script: Buffer): Instruction[] | null {
  const instructions: Instruction[] = [];
  for (let at = 0; at < script.length; ) {
    const opcode = script[at++]!;
    if (opcode > 0x4e) {
      instructions.push({ opcode });
      continue;
    }
    let length = opcode;
    if (opcode >= 0x4c) {
      const width = { 0x4c: 1, 0x4d: 2, 0x4e: 4 }[opcode]!;
      if (at + width > script.length) return null;
      length = script.readUIntLE(at, width);
      at += width;
    }
    if (at + length > script.length) return null;
    instructions.push({ push: script.subarray(at, at + length) });
    at += length;
  }
  return instructions;
}

export interface ReferenceEnvelope {
  readonly items: readonly string[];
  readonly pushnum: boolean;
  readonly stutter: boolean;
}

const isPush = (instruction: Instruction | undefined, hex: string): boolean =>
  instruction !== undefined && 'push' in instruction && instruction.push.toString('hex') === hex;
const isOp = (instruction: Instruction | undefined, opcode: number): boolean =>
  instruction !== undefined && 'opcode' in instruction && instruction.opcode === opcode;

function numberPushed(opcode: number): string | null {
  if (opcode === 0x4f) return '81';
  return opcode >= 0x51 && opcode <= 0x60 ? (opcode - 0x50).toString(16).padStart(2, '0') : null;
}

/** Reads an envelope's items after "ord". Returns the end, and the envelope or `null` if it has no end. */
function readItems(
  instructions: readonly Instruction[],
  at: number,
): [end: number, ReferenceEnvelope | null] {
  const items: string[] = [];
  let pushnum = false;
  for (let place = at; place < instructions.length; place++) {
    const instruction = instructions[place]!;
    if ('push' in instruction) {
      items.push(instruction.push.toString('hex'));
      continue;
    }
    if (instruction.opcode === 0x68) return [place + 1, { items, pushnum, stutter: false }];
    const number = numberPushed(instruction.opcode);
    if (number === null) return [place + 1, null];
    items.push(number);
    pushnum = true;
  }
  return [instructions.length, null];
}

export function referenceEnvelopes(script: Buffer): ReferenceEnvelope[] {
  const instructions = instructionsOf(script);
  if (instructions === null) return [];
  const envelopes: ReferenceEnvelope[] = [];
  let stutter = false;
  let at = 0;
  while (at < instructions.length) {
    if (!isPush(instructions[at++], '')) continue;
    const opens = isOp(instructions[at], 0x63);
    if (opens) at++;
    if (!opens || !isPush(instructions[at], '6f7264')) {
      stutter = isPush(instructions[at], '');
      continue;
    }
    const [end, envelope] = readItems(instructions, at + 1);
    at = end;
    if (envelope === null) stutter = false;
    else envelopes.push({ ...envelope, stutter });
  }
  return envelopes;
}
