import { createHash } from 'node:crypto';
import { compactSize, u32, u64 } from './transaction-bytes.ts';

/** An output in the form that signatures commit to. */
export interface HashedOutput {
  /** Sats. */
  readonly value: bigint;
  readonly script: Uint8Array;
}

/** An input of a transaction whose signatures are made or checked. */
export interface HashedInput {
  /** Internal order. */
  readonly txid: Uint8Array;
  readonly vout: number;
  readonly sequence: number;
  /** The output that the input spends. `null` if this output is unknown. */
  readonly spent: HashedOutput | null;
}

export interface HashedTransaction {
  /** The four bytes of the version as an unsigned number. */
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly HashedInput[];
  readonly outputs: readonly HashedOutput[];
}

/** Types of signatures (BIP 143, BIP 341). ANYONECANPAY is added to another type. */
export const sighash = { default: 0, all: 1, none: 2, single: 3, anyoneCanPay: 0x80 } as const;

/** Whether nodes relay a type, in addition to Taproot's DEFAULT (Bitcoin Core's IsDefinedHashtypeSignature). */
export const isDefinedSighash = (type: number): boolean => {
  const outputs = type & ~sighash.anyoneCanPay;
  return outputs >= sighash.all && outputs <= sighash.single;
};

/**
 * The hashes that the inputs of a transaction sign. Parts that several inputs sign are hashed once, so SegWit hashes
 * take time linear in the transaction. A hash from before SegWit covers all of the transaction for each input, as
 * Bitcoin defines it.
 */
export class SignatureHashes {
  readonly #transaction: HashedTransaction;
  #sharedHashes: SharedHashes | null = null;
  #committed: Buffer | null | undefined;

  constructor(transaction: HashedTransaction) {
    this.#transaction = transaction;
  }

  /**
   * The hash of signatures from before SegWit.
   *
   * @param code the script that is run, without OP_CODESEPARATOR
   */
  legacy(place: number, code: Uint8Array, type: number): Buffer {
    const { version, lockTime, inputs, outputs } = this.#transaction;
    const { isAnyoneCanPay, isNone, isSingle } = partsOf(type);
    // an old bug that became a rule: such a signature signs the number 1
    if (isSingle && place >= outputs.length) return Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);
    const hash = createHash('sha256').update(u32(version));
    hash.update(compactSize(isAnyoneCanPay ? 1 : inputs.length));
    for (const [index, input] of inputs.entries()) {
      if (index === place) hash.update(legacyInput(input, code, true));
      else if (!isAnyoneCanPay) hash.update(legacyInput(input, noBytes, !isNone && !isSingle));
    }
    const signed = legacyOutputs(outputs, place, partsOf(type));
    hash.update(compactSize(signed.length));
    for (const output of signed) hash.update(output);
    return sha256(hash.update(u32(lockTime)).update(u32(type)).digest());
  }

  /**
   * The hash of SegWit version 0 (BIP 143).
   *
   * @param code the witness script, or the P2PKH script of a P2WPKH output's hash
   */
  witness(place: number, code: Uint8Array, value: bigint, type: number): Buffer {
    const { version, lockTime, outputs } = this.#transaction;
    const { isAnyoneCanPay, isNone, isSingle } = partsOf(type);
    const input = this.#input(place);
    const shared = this.#shared();
    const own = isSingle ? ownOutput(outputs[place]) : null;
    const paid = isNone || isSingle ? own : shared.outputs;
    return doubleSha256(
      u32(version),
      isAnyoneCanPay ? noHash : sha256(shared.outpoints),
      isAnyoneCanPay || isNone || isSingle ? noHash : sha256(shared.sequences),
      outpointBytes(input),
      withLength(code),
      u64(value),
      u32(input.sequence),
      paid === null ? noHash : sha256(paid),
      u32(lockTime),
      u32(type),
    );
  }

  /**
   * The hash of Taproot (BIP 341), without an annex. `null` if an output that the hash commits to is unknown, or if the
   * type is SINGLE and there is no output at this index, so that no signature is possible.
   *
   * @param leafHash hash of the script that is run (BIP 342), before any OP_CODESEPARATOR; null for a spend by key
   */
  taproot(place: number, type: number, leafHash: Uint8Array | null): Buffer | null {
    const { version, lockTime, outputs } = this.#transaction;
    const { isAnyoneCanPay, isNone, isSingle } = partsOf(type);
    const own = isSingle ? ownOutput(outputs[place]) : noBytes;
    const committed = isAnyoneCanPay ? noBytes : this.#allInputs();
    const spending = isAnyoneCanPay ? ownInput(this.#input(place)) : u32(place);
    if (committed === null || spending === null || own === null) return null;
    return taggedHash(
      'TapSighash',
      Buffer.of(0, type),
      u32(version),
      u32(lockTime),
      committed,
      isNone || isSingle ? noBytes : this.#shared().outputs,
      Buffer.of(leafHash === null ? 0 : 2),
      spending,
      own,
      ...(leafHash === null ? [] : [leafHash, leafEnd]),
    );
  }

  #input(place: number): HashedInput {
    const input = this.#transaction.inputs[place];
    if (input === undefined) throw new RangeError(`the transaction has no input ${place}`);
    return input;
  }

  #shared(): SharedHashes {
    const { inputs, outputs } = this.#transaction;
    this.#sharedHashes ??= {
      outpoints: sha256(...inputs.map(outpointBytes)),
      sequences: sha256(...inputs.map(({ sequence }) => u32(sequence))),
      outputs: sha256(...outputs.map(outputBytes)),
    };
    return this.#sharedHashes;
  }

  /** Hashes of all inputs that Taproot signatures commit to. `null` if a spent output is unknown. */
  #allInputs(): Buffer | null {
    if (this.#committed !== undefined) return this.#committed;
    const { inputs } = this.#transaction;
    const spent = inputs.flatMap((input) => input.spent ?? []);
    const { outpoints, sequences } = this.#shared();
    const values = sha256(...spent.map(({ value }) => u64(value)));
    const scripts = sha256(...spent.map(({ script }) => withLength(script)));
    const isWhole = spent.length === inputs.length;
    this.#committed = isWhole ? Buffer.concat([outpoints, values, scripts, sequences]) : null;
    return this.#committed;
  }
}

