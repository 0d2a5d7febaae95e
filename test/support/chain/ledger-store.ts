import { applyBlock } from '#indexer/ledger/inscriptions/apply-block.ts';
import {
  charmsUnknown,
  curseUnknown,
  type HeldInscriptions,
  type LedgerBlock,
  type LedgerCounters,
  numberUnknown,
  places,
  startsAnchored,
} from '#indexer/ledger/ledger-block.ts';
import { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { type BlockColumns, decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { InputWalk } from '#indexer/transaction/transaction-parts.ts';
import { charmNames, charms } from '#kernel/primitives/charm.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** The location of an inscription. `outpoint` is the hex of its 36 bytes, or `null` outside of outputs. */
export interface StoredLocation {
  readonly height: number;
  readonly step: number;
  readonly place: number;
  readonly outpoint: string | null;
  readonly satpoint: string;
  readonly satOffset: number;
  readonly script: Uint8Array;
}

export interface StoredInscription {
  readonly key: number;
  readonly id: string;
  readonly idBytes: Uint8Array;
  readonly height: number;
  readonly number: number | null;
  readonly sequence: number | null;
  readonly curse: number | null;
  readonly charms: number | null;
  readonly fee: number | null;
  readonly parents: readonly number[] | null;
  /** All locations of the inscription, in order. The last one is the current location, unless `gone` is set. */
  readonly locations: StoredLocation[];
  /** Whether a block without spent outputs moved the inscription to an unknown location. */
  gone: boolean;
}

const secret = new Uint8Array(32).fill(7);

/**
 * A ledger over a chain in memory, which replaces the database in the simplest way. It finds outputs by their full
 * outpoints, and only checks the tracked fingerprints against them.
 */
export class LedgerStore {
  readonly inscriptions: StoredInscription[] = [];
  readonly tracked = new TrackedOutputs();
  counters!: LedgerCounters;
  anchored!: boolean;
  readonly #network: NetworkParameters;
  readonly #byOutpoint = new Map<string, StoredInscription[]>();
  readonly #fingerprintKey = expandFingerprintKey(secret);

  constructor(network: NetworkParameters, firstHeight: number, start: Partial<LedgerCounters> = {}) {
    this.#network = network;
    this.enterIsland(firstHeight, start);
  }

  /** Continues after a gap. Held inscriptions stay held, because an output is spent only once. */
  enterIsland(firstHeight: number, start: Partial<LedgerCounters>): void {
    this.anchored = startsAnchored(asHeight(firstHeight), this.#network);
    const known = this.anchored ? 0 : null;
    this.counters = {
      nextKey: this.inscriptions.length,
      sequence: known,
      blessed: known,
      cursed: known,
      unbound: known,
      lostSats: known,
      ...start,
    };
  }

  /** Applies the next block, and returns the ledger's result. */
  apply(height: number, block: Uint8Array, spent: Uint8Array | null): LedgerBlock {
    const parsed = parseBlock(block, { spent, fingerprintKey: secret });
    if (parsed.kind === 'broken') throw new Error(`${height}: ${parsed.message}`);
    const columns = decodeBlockColumns(parsed.columns);
    const result = applyBlock({
      height: asHeight(height),
      network: this.#network,
      columns,
      block,
      fingerprintKey: this.#fingerprintKey,
      hasSpent: spent !== null,
      anchored: this.anchored,
      counters: this.counters,
      held: this.held(columns, block),
    });
    this.#write(result, columns, block, spent !== null);
    this.counters = result.counters;
    this.anchored = result.anchored;
    return result;
  }

  /**
   * The inscriptions that the block's inputs hold, in ord's order. Public, so that a test can replace it by a wrong
   * result.
   */
  held(columns: BlockColumns, block: Uint8Array): HeldInscriptions {
    const found: { input: number; inscription: StoredInscription; location: StoredLocation }[] = [];
    const walk = new InputWalk(block);
    for (let tx = 1; tx < columns.txOutputs.length; tx++) {
      walk.open(columns.txStart[tx]!);
      for (let input = columns.txFirstInput[tx]!; input < columns.txFirstInput[tx + 1]!; input++) {
        const at = walk.outpointOf(input - columns.txFirstInput[tx]!);
        const outpoint = Buffer.from(block.subarray(at, at + 36)).toString('hex');
        const isTracked = this.tracked.has(
          columns.inputFingerprintLow[input]!,
          columns.inputFingerprintHigh[input]!,
        );
        const inscriptions = this.#byOutpoint.get(outpoint) ?? [];
        if (isTracked !== inscriptions.length > 0) throw new Error(`${outpoint}: tracked is ${isTracked}`);
        for (const inscription of inscriptions.toSorted((a, b) => a.key - b.key)) {
          found.push({ input, inscription, location: inscription.locations.at(-1)! });
        }
      }
    }
    return {
      count: found.length,
      input: Uint32Array.from(found, ({ input }) => input),
      key: Int32Array.from(found, ({ inscription }) => inscription.key),
      satOffset: Float64Array.from(found, ({ location }) => location.satOffset),
      id: Uint8Array.from(found.flatMap(({ inscription }) => [...inscription.idBytes])),
      curse: Uint8Array.from(found, ({ inscription }) => inscription.curse ?? curseUnknown),
      height: Int32Array.from(found, ({ location }) => location.height),
      step: Uint32Array.from(found, ({ location }) => location.step),
    };
  }

  #write(result: LedgerBlock, columns: BlockColumns, block: Uint8Array, hasSpent: boolean): void {
    const { left, locations } = result;
    for (let row = 0; row < left.count; row++) {
      const inscription = this.inscriptions[left.key[row]!]!;
      const last = inscription.locations.at(-1)!;
      if (last.height !== left.height[row] || last.step !== left.step[row]) throw new Error('another row');
      this.#leave(inscription);
    }
    for (let row = 0; row < result.inscriptions.count; row++) {
      this.inscriptions.push(this.#inscription(result, columns, row, hasSpent));
    }
    for (let row = 0; row < locations.count; row++) {
      const inscription = this.inscriptions[locations.key[row]!]!;
      const location = locationOf(result, row, inscription, block);
      inscription.locations.push(location);
      inscription.gone = locations.spent[row] === 1;
      if (location.outpoint === null || inscription.gone) continue;
      this.#byOutpoint.set(location.outpoint, [
        ...(this.#byOutpoint.get(location.outpoint) ?? []),
        inscription,
      ]);
    }
    this.tracked.apply(result.tracked);
  }

  #inscription(
    result: LedgerBlock,
    columns: BlockColumns,
    row: number,
    hasSpent: boolean,
  ): StoredInscription {
    const rows = result.inscriptions;
    const { sequence } = this.counters;
    const idBytes = new Uint8Array(36);
    const reveal = rows.reveal[row]!;
    idBytes.set(columns.revealTxid.subarray(reveal * 32, reveal * 32 + 32));
    new DataView(idBytes.buffer).setUint32(32, rows.index[row]!, true);
    const parents = rows.parentKey.subarray(rows.firstParent[row], rows.firstParent[row + 1]);
    return {
      key: rows.firstKey + row,
      id: formatInscriptionId(asTxid(idBytes.subarray(0, 32)), rows.index[row]!),
      idBytes,
      height: result.height,
      number: orNull(rows.number[row]!, numberUnknown),
      // docs/adr/0004: in a block without spent outputs, the order of several inscriptions is unknown
      sequence: sequence !== null && (hasSpent || rows.count === 1) ? sequence + row : null,
      curse: orNull(rows.curse[row]!, curseUnknown),
      charms: orNull(rows.charms[row]!, charmsUnknown),
      fee: Number.isNaN(rows.fee[row]) ? null : rows.fee[row]!,
      parents: rows.parentsKnown[row] === 1 ? [...parents] : null,
      locations: [],
      gone: true,
    };
  }

  #leave(inscription: StoredInscription): void {
    const { outpoint } = inscription.locations.at(-1)!;
    if (outpoint === null) throw new Error('nothing leaves a place outside of outputs');
    this.#byOutpoint.delete(outpoint);
    inscription.gone = true;
  }
}

