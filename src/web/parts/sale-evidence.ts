import type { SaleEvidence } from '#kernel/sales/sale-evidence.ts';
import type { Confidence, SaleForm } from '#kernel/sales/sale-names.ts';
import { plural } from '#web/format.ts';
import { price } from './amounts.ts';

/** Fields of a sale that say why it is one. */
export type EvidenceView = Pick<
  SaleEvidence,
  'class' | 'form' | 'confidence' | 'grossPayout' | 'payoutOutput' | 'feeOutput' | 'sighash' | 'bundle'
> & { readonly wash: boolean };

/** BIP 143, BIP 341. */
const sighash = { default: 0, all: 1, single: 3, anyoneCanPay: 0x80 } as const;

/** The names of the types in the BIPs. Others are shown as numbers. */
export const sighashNames: Readonly<Record<number, string>> = {
  [sighash.default]: 'DEFAULT',
  [sighash.all]: 'ALL',
  [sighash.single]: 'SINGLE',
  [sighash.all | sighash.anyoneCanPay]: 'ALL | ANYONECANPAY',
  [sighash.single | sighash.anyoneCanPay]: 'SINGLE | ANYONECANPAY',
};

const layoutWords: Readonly<Record<SaleForm, string>> = {
  openordex: 'One small coin is before the item, as openordex lays purchases out.',
  'two-dummies': 'Two small coins are before the item, as Magic Eden, OKX and ordit lay purchases out.',
  bulk: 'Several items and their payments are in a row, as OKX lays purchases of many items out.',
  'ord-offer': 'The item comes first and the payment second, as the wallet of ord lays offers out.',
  pair: 'No marketplace that we know lays purchases out like this.',
  'all-signed': 'No marketplace that we know lays purchases out like this.',
};

const certaintyWords: Readonly<Record<Confidence, string>> = {
  'bound-known': 'It is as sure as the chain can be: the payment is tied to the item, in a known layout.',
  bound: 'It is sure that the payment is tied to the item.',
  'bound-shared':
    'Several people signed for the item, and one of the signatures ties the payment to it. Who is paid there counts as the seller.',
  'paid-by-taker':
    'No signature ties the payment to the item alone, but the one who gets the item is among those who pay.',
  'offer-layout':
    'No signature ties the payment to the item alone. Others pay, in the layout of an offer or of a purchase: a payment for something else could look the same.',
};

/** Why a transaction counts as a sale, in sentences without terms of the protocol. */
export function evidenceSentences(sale: EvidenceView): string[] {
  return [
    signedWords(sale),
    layoutWords[sale.form],
    certaintyWords[sale.confidence],
    sale.bundle > 1 &&
      `${plural(sale.bundle, 'inscription')} were sold for one payment. The price is this one’s part of it.`,
    sale.feeOutput !== null &&
      `Output ${sale.feeOutput} looks like the fee of a marketplace, or a royalty. It is no part of the price.`,
    sale.wash &&
      'Seller and buyer are the same, or pay for each other: the sale is in no sum and no lowest price.',
  ].filter((sentence) => sentence !== false);
}

/** Tells what the seller's signature is for. */
function signedWords({ class: of, sighash: type, grossPayout, payoutOutput }: EvidenceView): string {
  const payment = `${price(grossPayout)} to output ${payoutOutput}`;
  if (of === 'offer')
    return `All signed the whole transaction. The one who held the item gains sats by it: ${payment}.`;
  if (type === (sighash.single | sighash.anyoneCanPay))
    return `The seller signed two things only: that the item is spent, and that it pays ${payment}. Anybody could then add the money and take the item.`;
  if (type === sighash.single)
    return `The seller signed one payment only, ${payment}, and left it to the buyer where the item goes.`;
  if (type === (sighash.all | sighash.anyoneCanPay))
    return `The seller signed all payments, of which ${payment} is theirs, and let others add the money.`;
  return `The seller’s signature is for a payment of ${payment}.`;
}
