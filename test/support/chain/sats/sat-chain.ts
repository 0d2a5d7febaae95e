import {
  asBlockHashHex,
  type BlockHashHex,
  displayHash,
  type TxidHex,
  trustedTxid,
} from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import { firstSatAt } from '#kernel/sats/epoch.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type {
  FeePayer,
  Missing,
  TracedOutpoint,
  TracedOutput,
  TracedTransaction,
  TraceSource,
} from '#sat-ranges/trace-source.ts';

interface Unspent extends TracedOutput {
  /** Ranges that follow from the chain forwards, as in ord's index. */
  readonly ranges: readonly SatRange[];
}

/** A made-up transaction of a block: the unspent outputs that it spends, and the values of its own outputs. */
export interface MadeTransaction {
  readonly spends: readonly TracedOutpoint[];
  readonly outputs: readonly number[];
}

export interface MadeBlock {
  readonly transactions: readonly MadeTransaction[];
  /** Values of the coinbase's outputs. */
  readonly coinbase: readonly number[];
  /** The name of the coinbase. If another coinbase has this name already, the two are twins (BIP 30). */
  readonly coinbaseName?: number;
}

let names = 0;

/** Makes a txid from a number. */
export function txidOfNumber(number: number): TxidHex {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(28, number);
  return displayHash(trustedTxid(bytes));
}

/**
 * A chain in memory that follows its sats forwards, first in, first out, block by block, like ord's index. Tests
 * compare backward walks with this model. It is also the source of these walks.
 */
export class SatChain implements TraceSource {
  readonly unspent = new Map<string, Unspent>();
  /** All outputs as they were made, including spent ones. If two transactions are twins, this has the later one. */
  readonly made = new Map<string, Unspent>();
  readonly lost: SatRange[] = [];
  /** Requests so far. */
  readonly asked: string[] = [];
  /** Called before each response. */
  onAsk: () => Promise<void> | void = () => undefined;
  /** Height whose transactions are missing; `null` if none are missing. */
  missingAt: number | null = null;
  /** The number of the branch. It changes with a reorganisation. */
  branch = 0;
  readonly #transactions = new Map<string, TracedTransaction>();
  readonly #payers = new Map<number, FeePayer[]>();
  #height = 0;

  get height(): number {
    return this.#height - 1;
  }

  add({ transactions, coinbase, coinbaseName }: MadeBlock): TxidHex {
    const height = asHeight(this.#height++);
    const payers: FeePayer[] = [];
    const fees: SatRange[] = [];
    for (const { spends, outputs } of transactions) {
      const spent = spends.map(({ txid, vout }) => this.#take(`${txid}:${vout}`));
      const txid = txidOfNumber(++names);
      const rest = this.#give(
        txid,
        height,
        outputs,
        spent.flatMap(({ ranges }) => ranges),
      );
      const fee = sizeOf(rest);
      const inputs = spent.map(({ txid: of, vout, value, height: at }) => ({
        txid: of,
        vout,
        value,
        height: at,
      }));
      this.#transactions.set(`${height} ${txid}`, { outputs, inputs });
      if (fee > 0) payers.push({ txid, fee, outputsTotal: outputs.reduce((sum, value) => sum + value, 0) });
      fees.push(...rest);
    }
    const start = firstSatAt(height);
    const subsidy = { start, end: start + subsidyAt(height) };
    const txid = txidOfNumber(coinbaseName ?? ++names);
    this.lost.push(...this.#give(txid, height, coinbase, [subsidy, ...fees]));
    this.#transactions.set(`${height} ${txid}`, { outputs: coinbase, inputs: null });
    this.#payers.set(height, payers);
    return txid;
  }

  #take(key: string): Unspent {
    const found = this.unspent.get(key);
    if (found === undefined) throw new Error(`${key} is not unspent`);
    this.unspent.delete(key);
    return found;
  }

  /** Assigns ranges to outputs in order, and returns the rest. */
  #give(txid: TxidHex, height: Height, outputs: readonly number[], ranges: readonly SatRange[]): SatRange[] {
    const left = [...ranges];
    for (const [vout, value] of outputs.entries()) {
      const given: SatRange[] = [];
      for (let open = value; open > 0; ) {
        const range = left.shift();
        if (range === undefined) throw new Error('the outputs are worth more than the inputs');
        const end = Math.min(range.end, range.start + open);
        given.push({ start: range.start, end });
        open -= end - range.start;
        if (end < range.end) left.unshift({ start: end, end: range.end });
      }
      const key = `${txid}:${vout}`;
      // a twin replaces the earlier coinbase, whose sats are lost
      this.lost.push(...(this.unspent.get(key)?.ranges ?? []));
      const output = { txid, vout, value, height, blockHash: this.hashOf(height), ranges: given };
      this.unspent.set(key, output);
      this.made.set(key, output);
    }
    return left;
  }

  hashOf(height: number): BlockHashHex {
    return asBlockHashHex(`${this.branch}${String(height).padStart(63, '0')}`);
  }

  async output({ txid, vout }: TracedOutpoint): Promise<TracedOutput | null> {
    const found = this.unspent.get(`${txid}:${vout}`);
    if (found === undefined) return null;
    const { ranges: _ranges, ...output } = found;
    return { ...output, blockHash: this.hashOf(found.height) };
  }

  async madeOutput({ txid, vout, height }: MadeOutput): Promise<TracedOutput | Missing> {
    const found = this.made.get(`${txid}:${vout}`);
    if (found?.height !== height) return { missing: `there is no ${txid} at ${height}` };
    const { ranges: _ranges, ...output } = found;
    return { ...output, blockHash: this.hashOf(height) };
  }

  async transaction(txid: TxidHex, height: Height): Promise<TracedTransaction | Missing> {
    this.asked.push(`${height} ${txid}`);
    await this.onAsk();
    if (height === this.missingAt) return { missing: `block ${height} is gone` };
    const found = this.#transactions.get(`${height} ${txid}`);
    if (found === undefined) throw new Error(`there is no ${txid} at ${height}`);
    return found;
  }

  async feePayers(height: Height): Promise<readonly FeePayer[] | Missing> {
    this.asked.push(`${height} fees`);
    await this.onAsk();
    return this.#payers.get(height) ?? { missing: `the fees of ${height} are not known` };
  }

  async isOnChain(height: Height, blockHash: BlockHashHex): Promise<boolean> {
    return this.hashOf(height) === blockHash;
  }
}

export const sizeOf = (ranges: readonly SatRange[]): number =>
  ranges.reduce((sum, { start, end }) => sum + end - start, 0);
