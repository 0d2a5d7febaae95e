import type pg from 'pg';
import { curseUnknown } from '#indexer/ledger/ledger-block.ts';
import type { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { storedFingerprint } from '#indexer/transaction/outpoint-fingerprint.ts';
import { OutpointReader } from '#indexer/transaction/outpoint-reader.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { type ContentRegistry, unknownId } from './memory/content-registry.ts';
import { HashTable } from './memory/hash-table.ts';
import { HeldOutputs } from './memory/held-outputs.ts';
import type { WriterMemory } from './memory/writer-memory.ts';
import { ensureSecondaryIndexes, type SecondaryIndexName } from './secondary-indexes.ts';

const hashLength = 32;

/** The writer's answers about the blocks of a batch, found before the first block is applied. */
export interface BatchAnswers {
  /** For each block: the ids of its distinct contents, or `unknownId.absent`. */
  readonly contents: readonly Int32Array[];
  readonly metadata: readonly Int32Array[];
  /** For each block: the inputs that may spend a committed output with inscriptions. */
  readonly inputs: readonly Uint32Array[];
  /** Committed locations, from memory and the database, that are in outputs which the blocks may spend. */
  readonly held: HeldOutputs;
  /**
   * Committed and already spent locations that are in outputs which the blocks may spend. Null if double spends are not
   * checked.
   */
  readonly ended: HeldOutputs | null;
}

interface Asked {
  readonly hashes: Buffer[];
  /** For each block: the id of each of its hashes, or an `unknownId`. */
  readonly ids: Int32Array[];
}

/**
 * Queries the database about contents, metadata texts and spent outputs of a batch that are not in memory: one query
 * per kind. All of memory is probed before the first wait, so commits in the meantime change neither the answers nor
 * the questions.
 */
export class BatchQuestions {
  readonly #client: pg.ClientBase;
  readonly #memory: WriterMemory;
  readonly #indexed = new Set<SecondaryIndexName>();

  constructor(client: pg.ClientBase, memory: WriterMemory) {
    this.#client = client;
    this.#memory = memory;
  }

  async ask(blocks: readonly ParsedBlock[]): Promise<BatchAnswers> {
    const { contents, metadata, recent } = this.#memory;
    const askedContents = probe(
      contents,
      blocks.map(({ columns }) => [columns.contentHash, columns.contentVariant]),
    );
    const askedMetadata = probe(
      metadata,
      blocks.map(({ columns }) => [columns.metadataHash, null]),
    );
    const inputs = blocks.map((block) => inputsAmong(this.#memory.tracked, block));
    // copy the rows: the newest outputs may be dropped while these blocks are applied
    const held = new HeldOutputs();
    const fingerprints = blocks.flatMap((block, at) =>
      fingerprintsOf(block, inputs[at]!, (low, high, outpoint) =>
        recent.find(held, low, high, block.bytes, outpoint),
      ),
    );
    const { spent } = this.#memory;
    const suspects =
      spent === null
        ? null
        : blocks.flatMap((block) => fingerprintsOf(block, inputsAmong(spent, block), () => false));
    const contentIds = await this.#find(
      askedContents.hashes,
      'contents_sha256',
      'SELECT sha256, variant, content_id AS id FROM chain.contents WHERE sha256 = ANY($1)',
    );
    const metadataIds = await this.#find(
      askedMetadata.hashes,
      'metadata_texts_sha256',
      'SELECT sha256, 0 AS variant, metadata_id AS id FROM chain.metadata_texts WHERE sha256 = ANY($1)',
    );
    await this.#addOutputs(held, fingerprints, 'locations_outpoint', 'IS NULL');
    // no index supports this query, so it runs only if a block may spend an output that was already spent
    let ended: HeldOutputs | null = null;
    if (suspects !== null) {
      ended = new HeldOutputs();
      await this.#addOutputs(ended, suspects, null, 'IS NOT NULL');
    }
    blocks.forEach(({ columns }, index) => {
      settle(contents, contentIds, askedContents.ids[index], columns.contentHash, columns.contentVariant);
      settle(metadata, metadataIds, askedMetadata.ids[index], columns.metadataHash, null);
    });
    return { contents: askedContents.ids, metadata: askedMetadata.ids, inputs, held, ended };
  }

  async #find(hashes: readonly Buffer[], index: SecondaryIndexName, query: string): Promise<HashTable> {
    const table = new HashTable();
    if (hashes.length === 0) return table;
    await this.#ensureIndex(index);
    const { rows } = await this.#client.query<{ sha256: Buffer; variant: number; id: number }>(query, [
      hashes,
    ]);
    for (const { sha256, variant, id } of rows) table.add(sha256, 0, variant, id);
    return table;
  }

  async #addOutputs(
    held: HeldOutputs,
    fingerprints: readonly string[],
    index: SecondaryIndexName | null,
    spent: 'IS NULL' | 'IS NOT NULL',
  ): Promise<void> {
    if (fingerprints.length === 0) return;
    if (index !== null) await this.#ensureIndex(index);
    const { rows } = await this.#client.query<HeldQueryRow>(
      `SELECT ${heldColumns} FROM chain.locations l JOIN chain.inscriptions i ON i.key = l.key
       WHERE l.outpoint_fingerprint = ANY($1::bigint[]) AND l.spent_height ${spent}`,
      [fingerprints],
    );
    for (const row of rows) addHeld(held, row);
  }

  /** Builds an index just before its first use. A first bulk load builds all other indexes at its end. */
  async #ensureIndex(index: SecondaryIndexName): Promise<void> {
    if (this.#indexed.has(index)) return;
    await ensureSecondaryIndexes(this.#client, { wanted: [index] });
    this.#indexed.add(index);
  }
}

