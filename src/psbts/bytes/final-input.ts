import { sighash } from '#kernel/bitcoin/signature-hashes.ts';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { type Judged, type SignatureChecks, sighashName } from './check-signatures.ts';
import type { FinalScripts } from './psbt.ts';
import { type PsbtFaults, psbtFault } from './psbt-faults.ts';

/** An input with its final scripts. */
export interface FinalInput {
  readonly scripts: FinalScripts;
  /** Types of the input's signatures, as far as they are known. */
  readonly types: readonly number[];
  /** Whether all signatures of the input were checked, and are right. */
  readonly isProven: boolean;
}

/** Facts about an input that are needed to finalize it. */
export interface InputContext {
  readonly place: number;
  readonly checks: SignatureChecks;
  /** The owner of the spent output, for messages. It is an address, or another description of the owner. */
  readonly owner: string;
}

/** Number of work steps of an elliptic curve operation. One step is the time to read one byte. */
export const checkSteps = 1_000_000;

/** Number of work steps to hash a key, which takes some microseconds. One step is the time to read one byte. */
export const hashSteps = 4_000;

/** Number of work steps that a check took. */
export const workOf = ({ verdict }: Judged): number => (verdict === 'unknown' ? 0 : checkSteps);

export const finalInput = (scripts: FinalScripts, judged: readonly Judged[]): FinalInput => ({
  scripts,
  types: judged.map(({ type }) => type),
  isProven: judged.length > 0 && judged.every(({ verdict }) => verdict === 'right'),
});

/** Removes duplicates from a list of signatures. */
export function distinct(signatures: readonly Uint8Array[]): Uint8Array[] {
  const byText = new Map(signatures.map((each) => [textOf(each), each]));
  return [...byText.values()];
}

/** Groups elements by their public key. */
export const byKey = <Of extends { readonly publicKey: Uint8Array }>(
  all: readonly Of[],
): ReadonlyMap<string, readonly Of[]> => Map.groupBy(all, ({ publicKey }) => textOf(publicKey));

/** Converts bytes to a text that can be the key of a map. */
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** A signature of an input, and the result of its check. */
export interface Signed {
  readonly signature: Uint8Array;
  readonly judged: Judged;
}

/**
 * Returns the first of these signatures that is not wrong, or null if all are wrong. Throws `PsbtFaults` if the
 * signature's type differs from the type that the PSBT requires.
 *
 * @param asked signature type that the PSBT names for the input, or null if it names none
 */
export function* firstSigned(
  signatures: readonly Uint8Array[],
  judge: (signature: Uint8Array) => Judged,
  asked: number | null,
  place: number,
): Steps<Signed | null> {
  for (const signature of signatures) {
    const judged = judge(signature);
    yield workOf(judged);
    if (judged.verdict === 'wrong') continue;
    refuseOtherType(judged, asked, place);
    return { signature, judged };
  }
  return null;
}

/**
 * Returns the first signature of a key that is not wrong, or null if the key signed nothing. Throws `PsbtFaults` if all
 * signatures of the key are wrong, or if `firstSigned` throws.
 */
export function* signedByKey(
  own: readonly { readonly signature: Uint8Array }[],
  judge: (signature: Uint8Array) => Judged,
  asked: number | null,
  context: InputContext,
): Steps<Signed | null> {
  const signatures = distinct(own.map(({ signature }) => signature));
  const signed = yield* firstSigned(signatures, judge, asked, context.place);
  if (signed === null && signatures.length > 0) throw wrongSignature(context);
  return signed;
}

type Named = Pick<InputContext, 'place' | 'owner'>;

export const notSigned = ({ place, owner }: Named): PsbtFaults =>
  psbtFault(`Input ${place} is not signed by ${owner}.`);

export const wrongSignature = ({ place, owner }: Named): PsbtFaults =>
  psbtFault(
    `Input ${place}: the signature of ${owner} is wrong. It belongs to another key, or to a transaction that was changed.`,
  );

/** Maximum number of keys that a message names. More keys would hide the rest of the message. */
const shownKeys = 5;

/** Missing signatures of a script that requires several signatures. */
interface Shortage {
  readonly found: number;
  readonly required: number;
  readonly missing: readonly Uint8Array[];
}

export function tooFewSignatures(
  { place, owner }: Named,
  { found, required, missing }: Shortage,
): PsbtFaults {
  const shown = missing.slice(0, shownKeys).map((key) => Buffer.from(key).toString('hex'));
  const rest = missing.length > shownKeys ? ` and ${missing.length - shownKeys} more` : '';
  return psbtFault(
    `Input ${place} of ${owner} has ${found} of ${required} signatures. It is not signed by ${shown.join(', ')}${rest}.`,
  );
}

/**
 * Refuses a signature whose type differs from the type that the PSBT requires. Finalizers must do this (BIP 174).
 * Throws `PsbtFaults`.
 */
function refuseOtherType({ type }: Judged, asked: number | null, place: number): void {
  // DEFAULT and ALL both commit to the entire transaction
  const plain = (given: number): number => (given === sighash.default ? sighash.all : given);
  if (asked === null || plain(type) === plain(asked)) return;
  throw psbtFault(
    `Input ${place} is signed with ${sighashName(type)}, but the PSBT requires ${sighashName(asked)}.`,
  );
}
