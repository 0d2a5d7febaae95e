import type { SignatureReader } from '#indexer/facts/signatures.ts';
import type { SpentScripts } from '#indexer/facts/spent-scripts.ts';
import {
  type HeldInscriptions,
  type LedgerBlock,
  type NewLocations,
  places,
} from '#indexer/ledger/ledger-block.ts';
import type { BlockColumns } from '#indexer/parse/block-columns.ts';
import { transactionId } from '#indexer/transaction/transaction-id.ts';
import { InputWalk, OutputWalk } from '#indexer/transaction/transaction-parts.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { isOwnTransfer, maySell } from './may-sell.ts';
import type { Coin, Move, MovingInput, MovingTransaction } from './moving-transaction.ts';

/** A block whose spent outputs are known. */
export interface MovedBlock {
  readonly bytes: Uint8Array;
  readonly columns: BlockColumns;
  readonly ledger: LedgerBlock;
  readonly held: HeldInscriptions;
  readonly spent: SpentScripts;
  readonly signatures: SignatureReader;
}

/** A transaction of a block with its index there. */
export interface PlacedTransaction extends MovingTransaction {
  readonly tx: number;
  readonly txid: Txid;
}

const hashLength = 32;

/**
 * The transactions of a block that spend inscriptions and may have sold one, in block order. Cost: a check of each
 * input if the block spends its own outputs, otherwise only of transactions with inscriptions.
 *
 * @param only yields this transaction alone, even if it cannot have sold an inscription
 */
export function* tradingTransactions(
  block: MovedBlock,
  only: number | null = null,
): Generator<PlacedTransaction> {
  const keysOf = keysByInput(block);
  const { txFirstInput } = block.columns;
  const spending = [...keysOf.keys()].toSorted((a, b) => a - b);
  // made on first use, because most blocks sell nothing
  let landings: LandingRows | null = null;
  const coins = new CoinReader(block);
  let tx = 0;
  for (let at = 0; at < spending.length; ) {
    while (txFirstInput[tx + 1]! <= spending[at]!) tx++;
    const [first, end] = [txFirstInput[tx]!, txFirstInput[tx + 1]!];
    const from = at;
    while (at < spending.length && spending[at]! < end) at++;
    const moving = spending.slice(from, at).map((input) => input - first);
    if (only !== null && tx !== only) continue;
    const looked = coinsOf(coins, tx, only === null ? moving : null);
    if (looked === null) continue;
    landings ??= landingRows(block, keysOf);
    yield { tx, ...looked, ...movedBy(block, { tx, moving, keysOf, landings }) };
  }
}

interface Spending {
  readonly tx: number;
  /** Its inputs with inscriptions. */
  readonly moving: readonly number[];
  readonly keysOf: KeysByInput;
  readonly landings: LandingRows;
}

/** The moves of a transaction, and its txid. */
function movedBy(
  block: MovedBlock,
  { tx, moving, keysOf, landings }: Spending,
): Pick<PlacedTransaction, 'txid' | 'moves'> {
  const { locations } = block.ledger;
  const first = block.columns.txFirstInput[tx]!;
  const moves: Move[] = [];
  let madeRow = -1;
  for (const input of moving) {
    const keys = (keysOf.get(first + input) ?? []).toSorted((a, b) => a - b);
    for (const [place, key] of keys.entries()) {
      const row = landings.get(landingName(key, tx));
      moves.push({ key, input, place, landing: landingOf(locations, row) });
      madeRow = row ?? madeRow;
    }
  }
  return { txid: txidOf(block, tx, madeRow), moves };
}

/**
 * The coins of a transaction. Null: it cannot have sold anything. Outputs are only read if the inputs do not decide
 * this.
 *
 * @param moving inputs with inscriptions; null: skip the check whether the transaction may have sold one
 */
function coinsOf(
  coins: CoinReader,
  tx: number,
  moving: readonly number[] | null,
): Pick<MovingTransaction, 'inputs' | 'outputs'> | null {
  const inputs = coins.inputs(tx);
  if (moving !== null && isOwnTransfer(inputs, moving)) return null;
  const outputs = coins.outputs(tx);
  return moving === null || maySell(inputs, outputs, moving) ? { inputs, outputs } : null;
}

type KeysByInput = Map<number, number[]>;

/** Keys of the inscriptions that each input of the block spends. */
function keysByInput(block: MovedBlock): KeysByInput {
  const { held } = block;
  const keysOf: KeysByInput = new Map();
  for (let row = 0; row < held.count; row++) pushTo(keysOf, held.input[row]!, held.key[row]!);
  const rows = spentRows(block);
  if (rows.size > 0) addSpentWithin(block, rows, keysOf);
  return keysOf;
}

/** Location rows whose output the block itself spends, by the low half of their fingerprint. */
function spentRows({ ledger: { locations } }: MovedBlock): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < locations.count; row++) {
    if (locations.spent[row] === 1) pushTo(rows, locations.fingerprintLow[row]!, row);
  }
  return rows;
}