function locationOf(
  { height, locations, txids }: LedgerBlock,
  row: number,
  { idBytes }: StoredInscription,
  block: Uint8Array,
): StoredLocation {
  const place = locations.place[row]!;
  const satOffset = locations.satOffset[row]!;
  const start = locations.scriptStart[row]!;
  const common = {
    height,
    step: locations.step[row]!,
    place,
    satOffset,
    script: block.slice(start, start + locations.scriptLength[row]!),
  };
  if (place !== places.output) {
    const vout = place === places.lost ? 0xffff_ffff : 0;
    return { ...common, outpoint: null, satpoint: `${'0'.repeat(64)}:${vout}:${satOffset}` };
  }
  const entry = locations.txid[row]!;
  const vout = locations.vout[row]!;
  const outpoint = new Uint8Array(36);
  outpoint.set(entry < 0 ? idBytes.subarray(0, 32) : txids.subarray(entry * 32, entry * 32 + 32));
  new DataView(outpoint.buffer).setUint32(32, vout, true);
  return {
    ...common,
    outpoint: Buffer.from(outpoint).toString('hex'),
    satpoint: `${displayHash(outpoint.subarray(0, 32))}:${vout}:${satOffset}`,
  };
}

const orNull = (value: number, unknown: number): number | null => (value === unknown ? null : value);

/** Satpoint of an inscription's current location; `null` if unknown. */
export function satpointOf({ locations, gone }: StoredInscription): string | null {
  return gone ? null : (locations.at(-1)?.satpoint ?? null);
}

/** Charms as ord's `/inscription` shows them. They are the charms of the reveal and those of the current location. */
export function charmsShown({ charms: stored, locations, gone }: StoredInscription): string[] | null {
  const location = locations.at(-1);
  if (stored === null || location === undefined || gone) return null;
  const isBurned = location.script[0] === 0x6a;
  const isLost = location.place === places.lost;
  return charmNames(stored | (isBurned ? charms.burned : 0) | (isLost ? charms.lost : 0));
}
