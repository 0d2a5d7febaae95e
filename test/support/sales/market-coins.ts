import { type Random, seededRandom } from '#test/builders/random.ts';
import type { Input, Output } from '#test/builders/transaction.ts';

/** An input, the output that it spends, and the inscriptions of that output. */
export interface MarketInput extends Pick<Input, 'scriptSig' | 'witness'> {
  readonly spent: Output;
  /** Offsets of the inscriptions in the output, ascending. */
  readonly items: readonly number[];
}

/** A move as the maker of the transaction describes it. Amounts and owners are `null` if nothing was sold. */
export interface MoveLabel {
  readonly class: string;
  readonly price: number | null;
  readonly grossPayout: number | null;
  /** Scripts as hexadecimal digits. */
  readonly maker: string | null;
  readonly taker: string | null;
  readonly feeOutput: number | null;
  readonly wash: boolean | null;
}

export interface MarketTransaction {
  readonly kind: string;
  readonly inputs: readonly MarketInput[];
  readonly outputs: readonly Output[];
  /** A label for each move of the transaction, by input and offset. */
  readonly labels: readonly MoveLabel[];
}

/** A transaction whose maker has not added the kind yet. */
export type MadeTransaction = Omit<MarketTransaction, 'kind'>;

export const pairType = 0x83;
export const noBytes = new Uint8Array(0);
const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');

/** A script that an owner can spend with one signature. */
type ScriptKind = 'taproot' | 'witness-key' | 'legacy-key';

/** Makes owners of a random market, their coins and signatures, and the labels of moves. */
export class MarketCoins {
  readonly random: Random;

  constructor(seed: string) {
    this.random = seededRandom(`market ${seed}`);
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    this.random.fill(bytes, 0, length);
    return bytes;
  }

  taproot(): Uint8Array {
    return Buffer.concat([Buffer.from([0x51, 0x20]), this.bytes(32)]);
  }

  /** The script of a new owner. */
  owner(kind?: ScriptKind): Uint8Array {
    const [taproot, witnessKey] = [0.6, 0.9];
    const drawn = this.random.unit();
    const any = drawn < taproot ? 'taproot' : drawn < witnessKey ? 'witness-key' : 'legacy-key';
    const of = kind ?? any;
    if (of === 'taproot') return this.taproot();
    if (of === 'witness-key') return Buffer.concat([Buffer.from([0x00, 0x14]), this.bytes(20)]);
    return Buffer.concat([Buffer.from('76a914', 'hex'), this.bytes(20), Buffer.from('88ac', 'hex')]);
  }

  schnorr(sighash: number): Uint8Array {
    return sighash === 0 ? this.bytes(64) : Buffer.concat([this.bytes(64), Uint8Array.of(sighash)]);
  }

  /** A DER signature of 70 to 73 bytes, including the sighash type. */
  ecdsa(sighash: number): Uint8Array {
    const r = this.bytes(31 + this.random.below(3));
    const s = this.bytes(32 + this.random.below(2));
    const body = [2, r.length, ...r, 2, s.length, ...s];
    return Uint8Array.of(0x30, body.length, ...body, sighash);
  }

  /** An annex with the length and the last byte of a SINGLE|ANYONECANPAY signature. */
  annex(): Uint8Array {
    return Buffer.concat([Uint8Array.of(0x50), this.bytes(63), Uint8Array.of(pairType)]);
  }

  /** The scriptSig and the witness with one signature of a key. */
  keyPath(script: Uint8Array, sighash: number): Pick<MarketInput, 'scriptSig' | 'witness'> {
    if (script[0] === 0x51) return { scriptSig: noBytes, witness: [this.schnorr(sighash)] };
    const signature = this.ecdsa(sighash === 0 ? 1 : sighash);
    const key = Buffer.concat([Uint8Array.of(2), this.bytes(32)]);
    if (script[0] === 0x00) return { scriptSig: noBytes, witness: [signature, key] };
    const scriptSig = Uint8Array.of(signature.length, ...signature, key.length, ...key);
    return { scriptSig, witness: [] };
  }

  /** A coin without inscriptions, signed by its owner. */
  coin(script: Uint8Array, value: number): MarketInput {
    return { spent: { script, value }, items: [], ...this.keyPath(script, 0) };
  }

  /** A coin with inscriptions at random offsets. */
  item(
    script: Uint8Array,
    value: number,
    shown: Pick<MarketInput, 'scriptSig' | 'witness'>,
    count = 1,
  ): MarketInput {
    const offsets = Array.from({ length: count }, () => this.random.below(value));
    return { spent: { script, value }, items: offsets.toSorted((a, b) => a - b), ...shown };
  }

  unsold(of: string, count = 1): MoveLabel[] {
    const nothing = { price: null, grossPayout: null, maker: null, taker: null, feeOutput: null, wash: null };
    const label = { class: of, ...nothing };
    return Array.from({ length: count }, () => label);
  }

  price(): number {
    return 1_000 + this.random.below(5_000_000);
  }

  postage(): number {
    return [330, 546, 1_000, 10_000][this.random.below(4)]!;
  }

  sold(
    of: string,
    price: number,
    grossPayout: number,
    maker: Uint8Array,
    taker: Uint8Array | null,
    more: Partial<Pick<MoveLabel, 'feeOutput' | 'wash'>> = {},
  ): MoveLabel {
    return {
      feeOutput: null,
      wash: taker !== null && hexOf(taker) === hexOf(maker),
      ...more,
      class: of,
      price,
      grossPayout,
      maker: hexOf(maker),
      taker: taker === null ? null : hexOf(taker),
    };
  }
}