function addSpentWithin(
  block: MovedBlock,
  rowsOf: ReadonlyMap<number, readonly number[]>,
  keysOf: KeysByInput,
): void {
  const { inputFingerprintLow: lows, txFirstInput, txStart } = block.columns;
  const { locations } = block.ledger;
  const walk = new InputWalk(block.bytes);
  let opened = -1;
  let tx = 0;
  for (let input = 0; input < lows.length; input++) {
    const rows = rowsOf.get(lows[input]!);
    if (rows === undefined) continue;
    while (txFirstInput[tx + 1]! <= input) tx++;
    if (tx !== opened) walk.open(txStart[tx]!);
    opened = tx;
    const at = walk.outpointOf(input - txFirstInput[tx]!);
    for (const row of rows) {
      if (isOutpointOf(block, at, row)) pushTo(keysOf, input, locations.key[row]!);
    }
  }
}

/** Whether the outpoint at an offset of the block is the output of a location row. */
function isOutpointOf(block: MovedBlock, at: number, row: number): boolean {
  const { buffer, byteOffset } = block.bytes;
  const outpoint = Buffer.from(buffer, byteOffset + at, hashLength + 4);
  return (
    outpoint.readUInt32LE(hashLength) === block.ledger.locations.vout[row] &&
    outpoint.subarray(0, hashLength).equals(txidOfRow(block, row))
  );
}

function pushTo(lists: Map<number, number[]>, name: number, value: number): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [value]);
  else list.push(value);
}

/** The transaction that made the output of a location row. */
function txidOfRow({ ledger, columns }: MovedBlock, row: number): Uint8Array {
  const { locations, inscriptions, txids } = ledger;
  const at = locations.txid[row]!;
  if (at >= 0) return txids.subarray(at * hashLength, (at + 1) * hashLength);
  const reveal = inscriptions.reveal[locations.key[row]! - inscriptions.firstKey]!;
  return columns.revealTxid.subarray(reveal * hashLength, (reveal + 1) * hashLength);
}

/**
 * The txid of a transaction. The ledger has hashed it, unless all moved inscriptions go into the fee.
 *
 * @param row location row of an old inscription that it moved; -1: there is no such row
 */
function txidOf({ bytes, columns, ledger }: MovedBlock, tx: number, row: number): Txid {
  const { locations, txids } = ledger;
  const at = row < 0 ? -1 : locations.txid[row]!;
  if (at >= 0) return trustedTxid(txids.subarray(at * hashLength, (at + 1) * hashLength));
  const { txStart, txOutputs } = columns;
  return transactionId(bytes, txStart[tx]!, txOutputs[tx]!, txStart[tx + 1]!);
}

const landingOf = ({ vout }: NewLocations, row: number | undefined): number | null =>
  row === undefined ? null : vout[row]!;

/** The location row of each moved inscription that a transaction leaves in an output, by `landingName`. */
type LandingRows = Map<number, number>;

/**
 * A safe integer: a block has fewer than 2^20 transactions, because each has 60 bytes or more, and keys are below 2^31.
 */
const landingName = (key: number, tx: number): number => key * 2 ** 20 + tx;

function landingRows(
  { ledger: { locations } }: MovedBlock,
  keysOf: ReadonlyMap<number, readonly number[]>,
): LandingRows {
  const moved = new Set([...keysOf.values()].flat());
  const landings: LandingRows = new Map();
  for (let row = 0; row < locations.count; row++) {
    const key = locations.key[row]!;
    if (locations.place[row] !== places.output || !moved.has(key)) continue;
    // the step of the coinbase's rows is the number of transactions, so no transaction with inputs matches it
    landings.set(landingName(key, locations.step[row]!), row);
  }
  return landings;
}

/** Reads the coins of a block's transactions through views of its bytes. The views are made once. */
class CoinReader {
  readonly #block: MovedBlock;
  readonly #bytes: Buffer;
  readonly #spentBytes: Buffer;
  readonly #walk: OutputWalk;

  constructor(block: MovedBlock) {
    this.#block = block;
    this.#bytes = bufferOf(block.bytes);
    this.#spentBytes = bufferOf(block.spent.bytes);
    this.#walk = new OutputWalk(block.bytes);
  }

  inputs(tx: number): MovingInput[] {
    const { columns, spent, signatures } = this.#block;
    const inputs: MovingInput[] = [];
    for (let input = columns.txFirstInput[tx]!; input < columns.txFirstInput[tx + 1]!; input++) {
      const start = spent.scriptStart[input]!;
      inputs.push({
        script: this.#spentBytes.toString('latin1', start, start + spent.scriptLength[input]!),
        value: spent.value[input]!,
        signatures: signatures.of(input),
      });
    }
    return inputs;
  }

  outputs(tx: number): Coin[] {
    const outputs: Coin[] = [];
    const walk = this.#walk;
    walk.open(this.#block.columns.txOutputs[tx]!);
    while (walk.next()) {
      const { scriptStart, scriptLength, value } = walk;
      const script = this.#bytes.toString('latin1', scriptStart, scriptStart + scriptLength);
      outputs.push({ script, value });
    }
    return outputs;
  }
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
