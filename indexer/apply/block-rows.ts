import {
  charmsUnknown,
  curseUnknown,
  type LedgerBlock,
  type NewLocations,
  numberUnknown,
  places,
} from '#indexer/ledger/ledger-block.ts';
import { type BlockColumns, fieldKinds } from '#indexer/parse/block-columns.ts';
import { propertiesJson, propertiesOf } from '#indexer/parse/property-fields.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import { type CopyEncoder, type CopyTarget, encoderOf } from '#kernel/pg/copy-binary.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type InscriptionKey, trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** Tables that a batch is copied into, with their columns in the order of encoding. Derived tables are not listed. */
export const copyTargets = {
  blocks: {
    table: 'chain.blocks',
    columns:
      'height, hash, header, time, parsed_at, size_bytes, tx_count, island_height, anchored, has_spent, first_key, next_key, next_content_id, next_metadata_id, sequence, blessed, cursed, unbound, lost_sats',
  },
  contents: {
    table: 'chain.contents',
    columns: 'content_id, sha256, variant, text, body, folded, decoded_sha256, decoded_length, first_key',
  },
  metadataTexts: { table: 'chain.metadata_texts', columns: 'metadata_id, sha256, json, folded' },
  inscriptions: {
    table: 'chain.inscriptions',
    columns:
      'key, txid, index, height, tx_index, input, content_id, content_type, number, curse, charms, fee, flags, metadata_id',
  },
  details: {
    table: 'chain.inscription_details',
    columns:
      'key, content_encoding, metaprotocol, pointer, delegate, claimed_parents, metadata, properties, property_encoding, properties_json, rune, note, unknown_fields',
  },
  parents: { table: 'chain.parents', columns: 'child_key, position, parent_key, height' },
  locations: {
    table: 'chain.locations',
    columns:
      'key, height, step, place, txid, vout, sat_offset, value, script, outpoint_fingerprint, spent_height',
  },
} as const satisfies Readonly<Record<string, CopyTarget>>;
export type BatchTable = keyof typeof copyTargets;

/** Number of fields of details; their columns follow the key in this order. */
const detailKinds = 12;
const fieldKindCount = 16;
const hashLength = 32;

/** The encoders of a batch, one per table. */
export type BatchEncoders = { readonly [Table in BatchTable]: CopyEncoder };

export function createEncoders(): BatchEncoders {
  const made = Object.entries(copyTargets).map(([name, target]) => [name, encoderOf(target)]);
  return Object.fromEntries(made) as BatchEncoders;
}

/** Fields of a block's row that are in neither its columns nor the ledger's result. The writer adds them. */
export interface BlockPlace {
  readonly islandHeight: Height;
  readonly anchored: boolean;
  readonly nextContentId: number;
  readonly nextMetadataId: number;
  /** Milliseconds since 1970. */
  readonly parsedAt: number;
  /** Ids of the block's distinct contents and metadata texts. */
  readonly contentIds: Int32Array;
  readonly metadataIds: Int32Array;
  /** True if properties are rows of a derived table. Otherwise the details contain them as one JSON text. */
  readonly hasPropertyRows: boolean;
}

/** Encodes the row of a block. */
export function encodeBlock(
  out: CopyEncoder,
  block: ParsedBlock,
  ledger: LedgerBlock,
  place: BlockPlace,
): void {
  const { header, txStart } = block.columns;
  const { counters, inscriptions } = ledger;
  out.row();
  out.int4(block.ref.height);
  out.range(block.ref.hash, 0, hashLength);
  out.range(header, 0, header.length);
  out.int8(new DataView(header.buffer, header.byteOffset).getUint32(68, true));
  out.timestamptz(place.parsedAt);
  out.int4(block.bytes.length);
  out.int4(txStart.length - 1);
  out.int4(place.islandHeight);
  out.boolean(place.anchored);
  out.boolean(block.hasSpent);
  out.int4(inscriptions.firstKey);
  out.int4(counters.nextKey);
  out.int4(place.nextContentId);
  out.int4(place.nextMetadataId);
  int8OrNull(out, counters.sequence);
  int8OrNull(out, counters.blessed);
  int8OrNull(out, counters.cursed);
  int8OrNull(out, counters.unbound);
  int8OrNull(out, counters.lostSats);
}

