import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { SentFile, WantedOrder } from '#orders/creating/create-order.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import { keptSizeFees } from '#orders/pricing/quoted-layout.ts';
import { orderTerms, textTerms } from './order-terms.ts';
import { scriptOf } from './regtest/regtest-transaction.ts';

/** The owner whose key receives the inscriptions. */
const receiver = 700;

/** A text in the form that a customer sends. */
function textFile(name: string, text: string): SentFile {
  const content = Buffer.from(text);
  return { name, content, mediaType: 'text/plain;charset=utf-8', shown: { name, size: content.length } };
}

const shownParent = ({ id, value }: OrderTerms['parents'][number]) => ({
  inscriptionId: formatInscriptionId(id.txid, id.index),
  value: Number(value),
});

/** An order of texts to one receiver, in the form that HTTP requests are converted to. */
export function wantedOrder(
  texts: readonly string[],
  more: Partial<OrderTerms> = {},
  inscriptionIdPrefix: string | null = null,
): WantedOrder {
  const files = texts.map((text, index) => textFile(`${index}.txt`, text));
  const terms = orderTerms(
    files.map(({ content }) => textTerms(content)),
    [scriptOf(receiver)],
    more,
  );
  const quote = quoteOrder(terms, {
    baseFee: 2000n,
    rareSatsFee: 0n,
    collectionServiceFee: 0n,
    price: 0n,
    sizeFeePercent: 10,
    discounts: [],
  });
  if (quote.kind === 'refused') throw new Error(quote.reason);
  return {
    terms,
    layout: quote.layout,
    planned: quote.warnings,
    request: {
      count: texts.length,
      fee: 2,
      postage: 546,
      receiveAddress: null,
      delegates: null,
      parents: terms.parents.length === 0 ? null : terms.parents.map(shownParent),
      inscriptionIdPrefix,
      allowedSatributes: null,
      additionalFee: null,
      referral: null,
      refundAddress: null,
      projectTag: null,
      zeroConf: null,
      payToAnchor: terms.burn,
      uncurseIt: terms.uncurse,
    },
    quote: {
      chainFee: Number(quote.chainFee),
      serviceFee: Number(quote.serviceFee),
      ...keptSizeFees(quote.layout),
      baseFee: Number(quote.baseFee),
      additionalFeeCharged: 0,
      postage: Number(quote.postage),
      amount: Number(quote.amount),
    },
    stocked: null,
    hold: null,
    rune: null,
    files,
    webhookUrl: null,
    refundScript: null,
    timeoutMinutes: 60,
    filesUrl: (key) => `http://files.test/files/${key}`,
  };
}
