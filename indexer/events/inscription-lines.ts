import { charmsUnknown, type LedgerBlock, numberUnknown, places } from '#indexer/ledger/ledger-block.ts';
import { OutpointReader } from '#indexer/transaction/outpoint-reader.ts';
import type { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import {
  type InscriptionKey,
  trustedInscriptionKey,
  trustedInscriptionKeys,
} from '#kernel/primitives/inscription-key.ts';
import type { AppliedBlock } from './event-kind.ts';

const hashLength = 32;
const idLength = 36;
const none = -1;

/** Inscription events of a block: each new inscription, and each move. */
export function countInscriptionEvents({ inscriptions, left, locations }: LedgerBlock): number {
  let count = inscriptions.count + left.count;
  for (let row = 0; row < locations.count; row++) count += locations.spent[row]!;
  return count;
}

/**
 * Writes the lines of a block's text (docs/events.md) from the ledger's result. Pure except for `out`.
 * chain/events/inscription-texts.queries.ts makes the same lines from the tables.
 */
export function writeInscriptionLines(out: EventTextWriter, applied: AppliedBlock): void {
  const pass = new EventPass(out, applied);
  for (const row of inOrder(applied.ledger)) pass.locate(row);
  pass.writeUnknown();
}

/** Rows of the locations by step, then by key. The ledger wrote them by step, then by position. */
function inOrder({ locations: { count, step, key } }: LedgerBlock): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, row) => row);
  for (let start = 0; start < count; ) {
    let end = start + 1;
    let isSorted = true;
    while (end < count && step[end] === step[start]) {
      if (key[end]! < key[end - 1]!) isSorted = false;
      end++;
    }
    if (!isSorted) order.subarray(start, end).sort((a, b) => key[a]! - key[b]!);
    start = end;
  }
  return order;
}

/** The state of one block while its events are written: the last location of each of its inscriptions. */
class EventPass {
  readonly #out: EventTextWriter;
  readonly #applied: AppliedBlock;
  /** The latest location row of each new inscription. `#lastOfHeld` is the same for held inscriptions. */
  readonly #lastOfNew: Int32Array;
  readonly #lastOfHeld: Int32Array;
  readonly #heldOfKey = new Map<InscriptionKey, number>();
  readonly #heldIds: DataView;
  /** Offset in the block of each held inscription's outpoint. */
  readonly #heldOutpoint: Uint32Array;
  readonly #blockView: DataView;

  constructor(out: EventTextWriter, applied: AppliedBlock) {
    this.#out = out;
    this.#applied = applied;
    const { held, ledger, block } = applied;
    this.#lastOfNew = new Int32Array(ledger.inscriptions.count).fill(none);
    this.#lastOfHeld = new Int32Array(held.count).fill(none);
    this.#heldOutpoint = new Uint32Array(held.count);
    const outpoints = new OutpointReader(block);
    for (let row = 0; row < held.count; row++) {
      this.#heldOfKey.set(trustedInscriptionKey(held.key[row]!), row);
      this.#heldOutpoint[row] = outpoints.at(held.input[row]!);
    }
    this.#heldIds = new DataView(held.id.buffer, held.id.byteOffset, held.id.byteLength);
    this.#blockView = new DataView(block.bytes.buffer, block.bytes.byteOffset, block.bytes.byteLength);
  }

