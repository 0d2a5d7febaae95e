import { openRunestoneCandidates, readRunestoneCandidates } from '#indexer/facts/runestone-candidates.ts';
import { openSpentScripts, readSpentScripts } from '#indexer/facts/spent-scripts.ts';
import { applyRunes } from '#indexer/ledger/runes/apply-runes.ts';
import { outpointName } from '#indexer/ledger/runes/outpoint-name.ts';
import {
  type RuneBlock,
  type RuneQuestion,
  runeMessages,
  runeQuestion,
} from '#indexer/ledger/runes/rune-block.ts';
import type { RuneEvent } from '#indexer/ledger/runes/rune-changes.ts';
import { hardcodedRunes, type RuneEntry } from '#indexer/ledger/runes/rune-entry.ts';
import { type RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import { type Balance, RuneState } from '#indexer/ledger/runes/rune-state.ts';
import { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { viewOf } from '#indexer/ledger/view-of.ts';
import { decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { BlockLayout, roomForOnce } from '#indexer/transaction/block-layout.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { smallU128, type U128, zeroU128 } from '#kernel/runes/u128.ts';

interface BalanceRow {
  readonly outpoint: string;
  readonly key: number;
  readonly amount: U128;
  readonly height: number;
  spentHeight: number | null;
}

interface TotalRow {
  readonly key: number;
  readonly height: number;
  readonly value: U128;
}

interface StoredBlock {
  readonly height: number;
  readonly txids: ReadonlySet<string>;
  readonly events: readonly RuneEvent[];
  /**
   * Fingerprints of the outputs with runes that the block made and left unspent, and of the earlier outputs that it
   * spent.
   */
  readonly added: readonly (readonly [number, number])[];
  readonly removed: readonly (readonly [number, number])[];
}

interface ReadBlock extends RuneBlock {
  readonly question: RuneQuestion;
}

export interface FedBlock {
  readonly height: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly spent: Uint8Array<ArrayBuffer> | null;
}

const secret = new Uint8Array(32).fill(7);
const timeAt = 68;
/**
 * Number of last blocks in which a commitment is too young, this block included. A commitment needs six confirmations.
 */
const recentBlocks = 5;

/**
 * Tables of runes in memory. Rows are only added, and marked as spent. A batch of blocks reads everything that it must
 * know in one query, like the writer does from the database.
 */
export class RuneStore {
  runes: RuneEntry[];
  balances: BalanceRow[] = [];
  mints: TotalRow[] = [];
  burned: TotalRow[] = [];
  readonly blocks: StoredBlock[] = [];
  readonly #network: NetworkParameters;
  readonly #tracked = new TrackedOutputs();
  readonly #key = expandFingerprintKey(secret);
  /** Rows of the state that are unspent outputs of the current batch. */
  #made: { readonly row: number; readonly outpoint: string }[] = [];

  constructor(network: NetworkParameters) {
    this.#network = network;
    this.runes = hardcodedRunes(network.name);
  }

  apply(batch: readonly FedBlock[]): void {
    const recent = this.blocks.slice(-recentBlocks).map(({ txids }) => txids);
    const read = batch.map((block) => {
      recent.push(txidsOf(block.bytes));
      return this.#read(block, recent.slice(-recentBlocks));
    });
    const state = this.#answer(read);
    this.#made = [];
    for (const block of read) this.#store(block, state, txidsOf(block.bytes));
  }

  /** Removes the last block. */
  undo(): void {
    const { height, added, removed } = this.blocks.pop()!;
    const isBelow = (row: { readonly height: number }): boolean => row.height < height;
    // the hardcoded rune, which has no etching, is kept
    const kept = hardcodedRunes(this.#network.name).length;
    this.runes = this.runes.filter(({ key, block }) => key < kept || block < height);
    this.balances = this.balances.filter(isBelow);
    for (const row of this.balances) if (row.spentHeight === height) row.spentHeight = null;
    this.mints = this.mints.filter(isBelow);
    this.burned = this.burned.filter(isBelow);
    for (const [low, high] of removed) this.#tracked.add(low, high);
    for (const [low, high] of added) this.#tracked.remove(low, high);
  }

  total(rows: readonly TotalRow[], key: number): U128 {
    return rows.findLast((row) => row.key === key)?.value ?? zeroU128;
  }

  /** Unspent balances, by outpoint. */
  unspent(): Map<string, Balance[]> {
    const held = new Map<string, Balance[]>();
    for (const { outpoint, key, amount, spentHeight } of this.balances) {
      if (spentHeight !== null) continue;
      held.set(outpoint, [...(held.get(outpoint) ?? []), { key, amount }]);
    }
    return held;
  }

  #read({ height, bytes, spent }: FedBlock, recent: readonly ReadonlySet<string>[]): ReadBlock {
    const parsed = parseBlock(bytes, { spent, fingerprintKey: secret });
    if (parsed.kind === 'broken') throw new Error(parsed.message);
    const columns = decodeBlockColumns(parsed.columns);
    const layout = new BlockLayout(roomForOnce(bytes.length));
    if (readLayout(bytes, layout) !== null) throw new Error('the block is broken');
    const candidates = openRunestoneCandidates(readRunestoneCandidates(bytes, layout));
    const messages = runeMessages(bytes, columns, candidates);
    const question = runeQuestion({ bytes, columns, messages }, this.#tracked);
    return {
      question,
      height: asHeight(height),
      timestamp: new DataView(bytes.buffer, bytes.byteOffset).getUint32(timeAt, true),
      network: this.#network,
      bytes,
      columns,
      messages,
      txids: candidates.txid,
      inputs: question.inputs,
      spentScripts:
        spent === null ? null : openSpentScripts(readSpentScripts(spent, layout), spent, columns.inputValue),
      fingerprintKey: this.#key,
      recent: {
        has: (from, at) => {
          const txid = Buffer.from(from.subarray(at, at + 32)).toString('hex');
          return recent.some((txids) => txids.has(txid));
        },
      },
    };
  }

  /** Returns what the rows of earlier blocks tell about these blocks. */
  #answer(blocks: readonly ReadBlock[]): RuneState {
    const state = new RuneState(this.runes.length);
    const held = this.unspent();
    const keys = new Set<number>();
    for (const { bytes, columns, question } of blocks) {
      const { inputs, outpointsAt, mints, names } = question;
      for (const [place, at] of outpointsAt.entries()) {
        const balances = held.get(hexOf(outpointName(bytes, at)));
        if (balances === undefined) continue;
        const low = columns.inputFingerprintLow[inputs[place]!]!;
        const high = columns.inputFingerprintHigh[inputs[place]!]!;
        state.held.add(viewOf(bytes), at, { height: 0, tx: 0, low, high });
        for (const { key, amount } of balances) {
          state.held.give(key, amount);
          keys.add(key);
        }
      }
      for (const { key, block: height, tx, rune } of this.runes) {
        if (names.includes(rune)) state.learnTaken(rune);
        if (mints.some((id) => formatRuneId(id) === `${height}:${tx}`)) keys.add(key);
      }
    }
    for (const key of keys)
      state.learnRune(this.runes[key]!, Number(this.total(this.mints, key)), this.total(this.burned, key));
    return state;
  }

  #spend(outpoint: string, height: number): void {
    for (const row of this.balances) if (row.outpoint === outpoint) row.spentHeight = height;
  }

  #store(block: RuneBlock, state: RuneState, txids: ReadonlySet<string>): void {
    const { height } = block;
    const { made, held } = state;
    const changes = applyRunes(block, state);
    this.runes.push(...changes.etched);
    const removed: [number, number][] = [];
    for (const row of changes.spent) {
      this.#spend(outpointOf(held, row), height);
      removed.push([held.lowOf(row), held.highOf(row)]);
    }
    // the ledger marks rows of blocks of the same batch itself
    this.#made = this.#made.filter(({ row, outpoint }) => {
      if (made.spentHeightOf(row) !== height) return true;
      this.#spend(outpoint, height);
      removed.push([made.lowOf(row), made.highOf(row)]);
      return false;
    });
    const added: [number, number][] = [];
    for (let row = changes.firstOutput; row < changes.endOutput; row++) {
      const outpoint = outpointOf(made, row);
      const spentHeight = made.isSpent(row) ? made.spentHeightOf(row) : null;
      for (const { key, amount } of balancesOf(made, row))
        this.balances.push({ outpoint, key, amount, height, spentHeight });
      if (spentHeight !== null) continue;
      added.push([made.lowOf(row), made.highOf(row)]);
      this.#made.push({ row, outpoint });
    }
    for (const { key, mints } of changes.minted) this.mints.push({ key, height, value: smallU128(mints) });
    for (const { key, total } of changes.burned) this.burned.push({ key, height, value: total });
    for (const [low, high] of added) this.#tracked.add(low, high);
    for (const [low, high] of removed) this.#tracked.remove(low, high);
    this.blocks.push({ height, txids, events: changes.events(), added, removed });
  }
}

