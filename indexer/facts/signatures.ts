import type { BlockColumns } from '#indexer/parse/block-columns.ts';
import { annexPrefix } from '#indexer/transaction/block-layout.ts';
import { hasMarker, InputWalk, OutputWalk, WitnessWalk } from '#indexer/transaction/transaction-parts.ts';

/** A signature of an input, split into its bytes and its sighash type. */
export interface Signature {
  readonly kind: 'ecdsa' | 'schnorr';
  /** DER, or the 64 bytes of BIP 340; a view of the block. */
  readonly bytes: Uint8Array;
  /**
   * The sighash type. 0 is DEFAULT, which means ALL, for a Schnorr signature of 64 bytes (BIP 341). 0x83 is
   * SINGLE|ANYONECANPAY.
   */
  readonly sighash: number;
}

const derPrefix = 0x30;
/** Maximum length of a push whose opcode is its length. */
const pushMax = 0x4b;
/** Bounds of the length of a DER signature, including the byte of its sighash type (BIP 66). */
const ecdsaLength = { least: 9, most: 73 };
const schnorrLength = 64;
/** Sighash types that BIP 341 allows after a Schnorr signature. */
const schnorrTypes: ReadonlySet<number> = new Set([0x01, 0x02, 0x03, 0x81, 0x82, 0x83]);

/**
 * Reads the fact `signatures`: everything that looks like a signature in the script and witness of an input, including
 * all those of a multisig. Signatures are read on demand, because a worker does not know which inputs spend tracked
 * outputs. Only some hundred of the thousands of inputs of a block do (docs/adr/0019-facts-of-a-block.md has the cost).
 * Reading inputs in ascending order takes one pass over the block; a lower input starts the pass again.
 *
 * The spent output is not examined. A stack item of a P2WSH script looks like a Schnorr signature if it has the same
 * length, and a Schnorr signature may look like DER. The script of the spent output (`spent-scripts`) shows which kind
 * is possible.
 */
export class SignatureReader {
  readonly #bytes: Uint8Array;
  readonly #columns: Pick<BlockColumns, 'txStart' | 'txOutputs' | 'txFirstInput'>;
  readonly #inputs: InputWalk;
  readonly #outputs: OutputWalk;
  readonly #witnesses: WitnessWalk;
  #tx = -1;
  #lastInput = -1;

  constructor(bytes: Uint8Array, columns: Pick<BlockColumns, 'txStart' | 'txOutputs' | 'txFirstInput'>) {
    this.#bytes = bytes;
    this.#columns = columns;
    this.#inputs = new InputWalk(bytes);
    this.#outputs = new OutputWalk(bytes);
    this.#witnesses = new WitnessWalk(bytes);
  }

  /** @param input index into the block's input columns */
  of(input: number): Signature[] {
    const { txFirstInput, txStart } = this.#columns;
    if (input < this.#lastInput) this.#tx = -1;
    this.#lastInput = input;
    let tx = Math.max(this.#tx, 0);
    while (txFirstInput[tx + 1]! <= input) tx++;
    if (tx !== this.#tx) this.#open(tx);
    const index = input - txFirstInput[tx]!;
    const found: Signature[] = [];
    const script = this.#inputs.scriptOf(index);
    if (script.length > 0) addOfScript(found, script);
    if (hasMarker(this.#bytes, txStart[tx]!)) this.#addOfWitness(found, index);
    return found;
  }

  #open(tx: number): void {
    this.#tx = tx;
    this.#inputs.open(this.#columns.txStart[tx]!);
    this.#outputs.open(this.#columns.txOutputs[tx]!);
    this.#witnesses.open(this.#outputs.end());
  }

  #addOfWitness(found: Signature[], index: number): void {
    const bytes = this.#bytes;
    const witness = this.#witnesses;
    const count = witness.items(index);
    const hasAnnex = count > 1 && this.#hasAnnex(index);
    const items = hasAnnex ? count - 1 : count;
    // the last two items of a script path are leaf script and control block: a control block can also be 65 bytes long
    const schnorrEnd = items === 1 ? 1 : items - 2;
    for (let place = 0; place < items; place++) {
      witness.next();
      const { itemStart, itemLength } = witness;
      const ecdsa = ecdsaAt(bytes, itemStart, itemLength);
      if (ecdsa !== null) found.push(ecdsa);
      // one Schnorr signature in 65,536 begins like a DER signature of its length
      const schnorr = place < schnorrEnd ? schnorrAt(bytes, itemStart, itemLength) : null;
      if (schnorr !== null) found.push(schnorr);
    }
  }

  /** Whether the last of several witness items is an annex (BIP 341). */
  #hasAnnex(index: number): boolean {
    const witness = this.#witnesses;
    while (witness.next());
    const isAnnex = witness.itemLength > 0 && this.#bytes[witness.itemStart] === annexPrefix;
    witness.items(index);
    return isAnnex;
  }
}

/** Adds signatures among the pushes of an input's script, up to the first opcode that is not a push. */
function addOfScript(found: Signature[], script: Uint8Array): void {
  for (let at = 0; at < script.length; ) {
    const opcode = script[at++]!;
    // a longer push has an explicit length and is a P2SH script, so no signature follows it
    if (opcode > pushMax) break;
    // the last push may claim more bytes than remain
    const length = Math.min(opcode, script.length - at);
    const signature = ecdsaAt(script, at, length);
    if (signature !== null) found.push(signature);
    at += length;
  }
}

/** The DER signature of an item, or null. Most items are not signatures, so a view is made only for signatures. */
function ecdsaAt(bytes: Uint8Array, start: number, length: number): Signature | null {
  if (length < ecdsaLength.least || length > ecdsaLength.most) return null;
  // a DER sequence: its length is that of the item without the header and the sighash type
  if (bytes[start] !== derPrefix || bytes[start + 1] !== length - 3) return null;
  const last = start + length - 1;
  return { kind: 'ecdsa', bytes: bytes.subarray(start, last), sighash: bytes[last]! };
}

function schnorrAt(bytes: Uint8Array, start: number, length: number): Signature | null {
  if (length !== schnorrLength && length !== schnorrLength + 1) return null;
  const sighash = length === schnorrLength ? 0 : bytes[start + schnorrLength]!;
  if (length > schnorrLength && !schnorrTypes.has(sighash)) return null;
  return { kind: 'schnorr', bytes: bytes.subarray(start, start + schnorrLength), sighash };
}
