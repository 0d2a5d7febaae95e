import { type RawTransaction, RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { dustOf, standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** Maximum number of characters of a transaction in hex. It is twice the maximum weight. */
export const hexCharsMax = 2 * standardWeightMax;

const opReturn = 0x6a;
/** Transaction versions that nodes relay: the first two, and 3 for TRUC (BIP 431). */
const versions: readonly number[] = [1, 2, 3];

/**
 * Reads a signed transaction from hex. If nodes do not relay its form, returns the reason as a sentence. Does not check
 * fees, signatures and spent outputs, because these checks need a node. Pure.
 */
export function readPayment(given: string): RawTransaction | string {
  const text = given.trim();
  if (text === '') return 'hex is required.';
  if (text.length > hexCharsMax)
    return `hex has ${text.length} characters, but nodes do not relay a transaction with more than ${standardWeightMax} bytes.`;
  if (!/^(?:[0-9a-f]{2})+$/iu.test(text))
    return 'hex is not hex. Send a PSBT to POST /tokenpay/utils/finalize-psbt first.';
  const bytes = Buffer.from(text, 'hex');
  if (text.startsWith('70736274ff'))
    return 'hex is a PSBT. Make a transaction from it with POST /tokenpay/utils/finalize-psbt.';
  const transaction = transactionOf(bytes);
  if (transaction === null) return 'hex is not a transaction.';
  return whyNotStandard(transaction) ?? transaction;
}

/** Reads a transaction. Returns null if the bytes are not a transaction. */
export function transactionOf(bytes: Uint8Array): RawTransaction | null {
  try {
    return RawTransactions.one(bytes);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** Explains why nodes do not relay the form of a transaction. Returns null if they relay it. */
function whyNotStandard(transaction: RawTransaction): string | null {
  const { inputs, outputs, version } = transaction;
  if (inputs.length === 0) return 'hex is a transaction without inputs.';
  if (outputs.length === 0) return 'hex is a transaction without outputs.';
  const unsigned = inputs.findIndex(({ scriptSig, witness }) => scriptSig.length + witness.length === 0);
  if (unsigned >= 0) return `Input ${unsigned} is not signed.`;
  if (!versions.includes(version))
    return `hex is a transaction of version ${version}, which nodes do not relay.`;
  const burning = outputs.findIndex(({ script, value }) => script[0] === opReturn && value > 0);
  if (burning >= 0)
    return `Output ${burning} burns ${outputs[burning]?.value} sats, but no payment of an order burns sats. Send the transaction with sendrawtransaction and a maxburnamount.`;
  const dust = outputs.findIndex(({ script, value }) => script[0] !== opReturn && value < dustOf(script));
  if (dust >= 0) {
    const { value, script = new Uint8Array() } = outputs[dust] ?? {};
    return `Output ${dust} has ${value} sats, but nodes relay at least ${dustOf(script)}.`;
  }
  const { weight } = transaction;
  return weight > standardWeightMax
    ? `hex is a transaction of ${weight} weight units, but nodes relay at most ${standardWeightMax}.`
    : null;
}
