import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { maxMoney } from '#kernel/bitcoin/consensus.ts';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { BrokenBytes, ByteCursor } from './byte-cursor.ts';
import { KeyMap } from './key-map.ts';
import type { FinalScripts, Psbt, PsbtInput, SpentOutput } from './psbt.ts';
import { psbtFault } from './psbt-faults.ts';

/** The bytes with which every PSBT begins: "psbt" and 0xff. */
const magic = Buffer.from('70736274ff', 'hex');

/** Types of fields (BIP 174, BIP 371). */
const globalType = { unsigned: 0x00, version: 0xfb } as const;
const inputType = {
  previousTransaction: 0x00,
  witnessUtxo: 0x01,
  partialSignature: 0x02,
  sighashType: 0x03,
  redeemScript: 0x04,
  witnessScript: 0x05,
  finalScriptSig: 0x07,
  finalWitness: 0x08,
  tapKeySignature: 0x13,
  tapLeafSignature: 0x14,
  tapLeaf: 0x15,
} as const;

/** Number of work steps to read a field. One step is the time to read one byte. */
const fieldSteps = 500;

/** Reads a PSBT of version 0. Throws `PsbtFaults` for any other bytes. */
export function* readPsbt(bytes: Uint8Array): Steps<Psbt> {
  try {
    return yield* read(bytes);
  } catch (error) {
    if (error instanceof BrokenBytes)
      throw psbtFault(
        error.at >= bytes.length
          ? `psbt is truncated, because its ${bytes.length} bytes end in the middle of a field`
          : `psbt is damaged at byte ${error.at}`,
      );
    throw error;
  }
}

function* read(bytes: Uint8Array): Steps<Psbt> {
  if (Buffer.compare(bytes.subarray(0, magic.length), magic) !== 0)
    throw psbtFault(
      isTransaction(bytes)
        ? 'psbt is already a transaction; send it as hex to POST /tokenpay/utils/submittx'
        : 'psbt is not a PSBT, because it does not begin with "psbt" and 0xff',
    );
  const cursor = new ByteCursor(bytes);
  cursor.take(magic.length);
  const global = new KeyMap(cursor, 'the transaction');
  refuseVersion(global.only(globalType.version, 'the version'));
  const unsigned = global.only(globalType.unsigned, 'the transaction');
  if (unsigned === null) throw psbtFault('psbt has no transaction');
  const { inputs, ...transaction } = whole(unsigned, 'psbt has a transaction that', readUnsigned);
  const read: PsbtInput[] = [];
  for (const [place, outpoint] of inputs.entries()) {
    const start = cursor.at;
    const map = new KeyMap(cursor, `input ${place}`);
    read.push(readInput(map, outpoint, place));
    yield cursor.at - start + map.size * fieldSteps;
  }
  for (const place of transaction.outputs.keys()) {
    const start = cursor.at;
    const { size } = new KeyMap(cursor, `output ${place}`);
    yield cursor.at - start + size * fieldSteps;
  }
  if (!cursor.isAtEnd) throw psbtFault(`psbt has bytes after its last output, from byte ${cursor.at} on`);
  return { unsigned, ...transaction, inputs: read };
}

function refuseVersion(value: Uint8Array | null): void {
  if (value === null) return;
  const version = value.length === 4 ? new ByteCursor(value).u32() : null;
  if (version === 0) return;
  if (version === 2)
    throw psbtFault('psbt has version 2 (BIP 370); export it from your wallet as version 0 (BIP 174)');
  throw psbtFault('psbt has an unknown version; only version 0 (BIP 174) is accepted');
}

