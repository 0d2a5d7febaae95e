import { type TSchema, Type } from 'typebox';
import { strictObject } from '#http/server/routes/answer-schemas.ts';
import { accepted, pricedOrder } from './order-body.schemas.ts';
import { priceExamples } from './order-examples.ts';

export const priceBody = Type.Object(
  {
    type: accepted('managed (bulk, the default), direct, an etching, or mints', {
      enum: ['bulk', 'direct', 'rune-etch', 'rune-mint'],
    }),
    order: accepted('the body of an order; contents may be sizes', pricedOrder),
  },
  { acceptedForm: { required: ['order'], 'x-examples': priceExamples } },
);

const parameter = (description: string, form: Readonly<Record<string, unknown>>): TSchema =>
  Type.Optional(Type.String({ description, acceptedForm: form }));
const digits = { pattern: '^[0-9]{1,9}$' };

export const priceQuery = Type.Object({
  size: parameter('bytes of all files; required, except by an etching and mints', digits),
  fee: parameter('sats per virtual byte; default 2', { pattern: '^[1-9][0-9]{0,3}$' }),
  count: parameter('number of files or mints; default 1', { pattern: '^[1-9][0-9]{0,3}$' }),
  type: parameter('bulk (the default), direct, rune-etch or rune-mint', {
    enum: ['bulk', 'direct', 'rune-etch', 'rune-mint'],
  }),
  batchMode: parameter('one output for each inscription, or one for all inscriptions', {
    enum: ['separate-outputs', 'shared-output'],
  }),
  rareSats: parameter('type of sats (/inventory), or a satribute', { enum: ['random'] }),
  additionalFee: parameter('sats per file for the referral account', { pattern: '^[0-9]{1,6}$' }),
  postage: parameter('sats of each output, 330 to 10,000; default 546', {
    pattern: '^(33[0-9]|[3-9][0-9]{2}|[1-9][0-9]{3}|10000)$',
  }),
  lowPostage: parameter('the least postage that nodes relay', { enum: ['true', 'false'] }),
  baseFee: parameter('sats per file, in place of the service’s base fee', { pattern: '^[0-9]{1,8}$' }),
});

const sats = (description: string) => Type.Integer({ minimum: 0, description });

/** The price in the form of the public interface. */
export const legacyAnswer = strictObject({
  chainFee: sats('fees of all transactions'),
  serviceFee: sats('everything except chainFee: postage, base fees and additions to them'),
  baseFee: sats('a file'),
  rareSatsFee: sats('a file'),
  additionalFee: sats('a file'),
  postage: sats('a file'),
  amount: sats('to pay'),
  totalFee: sats('the same as amount'),
});

const discount = strictObject({
  discount: Type.Number({ description: 'whole sats, or a percentage with two decimals' }),
  parameter: Type.Enum(['baseFee', 'rareSatsFee', 'collectionServiceFee']),
  type: Type.Enum(['fixed', 'percentage']),
});

const planned = strictObject({
  kind: Type.Enum(['commit', 'reveal', 'burn', 'mint']),
  weight: Type.Integer({ minimum: 0, description: 'weight units of the signed transaction' }),
  vsize: Type.Integer({ minimum: 0, description: 'virtual bytes' }),
  fee: sats('paid to the miner'),
  files: Type.Integer({ minimum: 0, description: 'number of files that it inscribes or burns' }),
  firstFile: Type.Integer({ minimum: 0, description: 'index of its first file' }),
});
const coded = {
  code: Type.String({ description: 'docs/orders-api.md, "The plan"' }),
  message: Type.String({ description: 'a sentence for people' }),
};

export const priceAnswer = strictObject({
  chainFee: sats('fees of all transactions'),
  baseFee: sats('per file, after discounts'),
  serviceFee: sats(
    '(baseFee + rareSatsFee + collectionServiceFee + postage + price) × count + additionalFeeCharged + sizeFee',
  ),
  sizeFee: sats('a part of chainFee, for managed orders'),
  rareSatsFee: sats('per file, after discounts'),
  additionalFee: sats('a file'),
  additionalFeeCharged: sats('for all files'),
  postage: sats('a file'),
  count: Type.Integer({ minimum: 1, description: 'inscriptions' }),
  price: sats('per file, for the creator of a collection'),
  collectionServiceFee: sats('per file, after discounts'),
  discounts: Type.Array(discount),
  amount: sats('to pay: serviceFee + chainFee'),
  tokenPayCharge: Type.Optional(
    strictObject(
      {
        feeCharge: strictObject({
          amount: sats('the amount'),
          token: Type.Literal('BTC'),
          protocol: Type.Literal('bitcoin'),
        }),
        tokenCharge: strictObject({
          amount: Type.Number({ description: 'display units for all items, all digits' }),
          amountBase: Type.String({ description: 'base units' }),
          token: Type.String({ description: 'the rune, with spacers' }),
          protocol: Type.Literal('rune'),
        }),
      },
      'for a collection with a price in a rune: the customer pays both',
    ),
  ),
  amountPerFile: Type.Optional(Type.Number({ minimum: 0, description: 'sats, with ?plan=1' })),
  transactions: Type.Optional(Type.Array(planned, { description: 'in the order of their creation' })),
  warnings: Type.Optional(
    Type.Array(strictObject(coded), {
      description:
        'why the order may cost another amount (absent: it costs this amount); with ?plan=1 all warnings',
    }),
  ),
  savings: Type.Optional(Type.Array(strictObject({ ...coded, sats: sats('the amount that it would save') }))),
});
