import { storedScriptBytesMax } from '#indexer/apply/block-rows.ts';
import { isUnbound, revealOffset } from '#indexer/ledger/inscriptions/place-rules.ts';
import { fieldKinds } from '#indexer/parse/block-columns.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { TransactionBatch, TransactionOutput } from '../stream/transaction-batch.ts';
import { inputOffsets, type PlacedInscription, pendingPlaces, placeAt } from './pending-place.ts';

/** The 36 bytes of an inscription's id or of an outpoint (txid, index little endian) as latin-1 text, for maps. */
export type PackedId = string;

/** An inscription in an output, with its offset there. */
export interface Holding {
  readonly inscription: PackedId;
  /**
   * Key, used only for the order of an output's inscriptions: an undo may change it. Null: the inscription is pending.
   */
  readonly key: InscriptionKey | null;
  readonly satOffset: number;
}

/** An output that holds indexed or pending inscriptions. */
export interface HeldOutput {
  /** Outpoint of 36 bytes: txid, then index in little endian. */
  readonly outpoint: Uint8Array;
  readonly value: Sats;
  readonly script: Uint8Array;
  readonly holdings: readonly Holding[];
}

/** The known facts of a transaction's inputs, in their order. */
export interface InputFacts {
  readonly held: HeldOutput | null;
  /** Value in sats. Null: unknown. */
  readonly value: Sats | null;
}

/** A row of chain.mempool_inscriptions, without the columns of its transaction. */
export interface PendingInscription {
  readonly index: number;
  readonly input: number;
  readonly contentType: Buffer | null;
  readonly content: {
    readonly sha256: Buffer;
    readonly variant: number;
    readonly text: number;
    readonly body: Buffer;
    readonly folded: Buffer | null;
    readonly decodedSha256: Buffer | null;
    readonly decodedLength: number | null;
  } | null;
  readonly metadataJson: Buffer | null;
  readonly metadataFolded: Buffer | null;
  readonly contentEncoding: Buffer | null;
  readonly metaprotocol: Buffer | null;
  readonly delegate: Buffer | null;
  readonly claimedParents: Buffer | null;
  /** Texts of its properties that searches read, as in chain.properties, and the ids of its gallery. Null: no texts. */
  readonly title: Buffer | null;
  readonly traits: Buffer | null;
  readonly gallery: Buffer | null;
  readonly placed: PlacedInscription;
}

/** A row of chain.mempool_transfers. */
export interface PendingTransfer {
  readonly inscription: PackedId;
  readonly input: number;
  readonly from: HeldOutput;
  readonly fromOffset: number;
  readonly placed: PlacedInscription;
}

export interface PendingMoves {
  readonly inscriptions: readonly PendingInscription[];
  readonly transfers: readonly PendingTransfer[];
  /** Outputs that will hold inscriptions; a later transaction may spend them. */
  readonly made: readonly HeldOutput[];
}

export function packedId(txid: Txid, index: number): PackedId {
  const id = Buffer.alloc(36);
  id.set(txid);
  id.writeUInt32LE(index, 32);
  return id.toString('latin1');
}

/**
 * Number of inputs whose values are needed: all inputs up to the last input that holds or reveals an inscription. 0:
 * none.
 */
export function inputValuesNeeded(
  batch: TransactionBatch,
  tx: number,
  held: readonly (HeldOutput | null)[],
): number {
  let needed = 0;
  held.forEach((output, input) => {
    if (output !== null) needed = Math.max(needed, input);
  });
  const { first, end } = envelopesOf(batch, tx);
  for (let envelope = first; envelope < end; envelope++) {
    needed = Math.max(needed, batch.columns.envelopeInput[envelope]!);
  }
  return needed;
}

/**
 * Reveals and moves of a pending transaction by the rules of blocks, as far as the transaction alone decides this.
 * Pure.
 */
export function movesOf(batch: TransactionBatch, tx: number, inputs: readonly InputFacts[]): PendingMoves {
  const outputs = batch.outputs(tx);
  const txid = batch.txid(tx);
  const offsets = inputOffsets(inputs.map(({ value }) => value));
  const made = new Map<number, { output: TransactionOutput; holdings: Holding[] }>();
  const put = (
    holding: Pick<Holding, 'inscription' | 'key'>,
    { output, satOffset }: PlacedInscription,
  ): void => {
    if (output === null || satOffset === null) return;
    const there = made.get(output.vout) ?? { output, holdings: [] };
    there.holdings.push({ ...holding, satOffset });
    made.set(output.vout, there);
  };
  const transfers = inputs.flatMap(({ held }, input) =>
    (held?.holdings ?? []).map(({ inscription, key, satOffset }): PendingTransfer => {
      const start = offsets[input] ?? null;
      const placed = placeAt(start === null ? null : start + satOffset, outputs);
      put({ inscription, key }, placed);
      return { inscription, input, from: held as HeldOutput, fromOffset: satOffset, placed };
    }),
  );
  const inscriptions = inscriptionsOf(batch, tx, outputs, inputs, offsets);
  for (const { index, placed } of inscriptions)
    put({ inscription: packedId(txid, index), key: null }, placed);
  return {
    inscriptions,
    transfers,
    made: Array.from(made.values(), ({ output, holdings }) => ({
      outpoint: Buffer.from(packedId(txid, output.vout), 'latin1'),
      value: output.value,
      script: storedScript(output.script),
      holdings: holdings.toSorted(byKey),
    })),
  };
}