function isTransaction(bytes: Uint8Array): boolean {
  try {
    return RawTransactions.one(bytes).inputs.length > 0;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** Reads a value and requires that no bytes are left after it. */
function whole<T>(bytes: Uint8Array, what: string, read: (cursor: ByteCursor, bytes: Uint8Array) => T): T {
  const cursor = new ByteCursor(bytes);
  try {
    const value = read(cursor, bytes);
    if (cursor.isAtEnd) return value;
  } catch (error) {
    if (!(error instanceof BrokenBytes)) throw error;
  }
  throw psbtFault(`${what} is damaged.`);
}

type Outpoint = Pick<PsbtInput, 'txid' | 'vout' | 'sequence'>;

/** Reads the transaction of a PSBT. The transaction never has the SegWit marker, so it may have no inputs. */
function readUnsigned(
  cursor: ByteCursor,
  bytes: Uint8Array,
): Pick<Psbt, 'version' | 'lockTime' | 'outputs'> & { inputs: readonly Outpoint[] } {
  // checked first, because the work of reading grows with the size
  if (bytes.length * 4 > standardWeightMax)
    throw psbtFault(
      `psbt has a transaction of ${bytes.length * 4} weight units without its signatures, but nodes relay at most ${standardWeightMax}`,
    );
  const version = cursor.u32();
  const inputs = Array.from({ length: countOf(cursor, bytes, 41) }, () => readOutpoint(cursor));
  const outputs = Array.from({ length: countOf(cursor, bytes, 9) }, () => readOutput(cursor));
  const lockTime = cursor.u32();
  if (inputs.length === 0) throw psbtFault('psbt has a transaction without inputs');
  if (outputs.length === 0) throw psbtFault('psbt has a transaction without outputs');
  const spends = new Set(inputs.map(({ txid, vout }) => `${Buffer.from(txid).toString('latin1')}${vout}`));
  if (spends.size < inputs.length) throw psbtFault('psbt has a transaction that spends an output twice');
  return { version, lockTime, inputs, outputs };
}

/**
 * Reads the number of elements in a list. Throws if the bytes cannot hold the elements, each of
 * which has at least `least` bytes.
 */
function countOf(cursor: ByteCursor, bytes: Uint8Array, least: number): number {
  const count = cursor.compactSize();
  // checked before a list of this length is allocated
  if (count * least > bytes.length) throw new BrokenBytes(bytes.length);
  return count;
}

function readOutpoint(cursor: ByteCursor): Outpoint {
  const txid = cursor.take(32);
  const vout = cursor.u32();
  if (cursor.sized().length > 0)
    throw psbtFault(
      'psbt is damaged, because its transaction has signatures, but signatures belong to its inputs',
    );
  return { txid, vout, sequence: cursor.u32() };
}

function readOutput(cursor: ByteCursor): SpentOutput {
  const value = cursor.u64();
  if (value > BigInt(maxMoney)) throw psbtFault('psbt has an output with more bitcoins than exist');
  return { value, script: cursor.sized() };
}

/** Throws `PsbtFaults`. */
function readInput(map: KeyMap, outpoint: Outpoint, place: number): PsbtInput {
  const damaged = (what: string) => psbtFault(`Input ${place}: ${what} is damaged.`);
  const sighashType = map.only(inputType.sighashType, 'the signature type');
  if (sighashType !== null && sighashType.length !== 4) throw damaged('its signature type');
  const leaves = map.all(inputType.tapLeaf);
  if (leaves.some(({ key, value }) => value.length === 0 || key.length % 32 !== 1))
    throw damaged('a script of its Taproot output');
  const leafSignatures = map.all(inputType.tapLeafSignature);
  if (leafSignatures.some(({ key }) => key.length !== 64)) throw damaged('a signature of a script');
  const keySignature = map.only(inputType.tapKeySignature, 'the signature');
  return {
    ...outpoint,
    spent: spentOutput(map, outpoint, place),
    partialSignatures: map
      .all(inputType.partialSignature)
      .map(({ key: publicKey, value: signature }) => ({ publicKey, signature })),
    sighashType: sighashType === null ? null : new ByteCursor(sighashType).u32(),
    redeemScript: map.only(inputType.redeemScript, 'the redeem script'),
    witnessScript: map.only(inputType.witnessScript, 'the witness script'),
    tapKeySignatures: keySignature === null ? [] : [keySignature],
    tapLeafSignatures: leafSignatures.map(({ key, value: signature }) => ({
      publicKey: key.subarray(0, 32),
      leafHash: key.subarray(32),
      signature,
    })),
    tapLeaves: leaves.map(({ key: controlBlock, value }) => ({
      controlBlock,
      script: value.subarray(0, -1),
      version: value.at(-1) ?? 0,
    })),
    final: finalScripts(map, place),
  };
}

/**
 * The output that an input spends. It comes from the previous transaction, or from the PSBT's own field. Null if the
 * output is unknown.
 */
function spentOutput(map: KeyMap, { txid, vout }: Outpoint, place: number): SpentOutput | null {
  const given = map.only(inputType.witnessUtxo, 'the spent output');
  const told = given === null ? null : whole(given, `Input ${place}: its spent output`, readOutput);
  const previous = map.only(inputType.previousTransaction, 'the previous transaction');
  if (previous === null) return told;
  const transaction = previousTransaction(previous, place);
  if (Buffer.compare(transaction.txid, txid) !== 0)
    throw psbtFault(
      `Input ${place}: the given previous transaction is not the transaction that the input spends.`,
    );
  const output = transaction.outputs[vout];
  if (output === undefined)
    throw psbtFault(`Input ${place}: its previous transaction has no output ${vout}.`);
  const spent = { value: BigInt(output.value), script: output.script };
  if (told !== null && (told.value !== spent.value || Buffer.compare(told.script, spent.script) !== 0))
    throw psbtFault(
      `Input ${place}: the given spent output differs from the output in its previous transaction.`,
    );
  return spent;
}

function previousTransaction(bytes: Uint8Array, place: number): ReturnType<typeof RawTransactions.one> {
  try {
    return RawTransactions.one(bytes);
  } catch (error) {
    if (error instanceof AppError) throw psbtFault(`Input ${place}: its previous transaction is damaged.`);
    throw error;
  }
}

/** Reads the fields of a finalized input. Returns null if the input is not finalized. */
function finalScripts(map: KeyMap, place: number): FinalScripts | null {
  const scriptSig = map.only(inputType.finalScriptSig, 'the final script') ?? new Uint8Array();
  const stack = map.only(inputType.finalWitness, 'the final witness');
  const witness = stack === null ? [] : whole(stack, `Input ${place}: its final witness`, readWitness);
  return scriptSig.length === 0 && witness.length === 0 ? null : { scriptSig, witness };
}

const readWitness = (cursor: ByteCursor, bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: countOf(cursor, bytes, 1) }, () => cursor.sized());