  /** Writes the event of a location row. */
  locate(row: number): void {
    const { locations, inscriptions } = this.#applied.ledger;
    const key = trustedInscriptionKey(locations.key[row]!);
    const isNew = key >= inscriptions.firstKey;
    const subject = isNew ? key - inscriptions.firstKey : (this.#heldOfKey.get(key) as number);
    const last = isNew ? this.#lastOfNew : this.#lastOfHeld;
    const before = last[subject]!;
    last[subject] = row;
    if (isNew && before === none) this.#created(subject, row);
    else this.#transferred(key, before, row);
  }

  /**
   * Writes, by key, the events whose end is unknown: new inscriptions without a location, and moved inscriptions
   * without a new location.
   */
  writeUnknown(): void {
    const { locations, inscriptions } = this.#applied.ledger;
    const { held } = this.#applied;
    const isGone = (row: number): boolean => row === none || locations.spent[row] === 1;
    const gone = trustedInscriptionKeys(held.key)
      .filter((_, row) => isGone(this.#lastOfHeld[row]!))
      .sort((a, b) => a - b);
    for (const key of gone)
      this.#transferred(key, this.#lastOfHeld[this.#heldOfKey.get(key) as number]!, none);
    for (let row = 0; row < inscriptions.count; row++) {
      const last = this.#lastOfNew[row]!;
      if (last === none) this.#created(row, none);
      else if (locations.spent[last] === 1)
        this.#transferred(trustedInscriptionKey(inscriptions.firstKey + row), last, none);
    }
  }

  #created(row: number, location: number): void {
    const out = this.#out;
    const applied = this.#applied;
    const { inscriptions } = applied.ledger;
    const number = inscriptions.number[row]!;
    const charms = inscriptions.charms[row]!;
    out.created(
      applied.block.columns.revealTxid,
      inscriptions.reveal[row]! * hashLength,
      inscriptions.index[row]!,
      this.#sequenceOf(trustedInscriptionKey(inscriptions.firstKey + row)),
      number === numberUnknown ? null : number,
      charms === charmsUnknown ? null : charms,
    );
    this.#location(location);
    out.next();
    this.#parents(row);
    out.endLine();
  }

  #parents(row: number): void {
    const out = this.#out;
    const { firstParent, parentKey, parentsKnown } = this.#applied.ledger.inscriptions;
    const first = firstParent[row]!;
    const end = firstParent[row + 1]!;
    if (parentsKnown[row] !== 1) out.unknown();
    else if (first === end) out.none();
    for (let at = first; at < end; at++) {
      const key = trustedInscriptionKey(parentKey[at]!);
      out.parent(at - first, this.#txidsOf(key), this.#txidAtOf(key), this.#indexOf(key));
    }
  }

  /** @param before previous location: a row of this block, or `none` for the output that the block's input spends */
  #transferred(key: InscriptionKey, before: number, row: number): void {
    const out = this.#out;
    const applied = this.#applied;
    out.transferred(this.#txidsOf(key), this.#txidAtOf(key), this.#indexOf(key), this.#sequenceOf(key));
    if (before === none) {
      const held = this.#heldOfKey.get(key) as number;
      const at = this.#heldOutpoint[held]!;
      const vout = this.#blockView.getUint32(at + hashLength, true);
      out.inOutput(applied.block.bytes, at, vout, applied.held.satOffset[held]!);
    } else {
      this.#location(before);
    }
    out.next();
    this.#location(row);
    out.endLine();
  }

  #location(row: number): void {
    const out = this.#out;
    const { locations, txids } = this.#applied.ledger;
    if (row === none) {
      out.unknown();
    } else if (locations.place[row] === places.output) {
      const txid = locations.txid[row]!;
      const key = trustedInscriptionKey(locations.key[row]!);
      const vout = locations.vout[row]!;
      const satOffset = locations.satOffset[row]!;
      if (txid < 0) out.inOutput(this.#txidsOf(key), this.#txidAtOf(key), vout, satOffset);
      else out.inOutput(txids, txid * hashLength, vout, satOffset);
    } else if (locations.place[row] === places.lost) {
      out.lost();
    } else {
      out.none();
    }
  }

  /**
   * Sequence number of an inscription. On unanchored chains only numbers of the block itself can be known. Older
   * numbers are not looked up.
   */
  #sequenceOf(key: InscriptionKey): number | null {
    const { isKnown, ledger, block } = this.#applied;
    if (isKnown) return key;
    const { firstKey, count } = ledger.inscriptions;
    const { sequence, nextKey } = ledger.counters;
    if (sequence === null || key < firstKey || !(block.hasSpent || count === 1)) return null;
    return sequence - nextKey + key;
  }

  #isNew(key: InscriptionKey): boolean {
    return key >= this.#applied.ledger.inscriptions.firstKey;
  }

  #txidsOf(key: InscriptionKey): Uint8Array {
    return this.#isNew(key) ? this.#applied.block.columns.revealTxid : this.#applied.held.id;
  }

  #txidAtOf(key: InscriptionKey): number {
    if (!this.#isNew(key)) return (this.#heldOfKey.get(key) as number) * idLength;
    const { reveal, firstKey } = this.#applied.ledger.inscriptions;
    return reveal[key - firstKey]! * hashLength;
  }

  #indexOf(key: InscriptionKey): number {
    const { index, firstKey } = this.#applied.ledger.inscriptions;
    if (this.#isNew(key)) return index[key - firstKey]!;
    return this.#heldIds.getUint32((this.#heldOfKey.get(key) as number) * idLength + hashLength, true);
  }
}