/**
 * Orders the inscriptions of an output as a block does. Pending inscriptions come last, because they will have higher
 * keys than indexed ones.
 */
const byKey = (a: Holding, b: Holding): number =>
  (a.key ?? Number.MAX_SAFE_INTEGER) - (b.key ?? Number.MAX_SAFE_INTEGER);

/** A script as stored in chain.locations: whole if it has an address, otherwise cut to its beginning. */
export const storedScript = (script: Uint8Array): Buffer =>
  Buffer.from(script.subarray(0, storedScriptBytesMax));

function envelopesOf(batch: TransactionBatch, tx: number): { first: number; end: number } {
  const reveal = batch.reveal(tx);
  const { revealFirstEnvelope } = batch.columns;
  if (reveal < 0) return { first: 0, end: 0 };
  return { first: revealFirstEnvelope[reveal]!, end: revealFirstEnvelope[reveal + 1]! };
}

function inscriptionsOf(
  batch: TransactionBatch,
  tx: number,
  outputs: readonly TransactionOutput[],
  inputs: readonly InputFacts[],
  offsets: readonly (number | null)[],
): PendingInscription[] {
  const { columns } = batch;
  const { first, end } = envelopesOf(batch, tx);
  const rows: PendingInscription[] = [];
  for (let envelope = first; envelope < end; envelope++) {
    const input = columns.envelopeInput[envelope]!;
    const type = columns.envelopeType[envelope]!;
    const metadata = columns.envelopeMetadata[envelope]!;
    rows.push({
      index: envelope - first,
      input,
      contentType: type < 0 ? null : range(batch, columns.typeRange, type),
      content: contentOf(batch, columns.envelopeContent[envelope]!),
      metadataJson: metadata < 0 ? null : range(batch, columns.metadataRange, metadata),
      metadataFolded: metadata < 0 ? null : foldedRange(batch, columns.metadataFolded, metadata),
      ...namedFields(batch, envelope),
      placed: placeOfEnvelope(
        batch,
        tx,
        envelope,
        outputs,
        inputs[input]?.value ?? null,
        offsets[input] ?? null,
      ),
    });
  }
  return rows;
}

type NamedField =
  | 'contentEncoding'
  | 'metaprotocol'
  | 'delegate'
  | 'claimedParents'
  | 'title'
  | 'traits'
  | 'gallery';

function namedFields(batch: TransactionBatch, envelope: number): Pick<PendingInscription, NamedField> {
  const fields = fieldsOf(batch, envelope);
  return {
    contentEncoding: fields.get(fieldKinds.contentEncoding) ?? null,
    metaprotocol: fields.get(fieldKinds.metaprotocol) ?? null,
    delegate: fields.get(fieldKinds.delegate) ?? null,
    claimedParents: fields.get(fieldKinds.claimedParents) ?? null,
    title: fields.get(fieldKinds.searchedTitle) ?? null,
    traits: fields.get(fieldKinds.searchedTraits) ?? null,
    gallery: fields.get(fieldKinds.galleryIds) ?? null,
  };
}

function placeOfEnvelope(
  batch: TransactionBatch,
  tx: number,
  envelope: number,
  outputs: readonly TransactionOutput[],
  inputValue: Sats | null,
  inputOffset: number | null,
): PlacedInscription {
  const { columns } = batch;
  const flags = columns.envelopeFlags[envelope]!;
  if (isUnbound(flags, inputValue)) return { place: pendingPlaces.unbound, output: null, satOffset: null };
  const pointer = columns.envelopePointer[envelope]!;
  return placeAt(revealOffset(pointer, columns.txOutputValue[tx]!, inputOffset), outputs);
}

function contentOf(batch: TransactionBatch, row: number): PendingInscription['content'] {
  if (row < 0) return null;
  const { columns } = batch;
  const text = columns.contentText[row]!;
  const decodedLength = columns.contentDecodedLength[row]!;
  return {
    sha256: Buffer.from(columns.contentHash.subarray(row * 32, row * 32 + 32)),
    variant: columns.contentVariant[row]!,
    text,
    body: range(batch, columns.contentRange, row),
    folded: text === 2 ? range(batch, columns.contentFolded, row) : null,
    decodedSha256:
      decodedLength < 0 ? null : Buffer.from(columns.contentDecodedHash.subarray(row * 32, row * 32 + 32)),
    decodedLength: decodedLength < 0 ? null : decodedLength,
  };
}

function fieldsOf({ columns }: TransactionBatch, envelope: number): Map<number, Buffer> {
  const fields = new Map<number, Buffer>();
  const end = columns.envelopeFirstField[envelope + 1]!;
  for (let field = columns.envelopeFirstField[envelope]!; field < end; field++) {
    const start = columns.fieldRange[field * 2]!;
    const length = columns.fieldRange[field * 2 + 1]!;
    fields.set(columns.fieldKind[field]!, Buffer.from(columns.arena.subarray(start, start + length)));
  }
  return fields;
}

/** Returns a copy, because the columns belong to a whole batch, which one row must not keep in memory. */
function range({ columns }: TransactionBatch, ranges: Uint32Array, row: number): Buffer {
  const start = ranges[row * 2]!;
  return Buffer.from(columns.arena.subarray(start, start + ranges[row * 2 + 1]!));
}

function foldedRange(batch: TransactionBatch, ranges: Uint32Array, row: number): Buffer | null {
  return ranges[row * 2 + 1]! === 0 ? null : range(batch, ranges, row);
}