/**
 * Encodes content `row` of the block's columns under its new id.
 *
 * @param firstKey lowest key of the inscriptions with this content; -1: no inscription has it
 */
export function encodeContent(
  out: CopyEncoder,
  columns: BlockColumns,
  row: number,
  contentId: number,
  firstKey: number,
): void {
  const { arena, contentRange, contentFolded, contentDecodedLength } = columns;
  const text = columns.contentText[row]!;
  const decodedLength = contentDecodedLength[row]!;
  out.row();
  out.int4(contentId);
  out.range(columns.contentHash, row * hashLength, hashLength);
  out.int2(columns.contentVariant[row]!);
  out.int2(text);
  out.range(arena, contentRange[row * 2]!, contentRange[row * 2 + 1]!);
  if (text === 2) out.range(arena, contentFolded[row * 2]!, contentFolded[row * 2 + 1]!);
  else out.null();
  if (decodedLength < 0) {
    out.null();
    out.null();
  } else {
    out.range(columns.contentDecodedHash, row * hashLength, hashLength);
    out.int4(decodedLength);
  }
  if (firstKey < 0) out.null();
  else out.int4(firstKey);
}

/** Encodes metadata text `row` of the block's columns under its new id. */
export function encodeMetadata(
  out: CopyEncoder,
  columns: BlockColumns,
  row: number,
  metadataId: number,
): void {
  const { arena, metadataRange, metadataFolded } = columns;
  const foldedLength = metadataFolded[row * 2 + 1]!;
  out.row();
  out.int4(metadataId);
  out.range(columns.metadataHash, row * hashLength, hashLength);
  out.range(arena, metadataRange[row * 2]!, metadataRange[row * 2 + 1]!);
  if (foldedLength > 0) out.range(arena, metadataFolded[row * 2]!, foldedLength);
  else out.null();
}

/** Encodes the new inscriptions of a block, with their details and parents. */
export function encodeInscriptions(
  encoders: BatchEncoders,
  columns: BlockColumns,
  ledger: LedgerBlock,
  place: BlockPlace,
): void {
  const out = encoders.inscriptions;
  const { inscriptions: rows, height } = ledger;
  const { arena, typeRange } = columns;
  for (let row = 0; row < rows.count; row++) {
    const envelope = rows.envelope[row]!;
    const reveal = rows.reveal[row]!;
    const type = columns.envelopeType[envelope]!;
    const fee = rows.fee[row]!;
    out.row();
    out.int4(rows.firstKey + row);
    out.range(columns.revealTxid, reveal * hashLength, hashLength);
    out.int4(rows.index[row]!);
    out.int4(height);
    out.int4(columns.revealTx[reveal]!);
    out.int4(columns.envelopeInput[envelope]!);
    idOrNull(out, place.contentIds, columns.envelopeContent[envelope]!);
    if (type < 0) out.null();
    else out.range(arena, typeRange[type * 2]!, typeRange[type * 2 + 1]!);
    if (rows.number[row] === numberUnknown) out.null();
    else out.int4(rows.number[row]!);
    if (rows.curse[row] === curseUnknown) out.null();
    else out.int2(rows.curse[row]!);
    if (rows.charms[row] === charmsUnknown) out.null();
    else out.int2(rows.charms[row]!);
    if (Number.isNaN(fee)) out.null();
    else out.int8(fee);
    out.int2(columns.envelopeFlags[envelope]!);
    idOrNull(out, place.metadataIds, columns.envelopeMetadata[envelope]!);
    encodeDetails(encoders.details, columns, envelope, trustedInscriptionKey(rows.firstKey + row), place);
  }
  encodeParents(encoders.parents, ledger);
}

function idOrNull(out: CopyEncoder, ids: Int32Array, row: number): void {
  if (row < 0) out.null();
  else out.int4(ids[row]!);
}

