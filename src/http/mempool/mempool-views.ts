import type {
  PendingInscriptionRow,
  PendingOutput,
  PendingTransferRow,
} from '#chain/pending/pending.queries.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, inscriptionIdFromBytes } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { InscriptionsAnswer, PlaceJson, TransfersAnswer } from './mempool.schemas.ts';

/** Names of the values of chain.mempool_transfers.place. */
const placeKinds = ['output', 'fee', 'unbound', 'unknown'] as const;

export interface TransactionRow {
  readonly txid: Txid;
  readonly first_seen: Date;
  readonly fee: Sats | null;
  readonly vsize: number;
  readonly replaces: Buffer;
}

export interface TransactionJson {
  txid: string;
  firstSeen: string;
  fee: Sats | null;
  vsize: number;
  feeRate: number | null;
  replaces: string[];
}

export function transactionJson({
  txid,
  first_seen: firstSeen,
  fee,
  vsize,
  replaces,
}: TransactionRow): TransactionJson {
  return {
    txid: displayHash(txid),
    firstSeen: firstSeen.toISOString(),
    fee,
    vsize,
    // round to three decimals, as nodes do
    feeRate: fee === null ? null : Math.round((fee / vsize) * 1000) / 1000,
    replaces: parts(replaces, 32).map(displayHash),
  };
}

function placeJson(row: PendingOutput & { txid: Txid }, network: NetworkParameters): PlaceJson {
  const { place, vout, sat_offset: satOffset, value, script, txid } = row;
  const isOutput = vout !== null && satOffset !== null;
  return {
    kind: placeKinds[place] ?? 'unknown',
    satpoint: isOutput ? `${displayHash(txid)}:${vout}:${satOffset}` : null,
    address: script === null ? null : scriptToAddress(script, network),
    value,
  };
}

export function pendingInscriptionJson(
  row: PendingInscriptionRow,
  network: NetworkParameters,
): InscriptionsAnswer['inscriptions'][number] {
  return {
    id: formatInscriptionId(row.txid, row.index),
    ...transactionJson(row),
    input: row.input,
    contentType: text(row.content_type),
    contentLength: row.content_length,
    contentHash: row.sha256?.toString('hex') ?? null,
    contentEncoding: text(row.content_encoding),
    metaprotocol: text(row.metaprotocol),
    delegate: row.delegate === null ? null : idText(row.delegate),
    claimedParents: row.claimed_parents === null ? [] : parts(row.claimed_parents, 36).map(idText),
    hasMetadata: row.has_metadata,
    to: placeJson(row, network),
  };
}

export function pendingTransferJson(
  row: PendingTransferRow,
  network: NetworkParameters,
): TransfersAnswer['transfers'][number] {
  return {
    inscription: formatInscriptionId(row.inscription_txid, row.inscription_index),
    ...transactionJson(row),
    from: {
      satpoint: `${displayHash(row.from_txid)}:${row.from_vout}:${row.from_offset}`,
      address: row.from_script === null ? null : scriptToAddress(row.from_script, network),
    },
    to: placeJson(row, network),
  };
}

function idText(bytes: Uint8Array): string {
  const { txid, index } = inscriptionIdFromBytes(bytes);
  return formatInscriptionId(txid, index);
}

function parts(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: bytes.length / size }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes a text. `null` if the bytes are not UTF-8, as in all responses. */
function text(bytes: Buffer | null): string | null {
  if (bytes === null) return null;
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}
