import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { sighash } from '#kernel/bitcoin/signature-hashes.ts';
import { compactSize, u32, u64 } from '#kernel/bitcoin/transaction-bytes.ts';
import { standardWeightMax, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { SignatureChecks, sighashName } from './check-signatures.ts';
import { combinePsbts } from './combine-psbts.ts';
import type { FinalInput } from './final-input.ts';
import { finalizeInput } from './finalize-input.ts';
import type { Psbt, PsbtInput } from './psbt.ts';
import { PsbtFaults, psbtFault } from './psbt-faults.ts';
import { readPsbt } from './read-psbt.ts';

/** A transaction that can be sent. */
export interface FinalTransaction {
  readonly bytes: Uint8Array;
  readonly txid: Txid;
  readonly virtualBytes: number;
  /** Fee in sats, or null if the PSBT does not contain the values of all spent outputs. */
  readonly fee: bigint | null;
  /** Sentences that the sender should read before sending the transaction. */
  readonly warnings: readonly string[];
}

/**
 * Maximum fee rate that nodes send by default, in sats per virtual byte (Bitcoin Core's DEFAULT_MAX_RAW_TX_FEE_RATE).
 */
const feeRateAbsurd = 10_000;

/**
 * Makes the final transaction from one PSBT whose inputs are all signed, or from several PSBTs with one signer each
 * (BIP 174, "Combiner", "Input Finalizer", "Transaction Extractor"). A signature is checked if the PSBT has the data
 * that the signature commits to. The PSBT may come from any source. Throws only `PsbtFaults`, for any bytes. Pure.
 *
 * @param network network of the addresses in messages
 */
export function* finalizePsbt(
  signed: readonly [Uint8Array, ...Uint8Array[]],
  network: NetworkParameters,
): Steps<FinalTransaction> {
  const [first, ...others] = signed;
  const psbts: [Psbt, ...Psbt[]] = [yield* readPsbt(first)];
  for (const other of others) psbts.push(yield* readPsbt(other));
  const psbt = combinePsbts(psbts);
  const fee = feeOf(psbt);
  const inputs = yield* finalizeInputs(psbt, network);
  return extract(psbt, inputs, fee);
}

function* finalizeInputs(psbt: Psbt, network: NetworkParameters): Steps<readonly FinalInput[]> {
  const checks = new SignatureChecks(psbt);
  const inputs: FinalInput[] = [];
  const faults: string[] = [];
  for (const [place, input] of psbt.inputs.entries()) {
    try {
      inputs.push(yield* finalizeInput(input, { place, checks, owner: ownerOf(input, network) }));
    } catch (error) {
      if (!(error instanceof PsbtFaults)) throw error;
      faults.push(...error.faults);
    }
  }
  const [fault, ...rest] = faults;
  if (fault !== undefined) throw new PsbtFaults([fault, ...rest]);
  return inputs;
}

/** Maximum number of bytes of a script that a message shows. */
const shownBytes = 40;

/** Describes the owner of the output that an input spends. */
function ownerOf({ spent }: PsbtInput, network: NetworkParameters): string {
  if (spent === null) return 'the owner of its output';
  const { script } = spent;
  const rest = script.length > shownBytes ? '…' : '';
  return (
    scriptToAddress(script, network) ??
    `script ${Buffer.from(script.subarray(0, shownBytes)).toString('hex')}${rest}`
  );
}

/** The fee in sats, or null if not all spent outputs are known. Throws `PsbtFaults`. */
function feeOf({ inputs, outputs }: Psbt): bigint | null {
  const sum = (values: readonly { readonly value: bigint }[]): bigint =>
    values.reduce((total, { value }) => total + value, 0n);
  const spent = inputs.flatMap((input) => input.spent ?? []);
  if (spent.length < inputs.length) return null;
  const fee = sum(spent) - sum(outputs);
  if (fee >= 0n) return fee;
  throw psbtFault(`psbt has outputs of ${sum(outputs)} sats, but inputs of only ${sum(spent)} sats`);
}

function extract(psbt: Psbt, inputs: readonly FinalInput[], fee: bigint | null): FinalTransaction {
  const base = serialized(psbt, inputs);
  const hasWitness = inputs.some(({ scripts }) => scripts.witness.length > 0);
  const witness = hasWitness
    ? Buffer.concat(inputs.flatMap(({ scripts }) => witnessParts(scripts.witness)))
    : null;
  const [version, body, lockTime] = [base.subarray(0, 4), base.subarray(4, -4), base.subarray(-4)];
  const bytes = witness === null ? base : Buffer.concat([version, Buffer.of(0, 1), body, witness, lockTime]);
  const weight = base.length * 3 + bytes.length;
  return {
    bytes,
    txid: trustedTxid(doubleSha256(base)),
    virtualBytes: virtualSize(weight),
    fee,
    warnings: [...feeWarnings(psbt, fee, weight), ...weightWarnings(weight), ...signatureWarnings(inputs)],
  };
}

/** Serializes the transaction with its input scripts, but without witnesses. */
function serialized({ version, lockTime, inputs, outputs }: Psbt, finals: readonly FinalInput[]): Buffer {
  const parts: Uint8Array[] = [u32(version), compactSize(inputs.length)];
  for (const [place, { txid, vout, sequence }] of inputs.entries()) {
    const { scriptSig = new Uint8Array() } = finals[place]?.scripts ?? {};
    parts.push(txid, u32(vout), compactSize(scriptSig.length), scriptSig, u32(sequence));
  }
  parts.push(compactSize(outputs.length));
  for (const { value, script } of outputs) parts.push(u64(value), compactSize(script.length), script);
  return Buffer.concat([...parts, u32(lockTime)]);
}

const witnessParts = (items: readonly Uint8Array[]): Uint8Array[] => [
  compactSize(items.length),
  ...items.flatMap((item) => [compactSize(item.length), item]),
];

function feeWarnings({ outputs }: Psbt, fee: bigint | null, weight: number): string[] {
  if (fee === null) return [];
  const rate = Math.floor(Number(fee) / virtualSize(weight));
  const paid = outputs.reduce((sum, { value }) => sum + value, 0n);
  if (rate > feeRateAbsurd)
    return [
      `The fee is ${fee} sats, or ${rate} per virtual byte. By default, nodes send no transaction above ${feeRateAbsurd}, so this may be a mistake.`,
    ];
  return fee > paid ? [`The fee of ${fee} sats is more than the total of all outputs (${paid} sats).`] : [];
}

const weightWarnings = (weight: number): string[] =>
  weight > standardWeightMax
    ? [
        `The transaction has ${weight} weight units, but nodes relay at most ${standardWeightMax}, so only a miner can accept it directly.`,
      ]
    : [];

function signatureWarnings(inputs: readonly FinalInput[]): string[] {
  const unproven = [...inputs.keys()].filter((place) => inputs[place]?.isProven === false);
  const open = inputs.flatMap(({ types }, place) => {
    const loose = types.filter((type) => type !== sighash.default && type !== sighash.all);
    return loose.length === 0
      ? []
      : [`input ${place} with ${[...new Set(loose.map(sighashName))].join(', ')}`];
  });
  return [
    ...(unproven.length === 0
      ? []
      : [
          `Signatures of ${placesText(unproven)} were not checked. The PSBT lacks data that they sign, their script is unknown here, or there are too many signatures.`,
        ]),
    ...(open.length === 0
      ? []
      : [
          `The signatures cover only ${shortList(open)}. Until the transaction is in a block, others can change what the signatures do not cover.`,
        ]),
  ];
}

/** Maximum number of inputs that a message names. */
const shownInputs = 10;

const shortList = (names: readonly string[]): string =>
  names.length <= shownInputs
    ? names.join(', ')
    : `${names.slice(0, shownInputs).join(', ')} and ${names.length - shownInputs} more`;

const placesText = (places: readonly number[]): string =>
  `${places.length === 1 ? 'input' : 'inputs'} ${shortList(places.map(String))}`;