function int8OrNull(out: CopyEncoder, value: number | null): void {
  if (value === null) out.null();
  else out.int8(value);
}

const fieldOfKind = new Int32Array(fieldKindCount + 1);

/**
 * Encodes one row if the envelope has at least one of the rarer fields. `fieldKinds` has the numbers of these fields in
 * the order of the columns.
 */
function encodeDetails(
  out: CopyEncoder,
  columns: BlockColumns,
  envelope: number,
  key: InscriptionKey,
  { hasPropertyRows }: BlockPlace,
): void {
  const { arena, envelopeFirstField, fieldKind, fieldRange } = columns;
  const first = envelopeFirstField[envelope]!;
  const end = envelopeFirstField[envelope + 1]!;
  if (first === end) return;
  fieldOfKind.fill(-1);
  for (let field = first; field < end; field++) fieldOfKind[fieldKind[field]!] = field;
  out.row();
  out.int4(key);
  for (let kind = 1; kind <= detailKinds; kind++) {
    const field = fieldOfKind[kind]!;
    if (field < 0) out.null();
    else if (kind !== fieldKinds.attributes)
      out.range(arena, fieldRange[field * 2]!, fieldRange[field * 2 + 1]!);
    else if (hasPropertyRows) out.null();
    else encodePropertiesJson(out, columns, envelope);
  }
}

function encodePropertiesJson(out: CopyEncoder, columns: BlockColumns, envelope: number): void {
  const properties = propertiesOf(columns, envelope);
  if (properties === null) out.null();
  else out.text(propertiesJson(properties));
}

function encodeParents(out: CopyEncoder, ledger: LedgerBlock): void {
  const { firstParent, parentKey, firstKey, count } = ledger.inscriptions;
  for (let row = 0; row < count; row++) {
    const first = firstParent[row]!;
    const end = firstParent[row + 1]!;
    for (let at = first; at < end; at++) {
      out.row();
      out.int4(firstKey + row);
      out.int4(at - first);
      out.int4(parentKey[at]!);
      out.int4(ledger.height);
    }
  }
}

/**
 * Encodes the new locations of a block.
 *
 * @param ends by row: the height of the later block that spent the location; 0: not spent. `ends` null: all locations
 * are unspent
 */
export function encodeLocations(
  out: CopyEncoder,
  block: Uint8Array,
  ledger: LedgerBlock,
  ends: Int32Array | null,
): void {
  const { locations: rows, txids, height } = ledger;
  for (let row = 0; row < rows.count; row++) {
    const txid = rows.txid[row]!;
    out.row();
    out.int4(rows.key[row]!);
    out.int4(height);
    out.int4(rows.step[row]!);
    out.int2(rows.place[row]!);
    if (txid < 0) out.null();
    else out.range(txids, txid * hashLength, hashLength);
    encodeOutput(out, block, rows, row);
    const spentHeight = rows.spent[row] === 1 ? height : (ends?.[row] ?? 0);
    if (spentHeight > 0) out.int4(spentHeight);
    else out.null();
  }
}

/**
 * The stored length of an output's script, which is repeated for each inscription in the output. Every script with an
 * address (42 bytes at most) and every bare multisig of three keys (105) is stored whole; any other script is cut to
 * its beginning, which shows whether it is OP_RETURN. Without the bound, ten thousand inscriptions in one output of
 * 50 kB would make 500 MB of rows from a block of 120 kB.
 */
export const storedScriptBytesMax = 128;

function encodeOutput(out: CopyEncoder, block: Uint8Array, rows: NewLocations, row: number): void {
  const isOutput = rows.place[row] === places.output;
  if (isOutput) out.int4(rows.vout[row]!);
  else out.null();
  out.int8(rows.satOffset[row]!);
  if (!isOutput) {
    out.null();
    out.null();
    out.null();
    return;
  }
  out.int8(rows.value[row]!);
  out.range(block, rows.scriptStart[row]!, Math.min(rows.scriptLength[row]!, storedScriptBytesMax));
  out.int8Halves(rows.fingerprintHigh[row]!, rows.fingerprintLow[row]!);
}
