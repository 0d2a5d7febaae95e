import { displayHash } from '#kernel/primitives/hash.ts';
import { writeInteger } from '#kernel/runes/runestone/varint.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { doubleHash } from '#test/builders/merkle.ts';
import { seededRandom } from '#test/builders/random.ts';
import { type Transaction, writeTransaction } from '#test/builders/transaction.ts';
import type { ModelTransaction } from './rune-model.ts';
import type { FedBlock } from './rune-store.ts';

interface Coin {
  readonly txid: Uint8Array;
  readonly vout: number;
  readonly script: Uint8Array;
  readonly height: number;
}

/** A block of a random chain, as bytes and as the model reads it. */
export interface RuneChainBlock {
  readonly fed: FedBlock;
  readonly transactions: readonly ModelTransaction[];
}

const zeros = new Uint8Array(32);
const taproot = Buffer.concat([Buffer.from([0x51, 0x20]), Buffer.alloc(32, 3)]);
const plain = Buffer.from('00142222222222222222222222222222222222222222', 'hex');
const max = 2n ** 128n - 1n;

/**
 * Random blocks full of runes. Their names are committed to in time, too early or not at all; mints reach their limits;
 * there are edicts of all forms, and cenotaphs. The same seed gives the same chain, and a block can be made again on
 * another branch.
 */
export class RuneChain {
  readonly #random;
  readonly #minimum: (height: number) => bigint;
  #coins: Coin[] = [];
  /** Names that were pushed or etched, so that later transactions can use them again. */
  readonly #names: bigint[] = [];
  /** Ids that may be runes. */
  #ids: string[] = [];
  #commits: { readonly coin: Coin; readonly name: bigint }[] = [];
  #height = 0;
  #serial = 0;
  /** Whether the transaction under construction has an etching. */
  #etches = false;
  readonly #before: { coins: Coin[]; ids: string[]; commits: { coin: Coin; name: bigint }[] }[] = [];

  constructor(seed: string, minimum: (height: number) => bigint) {
    this.#random = seededRandom(seed);
    this.#minimum = minimum;
  }

  get height(): number {
    return this.#height;
  }

  below(bound: number): number {
    return this.#random.below(bound);
  }

  /** Removes the last block. The next block will differ from it. */
  undo(): void {
    const { coins, ids, commits } = this.#before.pop()!;
    this.#coins = coins;
    this.#ids = ids;
    this.#commits = commits;
    this.#height--;
  }

