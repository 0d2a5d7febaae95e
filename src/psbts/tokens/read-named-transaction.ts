import { parseTxid } from '#kernel/primitives/hash.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { hexCharsMax, transactionOf } from '#psbts/submitting/read-payment.ts';
import type { NamedTransaction } from './judge-rune-burn.ts';

/**
 * Reads the transaction that a request names in the field `txid` or `hex`. Returns null after adding the faults to
 * `values`. Total.
 */
export function readNamedTransaction(
  values: RequestValues,
  { txid, hex }: Readonly<Record<string, unknown>>,
): NamedTransaction | null {
  if (isGiven(txid) === isGiven(hex))
    return values.sentence(
      'txid',
      isGiven(txid) ? 'txid and hex exclude each other.' : 'txid or hex is required.',
    );
  return isGiven(txid) ? byTxid(values, txid) : byHex(values, hex);
}

function byTxid(values: RequestValues, given: unknown): NamedTransaction | null {
  const text = values.text(given, 'txid');
  if (text === null) return null;
  const txid = parseTxid(text);
  return txid === null ? values.fault('txid', 'must be 64 hex digits') : { kind: 'txid', txid };
}

/**
 * Reads a transaction in hex. `values.text` is not used, because a transaction may be longer than the texts that it
 * reads.
 */
function byHex(values: RequestValues, given: unknown): NamedTransaction | null {
  if (typeof given !== 'string' || given.length > hexCharsMax || !/^(?:[0-9a-f]{2})+$/iu.test(given))
    return values.fault('hex', `must be a transaction in hex, of at most ${hexCharsMax} characters`);
  const transaction = transactionOf(Buffer.from(given, 'hex'));
  if (transaction === null || transaction.inputs.length === 0 || transaction.outputs.length === 0)
    return values.fault(
      'hex',
      'is not a transaction; send a PSBT to POST /tokenpay/utils/finalize-psbt first',
    );
  return { kind: 'transaction', txid: transaction.txid, transaction };
}
