import { sighash } from '#kernel/bitcoin/signature-hashes.ts';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { type Judged, type SignatureChecks, sighashName } from './check-signatures.ts';
import type { FinalScripts } from './psbt.ts';
import { type PsbtFaults, psbtFault } from './psbt-faults.ts';

/** An input that is ready to be sent. */
export interface FinalInput {
  readonly scripts: FinalScripts;
  /** Types of its signatures, as far as known. */
  readonly types: readonly number[];
  /** Whether all of its signatures were checked. */
  readonly isProven: boolean;
}

/** The facts besides an input that its finalizing needs. */
export interface InputContext {
  readonly place: number;
  readonly checks: SignatureChecks;
  /** The owner of the spent output, for messages: an address, or what is known of it. */
  readonly owner: string;
}

/** Bytes that are read in the time of an operation of the elliptic curve. */
export const checkSteps = 1_000_000;

/** Bytes that are read in the time of a key's hash, which is some microseconds. */
export const hashSteps = 4_000;

/** The cost of a judgement. */
export const workOf = ({ verdict }: Judged): number => (verdict === 'unknown' ? 0 : checkSteps);

export const finalInput = (scripts: FinalScripts, judged: readonly Judged[]): FinalInput => ({
  scripts,
  types: judged.map(({ type }) => type),
  isProven: judged.length > 0 && judged.every(({ verdict }) => verdict === 'right'),
});

/** The distinct ones among these. */
export function distinct(signatures: readonly Uint8Array[]): Uint8Array[] {
  const byText = new Map(signatures.map((each) => [textOf(each), each]));
  return [...byText.values()];
}

/** Things keyed by their public key. */
export const byKey = <Of extends { readonly publicKey: Uint8Array }>(
  all: readonly Of[],
): ReadonlyMap<string, readonly Of[]> => Map.groupBy(all, ({ publicKey }) => textOf(publicKey));

/** Bytes as the key of a map. */
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** A signature of an input, and the result of its check. */
export interface Signed {
  readonly signature: Uint8Array;
  readonly judged: Judged;
}

/**
 * The first of these signatures that is not wrong, null if all are wrong. Throws `PsbtFaults` if its type differs from
 * the one that the PSBT asks for.
 *
 * @param asked type of signatures of the input; null: the PSBT names no type
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
 * The first signature of a key that is not wrong. Null: the key signed nothing. Throws `PsbtFaults` if all are wrong,
 * and like `firstSigned`.
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

/** Keys that a message names: more would hide the rest of the message. */
const shownKeys = 5;

/** Signatures of a script that wants several. */
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

/** Refuses a signature of another type than the PSBT asks for, as finalizers must (BIP 174). Throws `PsbtFaults`. */
function refuseOtherType({ type }: Judged, asked: number | null, place: number): void {
  // both commit to the whole transaction
  const plain = (given: number): number => (given === sighash.default ? sighash.all : given);
  if (asked === null || plain(type) === plain(asked)) return;
  throw psbtFault(
    `Input ${place} is signed with ${sighashName(type)}, but the PSBT asks for ${sighashName(asked)}.`,
  );
}