  block(): RuneChainBlock {
    this.#before.push({ coins: [...this.#coins], ids: [...this.#ids], commits: [...this.#commits] });
    const out = new ByteWriter();
    const spent = new ByteWriter();
    const count = 1 + this.below(6);
    const header = Buffer.alloc(80);
    header.writeUInt32LE(1_300_000_000 + this.#height, 68);
    out.set(header);
    out.compactSize(count);
    spent.compactSize(count);
    const transactions: ModelTransaction[] = [];
    for (let place = 0; place < count; place++) transactions.push(this.#transaction(place, out, spent));
    const fed = { height: this.#height++, bytes: bytesOf(out), spent: bytesOf(spent) };
    return { fed, transactions };
  }

  #transaction(place: number, out: ByteWriter, spent: ByteWriter): ModelTransaction {
    const isChosen = ({ coin }: { coin: Coin }): boolean =>
      this.below(this.#height - coin.height < 5 ? 12 : 2) === 0;
    const etchings = place === 0 ? [] : this.#commits.filter(isChosen).slice(0, 1);
    const coins = place === 0 ? [] : this.#takeCoins(etchings.map(({ coin }) => coin));
    this.#commits = this.#commits.filter(({ coin }) => !coins.includes(coin));
    const isRunic = this.below(5) > 0;
    const outputs = Array.from({ length: 1 + this.below(4) }, () => this.#outputScript());
    const [etching] = etchings;
    if (isRunic)
      outputs.splice(
        this.below(outputs.length + 1),
        0,
        this.#runestone(outputs.length + 1, etching?.name ?? null),
      );
    const leaves = coins.map((coin) => this.#leaf(coin === etching?.coin ? etching.name : null));
    const inputs = coins.map(({ txid, vout }, index) => ({
      txid,
      vout,
      scriptSig: zeros.subarray(0, 0),
      witness: leaves[index]!.witness,
    }));
    // every coinbase is different
    const serial = Buffer.from([4, 0, 0, 0, 0]);
    serial.writeUInt32LE(this.#serial++, 1);
    const coinbase = { txid: zeros, vout: 0xffff_ffff, scriptSig: serial, witness: [] };
    const transaction: Transaction = {
      inputs: place === 0 ? [coinbase] : inputs,
      outputs: outputs.map((script) => ({ value: 0, script })),
    };
    writeTransaction(out, transaction, true);
    spent.compactSize(coins.length);
    for (const { script } of coins) {
      spent.u64(0);
      spent.sized(script);
    }
    return this.#made(transaction, coins, leaves, place);
  }

  #made(
    transaction: Transaction,
    coins: readonly Coin[],
    leaves: readonly { readonly pushes: readonly string[] | null }[],
    place: number,
  ): ModelTransaction {
    const stripped = new ByteWriter();
    writeTransaction(stripped, transaction, false);
    const txid = Uint8Array.from(doubleHash(stripped.view()));
    const scripts = transaction.outputs.map(({ script }) => script);
    scripts.forEach((script, vout) => {
      if (script[0] === 0x6a) return;
      const coin = { txid, vout, script, height: this.#height };
      this.#coins.push(coin);
      if (this.below(3) === 0) this.#commits.push({ coin, name: this.#name() });
    });
    if (this.#etches) this.#ids.push(`${this.#height}:${place}`);
    this.#etches = false;
    const shown = displayHash(txid);
    return {
      txid: shown,
      inputs: coins.map((coin, index) => ({
        outpoint: `${displayHash(coin.txid)}:${coin.vout}`,
        pushes: leaves[index]!.pushes,
      })),
      scripts,
    };
  }

  /** Takes coins for a transaction. Old coins too, so that commitments ripen. */
  #takeCoins(wanted: readonly Coin[]): Coin[] {
    const taken = [...wanted];
    for (let left = 1 + this.below(3) - wanted.length; left > 0 && this.#coins.length > 0; left--) {
      const coin = this.#coins[this.below(this.#coins.length)]!;
      const isWaiting = this.#commits.some((commit) => commit.coin === coin) && this.below(8) > 0;
      if (!taken.includes(coin) && !isWaiting) taken.push(coin);
    }
    this.#coins = this.#coins.filter((coin) => !taken.includes(coin));
    if (taken.length > 0) return taken;
    // an output from before the chain
    const txid = Uint8Array.from(doubleHash(Buffer.from(`old ${this.#serial++}`)));
    return [{ txid, vout: 0, script: plain, height: -1 }];
  }

  #outputScript(): Uint8Array {
    const kind = this.below(10);
    if (kind === 0) return Buffer.from([0x6a]);
    if (kind === 1) return Buffer.from([0x6a, 0x01, 0x5d]);
    return kind < 7 ? taproot : plain;
  }

  #name(): bigint {
    const kind = this.below(12);
    const minimum = this.#minimum(this.#height + 6);
    if (kind === 0) return minimum - 1n - BigInt(this.below(50));
    if (kind === 1) return this.#names[this.below(this.#names.length + 1)] ?? 0n;
    if (kind === 2) return 6402364363415443603228541259936211926n - BigInt(this.below(2));
    const name = minimum + 10n ** 13n + BigInt(this.below(1000));
    this.#names.push(name);
    return name;
  }

  /** The witness of an input. It has no script, or a script that pushes the name at some position. */
  #leaf(name: bigint | null): { witness: Uint8Array[]; pushes: string[] | null } {
    if (name === null && this.below(2) === 0) return { witness: [], pushes: null };
    const pushed = name === null || this.below(8) === 0 ? Buffer.from([9, 9]) : littleEndian(name);
    const push = Buffer.concat([Buffer.from([pushed.length]), pushed]);
    const long = Buffer.concat([Buffer.from([0x4c, pushed.length]), pushed]);
    const broken = Buffer.from([0x4d, 0xff, 0xff]);
    const kind = this.below(6);
    const script = [
      push,
      Buffer.concat([Buffer.from([0x51, 0xac]), long, Buffer.from([0xac])]),
      Buffer.concat([push, broken]),
      Buffer.concat([broken, push]),
      Buffer.concat([Buffer.from([0x00, 0x63]), push, Buffer.from([0x68])]),
      push,
    ][kind]!;
    const pushes = kind === 3 ? [] : [pushed.toString('hex'), ...(kind === 4 ? [''] : [])];
    const control = Buffer.alloc(33, 0xc0);
    const annex = this.below(4) === 0 ? [Buffer.from([0x50, 1])] : [];
    return { witness: [script, control, ...annex], pushes };
  }

  #runestone(outputs: number, name: bigint | null): Uint8Array {
    const integers: bigint[] = [];
    const field = (tag: bigint, value: bigint): void => {
      integers.push(tag, value);
    };
    if (name !== null || this.below(4) === 0) this.#etching(field, name);
    if (this.below(2) === 0) {
      const [block, tx] = this.#id().split(':');
      field(20n, BigInt(block!));
      field(20n, BigInt(tx!));
    }
    if (this.below(3) === 0) field(22n, BigInt(this.below(outputs + (this.below(6) === 0 ? 1 : 0))));
    if (this.below(14) === 0) field(26n, 0n);
    if (this.below(10) === 0) field(27n, 0n);
    if (this.below(2) === 0) this.#edicts(integers, outputs);
    if (this.below(30) === 0) integers.push(7n);
    return this.#script(integers);
  }

  #script(integers: readonly bigint[]): Uint8Array {
    const payload: number[] = [];
    for (const integer of integers) writeInteger(payload, asU128(integer));
    const size = payload.length < 0x4c ? [payload.length] : [0x4c, payload.length];
    return Uint8Array.from([0x6a, 0x5d, ...(payload.length > 0xff ? [0x51] : [...size, ...payload])]);
  }

  #etching(field: (tag: bigint, value: bigint) => void, name: bigint | null): void {
    this.#etches = true;
    const hasTerms = this.below(3) > 0;
    field(2n, 1n + (hasTerms ? 2n : 0n) + (this.below(2) === 0 ? 4n : 0n));
    if (name !== null) field(4n, name);
    if (this.below(2) === 0) field(1n, BigInt(this.below(42)));
    if (this.below(3) === 0) field(3n, BigInt(this.below(9)));
    if (this.below(3) === 0) field(5n, BigInt([0, 0x24, 0xd800, 0x1f600][this.below(4)]!));
    const amounts = [0n, 1n, 7n, 1000n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n + 1n, max / 4n, max / 2n];
    const amount = (): bigint => amounts[this.below(amounts.length)]!;
    if (this.below(3) > 0) field(6n, amount());
    if (hasTerms) this.#terms(field);
  }

