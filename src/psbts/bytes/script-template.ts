import { opPushData4, pushAt } from '#kernel/bitcoin/script-push.ts';

const opOne = 0x51;
const opSixteen = 0x60;
const opNumEqual = 0x9c;
const opCheckSig = 0xac;
const opCheckSigVerify = 0xad;
const opCheckMultisig = 0xae;
const opCheckSigAdd = 0xba;

/** A part of a script: the bytes that it pushes, or its opcode. */
type Part = Uint8Array | number;

/** Splits a script into its parts. Returns null if the script ends within a push. */
function partsOf(script: Uint8Array): Part[] | null {
  const parts: Part[] = [];
  for (let at = 0; at < script.length; ) {
    const opcode = script[at] ?? 0;
    if (opcode === 0 || opcode > opPushData4) {
      parts.push(opcode);
      at++;
      continue;
    }
    const push = pushAt(script, at, script.length);
    if (push === null) return null;
    parts.push(script.subarray(push.start, push.end));
    at = push.end;
  }
  return parts;
}

/**
 * The items that a script pushes. Returns null if the script does anything else. OP_1 to OP_16 are treated as something
 * else.
 */
export function pushesOf(script: Uint8Array): Uint8Array[] | null {
  const parts = partsOf(script)?.map((part) => (part === 0 ? new Uint8Array() : part)) ?? null;
  return parts?.every((part) => typeof part !== 'number') === true ? (parts as Uint8Array[]) : null;
}

/** Keys of a script that requires `required` signatures. The signatures must be in the order of the keys. */
export interface KeysScript {
  readonly required: number;
  readonly keys: readonly Uint8Array[];
  /** Whether the script has one key and no OP_CHECKMULTISIG, which would take an empty item from the stack. */
  readonly isSingle: boolean;
}

const isKeyLength = (length: number): boolean => length === 33 || length === 65;

/**
 * Reads a script for spends before Taproot, with one key or with several keys (OP_CHECKMULTISIG). Returns null for any
 * other script.
 */
export function keysScript(script: Uint8Array): KeysScript | null {
  const parts = partsOf(script);
  if (parts === null) return null;
  const [first] = parts;
  if (parts.length === 2 && parts[1] === opCheckSig && isKey(first))
    return { required: 1, keys: [first], isSingle: true };
  const keys = parts.slice(1, -2);
  const required = smallNumber(first);
  const isWhole =
    required !== null &&
    parts.at(-1) === opCheckMultisig &&
    smallNumber(parts.at(-2)) === keys.length &&
    required <= keys.length;
  return isWhole && keys.every(isKey) ? { required, keys, isSingle: false } : null;
}

const isKey = (part: Part | undefined): part is Uint8Array =>
  typeof part === 'object' && isKeyLength(part.length);

function smallNumber(part: Part | undefined): number | null {
  if (typeof part !== 'number' || part < opOne || part > opSixteen) return null;
  return part - opOne + 1;
}

/**
 * Maximum number of signatures that a Taproot script can use. The stack has at most 1,000 items, and one of them is the
 * script's first key (BIP 342).
 */
const leafKeysMax = 999;

/**
 * Reads a Taproot script that requires signatures of all its keys (OP_CHECKSIGVERIFY … OP_CHECKSIG), or of some of them
 * (OP_CHECKSIG, OP_CHECKSIGADD …, a number, OP_NUMEQUAL). Returns null for any other script. `isSingle` is true if all
 * keys must sign.
 */
export function leafKeys(script: Uint8Array): KeysScript | null {
  const parts = partsOf(script);
  if (parts === null) return null;
  const template = allKeys(parts) ?? someKeys(parts);
  return template !== null && template.keys.length <= leafKeysMax ? template : null;
}

function allKeys(parts: readonly Part[]): KeysScript | null {
  const keys = everySecond(parts, 0);
  const opcodes = everySecond(parts, 1);
  const areRight = opcodes.every(
    (opcode, place) => opcode === (place === keys.length - 1 ? opCheckSig : opCheckSigVerify),
  );
  if (keys.length === 0 || keys.length !== opcodes.length || !areRight || !keys.every(isLeafKey)) return null;
  return { required: keys.length, keys, isSingle: true };
}

function someKeys(parts: readonly Part[]): KeysScript | null {
  const body = parts.slice(0, -2);
  const required = numberOf(parts.at(-2));
  const keys = everySecond(body, 0);
  const opcodes = everySecond(body, 1);
  const areRight = opcodes.every((opcode, place) => opcode === (place === 0 ? opCheckSig : opCheckSigAdd));
  if (keys.length === 0 || keys.length !== opcodes.length || !areRight || !keys.every(isLeafKey)) return null;
  if (parts.at(-1) !== opNumEqual || required === null || required < 1 || required > keys.length) return null;
  return { required, keys, isSingle: false };
}

const isLeafKey = (part: Part): part is Uint8Array => typeof part === 'object' && part.length === 32;

/**
 * Reads a number in a script. The number is an opcode, or one or two bytes, which is enough for the number of keys of a
 * leaf.
 */
function numberOf(part: Part | undefined): number | null {
  if (typeof part !== 'object') return smallNumber(part);
  const [low = 0, high = 0] = part;
  const value = low + high * 256;
  return part.length <= 2 && value < 0x8000 && (part.at(-1) ?? 0) < 0x80 ? value : null;
}

const everySecond = (parts: readonly Part[], first: number): Part[] =>
  parts.filter((_, place) => place % 2 === first);