/**
 * Parts of a transaction that each input commits to. They are hashed once. BIP 143 hashes these hashes a second time.
 */
interface SharedHashes {
  readonly outpoints: Buffer;
  readonly sequences: Buffer;
  readonly outputs: Buffer;
}

interface TypeParts {
  readonly isAnyoneCanPay: boolean;
  readonly isNone: boolean;
  readonly isSingle: boolean;
}

function partsOf(type: number): TypeParts {
  const outputs = type & 0x1f;
  return {
    isAnyoneCanPay: (type & sighash.anyoneCanPay) !== 0,
    isNone: outputs === sighash.none,
    isSingle: outputs === sighash.single,
  };
}

const noHash = Buffer.alloc(32);
const noBytes = new Uint8Array();
/** An output that a SINGLE signature from before SegWit leaves open. It has no script, and the value -1. */
const blankOutput = Buffer.from('ffffffffffffffff00', 'hex');
/** Version 0 of the key in a leaf, and no OP_CODESEPARATOR before the signature (BIP 342). */
const leafEnd = Buffer.of(0, 0xff, 0xff, 0xff, 0xff);

/** An input in the form for signatures from before SegWit. It has the script that is run, or no script. */
const legacyInput = (input: HashedInput, script: Uint8Array, isSequenceSigned: boolean): Buffer =>
  Buffer.concat([outpointBytes(input), withLength(script), u32(isSequenceSigned ? input.sequence : 0)]);

/** Outputs in the form for signatures from before SegWit. */
function legacyOutputs(
  outputs: readonly HashedOutput[],
  place: number,
  { isNone, isSingle }: TypeParts,
): Buffer[] {
  if (isNone) return [];
  if (!isSingle) return outputs.map(outputBytes);
  return outputs
    .slice(0, place + 1)
    .map((output, index) => (index === place ? outputBytes(output) : blankOutput));
}

const outpointBytes = ({ txid, vout }: Pick<HashedInput, 'txid' | 'vout'>): Buffer =>
  Buffer.concat([txid, u32(vout)]);

/** One input in the form that Taproot commits to. `null` if the output that it spends is unknown. */
const ownInput = (input: HashedInput): Buffer | null =>
  input.spent === null
    ? null
    : Buffer.concat([outpointBytes(input), outputBytes(input.spent), u32(input.sequence)]);

/** The hash of the output that a SINGLE signature commits to. `null` if there is no output at this index. */
const ownOutput = (output: HashedOutput | undefined): Buffer | null =>
  output === undefined ? null : sha256(outputBytes(output));

const outputBytes = ({ value, script }: HashedOutput): Buffer =>
  Buffer.concat([u64(value), withLength(script)]);

/** A script, preceded by its length. */
const withLength = (script: Uint8Array): Buffer => Buffer.concat([compactSize(script.length), script]);

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const doubleSha256 = (...parts: readonly Uint8Array[]): Buffer => sha256(sha256(...parts));

/** A hash with a tag that names its purpose (BIP 340, "tagged hashes"). */
export function taggedHash(tag: string, ...parts: readonly Uint8Array[]): Buffer {
  const tagHash = sha256(Buffer.from(tag));
  return sha256(tagHash, tagHash, ...parts);
}
