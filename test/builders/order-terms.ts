import type { FileTerms, OrderTerms } from '#orders/inscribing/order-terms.ts';

/** Terms of a text in an order. The argument is the text's bytes, or their number. */
export const textTerms = (body: Uint8Array | number): FileTerms => ({
  contentType: 'text/plain;charset=utf-8',
  body,
  contentEncoding: null,
  metaprotocol: null,
  metadata: null,
  delegate: null,
});

/**
 * Terms of a direct order of files, with the usual postage and 2 sat/vB. The given differences replace these defaults.
 */
export const orderTerms = (
  files: readonly FileTerms[],
  receivers: readonly Uint8Array[],
  more: Partial<OrderTerms> = {},
): OrderTerms => ({
  type: 'direct',
  files,
  receivers,
  postage: 546n,
  feeRate: 2000n,
  batchMode: 'separate-outputs',
  parents: [],
  burn: false,
  uncurse: false,
  additionalFee: 0n,
  nonStandard: false,
  inventory: null,
  etching: null,
  mint: null,
  ...more,
});
