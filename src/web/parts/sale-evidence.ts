import type { SaleEvidence } from '#kernel/sales/sale-evidence.ts';
import type { Confidence, SaleForm } from '#kernel/sales/sale-names.ts';
import { plural } from '#web/format.ts';
import { price } from './amounts.ts';

/** Fields that show why a transaction is a sale. */
export type EvidenceView = Pick<
  SaleEvidence,
  'class' | 'form' | 'confidence' | 'grossPayout' | 'payoutOutput' | 'feeOutput' | 'sighash' | 'bundle'
> & { readonly wash: boolean };

/** Types of signature hashes (BIP 143, BIP 341). */
const sighash = { default: 0, all: 1, single: 3, anyoneCanPay: 0x80 } as const;

/** The names of the types in the BIPs. Other types are shown as numbers. */
export const sighashNames: Readonly<Record<number, string>> = {
  [sighash.default]: 'DEFAULT',
  [sighash.all]: 'ALL',
  [sighash.single]: 'SINGLE',
  [sighash.all | sighash.anyoneCanPay]: 'ALL | ANYONECANPAY',
  [sighash.single | sighash.anyoneCanPay]: 'SINGLE | ANYONECANPAY',
};

const layoutWords: Readonly<Record<SaleForm, string>> = {
  openordex: 'One small coin comes before the item: the layout of purchases on openordex.',
  'two-dummies':
    'Two small coins come before the item: the layout of purchases on Magic Eden, OKX and ordit.',
  bulk: 'Several items and their payments follow each other: the layout of OKX for purchases of many items.',
  'ord-offer': 'The item comes first and the payment second: the layout of offers in the wallet of ord.',
  pair: 'No known marketplace uses this layout for purchases.',
  'all-signed': 'No known marketplace uses this layout for purchases.',
};

const certaintyWords: Readonly<Record<Confidence, string>> = {
  'bound-known':
    'This is as certain as the chain can show: the payment is tied to the item, in a known layout.',
  bound: 'The payment is certainly tied to the item.',
  'bound-shared':
    'Several people signed for the item, and one of the signatures ties the payment to it. The owner of the paid address counts as the seller.',
  'paid-by-taker':
    'No signature ties the payment only to the item, but the receiver of the item is one of the payers.',
  'offer-layout':
    'No signature ties the payment only to the item. Others pay, in the layout of an offer or of a purchase: a payment for something else could look the same.',
};

/** The reasons why a transaction counts as a sale. The sentences have no terms of the Bitcoin protocol. */
export function evidenceSentences(sale: EvidenceView): string[] {
  return [
    signedWords(sale),
    layoutWords[sale.form],
    certaintyWords[sale.confidence],
    sale.bundle > 1 &&
      `${plural(sale.bundle, 'inscription')} were sold for one payment. The price is the share of this inscription.`,
    sale.feeOutput !== null &&
      `Output ${sale.feeOutput} looks like the fee of a marketplace, or a royalty. It is not part of the price.`,
    sale.wash &&
      'Seller and buyer are the same, or pay for each other: no sum and no lowest price includes this sale.',
  ].filter((sentence) => sentence !== false);
}

/** A sentence that says what the seller's signature covers. */
function signedWords({ class: of, sighash: type, grossPayout, payoutOutput }: EvidenceView): string {
  const payment = `${price(grossPayout)} to output ${payoutOutput}`;
  if (of === 'offer')
    return `All parties signed the whole transaction. The previous owner of the item gains sats by it: ${payment}.`;
  if (type === (sighash.single | sighash.anyoneCanPay))
    return `The seller only signed that the item is spent, and that the transaction pays ${payment}. Anyone could then add the money and take the item.`;
  if (type === sighash.single)
    return `The seller only signed one payment, ${payment}, and let the buyer decide where the item goes.`;
  if (type === (sighash.all | sighash.anyoneCanPay))
    return `The seller signed all payments, one of them to the seller (${payment}), and let others add the money.`;
  return `The seller’s signature is for a payment of ${payment}.`;
}
