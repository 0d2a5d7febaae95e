import { strict as assert } from 'node:assert';
import type { DerivedChain } from '#indexer/derived/derived-table.ts';
import { writeBlockEvents } from '#indexer/events/block-events.ts';
import type { AppliedBlock, EventKind, LedgerEvents } from '#indexer/events/event-kind.ts';
import { applyBlock } from '#indexer/ledger/inscriptions/apply-block.ts';
import { type HeldInscriptions, type LedgerBlock, places } from '#indexer/ledger/ledger-block.ts';
import { type BlockColumns, blockFlags } from '#indexer/parse/block-columns.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { Island } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type InscriptionKey, trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Laps } from '#kernel/stages/span.ts';
import type { Batch } from './batch.ts';
import { encodeBlock, encodeContent, encodeInscriptions, encodeMetadata } from './block-rows.ts';
import { type ChainPosition, enterBlock } from './chain-position.ts';
import type { HashTable } from './memory/hash-table.ts';
import { anyInput, type HeldSource, heldByBlock, holdSpent } from './memory/held-lookup.ts';
import type { HeldOutputs } from './memory/held-outputs.ts';

const hashLength = 32;
const idLength = 36;

/** Settings shared by all blocks of a chain. */
export interface ChainFacts extends DerivedChain {
  readonly islands: readonly Island[];
  readonly eventKinds: readonly EventKind[];
  /** Selects the blocks that keep the texts of their events in the outbox (docs/events.md). Absent: all blocks. */
  readonly eventTexts?: EventTextBounds;
}

export interface EventTextBounds {
  /** Number of newest blocks that keep their texts. */
  readonly keepBlocks: number;
  /**
   * The highest known block of the source. A first load neither makes nor stores the texts of blocks more than
   * `keepBlocks` below it.
   */
  readonly tipHeight: () => number;
}

/** Answers about a block, found before it is applied. */
export interface BlockAnswers {
  /** The id of each of the block's distinct contents. -1: the content is new in this batch. */
  readonly contents: Int32Array;
  readonly metadata: Int32Array;
  /** Sources of outputs that earlier blocks made: committed, being written, or in this batch. */
  readonly held: readonly HeldSource[];
  /** Outputs that earlier blocks spent. Null if the source of the block has already checked its spends. */
  readonly ended: readonly HeldOutputs[] | null;
}

/**
 * Applies one block to the ledger and appends its rows to the batch. Throws the ledger's errors, `block_not_linked` or
 * `block_corrupt`; the batch is then unchanged. Any other error is an internal fault and makes the batch unusable. The
 * block must stay as it is until `endBatch`.
 */
export function addToBatch(
  batch: Batch,
  block: ParsedBlock,
  answers: BlockAnswers,
  facts: ChainFacts,
  laps?: Laps,
): void {
  const { columns, ref } = block;
  refuseImpossible(block);
  batch.derived.refuse(ref, batch.after.tip);
  const position = enterBlock(batch.after, ref, columns.header, facts.islands, facts.network);
  if (answers.ended !== null) refuseDoubleSpend(block, [...answers.ended, batch.ended]);
  const held = heldByBlock(block, [...answers.held, anyInput(batch.outputs)]);
  const ledger = applyBlock({
    height: ref.height,
    network: facts.network,
    columns,
    block: block.bytes,
    fingerprintKey: facts.fingerprintKey,
    hasSpent: block.hasSpent,
    countsLostSats: batch.derived.countsLostSats(ref.height),
    anchored: position.anchored,
    counters: position.counters,
    held,
  });
  laps?.lap('ledger', { bytes: block.bytes.length, rows: ledger.inscriptions.count });

  batch.isTorn = true;
  const { encoders } = batch;
  const { nextContentId, nextMetadataId } = encodeTexts(batch, columns, ledger, answers, position);
  const place = {
    islandHeight: position.islandHeight,
    anchored: position.anchored,
    nextContentId,
    nextMetadataId,
    parsedAt: Date.now(),
    contentIds: answers.contents,
    metadataIds: answers.metadata,
    hasPropertyRows: batch.derived.hasProperties(ref.height),
  };
  encodeBlock(encoders.blocks, block, ledger, place);
  encodeInscriptions(encoders, columns, ledger, place);
  batch.locations.add(ledger, block.bytes);
  batch.derived.add({ block, ledger, held, isUnchecked: answers.ended !== null });
  laps?.lap('encode');
  const isKnown = position.anchored && ledger.anchored;
  const eventsOfTables = (kind: EventKind): LedgerEvents | null => batch.derived.eventsOf(kind);
  addEvents(batch, { block, ledger, held, isKnown, eventsOfTables }, facts);
  laps?.lap('outbox, texts');
  leave(batch, ledger);
  holdOutputs(batch.outputs, answers.ended === null ? null : batch.ended, block, ledger, held);
  if (answers.ended !== null) holdSpent(batch.ended, block, held);
  batch.ledgers.push(ledger);
  batch.bytes += block.bytes.length;
  batch.after = {
    tip: ref,
    islandHeight: position.islandHeight,
    anchored: ledger.anchored,
    counters: ledger.counters,
    nextContentId,
    nextMetadataId,
  };
  batch.isTorn = false;
  laps?.lap('ledger, held outputs');
}

