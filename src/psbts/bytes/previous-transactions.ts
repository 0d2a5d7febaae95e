import {
  BlockLayout,
  lockTimeLength,
  oneTransaction,
  versionLength,
} from '#indexer/transaction/block-layout.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import type { PsbtInput } from '#psbts/planning/psbt-plan.ts';

/**
 * Maximum number of concurrent calls. A node before Bitcoin Core 29 processes only 4 calls at a time by default, and
 * other callers need it, too.
 */
const callsMax = 2;
/**
 * Maximum number of inputs of one kind whose previous transactions are requested. The node reads a block for each of
 * them, and anyone can name any address.
 */
const askedMax = 100;
/**
 * Maximum size of all previous transactions in bytes. Neither this service nor any other one finalizes a PSBT above 1
 * MB.
 */
const bytesMax = 900_000;
/**
 * Maximum size of optional previous transactions in bytes. They are three times as long in responses, which contain
 * them in hex and in base64.
 */
const wishedBytesMax = 300_000;

export interface PreviousTransactions {
  /** Previous transactions without witnesses, by the index of the input that spends them. */
  readonly byInput: ReadonlyMap<number, Uint8Array>;
  /** Sentences about missing transactions, because hardware wallets may refuse the PSBT without them. */
  readonly warnings: readonly string[];
}

const noneOfSegwit =
  'The PSBT lacks previous transactions of its segwit inputs, so some hardware wallets may refuse to sign it.';

/**
 * Reads the transactions whose outputs are spent. P2PKH inputs cannot be signed without them. Hardware wallets need
 * them for segwit version 0, because a signature of this version proves the amount of only one input. Throws
 * `previous_transaction_missing` if the node does not have a required transaction. Throws `request_invalid` if there
 * are too many transactions or they are too large together. Also throws the codes of NodeRpc.
 */
export async function previousTransactions(
  node: NodeRpc,
  inputs: readonly PsbtInput[],
): Promise<PreviousTransactions> {
  const legacy = inputs.filter(({ signer }) => signer.type === 'p2pkh');
  if (legacy.length > askedMax)
    throw tooMuch(`The payment needs ${legacy.length} P2PKH inputs, but a PSBT can have at most ${askedMax}`);
  const needed = await stripped(node, legacy, true);
  const size = sizeOf(needed, legacy);
  if (size > bytesMax)
    throw tooMuch(
      `The transactions that the P2PKH inputs spend have ${size} bytes in total, but a PSBT can have at most ${bytesMax} bytes of them`,
    );
  const segwit = inputs.filter(({ signer }) => signer.type === 'p2wpkh' || signer.type === 'p2sh');
  const wished = segwit.length > askedMax ? null : await stripped(node, segwit, false);
  // a part of them would be useless, because a hardware wallet signs all its inputs
  const isWhole =
    wished !== null &&
    segwit.every(({ txid }) => wished.has(displayHash(txid))) &&
    sizeOf(wished, segwit) <= wishedBytesMax;
  const found = new Map([...needed, ...(isWhole ? wished : [])]);
  const byInput = new Map(
    inputs.flatMap(({ txid, signer }, index) => {
      const bytes = signer.type === 'p2tr' ? undefined : found.get(displayHash(txid));
      // a transaction may pay addresses of both kinds, and only the P2PKH inputs require it
      return bytes === undefined || (signer.type !== 'p2pkh' && !isWhole) ? [] : [[index, bytes] as const];
    }),
  );
  return { byInput, warnings: segwit.length > 0 && !isWhole ? [noneOfSegwit] : [] };
}

const tooMuch = (what: string): AppError =>
  new AppError('request_invalid', `${what}. Pay from a segwit address, or join these coins first.`);

/** Size of the previous transactions in the PSBT, where each input has a separate copy. */
const sizeOf = (transactions: ReadonlyMap<TxidHex, Uint8Array>, inputs: readonly PsbtInput[]): number =>
  inputs.reduce((sum, { txid }) => sum + (transactions.get(displayHash(txid))?.length ?? 0), 0);

async function stripped(
  node: NodeRpc,
  inputs: readonly PsbtInput[],
  isNeeded: boolean,
): Promise<ReadonlyMap<TxidHex, Uint8Array>> {
  const distinct = [...new Map(inputs.map((input) => [displayHash(input.txid), input])).values()];
  const found = await inLanes(distinct, callsMax, async (input) => {
    const bytes = await ask(node, input, isNeeded);
    return bytes === null ? [] : [[displayHash(input.txid), bytes] as const];
  });
  return new Map(found.flat());
}

/** Requests a transaction from the node. Returns null if the transaction is optional and the node does not have it. */
async function ask(
  node: NodeRpc,
  { txid, blockHash }: Pick<PsbtInput, 'txid' | 'blockHash'>,
  isNeeded: boolean,
): Promise<Uint8Array | null> {
  const name = displayHash(txid);
  try {
    const hex = await node.call<string>('getrawtransaction', [
      name,
      false,
      ...(blockHash === null ? [] : [blockHash]),
    ]);
    return withoutWitness(Buffer.from(hex, 'hex'), name);
  } catch (error) {
    const isRefused = error instanceof AppError && error.code === 'node_call_failed';
    if (!isRefused) throw error;
    if (!isNeeded) return null;
    throw new AppError(
      'previous_transaction_missing',
      `the node does not have the transaction ${name}, perhaps because its block is pruned; without this transaction a P2PKH input cannot be signed`,
      {},
      error,
    );
  }
}

/** Removes the witnesses, which are not part of the txid. Bitcoin Core writes transactions into PSBTs in this form. */
function withoutWitness(bytes: Uint8Array, txid: TxidHex): Uint8Array {
  const layout = new BlockLayout(oneTransaction);
  const end = layout.readTransaction(bytes, 0);
  const [from = 0, to = 0] = [layout.inputsAt[0], layout.outputsEnd[0]];
  const kept = Buffer.concat([
    bytes.subarray(0, versionLength),
    bytes.subarray(from, to),
    bytes.subarray(bytes.length - lockTimeLength),
  ]);
  if (end === bytes.length && Buffer.from(doubleSha256(kept)).reverse().toString('hex') === txid) return kept;
  throw new AppError('node_answer_invalid', `The node returned another transaction instead of ${txid}.`);
}
