/** The types of output scripts that transactions here spend or pay. */
export type ScriptType = 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr' | 'p2a' | 'witness' | 'other';

const opZero = 0x00;
const opOne = 0x51;
const opSixteen = 0x60;

/** The type of a script. It is `witness` for a witness program of another version or length (BIP 141). */
export function scriptType(script: Uint8Array): ScriptType {
  if (isPayToPublicKeyHash(script)) return 'p2pkh';
  if (isPayToScriptHash(script)) return 'p2sh';
  return witnessProgram(script);
}

/** The type of a witness program. It is `other` for any other script. */
function witnessProgram(script: Uint8Array): ScriptType {
  const [opcode] = script;
  const length = script.length - 2;
  const isOnePush = script[1] === length && length >= 2 && length <= 40;
  if (opcode === undefined || !isOnePush) return 'other';
  if (opcode === opZero) return programsOfZero.get(length) ?? 'other';
  if (opcode === opOne) return programOfOne(script, length);
  return opcode > opOne && opcode <= opSixteen ? 'witness' : 'other';
}

/** Types of version 0 programs by their length. Other lengths are invalid. */
const programsOfZero: ReadonlyMap<number, ScriptType> = new Map([
  [20, 'p2wpkh'],
  [32, 'p2wsh'],
]);

function programOfOne(script: Uint8Array, length: number): ScriptType {
  if (length === 32) return 'p2tr';
  // pay to anchor: OP_1 <4e73>
  return length === 2 && script[2] === 0x4e && script[3] === 0x73 ? 'p2a' : 'witness';
}

// OP_DUP OP_HASH160 <20 bytes> OP_EQUALVERIFY OP_CHECKSIG
function isPayToPublicKeyHash(script: Uint8Array): boolean {
  return (
    script.length === 25 &&
    script[0] === 0x76 &&
    script[1] === 0xa9 &&
    script[2] === 20 &&
    script[23] === 0x88 &&
    script[24] === 0xac
  );
}

// OP_HASH160 <20 bytes> OP_EQUAL
function isPayToScriptHash(script: Uint8Array): boolean {
  return script.length === 23 && script[0] === 0xa9 && script[1] === 20 && script[22] === 0x87;
}