/** Gives ids to the block's new contents and metadata, and writes their rows. */
function encodeTexts(
  { encoders, contents, metadata }: Batch,
  columns: BlockColumns,
  ledger: LedgerBlock,
  answers: BlockAnswers,
  { nextContentId, nextMetadataId }: ChainPosition,
): Pick<ChainPosition, 'nextContentId' | 'nextMetadataId'> {
  // below the first height of inscriptions envelopes are not inscriptions, and their content is not stored
  if (ledger.inscriptions.count === 0) return { nextContentId, nextMetadataId };
  const firstKeys = firstKeysOf(columns, ledger);
  return {
    nextContentId: giveIds(
      answers.contents,
      contents,
      columns.contentHash,
      columns.contentVariant,
      nextContentId,
      (row, id) => encodeContent(encoders.contents, columns, row, id, firstKeys[row]!),
    ),
    nextMetadataId: giveIds(
      answers.metadata,
      metadata,
      columns.metadataHash,
      null,
      nextMetadataId,
      (row, id) => encodeMetadata(encoders.metadataTexts, columns, row, id),
    ),
  };
}

/** Completes the rows of a batch. No block may be added afterwards, and the bytes of its blocks must still exist. */
export function endBatch(batch: Batch): void {
  batch.locations.encode(batch.encoders.locations);
  batch.derived.end();
}

/** Lowest key of the new inscriptions of each content of a block. -1: no inscription has the content. */
function firstKeysOf(columns: BlockColumns, { inscriptions }: LedgerBlock): Int32Array {
  const firstKeys = new Int32Array(columns.contentVariant.length).fill(-1);
  // iterate backwards, so that the lowest key is written last
  for (let row = inscriptions.count - 1; row >= 0; row--) {
    const content = columns.envelopeContent[inscriptions.envelope[row]!]!;
    if (content >= 0) firstKeys[content] = inscriptions.firstKey + row;
  }
  return firstKeys;
}

/** Shared by all batches, for one block at a time. */
const eventText = new EventTextWriter();

function addEvents(
  batch: Batch,
  applied: AppliedBlock,
  { network, eventKinds, eventTexts }: ChainFacts,
): void {
  const { height } = applied.block.ref;
  const isKept = eventTexts === undefined || height > eventTexts.tipHeight() - eventTexts.keepBlocks;
  if (eventTexts !== undefined) batch.keptEventBlocks = eventTexts.keepBlocks;
  batch.events.push(writeBlockEvents(eventText, eventKinds, network, applied, isKept));
}

function refuseImpossible({ columns, ref }: ParsedBlock): void {
  if ((columns.blockFlags[0]! & blockFlags.valueOutOfRange) === 0) return;
  const hash = displayHash(ref.hash);
  throw new AppError('block_corrupt', `Block ${ref.height} ${hash} has outputs above the maximum supply.`, {
    height: ref.height,
    hash,
  });
}

function refuseDoubleSpend(block: ParsedBlock, ended: readonly HeldOutputs[]): void {
  const { count, key } = heldByBlock(block, ended.map(anyInput));
  if (count === 0) return;
  const { height } = block.ref;
  const hash = displayHash(block.ref.hash);
  throw new AppError(
    'block_corrupt',
    `Block ${height} ${hash} spends an output that an earlier block already spent (inscription ${key[0]}).`,
    { height, hash },
  );
}

