import { decodeFlowColumns } from '#indexer/facts/flow-columns.ts';
import { readFacts } from '#indexer/facts/read-facts.ts';
import { applySats, type SatChanges } from '#indexer/ledger/sats/apply-sats.ts';
import { OutputNames } from '#indexer/ledger/sats/outpoint-name.ts';
import type { SatBlock } from '#indexer/ledger/sats/sat-block.ts';
import { outpointLength, outpointWords, SatOutputs } from '#indexer/ledger/sats/sat-outputs.ts';
import { SatState, type SatTotals } from '#indexer/ledger/sats/sat-state.ts';
import { decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { asHeight } from '#kernel/primitives/height.ts';

export interface FedSats {
  readonly height: number;
  readonly bytes: Uint8Array;
  readonly spent: Uint8Array | null;
}

export type Pairs = readonly (readonly [start: number, end: number])[];

const fingerprintKey = new Uint8Array(32).fill(7);
const layout = new BlockLayout();
const names = new OutputNames();
const lostOutpoint = `${'0'.repeat(64)}:4294967295`;

/** A block in the form that the worker sends and the writer reads. */
export function satBlock({ height, bytes, spent }: FedSats, isUnchecked = false): SatBlock {
  const broken = readLayout(bytes, layout);
  const parsed = parseBlock(bytes, { spent, fingerprintKey, layout });
  if (broken !== null || parsed.kind === 'broken') throw new Error('the block cannot be read');
  const of = { block: bytes, spent, height: asHeight(height), network: 'regtest', fingerprintKey } as const;
  const flow = readFacts(new Set(['coin-flow']), of, layout).get('coin-flow');
  if (flow === undefined) throw new Error('the flow was not read');
  const columns = decodeBlockColumns(parsed.columns);
  return { height: asHeight(height), columns, flow: decodeFlowColumns(flow), isUnchecked };
}

/** `<txid>:<vout>` of an outpoint's 36 bytes. */
export function shownName(name: string): string {
  const bytes = Buffer.from(name, 'latin1');
  return `${Buffer.from(bytes.subarray(0, 32)).reverse().toString('hex')}:${bytes.readUInt32LE(32)}`;
}

/** An unspent output. */
interface HeldSats {
  readonly height: number;
  readonly fingerprint: number;
  readonly words: Int32Array;
  readonly pairs: Float64Array;
}

interface NamedSats {
  readonly name: string;
  readonly held: HeldSats;
}

interface AppliedBlock {
  readonly changes: SatChanges;
  /** The outputs of earlier blocks that the block spent. */
  readonly spent: readonly NamedSats[];
  /** The txids of all transactions, 32 bytes each. */
  readonly txids: Uint8Array;
}

/** Copies a row of a table into an object. */
export function rowOf(outputs: SatOutputs, row: number): NamedSats {
  const words = Int32Array.from({ length: outpointWords }, (_, word) => outputs.wordOf(row, word));
  const from = outputs.firstOf(row) * 2;
  const held = {
    height: outputs.heightOf(row),
    fingerprint: outputs.fingerprintOf(row),
    words,
    pairs: outputs.pairs.slice(from, from + outputs.countOf(row) * 2),
  };
  return { name: Buffer.from(words.buffer, 0, outpointLength).toString('latin1'), held };
}

export function pairsOf(pairs: Float64Array, first: number, count: number): Pairs {
  return Array.from({ length: count }, (_, at) => [pairs[(first + at) * 2]!, pairs[(first + at) * 2 + 1]!]);
}

/** Keeps sats in memory: applies the ledger's results, block by block or in batches, and undoes them. */
export class SatStore {
  readonly unspent = new Map<string, HeldSats>();
  readonly blocks: AppliedBlock[] = [];
  totals: SatTotals = { lostSats: 0, replacedSats: 0 };

  apply(blocks: readonly FedSats[], isUnchecked = false): void {
    const read = blocks.map((block) => satBlock(block, isUnchecked));
    const state = new SatState(this.totals, blocks[0]?.height ?? 0);
    const { outputs } = state;
    const known = new SatOutputs();
    for (const { height, fingerprint, words, pairs } of this.unspent.values())
      known.give(known.add(fingerprint, words, height), height, { pairs, first: 0, count: pairs.length / 2 });
    const rows = read.map((block, at) => state.enter(block, blocks[at]!.bytes, [known]));
    for (const [at, block] of read.entries()) {
      const changes = applySats(block, rows[at]!, state);
      const spent = changes.spent.map((row) => rowOf(outputs, row));
      this.blocks.push({ changes, spent, txids: block.flow.txid });
      for (const { name } of spent) this.unspent.delete(name);
    }
    for (const row of state.left()) {
      const { name, held } = rowOf(outputs, row);
      this.unspent.set(name, held);
    }
    this.totals = this.blocks.at(-1)?.changes.after ?? this.totals;
  }

  undo(): void {
    const last = this.blocks.pop();
    if (last === undefined) throw new Error('there is no block');
    const { changes, spent } = last;
    for (const [name, { height }] of this.unspent) if (height === changes.height) this.unspent.delete(name);
    for (const { name, held } of spent) this.unspent.set(name, held);
    this.totals = changes.before;
  }

  /** The ranges of every unspent output with a value, by outpoint. */
  ranges(): Record<string, Pairs> {
    return Object.fromEntries(
      [...this.unspent].map(([name, held]): [string, Pairs] => [
        shownName(name),
        pairsOf(held.pairs, 0, held.pairs.length / 2),
      ]),
    );
  }

  lost(): Pairs {
    return this.blocks.flatMap(({ changes: { pairs, firstLost, lostCount } }) =>
      pairsOf(pairs, firstLost, lostCount),
    );
  }

  /**
   * `<txid>:<vout>:<offset>` of every sat that is not common, by the sat's number. Lost sats are in the null outpoint.
   */
  rare(): Map<number, string> {
    const places = new Map<number, string>();
    for (const { changes, txids } of this.blocks) {
      for (const { sat, tx, vout, offset } of changes.rare) {
        names.enter(txids, (tx ?? 0) * 32);
        const output = tx === null ? lostOutpoint : shownName(names.of(vout));
        places.set(sat, `${output}:${offset}`);
      }
    }
    return places;
  }
}