/** Inputs of a block that may spend one of these outputs. */
function inputsAmong(outputs: TrackedOutputs, { columns }: ParsedBlock): Uint32Array {
  const { inputFingerprintLow, inputFingerprintHigh } = columns;
  const inputs: number[] = [];
  if (outputs.size === 0) return new Uint32Array(0);
  for (let input = 0; input < inputFingerprintLow.length; input++) {
    if (outputs.has(inputFingerprintLow[input]!, inputFingerprintHigh[input]!)) inputs.push(input);
  }
  return Uint32Array.from(inputs);
}

/**
 * Fingerprints of the outputs that the inputs spend, except known outputs. `outpoint` returns the offset of an outpoint
 * in the block.
 */
function fingerprintsOf(
  block: ParsedBlock,
  inputs: Uint32Array,
  isKnown: (low: number, high: number, outpoint: number) => boolean,
): string[] {
  const { inputFingerprintLow, inputFingerprintHigh } = block.columns;
  const outpoints = new OutpointReader(block);
  const fingerprints: string[] = [];
  for (const input of inputs) {
    const low = inputFingerprintLow[input]!;
    const high = inputFingerprintHigh[input]!;
    if (isKnown(low, high, outpoints.at(input))) continue;
    fingerprints.push(storedFingerprint(low, high));
  }
  return fingerprints;
}

/** SQL: the columns of `HeldQueryRow`, selected from locations `l` and inscriptions `i`. */
export const heldColumns = `l.outpoint_fingerprint::text AS fingerprint, l.key, l.height, l.step, l.sat_offset, l.vout,
  coalesce(l.txid, i.txid) AS txid, i.txid AS id_txid, i.index AS id_index, i.curse`;

export interface HeldQueryRow {
  fingerprint: string;
  key: InscriptionKey;
  height: Height;
  step: number;
  sat_offset: number;
  vout: number;
  txid: Txid;
  id_txid: Txid;
  id_index: number;
  curse: number | null;
}

/** Adds a location that the database returned. */
export function addHeld(held: HeldOutputs, row: HeldQueryRow): void {
  const bits = BigInt.asUintN(64, BigInt(row.fingerprint));
  held.add({
    fingerprintLow: Number(bits & 0xffff_ffffn),
    fingerprintHigh: Number(bits >> 32n),
    key: row.key,
    height: row.height,
    step: row.step,
    satOffset: row.sat_offset,
    txids: row.txid,
    txidAt: 0,
    vout: row.vout,
    idTxids: row.id_txid,
    idTxidAt: 0,
    idIndex: row.id_index,
    curse: row.curse ?? curseUnknown,
  });
}

function probe(
  registry: ContentRegistry,
  blocks: readonly (readonly [hashes: Uint8Array, variants: Uint8Array | null])[],
): Asked {
  const asked: Asked = { hashes: [], ids: [] };
  for (const [hashes, variants] of blocks) {
    const ids = new Int32Array(hashes.length / hashLength);
    for (let row = 0; row < ids.length; row++) {
      const at = row * hashLength;
      const id = registry.probe(hashes, at, variants === null ? 0 : variants[row]!);
      ids[row] = id;
      if (id === unknownId.ask) asked.hashes.push(Buffer.from(hashes.subarray(at, at + hashLength)));
    }
    asked.ids.push(ids);
  }
  return asked;
}

/** Stores the ids that the database returned at the indexes of their hashes. */
function settle(
  registry: ContentRegistry,
  found: HashTable,
  ids: Int32Array | undefined,
  hashes: Uint8Array,
  variants: Uint8Array | null,
): void {
  if (ids === undefined) return;
  for (let row = 0; row < ids.length; row++) {
    if (ids[row] !== unknownId.ask) continue;
    const variant = variants === null ? 0 : variants[row]!;
    const id = found.find(hashes, row * hashLength, variant);
    ids[row] = id < 0 ? unknownId.absent : id;
    // another block of the batch may have asked for the same hash
    if (id >= 0 && registry.probe(hashes, row * hashLength, variant) < 0)
      registry.keep(hashes, row * hashLength, variant, id);
  }
}