  #terms(field: (tag: bigint, value: bigint) => void): void {
    if (this.below(6) > 0) field(8n, BigInt(1 + this.below(3)));
    if (this.below(6) > 0) field(10n, [1n, 5n, 2n ** 53n, max / 8n][this.below(4)]!);
    const near = (): bigint => BigInt(Math.max(0, this.#height + this.below(6) - 2));
    if (this.below(5) === 0) field(12n, near());
    if (this.below(5) === 0) field(14n, near());
    if (this.below(5) === 0) field(16n, BigInt(this.below(4)));
    if (this.below(5) === 0) field(18n, this.below(2) === 0 ? BigInt(this.below(6)) : 2n ** 64n - 1n);
  }

  #id(): string {
    const kind = this.below(12);
    if (kind === 0) return `${this.#height}:${this.below(4)}`;
    if (kind === 1) return `${2n ** 63n}:${this.below(4)}`;
    return this.#ids[this.below(this.#ids.length + 1)] ?? '0:0';
  }

  #edicts(integers: bigint[], outputs: number): void {
    integers.push(0n);
    const ids = Array.from({ length: 1 + this.below(6) }, () => (this.below(3) === 0 ? '0:0' : this.#id()))
      .map((id) => id.split(':').map(BigInt) as [bigint, bigint])
      .sort(([a, b], [c, d]) => Number(a === c ? b - d : a - c));
    let before: [bigint, bigint] = [0n, 0n];
    for (const [block, tx] of ids) {
      const [lastBlock, lastTx] = before;
      const amount = [0n, 0n, 1n, 3n, 500n, 2n ** 53n, max / 3n, max][this.below(8)]!;
      const tooFar = this.below(60) === 0 ? 2 : 0;
      const output = this.below(3) === 0 ? outputs + tooFar : this.below(outputs);
      integers.push(block - lastBlock, block === lastBlock ? tx - lastTx : tx, amount, BigInt(output));
      before = [block, tx];
    }
  }
}

function littleEndian(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let left = value; left > 0n; left >>= 8n) bytes.push(Number(left & 0xffn));
  return Buffer.from(bytes);
}

const bytesOf = (writer: ByteWriter): Uint8Array<ArrayBuffer> => Uint8Array.from(writer.view());