/** The hex of the 36 bytes of a row's outpoint. */
function outpointOf(outputs: RuneOutputs, row: number): string {
  const vout = Buffer.alloc(4);
  vout.writeUInt32LE(outputs.voutOf(row));
  return Buffer.concat([outputs.txidOf(row), vout]).toString('hex');
}

function balancesOf(outputs: RuneOutputs, row: number): Balance[] {
  const first = outputs.firstOf(row);
  return Array.from({ length: outputs.countOf(row) }, (_, at) => ({
    key: outputs.keyOf(first + at),
    amount: outputs.amountOf(first + at),
  }));
}

const hexOf = (name: string): string => Buffer.from(name, 'latin1').toString('hex');

function txidsOf(bytes: Uint8Array): Set<string> {
  const transactions = RawTransactions.ofBlock(bytes);
  return new Set(
    Array.from({ length: transactions.count }, (_, place) =>
      Buffer.from(transactions.txid(place)).toString('hex'),
    ),
  );
}

/** `<txid>:<vout>` of the hex of 36 bytes. */
export function shownOutpoint(outpoint: string): string {
  const bytes = Buffer.from(outpoint, 'hex');
  return `${Buffer.from(bytes.subarray(0, 32)).reverse().toString('hex')}:${bytes.readUInt32LE(32)}`;
}