/** Assigns ids, in order, to the hashes of a block that have no id, and calls back for each new hash. */
function giveIds(
  ids: Int32Array,
  table: HashTable,
  hashes: Uint8Array,
  variants: Uint8Array | null,
  nextId: number,
  write: (row: number, id: number) => void,
): number {
  for (let row = 0; row < ids.length; row++) {
    if (ids[row]! >= 0) continue;
    const at = row * hashLength;
    const variant = variants === null ? 0 : variants[row]!;
    let id = table.find(hashes, at, variant);
    if (id < 0) {
      id = nextId++;
      table.add(hashes, at, variant, id);
      write(row, id);
    }
    ids[row] = id;
  }
  return nextId;
}

/** Ends the locations that a block spends, within this batch, or by an UPDATE of rows of earlier batches. */
function leave(batch: Batch, { left, height }: LedgerBlock): void {
  for (let row = 0; row < left.count; row++) {
    const key = trustedInscriptionKey(left.key[row]!);
    const madeAt = left.height[row]!;
    const step = left.step[row]!;
    if (batch.locations.end(key, madeAt, step, height)) continue;
    batch.left.key.push(key);
    batch.left.height.push(madeAt);
    batch.left.step.push(step);
    batch.left.spentHeight.push(height);
  }
}

/** The identity of an inscription: its txid (32 bytes), its index and its curse. */
interface Identity {
  readonly txids: Uint8Array;
  readonly at: number;
  readonly index: number;
  readonly curse: number;
}

/**
 * Stores the outputs that the block made and left unspent, for later blocks that are applied before its commit. Also
 * stores outputs that it spent.
 */
function holdOutputs(
  outputs: HeldOutputs,
  ended: HeldOutputs | null,
  block: ParsedBlock,
  ledger: LedgerBlock,
  held: HeldInscriptions,
): void {
  const { locations: rows, txids, height } = ledger;
  const identify = identities(block, ledger, held);
  for (let row = 0; row < rows.count; row++) {
    const into = rows.spent[row] === 1 ? ended : outputs;
    if (rows.place[row] !== places.output || into === null) continue;
    const key = trustedInscriptionKey(rows.key[row]!);
    const { txids: idTxids, at: idTxidAt, index: idIndex, curse } = identify(key);
    const txid = rows.txid[row]!;
    // -1 means that the output is in the reveal transaction
    const isReveal = txid < 0;
    into.add({
      fingerprintLow: rows.fingerprintLow[row]!,
      fingerprintHigh: rows.fingerprintHigh[row]!,
      key,
      height,
      step: rows.step[row]!,
      satOffset: rows.satOffset[row]!,
      txids: isReveal ? idTxids : txids,
      txidAt: isReveal ? idTxidAt : txid * hashLength,
      vout: rows.vout[row]!,
      idTxids,
      idTxidAt,
      idIndex,
      curse,
    });
  }
}

/** Returns a function that gives the identity of a key that the block made or moved. */
function identities(
  { columns }: ParsedBlock,
  { inscriptions }: LedgerBlock,
  held: HeldInscriptions,
): (key: InscriptionKey) => Identity {
  const rowOfKey = new Map<InscriptionKey, number>();
  for (let row = 0; row < held.count; row++) rowOfKey.set(trustedInscriptionKey(held.key[row]!), row);
  const ids = new DataView(held.id.buffer, held.id.byteOffset);
  return (key) => {
    const row = key - inscriptions.firstKey;
    if (row >= 0) {
      return {
        txids: columns.revealTxid,
        at: inscriptions.reveal[row]! * hashLength,
        index: inscriptions.index[row]!,
        curse: inscriptions.curse[row]!,
      };
    }
    const heldRow = rowOfKey.get(key);
    assert(heldRow !== undefined, 'a block moved an inscription that none of its inputs held');
    return {
      txids: held.id,
      at: heldRow * idLength,
      index: ids.getUint32(heldRow * idLength + hashLength, true),
      curse: held.curse[heldRow]!,
    };
  };
}
